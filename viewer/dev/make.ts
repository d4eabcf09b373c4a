// vite-node dev/make.ts EVENTS RANKS OUT.html|OUT.rsv: the built page with synthetic data in it, or the bundle alone.

import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { synthetic } from "./synthetic";
import { join } from "./encode";

/** In place of this the data go; the C program does the same with the page that is embedded in it. */
const BEFORE = '<div id="app"></div>';

export async function writePage(pagePath: string, events: number, ranks: number, out: string): Promise<number> {
    const parts = await synthetic({ events, ranks, hosts: Math.max(1, ranks / 8) });
    const file = openSync(out, "w");
    const size = parts.reduce((sum, p) => sum + p.length, 0);
    if (out.endsWith(".html")) {
        const page = readFileSync(pagePath, "utf8");
        const at = page.indexOf(BEFORE);
        writeSync(file, page.slice(0, at) + '<script type="application/octet-stream" id="ringscope-data">');
        writeSync(file, Buffer.from(join(parts)).toString("base64"));
        writeSync(file, "</script>" + page.slice(at));
    } else for (const part of parts) writeSync(file, part);
    closeSync(file);
    return size;
}

const [events, ranks, out] = process.argv.slice(2);
if (out?.match(/\.(html|rsv)$/)) {
    const size = await writePage("dist/index.html", Number(events), Number(ranks), out);
    console.log(`${out}: ${size} bytes of data, ${(size / Number(events)).toFixed(2)} bytes an event`);
}
