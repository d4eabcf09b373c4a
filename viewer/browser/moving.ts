// Opening, zooming, panning, selecting, following relations, spans.

import { open } from "../dev/chromium";
import { L } from "../dev/shape";
import { close, comes, expect, selectedOf, settle, spotOf, text, viewOf, widthOf, type Context } from "./check";

export async function moving({ browser, page }: Context): Promise<void> {
    const tab = await open(browser, page);
    await settle(tab);
    expect(tab.workers().length === 1, "a page from disk decodes in a worker");
    const [whole, all] = [await viewOf(tab), await widthOf(tab)];
    await tab.mouse.move(600, 300);
    await tab.keyboard.press("w");
    const zoomed = await widthOf(tab);
    expect(zoomed < all, "W zooms in");
    const before = await viewOf(tab);
    await tab.keyboard.press("d");
    expect((await viewOf(tab)).t0 > before.t0, "D goes later");
    await tab.keyboard.press("a");
    await tab.keyboard.press("a");
    expect((await viewOf(tab)).t0 < before.t0, "A goes earlier");
    await tab.keyboard.down("Control");
    await tab.mouse.wheel(0, -300);
    await tab.keyboard.up("Control");
    expect(await comes(tab, async () => (await widthOf(tab)) < zoomed), "Ctrl and wheel zoom in");
    const still = await viewOf(tab);
    await tab.keyboard.down("Shift");
    await tab.mouse.down();
    await tab.mouse.move(500, 300, { steps: 4 });
    await tab.mouse.up();
    await tab.keyboard.up("Shift");
    const dragged = await viewOf(tab);
    expect(dragged.t0 > still.t0, "Shift and a drag to the left go later");
    expect(Math.abs(dragged.t1 - dragged.t0 - still.t1 + still.t0) < 1, "and the width stays");
    await tab.keyboard.down("Control");
    await tab.mouse.move(400, 300);
    await tab.mouse.down();
    await tab.mouse.move(500, 300, { steps: 4 });
    await tab.mouse.up();
    await tab.keyboard.up("Control");
    expect((await widthOf(tab)) < (dragged.t1 - dragged.t0) / 3, "Ctrl and a drag zoom to the span");
    await tab.keyboard.press("0");
    expect(Math.abs((await viewOf(tab)).t0 - whole.t0) < 1, "0 fits all operations");
    await tab.mouse.wheel(0, 300);
    await settle(tab);

    // The operation of rank 0 in slot 4, found by its own numbers and clicked where it is drawn.
    const spot = await spotOf(tab, L.Ops, 4);
    await tab.mouse.move(spot.x, spot.y);
    expect(
        await comes(tab, async () => (await text(tab, ".tooltip")).includes("duration")),
        "a tooltip with the facts of a bar",
    );
    await tab.mouse.click(spot.x, spot.y);
    expect(await comes(tab, async () => (await selectedOf(tab)) === spot.bar), "click selects");
    expect(
        await comes(tab, async () => (await tab.locator(".details table.ranks tbody tr").count()) === 8),
        "details have all eight ranks",
    );
    const relation = async (key: string, what: string): Promise<number> => {
        const from = await selectedOf(tab);
        await tab.keyboard.press(key);
        expect(await comes(tab, async () => ![from, -1].includes(await selectedOf(tab))), what);
        return selectedOf(tab);
    };
    const laneOf = (bar: number) =>
        tab.evaluate(async (b) => (await window.ringscope!.session.trace.bar(b))!.lane, bar);
    expect((await laneOf(await relation("n", "N goes to the next rank"))) >= 9, "which is another lane");
    await tab.keyboard.press("Shift+N");
    expect(await comes(tab, async () => (await selectedOf(tab)) === spot.bar), "Shift and N go back");
    expect((await laneOf(await relation("[", "[ follows to the parent"))) === L.Launch, "which is the launch");
    expect((await laneOf(await relation("]", "] follows to what it launched"))) === L.Ops, "which is the operation");
    expect((await laneOf(await relation("]", "] follows to the first child"))) === L.Channel0, "which is a channel");
    // No press is lost or counted from an old place, however quickly they come.
    await tab.evaluate((bar) => void window.ringscope!.session.jump(bar), spot.bar);
    for (const key of ["n", "Shift+N", "["]) await tab.keyboard.press(key);
    const launch = async (): Promise<boolean> => {
        const bar = await selectedOf(tab);
        return bar >= 0 && (await laneOf(bar)) === L.Launch;
    };
    expect(await comes(tab, launch), "keys pressed quickly all count");
    await tab.keyboard.press("Escape");
    expect((await selectedOf(tab)) === -1, "Escape selects nothing");
    await spans(tab);
    await edges(tab);
    await close(tab, "moving");
}

/** A span over eight slots of rank 0: five all-reduces, two all-gathers, a send and a receive. */
async function spans(tab: Awaited<ReturnType<typeof open>>): Promise<void> {
    await tab.evaluate(() => {
        const { session } = window.ringscope!;
        session.open.value = new Set([...session.open.value].filter((g) => session.trace.bundle.groups.level[g]! < 2));
        session.scroll.value = 0;
        session.look({ t0: 8 * 2e6, t1: 26 * 2e6 });
    });
    await settle(tab);
    const box = await tab.evaluate(() => {
        const { geometry } = window.ringscope!.timeline!;
        const at = document.querySelector("canvas.upper")!.getBoundingClientRect();
        const row = geometry.rowOf(3)!;
        const x = (slot: number): number => at.x + geometry.x(slot * 2e6);
        return { from: x(8.05), to: x(16), y: at.y + geometry.rowY(row) + row.height / 2 };
    });
    await tab.mouse.move(box.from, box.y);
    await tab.mouse.down();
    await tab.mouse.move(box.to, box.y, { steps: 5 });
    await tab.mouse.up();
    const sums = async (): Promise<string> =>
        (await tab.locator(".details tbody tr").allInnerTexts()).join("\n").replace(/\s+/g, " ");
    const complete = async (): Promise<boolean> => {
        const words = await sums();
        return [/AllReduce 5 /, /AllGather 2 /, /Send 1 /, /Recv 1 /].every((row) => row.test(words));
    };
    expect(await comes(tab, complete), `a drag sums what lies in the span (${(await sums()).slice(0, 160)})`);
    await tab.keyboard.press("Escape");
}

/** Steps of rank 0 with gaps of 6 pixels between them: drawn and found at the same pixels, up to each edge. */
async function edges(tab: Awaited<ReturnType<typeof open>>): Promise<void> {
    await tab.evaluate(async (lane) => {
        const { session } = window.ringscope!;
        const { bundle } = session.trace;
        session.rowsOn.value = bundle.meta.rows.map(() => true);
        session.open.value = new Set(Array.from({ length: bundle.groups.count }, (_, g) => g));
        const { start } = (await session.trace.bar(bundle.lanes.first[lane]! + 20))!;
        const { start: next } = (await session.trace.bar(bundle.lanes.first[lane]! + 21))!;
        const width = window.ringscope!.timeline!.geometry.timeWidth;
        session.look({ t0: start - (next - start), t1: start + (next - start) * (width / 60 - 1) });
    }, L.Steps0);
    await settle(tab);
    const probes = await tab.evaluate(async (lane) => {
        const { session, timeline } = window.ringscope!;
        const { geometry } = timeline!;
        const row = geometry.rowOf(lane)!;
        const canvas = document.querySelector<HTMLCanvasElement>("canvas.lower")!;
        const at = document.querySelector("canvas.upper")!.getBoundingClientRect();
        const ratio = canvas.width / at.width;
        const y = geometry.rowY(row) + row.height / 2;
        const colour = (x: number): string =>
            canvas
                .getContext("2d")!
                .getImageData(Math.floor(x * ratio), Math.floor(y * ratio), 1, 1)
                .data.join();
        const list: { bar: number; x: number; y: number; drawn: boolean }[] = [];
        for (let i = 20; i < 24; i++) {
            const { bar, start, end } = (await session.trace.bar(session.trace.bundle.lanes.first[lane]! + i))!;
            const [from, to] = [geometry.x(start), geometry.x(end)];
            const ground = colour(from - 3);
            for (const x of [from + 2, to - 2])
                list.push({ bar, x: at.x + x, y: at.y + y, drawn: colour(x) !== ground && colour(to + 3) === ground });
        }
        return list;
    }, L.Steps0);
    expect(
        probes.every((probe) => probe.drawn),
        "bars are drawn from edge to edge",
    );
    const hovered = () => tab.evaluate(() => window.ringscope!.session.hover.value?.bar.bar ?? -1);
    let right = true;
    for (const { bar, x, y } of probes) {
        await tab.mouse.move(x, y);
        right &&= await comes(tab, async () => (await hovered()) === bar);
    }
    expect(right, "the mouse is over the bar that is drawn there, 2 pixels inside each edge");
}
