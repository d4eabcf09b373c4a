// vite-node dev/make.ts EVENTS RANKS OUT.html|OUT.rsv: the built page with synthetic data in it, or the bundle alone.

import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { synthetic } from "./synthetic";
import { join } from "./encode";

const DATA = '<script type="application/octet-stream" id="ringscope-data">';
const REST = '<script type="application/octet-stream" id="ringscope-rest">';

/** As the C program will do it: what the first picture needs before #app, the rest at the end of the body. */
export async function writePage(pagePath: string, events: number, ranks: number, out: string): Promise<number> {
    const { parts, headParts } = await synthetic({ events, ranks, hosts: Math.max(1, ranks / 8) });
    const file = openSync(out, "w");
    const size = parts.reduce((sum, p) => sum + p.length, 0);
    if (out.endsWith(".html")) {
        const page = readFileSync(pagePath, "utf8");
        const [app, end] = [page.lastIndexOf('<div id="app"></div>'), page.lastIndexOf("</body>")];
        const base64 = (list: Uint8Array[]) => Buffer.from(join(list)).toString("base64");
        writeSync(
            file,
            page.slice(0, app) + DATA + base64(parts.slice(0, headParts)) + "</script>" + page.slice(app, end) + REST,
        );
        writeSync(file, base64(parts.slice(headParts)) + "</script>" + page.slice(end));
    } else for (const part of parts) writeSync(file, part);
    closeSync(file);
    return size;
}

const [events, ranks, out] = process.argv.slice(2);
if (out?.match(/\.(html|rsv)$/)) {
    const size = await writePage("dist/index.html", Number(events), Number(ranks), out);
    console.log(`${out}: ${size} bytes of data, ${(size / Number(events)).toFixed(2)} bytes an event`);
}
