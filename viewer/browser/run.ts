// vite-node browser/run.ts [TOPIC...] [--update]: the built page in a real browser, as a user would use it. Exit status 77:
// no browser; 1: something does not hold.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromiumPath, launch } from "../dev/chromium";
import { writePage } from "../dev/page";
import { address } from "./address";
import { expect, failed, type Topic } from "./check";
import { keyboard } from "./keyboard";
import { moving } from "./moving";
import { panels } from "./panels";
import { picture } from "./picture";
import { real } from "./real";
import { safety } from "./safety";
import { served } from "./served";
import { speed } from "./speed";
import { use } from "./use";

const TOPICS: Record<string, Topic> = {
    moving,
    panels,
    use,
    address,
    keyboard,
    safety,
    served,
    picture,
    speed,
    real,
};

const given = process.argv.slice(2);
const chosen = given.filter((word) => !word.startsWith("--"));
const unknown = chosen.filter((name) => !(name in TOPICS));
if (unknown.length > 0) throw new Error(`no topic ${unknown.join(", ")}: there are ${Object.keys(TOPICS).join(", ")}`);
if (!chromiumPath()) {
    console.log("skipped: no chromium");
    process.exit(77);
}
const folder = mkdtempSync(join(tmpdir(), "ringscope-viewer-"));
const browser = await launch();
try {
    const page = join(folder, "small.html");
    await writePage(page, { events: 20_000, ranks: 8 });
    for (const [name, topic] of Object.entries(TOPICS)) {
        if (chosen.length > 0 && !chosen.includes(name)) continue;
        const begin = performance.now();
        console.log(`${name}:`);
        try {
            await topic({ browser, folder, page, update: given.includes("--update") });
        } catch (error) {
            expect(false, `${name}: ${error instanceof Error ? error.message : String(error)}`);
        }
        console.log(`      ${((performance.now() - begin) / 1000).toFixed(1)} s`);
    }
} finally {
    await browser.close();
    rmSync(folder, { recursive: true });
}
process.exit(failed() > 0 ? 1 : 0);
