// The built program, and the pages that it writes: RINGSCOPE names it.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { DATA_ELEMENT, MemorySource, REST_ELEMENT } from "../src/data/source";
import { Trace } from "../src/data/trace";

export const program = process.env["RINGSCOPE"];
export const DATA = join(__dirname, "../../tests/data");

export function run(args: string[]): string {
    return execFileSync(program!, args, { encoding: "utf8", maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "ignore"] });
}

/** In a folder of its own, which is gone afterwards. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
    const folder = mkdtempSync(join(tmpdir(), "ringscope-view-"));
    try {
        return await work(folder);
    } finally {
        rmSync(folder, { recursive: true });
    }
}

function elementOf(html: string, id: string): Uint8Array {
    const open = `<script type="application/octet-stream" id="${id}">`;
    const at = html.indexOf(open);
    expect(at).toBeGreaterThan(0);
    return Buffer.from(html.slice(at + open.length, html.indexOf("</script>", at)), "base64");
}

/** The data of a page. */
export function openPage(file: string): Promise<Trace> {
    const html = readFileSync(file, "utf8");
    const pieces = [elementOf(html, DATA_ELEMENT), elementOf(html, REST_ELEMENT)];
    const bytes = new Uint8Array(pieces[0]!.length + pieces[1]!.length);
    bytes.set(pieces[0]!);
    bytes.set(pieces[1]!, pieces[0]!.length);
    return Trace.open(new MemorySource(bytes));
}

export const view = (inputs: string[], options: string[] = []): Promise<Trace> =>
    inFolder((folder) => {
        const out = join(folder, "out.html");
        run(["view", ...options, ...inputs, "-o", out]);
        return openPage(out);
    });
