// vite-node browser/run.ts [TOPIC...] [--update]: the built page in a real browser, as a user would use it. Exit status
// 77: no browser; 1: something does not hold.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromiumPath, launch } from "../dev/chromium";
import { writePage } from "../dev/page";
import { address } from "./address";
import { expect, note, reporting, Results, type Context, type Topic } from "./check";
import { keyboard } from "./keyboard";
import { moving } from "./moving";
import { panels } from "./panels";
import { picture } from "./picture";
import { made, RECORDINGS } from "./real";
import { safety } from "./safety";
import { served } from "./served";
import { speed } from "./speed";
import { tried } from "./tried";
import { use } from "./use";

/** Those that take longest first. */
const TOPICS: Record<string, Topic> = {
    use,
    safety,
    keyboard,
    panels,
    moving,
    ...RECORDINGS,
    made,
    picture,
    address,
    served,
    tried,
    speed,
};
/** Topics that run side by side: most of their time they wait for the page. */
const TOGETHER = 4;
/** What takes longer hangs, and fails. */
const MOST_MS = 600_000;

async function run(name: string, topic: Topic, context: Context): Promise<Results> {
    const results = new Results();
    const begin = performance.now();
    await reporting(results, async () => {
        let timer: NodeJS.Timeout | undefined;
        const late = new Promise<never>((_, reject) => {
            timer = setTimeout(() => reject(new Error(`not done after ${MOST_MS / 1000} s`)), MOST_MS);
        });
        try {
            await Promise.race([topic(context), late]);
        } catch (error) {
            expect(false, `${name}: ${error instanceof Error ? error.message : String(error)}`);
        }
        clearTimeout(timer);
        note(`${((performance.now() - begin) / 1000).toFixed(1)} s`);
    });
    return results;
}

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
let failures = 0;
try {
    const page = join(folder, "small.html");
    await writePage(page, { events: 20_000, ranks: 8 });
    const context: Context = { browser, folder, page, update: given.includes("--update") };
    const report = (name: string, results: Results): void => {
        console.log(`${name}:\n${[...results.failed, ...results.others].join("\n")}`);
        failures += results.failed.length;
    };
    const wanted = Object.keys(TOPICS).filter((name) => chosen.length === 0 || chosen.includes(name));
    const waiting = wanted.filter((name) => name !== "speed");
    const work = async (): Promise<void> => {
        for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
            report(name, await run(name, TOPICS[name]!, context));
    };
    await Promise.all(Array.from({ length: TOGETHER }, work));
    // Frames are measured while nothing else runs.
    if (wanted.includes("speed")) report("speed", await run("speed", speed, context));
} finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
}
process.exit(failures > 0 ? 1 : 0);
