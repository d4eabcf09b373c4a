// vite-node dev/browser.ts [EVENTS...]: the built page in a real browser. First what a user does, with a small run; then
// first paint, frames and memory with large ones. Exit status 77: no browser, 1: something does not hold.

import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { chromiumPath, launch, open } from "./chromium";
import { writePage } from "./make";

const FIRST_PAINT_MS = 2000;
const FRAME_MS = 33;
const MEMORY_BYTES = 1e9;

let failures = 0;

function expect(holds: boolean, what: string): void {
    if (!holds) failures++;
    console.log(`${holds ? "  ok" : "FAIL"}  ${what}`);
}

const viewOf = (tab: Page) => tab.evaluate(() => ({ ...window.ringscope!.session.view.value }));
const selectedOf = (tab: Page) => tab.evaluate(() => window.ringscope!.session.selected.value?.bar ?? -1);
const settle = (tab: Page) => tab.waitForTimeout(250);

async function behaviour(browser: Browser, folder: string): Promise<void> {
    const page = join(folder, "small.html");
    await writePage("dist/index.html", 20_000, 8, page);
    const tab = await open(browser, page);
    const whole = await viewOf(tab);
    await tab.mouse.move(700, 150);
    await tab.keyboard.press("w");
    const zoomed = await viewOf(tab);
    expect(zoomed.t1 - zoomed.t0 < whole.t1 - whole.t0, "W zooms in");
    await tab.keyboard.press("d");
    expect((await viewOf(tab)).t0 > zoomed.t0, "D goes later");
    await tab.keyboard.down("Control");
    await tab.mouse.wheel(0, -300);
    await tab.keyboard.up("Control");
    await settle(tab);
    const wheeled = await viewOf(tab);
    expect(wheeled.t1 - wheeled.t0 < zoomed.t1 - zoomed.t0, "Ctrl and wheel zoom in");
    await tab.keyboard.press("0");
    expect(Math.abs((await viewOf(tab)).t0 - whole.t0) < 1, "0 shows all of it");

    // The bar of rank 0 in slot 4, found by its own numbers and clicked where it is drawn.
    const spot = await tab.evaluate(async () => {
        const { session, timeline } = window.ringscope!;
        const bar = (await session.trace.bar(session.trace.bundle.lanes.first[3]! + 4))!;
        session.look({ t0: bar.start - 2e6, t1: bar.end + 2e6 });
        await new Promise((resolve) => setTimeout(resolve, 300));
        const row = timeline!.geometry.rowOf(bar.lane)!;
        const box = document.querySelector("canvas.upper")!.getBoundingClientRect();
        return {
            bar: bar.bar,
            x: box.x + timeline!.geometry.x((bar.start + bar.end) / 2),
            y: box.y + timeline!.geometry.rowY(row) + row.height / 2,
        };
    });
    await tab.mouse.move(spot.x, spot.y);
    await settle(tab);
    expect((await tab.textContent(".tooltip"))?.includes("clock error") ?? false, "hover tells what is known");
    await tab.mouse.click(spot.x, spot.y);
    await settle(tab);
    expect((await selectedOf(tab)) === spot.bar, "click selects");
    expect((await tab.textContent(".details"))?.includes("all ranks of it (8)") ?? false, "details list all ranks");
    await tab.keyboard.press("[");
    await settle(tab);
    const parent = await selectedOf(tab);
    expect(parent !== spot.bar && parent >= 0, "[ follows to the parent");

    await tab.keyboard.press("/");
    await settle(tab);
    await tab.keyboard.type("onerror");
    await tab.waitForTimeout(800);
    expect(/[1-9]\d* bars/.test((await tab.textContent(".search .hint")) ?? ""), "search finds a name");
    await tab.keyboard.press("Enter");
    await settle(tab);
    await tab.click("#tab-details");
    expect(
        (await tab.textContent(".details h2"))?.startsWith("<img src=x") ?? false,
        "a name with markup is shown as text",
    );
    expect((await tab.evaluate(() => document.querySelectorAll("img").length)) === 0, "and makes no element");

    await tab.click("#tab-heat");
    await tab.waitForTimeout(600);
    expect(
        (await tab.evaluate(() => document.querySelector<HTMLCanvasElement>(".heat canvas")!.height)) === 8,
        "the heat map has a line for each rank",
    );
    await tab.click("#tab-operations");
    await settle(tab);
    expect((await tab.locator(".virtual .line").count()) > 5, "the table of operations has lines");
    await tab.locator(".virtual .line").nth(2).click();
    await settle(tab);
    const chosen = await selectedOf(tab);
    expect(chosen >= 0, "a line of it jumps to the operation");
    for (const name of ["matrix", "comms", "report"]) await tab.click(`#tab-${name}`);
    await tab.keyboard.press("?");
    expect((await tab.locator(".help").count()) === 1, "? shows the help sheet");
    await tab.keyboard.press("Escape");
    await tab.evaluate((bar) => window.ringscope!.session.jump(bar), chosen);
    await tab.waitForTimeout(600);
    const place = await tab.evaluate(() => location.hash);
    const [view, again] = [await viewOf(tab), await open(browser, page + place)];
    await settle(again);
    expect((await selectedOf(again)) === chosen, "the address brings the selection back");
    expect(Math.abs((await viewOf(again)).t0 - view.t0) < 1, "and the window");
    await again.close();
    await tab.close();
}

/** The page from a server that answers ranges, as `ringscope serve` does. */
async function served(browser: Browser, folder: string): Promise<void> {
    const file = join(folder, "bundle.rsv");
    await writePage("dist/index.html", 60_000, 8, file);
    const [bundle, page] = [readFileSync(file), readFileSync("dist/index.html")];
    let ranges = 0;
    const server = createServer((request, response) => {
        const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
        if (request.url === "/bundle?token=abc" && range) {
            ranges++;
            response.writeHead(206, { "Content-Type": "application/octet-stream" });
            response.end(bundle.subarray(Number(range[1]), Number(range[2]) + 1));
        } else if (request.url === "/?token=abc") response.writeHead(200, { "Content-Type": "text/html" }).end(page);
        else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const tab = await browser.newPage({ viewport: { width: 1200, height: 700 } });
    await tab.goto(`http://127.0.0.1:${port}/?token=abc#t=20000000:24000000`);
    await tab.waitForFunction(() => (window.ringscope?.timeline?.times.firstPaint ?? NaN) > 0, undefined, {
        timeout: 20_000,
    });
    await tab.waitForFunction(() => window.ringscope!.session.trace.blocks.used > 0, undefined, { timeout: 20_000 });
    await tab.keyboard.press(".");
    await settle(tab);
    expect((await selectedOf(tab)) >= 0, `a page from a server draws and selects, with ${ranges} ranges read`);
    await tab.close();
    server.close();
}

/** Moves as a user would, one step a frame, and takes the time of every frame that the page drew. */
async function frames(tab: Page): Promise<{ worst: number; p95: number; gaps: number; n: number }> {
    const times = await tab.evaluate(async () => {
        const { session, timeline } = window.ringscope!;
        const { span } = session.trace.bundle;
        const frame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
        timeline!.times.frames.length = 0;
        let last = await frame();
        let gap = 0;
        const step = async (t0: number, t1: number): Promise<void> => {
            session.look({ t0, t1 });
            const now = await frame();
            gap = Math.max(gap, now - last);
            last = now;
        };
        // All of it, in to a thousandth, along, out again; with and without rows open.
        for (const open of [false, true]) {
            if (open)
                for (let g = 0; g < Math.min(12, session.trace.bundle.groups.count); g++)
                    if (!session.open.value.has(g)) session.toggleGroup(g);
            for (let i = 0; i <= 60; i++) {
                const width = span * 0.001 ** (i / 60);
                await step(span * 0.4 - width * 0.4, span * 0.4 + width * 0.6);
            }
            for (let i = 0; i < 40; i++) await step(span * (0.4 + i * 0.0002), span * (0.401 + i * 0.0002));
            for (let i = 60; i >= 0; i--) {
                const width = span * 0.001 ** (i / 60);
                await step(span * 0.4 - width * 0.4, span * 0.4 + width * 0.6);
            }
        }
        return { list: timeline!.times.frames.slice(), gap };
    });
    const sorted = [...times.list].sort((a, b) => a - b);
    return {
        worst: sorted[sorted.length - 1]!,
        p95: sorted[Math.floor(sorted.length * 0.95)]!,
        gaps: times.gap,
        n: sorted.length,
    };
}

/** Of the largest process that draws pages, as the kernel counts it: buffers and WebAssembly are in it. */
async function peakMemory(browser: Browser): Promise<number> {
    const session = await browser.newBrowserCDPSession();
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    const peaks = processInfo
        .filter((process) => process.type === "renderer")
        .map((process) => /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${process.id}/status`, "utf8"))?.[1]);
    return Math.max(0, ...peaks.map((kb) => Number(kb ?? 0) * 1024));
}

async function measure(browser: Browser, folder: string, events: number): Promise<void> {
    const page = join(folder, "large.html");
    const size = await writePage("dist/index.html", events, 64, page);
    console.log(
        `${events} events: page of ${(statSync(page).size / 1e6).toFixed(1)} MB, ${(size / events).toFixed(2)} bytes an event`,
    );
    const tab = await open(browser, page);
    const first = await tab.evaluate(() => window.ringscope!.timeline!.times.firstPaint);
    expect(first < FIRST_PAINT_MS, `first paint after ${first.toFixed(0)} ms`);
    const moved = await frames(tab);
    expect(
        moved.worst < FRAME_MS,
        `worst frame ${moved.worst.toFixed(1)} ms, 95 % below ${moved.p95.toFixed(1)} ms, of ${moved.n}; longest gap between frames ${moved.gaps.toFixed(0)} ms`,
    );
    // Every bar is looked at once: what memory can be at most.
    await tab.evaluate(async () => {
        const { trace } = window.ringscope!.session;
        for (let id = 0; id < trace.bundle.blocks.count; id++) {
            await trace.blocks.load(id);
            if (id % 32 === 0) await new Promise((resolve) => setTimeout(resolve));
        }
    });
    const blocks = await tab.evaluate(() => window.ringscope!.session.trace.blocks.used);
    const peak = await peakMemory(browser);
    expect(
        peak < MEMORY_BYTES,
        `memory of the page at its peak ${(peak / 1e6).toFixed(0)} MB; bars in memory ${(blocks / 1e6).toFixed(0)} MB`,
    );
    await tab.close();
    rmSync(page);
}

const sizes = process.argv
    .slice(2)
    .map(Number)
    .filter((n) => n > 0);
if (!chromiumPath()) {
    console.log("skipped: no chromium");
    process.exit(77);
}
const folder = mkdtempSync(join(tmpdir(), "ringscope-viewer-"));
const browser = await launch();
try {
    await behaviour(browser, folder);
    await served(browser, folder);
    for (const events of sizes) await measure(browser, folder, events);
} finally {
    await browser.close();
    rmSync(folder, { recursive: true });
}
process.exit(failures > 0 ? 1 : 0);
