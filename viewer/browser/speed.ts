// First paint, frames and memory with a run of middle size: what `npm run measure` does with large ones.

import { join } from "node:path";
import { launch, open } from "../dev/chromium";
import { FRAME_MS, frames, lookAtAll, peakMemory } from "../dev/frames";
import { writePage } from "../dev/page";
import { close, expect, type Context } from "./check";

const EVENTS = 500_000;

export async function speed({ folder }: Context): Promise<void> {
    const page = join(folder, "speed.html");
    await writePage(page, { events: EVENTS, ranks: 64 });
    // A browser of its own: the peak of memory is that of a process.
    const browser = await launch();
    try {
        const tab = await open(browser, page);
        const first = await tab.evaluate(() => window.ringscope!.timeline!.times.firstPaint);
        expect(first < 2000, `${EVENTS} bars: first paint after ${first.toFixed(0)} ms`);
        for (const opening of ["folded", "open"] as const) {
            const f = await frames(browser, tab, opening, 0.5);
            expect(
                f.processor.worst < FRAME_MS && f.work.at(0.95) < FRAME_MS,
                `${opening} rows: no frame over ${FRAME_MS} ms: median / 95 % / worst ${f.work.words()}, ` +
                    `of processor time ${f.processor.words()}`,
            );
        }
        await lookAtAll(tab);
        const peak = await peakMemory(browser);
        expect(peak < 1e9, `memory of the page at its peak ${(peak / 1e6).toFixed(0)} MB`);
        await close(tab, "speed");
    } finally {
        await browser.close();
    }
}
