// The built page with synthetic data in it, or the bundle alone: what `ringscope view` does with real ones.

import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "./encode";
import type { Options } from "./shape";
import { synthetic } from "./synthetic";

/** The built page; RINGSCOPE_PAGE names another one. */
export const PAGE = process.env.RINGSCOPE_PAGE ?? "dist/index.html";
const DATA = '<script type="application/octet-stream" id="ringscope-data">';
const REST = '<script type="application/octet-stream" id="ringscope-rest">';

/**
 * `out` is .html or .rsv; hands out the bytes of the bundle. What the first picture needs goes before #app, the rest to
 * the end of the body.
 */
export async function writePage(out: string, options: Partial<Options>): Promise<number> {
    const { parts, headParts } = await synthetic({ hosts: Math.max(1, (options.ranks ?? 8) / 8), ...options });
    const file = openSync(out, "w");
    const size = parts.reduce((sum, p) => sum + p.length, 0);
    if (out.endsWith(".html")) {
        const page = readFileSync(PAGE, "utf8");
        const [app, end] = [page.lastIndexOf('<div id="app"></div>'), page.lastIndexOf("</body>")];
        const base64 = (list: Uint8Array[]) => Buffer.from(join(list)).toString("base64");
        writeFileSync(
            file,
            page.slice(0, app) + DATA + base64(parts.slice(0, headParts)) + "</script>" + page.slice(app, end) + REST,
        );
        writeFileSync(file, base64(parts.slice(headParts)) + "</script>" + page.slice(end));
    } else for (const part of parts) writeFileSync(file, part);
    closeSync(file);
    return size;
}
