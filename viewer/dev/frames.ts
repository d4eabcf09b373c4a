// Moving as a user would, one step a frame, in the page of a tab; and what the frames took.

import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";

/** ms, in order. */
export class Times {
    private readonly sorted: number[];

    constructor(readonly list: number[]) {
        this.sorted = [...list].sort((a, b) => a - b);
    }
    at(share: number): number {
        return this.sorted[Math.min(this.sorted.length - 1, Math.floor(this.sorted.length * share))] ?? 0;
    }
    get worst(): number {
        return this.at(1);
    }
    over(limit: number): number {
        return this.list.filter((ms) => ms > limit).length;
    }
    words(): string {
        return `${this.at(0.5).toFixed(1)} / ${this.at(0.95).toFixed(1)} / ${this.worst.toFixed(1)} ms`;
    }
}

export interface Frames {
    /** The page's own work in each frame, by the clock: layout, drawing, decoding. */
    work: Times;
    /**
     * Processor time of each task of the page's main thread: with the browser's own work in it, without that of others.
     */
    processor: Times;
    /** From one frame to the next, as the browser shows them: with whatever else the machine does. */
    gaps: Times;
}

/** A frame that takes longer is seen as a jerk. */
export const FRAME_MS = 33;

export type Opening = "folded" | "open";

/**
 * All of it, in to a thousandth, along, out again, and down the rows; as it opens, or with all rows of all kinds.
 * `share`: of the steps.
 */
export async function frames(browser: Browser, tab: Page, opening: Opening, share = 1): Promise<Frames> {
    await tab.evaluate(async (opening) => {
        const { session } = window.ringscope!;
        const { groups, meta } = session.trace.bundle;
        if (opening === "open") {
            session.rowsOn.value = meta.rows.map(() => true);
            session.open.value = new Set(Array.from({ length: groups.count }, (_, g) => g));
        }
        session.look(session.wholeView());
        await new Promise((resolve) => setTimeout(resolve, 300));
    }, opening);
    await browser.startTracing(tab, { categories: ["toplevel", "disabled-by-default-devtools.timeline"] });
    const { work, gaps } = await tab.evaluate(move, share);
    const trace = (await browser.stopTracing()).toString("utf8");
    return { work: new Times(work), gaps: new Times(gaps), processor: new Times(tasks(trace)) };
}

/** In the page. */
async function move(share: number): Promise<{ work: number[]; gaps: number[] }> {
    const { session, timeline } = window.ringscope!;
    const { span } = session.trace.bundle;
    const work = timeline!.times.frames;
    const gaps: number[] = [];
    const frame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
    work.length = 0;
    let last = await frame();
    const steps = async (n: number, step: (i: number) => void): Promise<void> => {
        for (let i = 0; i < n; i += 1 / share) {
            step(i);
            const now = await frame();
            gaps.push(now - last);
            last = now;
        }
    };
    const zoom = (share: number): void => {
        const width = span * share;
        session.look({ t0: span * 0.4 - width * 0.4, t1: span * 0.4 + width * 0.6 });
    };
    await steps(61, (i) => zoom(0.001 ** (i / 60)));
    await steps(40, (i) => session.look({ t0: span * (0.4 + i * 0.0002), t1: span * (0.401 + i * 0.0002) }));
    await steps(61, (i) => zoom(0.001 ** (1 - i / 60)));
    // Where a screen has the most bars that must be read one by one.
    await steps(40, (i) => session.look({ t0: span * (0.2 + i * 0.004), t1: span * (0.25 + i * 0.004) }));
    await steps(30, () => (session.scroll.value += 120));
    await steps(30, () => (session.scroll.value -= 120));
    return { work: work.slice(), gaps };
}

interface TraceEvent {
    name: string;
    ph: string;
    pid: number;
    tid: number;
    tdur?: number;
    args?: { name?: string };
}

/** Processor time of the tasks of main threads of pages, in ms. */
function tasks(text: string): number[] {
    const { traceEvents } = JSON.parse(text) as { traceEvents: TraceEvent[] };
    const main = new Set<string>();
    for (const e of traceEvents)
        if (e.name === "thread_name" && e.args?.name === "CrRendererMain") main.add(`${e.pid} ${e.tid}`);
    return traceEvents
        .filter((e) => e.ph === "X" && /RunTask$/.test(e.name) && main.has(`${e.pid} ${e.tid}`))
        .map((e) => (e.tdur ?? 0) / 1000);
}

/** Every bar is looked at once: what memory can be at most. Of a large run only as many as the page may keep. */
export async function lookAtAll(tab: Page, most = Infinity): Promise<number> {
    return tab.evaluate(async (most) => {
        const { trace } = window.ringscope!.session;
        for (let id = 0; id < Math.min(most, trace.bundle.blocks.count); id++) {
            await trace.blocks.load(id);
            if (id % 32 === 0) await new Promise((resolve) => setTimeout(resolve));
        }
        return trace.blocks.used;
    }, most);
}

/** Of the largest process that draws pages, as the kernel counts it: buffers and WebAssembly are in it. */
export async function peakMemory(browser: Browser): Promise<number> {
    const session = await browser.newBrowserCDPSession();
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    await session.detach();
    const peaks = processInfo
        .filter((process) => process.type === "renderer")
        .map((process) => {
            try {
                return /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${process.id}/status`, "utf8"))?.[1];
            } catch {
                return undefined; // it has ended
            }
        });
    return Math.max(0, ...peaks.map((kb) => Number(kb ?? 0) * 1024));
}
