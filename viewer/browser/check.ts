// Shared by the browser tests: expectations, and looking at a page from outside.

import { AsyncLocalStorage } from "node:async_hooks";
import type { Browser, Page } from "playwright-core";
import { watchedOf } from "../dev/chromium";

export interface Context {
    browser: Browser;
    folder: string; // for files of the tests
    page: string; // a small synthetic run in a page: 8 ranks, rank 5 late
    update: boolean; // stored pictures are to be made anew
}

export type Topic = (context: Context) => Promise<void>;

/** Results of a topic: topics run in parallel, and each is reported in one piece, failures first. */
export class Results {
    readonly failed: string[] = [];
    readonly others: string[] = [];
}

const current = new AsyncLocalStorage<Results>();

/** Runs a topic; what it expects is recorded in `results`. */
export const reporting = (results: Results, topic: () => Promise<void>): Promise<void> => current.run(results, topic);

export function expect(holds: boolean, what: string): void {
    const results = current.getStore()!;
    if (holds) results.others.push(`  ok  ${what}`);
    else results.failed.push(`FAIL  ${what}`);
}

export const note = (what: string): void => void current.getStore()!.others.push(`      ${what}`);

export const viewOf = (tab: Page) => tab.evaluate(() => ({ ...window.ringscope!.session.view.value }));
export const widthOf = async (tab: Page): Promise<number> => {
    const { t0, t1 } = await viewOf(tab);
    return t1 - t0;
};
/** -1: nothing is selected. */
export const selectedOf = (tab: Page) => tab.evaluate(() => window.ringscope!.session.selected.value?.bar ?? -1);
/** Of the first element that fits; "" if there is none. */
export const text = (tab: Page, selector: string): Promise<string> =>
    tab.evaluate((selector) => document.querySelector(selector)?.textContent ?? "", selector);

/** Waits until it holds, and says whether it does. The limit is there for what never comes. */
export async function comes(tab: Page, holds: () => Promise<boolean> | boolean): Promise<boolean> {
    for (const end = performance.now() + 60_000; performance.now() < end; ) {
        if (await holds()) return true;
        await tab.waitForTimeout(50);
    }
    return holds();
}

/** Until what was asked for is there and drawn: three frames in a row have nothing to do. */
export const settle = (tab: Page): Promise<void> =>
    tab.evaluate(async () => {
        const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
        for (let still = 0; still < 3; await frame()) still = window.ringscope!.timeline!.settled ? still + 1 : 0;
    });

/** The middle of a bar on the screen, after going there; `lane` and `index` name the bar. */
export async function spotOf(tab: Page, lane: number, index: number): Promise<{ bar: number; x: number; y: number }> {
    const bar = await tab.evaluate(
        async ({ lane, index }) => {
            const { session } = window.ringscope!;
            const { bar, start, end } = (await session.trace.bar(session.trace.bundle.lanes.first[lane]! + index))!;
            session.look({ t0: start - 2e6, t1: end + 2e6 });
            return { bar, lane, middle: (start + end) / 2 };
        },
        { lane, index },
    );
    await settle(tab);
    return tab.evaluate(({ bar, lane, middle }) => {
        const { geometry } = window.ringscope!.timeline!;
        const row = geometry.rowOf(lane)!;
        const box = document.querySelector("canvas.upper")!.getBoundingClientRect();
        return { bar, x: box.x + geometry.x(middle), y: box.y + geometry.rowY(row) + row.height / 2 };
    }, bar);
}

/** Whether that rank's line of the heat map of lateness becomes the brightest: it is drawn as its data come. */
export async function isBrightest(tab: Page, rank: number): Promise<boolean> {
    await tab.waitForSelector(".heat canvas");
    await tab.locator(".heat select").first().selectOption("lateness");
    return comes(tab, async () => (await brightestNow(tab)) === rank);
}

/** The rank whose line has the highest mean lightness; -1: all is dark. */
const brightestNow = (tab: Page): Promise<number> =>
    tab.evaluate(() => {
        const canvas = document.querySelector<HTMLCanvasElement>(".heat canvas")!;
        const { members } = window.ringscope!.session.trace.bundle;
        const ranks = Math.max(...Array.from({ length: members.count }, (_, i) => members.globalRank[i]!)) + 1;
        const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
        const light = new Array<number>(ranks).fill(0);
        for (let i = 0; i < data.length; i += 4)
            light[Math.floor((Math.floor(i / 4 / canvas.width) * ranks) / canvas.height)]! +=
                data[i]! + data[i + 1]! + data[i + 2]!;
        return Math.max(...light) > Math.min(...light) ? light.indexOf(Math.max(...light)) : -1;
    });

/** Closes a tab, and says whether it did what it must not: errors, and requests to anywhere but its own place. */
export async function close(tab: Page, what: string): Promise<void> {
    const { problems, requests } = watchedOf(tab);
    const own = tab.url().replace(/#.*/, "");
    const { origin } = new URL(own);
    const beside = own.startsWith("http") ? [`${origin}/bundle?`, `${origin}/sql?`] : [own];
    const away = requests.filter(
        (url) =>
            !/^(data|blob):/.test(url) &&
            url.replace(/#.*/, "") !== own &&
            !beside.some((address) => url.startsWith(address)),
    );
    expect(problems.length === 0, `${what}: no errors ${problems.join("; ")}`.trim());
    expect(away.length === 0, `${what}: no request leaves the page ${away.join(" ")}`.trim());
    await tab.context().close();
}
