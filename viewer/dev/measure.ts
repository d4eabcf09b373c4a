// vite-node dev/measure.ts FILE|URL...: first paint, frames while moving, and memory of pages in a real browser without
// a GPU. A line of `name value` pairs for each, which bench/run.sh reads. --hold: exit status 1 beyond the limits.
// Exit status 77: no browser.

import { chromiumPath, launch, open } from "./chromium";
import { FRAME_MS, frames, lookAtAll, peakMemory } from "./frames";

const FIRST_PAINT_MS = 2000;
const MEMORY_BYTES = 1e9;
/** 16384 bars each: more than the page keeps. */
const MOST_BLOCKS = 1500;

const given = process.argv.slice(2);
const hold = given.includes("--hold");
if (!chromiumPath()) {
    console.log("skipped: no chromium");
    process.exit(77);
}
let beyond = false;
for (const place of given.filter((word) => !word.startsWith("--"))) {
    // A browser for each: the peak of memory is that of a process.
    const browser = await launch();
    try {
        const tab = await open(browser, place);
        const about = await tab.evaluate(() => {
            const { bundle } = window.ringscope!.session.trace;
            return {
                bars: bundle.bars,
                lanes: bundle.lanes.count,
                paint: window.ringscope!.timeline!.times.firstPaint,
            };
        });
        const words = [`bars ${about.bars}`, `lanes ${about.lanes}`, `first_paint_ms ${about.paint.toFixed(0)}`];
        beyond ||= about.paint > FIRST_PAINT_MS;
        for (const opening of ["folded", "open"] as const) {
            const f = await frames(browser, tab, opening);
            // By processor time, and what is usual by the clock: a frame that others took the processor from is not the
            // page's.
            beyond ||= f.processor.worst > FRAME_MS || f.work.at(0.95) > FRAME_MS;
            words.push(
                `${opening}_frames ${f.work.list.length}`,
                `${opening}_ms_median ${f.work.at(0.5).toFixed(1)}`,
                `${opening}_ms_p95 ${f.work.at(0.95).toFixed(1)}`,
                `${opening}_ms_worst ${f.work.worst.toFixed(1)}`,
                `${opening}_cpu_ms_worst ${f.processor.worst.toFixed(1)}`,
                `${opening}_over ${f.work.over(FRAME_MS)}`,
                `${opening}_gap_ms_median ${f.gaps.at(0.5).toFixed(1)}`,
                `${opening}_gap_ms_worst ${f.gaps.worst.toFixed(1)}`,
            );
        }
        const held = await lookAtAll(tab, MOST_BLOCKS);
        const peak = await peakMemory(browser);
        beyond ||= peak > MEMORY_BYTES;
        words.push(`bars_mb ${(held / 1e6).toFixed(0)}`, `memory_mb ${(peak / 1e6).toFixed(0)}`);
        console.log(words.join(" "));
    } finally {
        await browser.close();
    }
}
process.exit(hold && beyond ? 1 : 0);
