// What is under the pointer: bars, rows, halves of rows, names; and what a click, a drag and the wheel make of it. Bars
// and pixels are given by hand, and what is expected is worked out bar by bar.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DEFAULTS, L } from "../dev/shape";
import { NOT_HERE, type Trace } from "../src/data/trace";
import { firstOpen, type Row } from "../src/scene/layout";
import { Session } from "../src/state/session";
import { Geometry, NAMES_WIDTH, RULER_HEIGHT } from "../src/timeline/geometry";
import { Input } from "../src/timeline/input";
import type { Overlay } from "../src/timeline/overlay";
import { openTrace, putBars, type BarIn } from "./traces";

/** ns in a pixel. */
const NS = 10;
const BARS: BarIn[] = [
    { start: 1000, dur: 1000 },
    { start: 2000, dur: 400 }, // right behind the first
    { start: 2400, dur: 50 }, // 5 pixels between two others
    { start: 2450, dur: 40 },
    { start: 2550, dur: 450 }, // 6 pixels behind it
    { start: 4000, dur: 0 }, // a moment
    { start: 5000, dur: 500, fade: 300 },
    { start: 5820, dur: 5 },
    { start: 5828, dur: 5 },
    { start: 7000, dur: 1000 },
];
const NEAR = 3 * NS;

let trace: Trace;
beforeEach(async () => {
    trace = await openTrace(DEFAULTS);
});

/** Numbers of the bars that may be found at a time: those that cover it, else the nearest ones. */
function expected(bars: BarIn[], time: number, slack: number): number[] {
    const distances = bars.map(({ start, dur, fade }) => Math.max(start - time, time - start - dur - (fade ?? 0), 0));
    const least = Math.min(...distances);
    return least > slack ? [] : [...distances.keys()].filter((i) => distances[i] === least);
}

describe("a bar is found", () => {
    const lane = L.Compute;
    const times = Array.from({ length: 8200 / 5 }, (_, i) => i * 5 + 0.5);
    const check = (slack: number): void => {
        const first = trace.bundle.lanes.first[lane]!;
        const wrong = times.filter((time) => {
            const wanted = expected(BARS, time, slack);
            const found = trace.findAt(lane, time, slack);
            return wanted.length === 0 ? found !== -1 : !wanted.includes(found - first);
        });
        expect(wrong).toEqual([]);
    };
    it("where the time is in it, else the nearest one", () => {
        putBars(trace, lane, BARS);
        check(0);
        check(NEAR);
        check(200);
    });
    it("on both sides of the edge of two blocks", () => {
        for (const cut of [1, 3, 4, 7]) {
            putBars(trace, lane, BARS.slice(0, cut), BARS.slice(cut));
            check(0);
            check(NEAR);
        }
    });
    it("also where it must be read first", async () => {
        const { lanes } = trace.bundle;
        const bar = (await trace.bar(lanes.first[L.Ops]! + 3))!;
        const fresh = await openTrace(DEFAULTS);
        const middle = (bar.start + bar.end) / 2;
        expect(fresh.findAt(L.Ops, middle, 0)).toBe(NOT_HERE);
        expect(fresh.barAtNow(L.Ops, middle, 0)).toBe("not here");
        expect(await fresh.barAt(L.Ops, middle, 0)).toEqual(bar);
        expect(fresh.findAt(L.Ops, middle, 0)).toBe(bar.bar);
    });
});

/** A canvas that can be pointed at. */
class Canvas {
    readonly style = { cursor: "" };
    readonly dataset: Record<string, string> = {};
    private readonly listeners = new Map<string, (event: unknown) => void>();
    addEventListener(type: string, listener: (event: unknown) => void): void {
        this.listeners.set(type, listener);
    }
    setPointerCapture(): void {}
    focus(): void {}
    /** The client's coordinates are not the canvas's. */
    async send(type: string, x: number, y: number, more: object = {}): Promise<void> {
        const keys = { ctrlKey: false, shiftKey: false, metaKey: false, altKey: false, button: 0, deltaMode: 0 };
        const place = { offsetX: x, offsetY: y, clientX: x + 7, clientY: y + 90 };
        this.listeners.get(type)!({ ...keys, ...place, preventDefault: () => {}, ...more });
        await new Promise((resolve) => setTimeout(resolve, 0));
    }
}

describe("the pointer", () => {
    let session: Session;
    let geometry: Geometry;
    let canvas: Canvas;
    const row = (): Row => geometry.rowOf(L.Compute)!;
    const x = (time: number): number => NAMES_WIDTH + time / NS;
    const middle = (row: Row): number => geometry.rowY(row) + row.height / 2;
    const hovered = (): number => (session.hover.value ? session.hover.value.bar.bar : -1);

    beforeEach(async () => {
        vi.stubGlobal("window", { addEventListener: () => {} });
        session = new Session(trace);
        // All rows, and bars of 10 ns a pixel from the left edge on.
        session.rowsOn.value = trace.bundle.meta.rows.map(() => true);
        session.open.value = new Set(Array.from({ length: trace.bundle.groups.count }, (_, g) => g));
        geometry = new Geometry(session);
        [geometry.width, geometry.height] = [NAMES_WIDTH + 1000, 600];
        session.view.value = { t0: 0, t1: 1000 * NS };
        geometry.update();
        canvas = new Canvas();
        const overlay = { mouseX: -1 } as Overlay;
        new Input(
            session,
            geometry,
            overlay,
            canvas as unknown as HTMLCanvasElement,
            () => {},
            () => undefined,
        );
        putBars(trace, L.Compute, BARS);
        // Flags of communicators come before bars: none here.
        (trace.bundle.flags.time as Float64Array).fill(1e12);
    });

    afterEach(() => vi.unstubAllGlobals());

    it("scrolls to the last row and not beyond: its bottom is that of the canvas", () => {
        geometry.height = 200;
        session.scroll.value = 1e9;
        geometry.update();
        const last = geometry.layout.rows.at(-1)!;
        expect(geometry.layout.height).toBeGreaterThan(200);
        expect(geometry.rowY(last) + last.height).toBe(200);
        expect(geometry.rowsHeight).toBe(200 - geometry.rowsTop);
    });

    it("is over the bar that is drawn there: 2 pixels inside each edge", async () => {
        const first = trace.bundle.lanes.first[L.Compute]!;
        for (const [i, { start, dur, fade }] of BARS.entries()) {
            const end = start + dur + (fade ?? 0);
            const inside = dur >= 4 * NS ? [x(start) + 2, x(end) - 2] : [(x(start) + x(end)) / 2];
            for (const at of inside) {
                await canvas.send("pointermove", at, middle(row()));
                expect(hovered() - first, `at pixel ${at}`).toBe(i);
            }
        }
        const { bar, ...spot } = session.hover.value!;
        expect(spot).toEqual({ x: x(8000) - 2 + 7, y: middle(row()) + 90 });
        expect(bar.start).toBe(7000);
    });
    it("may be 3 pixels beside a bar, and no more", async () => {
        const first = trace.bundle.lanes.first[L.Compute]!;
        const at = async (pixel: number): Promise<number> => {
            await canvas.send("pointermove", NAMES_WIDTH + pixel, middle(row()));
            return hovered() < 0 ? -1 : hovered() - first;
        };
        expect([await at(96), await at(97.5), await at(397.5), await at(402.5), await at(404)]).toEqual([
            -1, 0, 5, 5, -1,
        ]);
        expect([await at(696), await at(698), await at(802), await at(804)]).toEqual([-1, 9, 9, -1]);
        // Between two that are near, the nearer one.
        expect([await at(251), await at(253)]).toEqual([3, 4]);
    });
    it("is on a row from its first pixel to its last, pinned or scrolled", async () => {
        const { lanes } = trace.bundle;
        const check = (): void => {
            geometry.update();
            const { layout } = geometry;
            let y = RULER_HEIGHT;
            expect(geometry.rowUnder(y - 1)).toBeUndefined();
            for (const row of layout.pinned) {
                expect([geometry.rowUnder(y), geometry.rowUnder(y + row.height - 1)]).toEqual([row, row]);
                y += row.height;
            }
            const top = y;
            y -= geometry.scroll;
            for (const row of layout.rows) {
                expect(geometry.rowY(row)).toBe(y);
                if (y >= top) expect(geometry.rowUnder(y)).toBe(row);
                if (y + row.height > top) expect(geometry.rowUnder(y + row.height - 1)).toBe(row);
                y += row.height;
            }
            expect(geometry.rowUnder(y)).toBeUndefined();
        };
        check();
        expect(geometry.layout.rows.length).toBeGreaterThan(60);
        session.scroll.value = 137;
        check();
        expect(geometry.scroll).toBe(137);
        session.togglePin(L.Compute);
        session.togglePin(lanes.count - 1);
        check();
        expect(geometry.layout.pinned).toHaveLength(2);
        // What is pinned can be pointed at.
        await canvas.send("pointermove", x(1500), RULER_HEIGHT + 3);
        expect(hovered()).toBe(lanes.first[L.Compute]);
    });
    it("is over the upper or the lower half where lanes share a row", async () => {
        session.open.value = firstOpen(trace.bundle);
        geometry.update();
        const folded = geometry.rowOf(L.Ops)!;
        expect([folded.lanes, folded.halves]).toEqual([[L.Ops, L.Recvs], true]);
        putBars(trace, L.Ops, [{ start: 1000, dur: 2000 }]);
        putBars(trace, L.Recvs, [{ start: 2000, dur: 3000 }]);
        const { first } = trace.bundle.lanes;
        const at = async (time: number, part: number): Promise<number> => {
            await canvas.send("pointermove", x(time), geometry.rowY(folded) + folded.height * part);
            return hovered();
        };
        expect([await at(2500, 0.2), await at(2500, 0.45)]).toEqual([first[L.Ops], first[L.Ops]]);
        expect([await at(2500, 0.55), await at(2500, 0.9)]).toEqual([first[L.Recvs], first[L.Recvs]]);
        // Where only one of them has a bar, it has the whole height.
        expect([await at(1500, 0.2), await at(1500, 0.9)]).toEqual([first[L.Ops], first[L.Ops]]);
        expect([await at(4000, 0.2), await at(4000, 0.9)]).toEqual([first[L.Recvs], first[L.Recvs]]);
    });
    it("over a name is over the row, not over a bar", async () => {
        await canvas.send("pointermove", NAMES_WIDTH - 1, middle(row()));
        expect([hovered(), session.rowHover.value?.row]).toEqual([-1, row()]);
        await canvas.send("pointermove", x(1500), middle(row()));
        expect([hovered() >= 0, session.rowHover.value]).toEqual([true, null]);
        await canvas.send("pointermove", x(1500), RULER_HEIGHT - 1);
        expect([hovered(), canvas.style.cursor]).toEqual([-1, "ew-resize"]);
        await canvas.send("pointermove", x(1500), middle(row()));
        await canvas.send("pointerleave", 0, 0);
        expect([hovered(), session.rowHover.value, session.flagHover.value]).toEqual([-1, null, null]);
    });
    it("shows nothing late: data that come when it has moved on are dropped", async () => {
        const read = trace.barAt.bind(trace);
        let come = (): void => {};
        trace.barAt = (...at) => new Promise((resolve) => (come = () => resolve(read(...at))));
        await canvas.send("pointermove", x(1500), middle(row()));
        const late = come;
        await canvas.send("pointerleave", 0, 0);
        late();
        await new Promise((resolve) => setTimeout(resolve, 0));
        expect(hovered()).toBe(-1);
    });
    it("selects by a click, and by one that trembles; a click beside selects nothing", async () => {
        const press = async (from: number, to: number): Promise<number> => {
            await canvas.send("pointerdown", from, middle(row()), { pointerId: 1 });
            await canvas.send("pointermove", to, middle(row()));
            await canvas.send("pointerup", to, middle(row()));
            return (session.selected.value?.bar ?? NaN) - trace.bundle.lanes.first[L.Compute]!;
        };
        expect(await press(x(2000) + 2, x(2000) + 2)).toBe(1);
        expect(await press(x(7500), x(7500) + 3)).toBe(9);
        expect(session.span.value).toBeNull();
        expect(await press(x(3500), x(3500))).toBeNaN();
        expect(session.selected.value).toBeNull();
    });
    it("opens the menu of what it is over", async () => {
        await canvas.send("contextmenu", x(2000) - 2, middle(row()));
        const menu = session.menu.value!;
        expect(menu.bar?.bar).toBe(trace.bundle.lanes.first[L.Compute]);
        expect(menu.row).toBe(row());
        expect(menu.at).toBeCloseTo(2000 - 2 * NS, 6);
        await canvas.send("contextmenu", 20, middle(row()));
        expect(session.menu.value).toMatchObject({ bar: null, row: row(), at: 0 });
    });
    it("takes an area by a drag, to the pixel and the row", async () => {
        const rows = geometry.layout.rows;
        const [a, b] = [rows.indexOf(row()), rows.indexOf(row()) + 3];
        await canvas.send("pointerdown", x(6000), middle(rows[b]!), { pointerId: 1 });
        await canvas.send("pointermove", x(2000), middle(rows[a]!));
        expect(session.span.value).toEqual({ t0: 2000, t1: 6000, rowFrom: a, rowTo: b, ruler: false });
        // Over the names it ends at their edge.
        await canvas.send("pointermove", 10, middle(rows[a]!));
        expect(session.span.value!.t0).toBe(0);
        await canvas.send("pointerup", 10, middle(rows[a]!));
        expect(session.panel.value).toBe("details");
    });
    it("zooms with the wheel about what is under it, and moves the rows without", async () => {
        session.view.value = { t0: 1e6, t1: 2e6 };
        geometry.update();
        const at = geometry.time(700);
        await canvas.send("wheel", 700, 300, { deltaX: 0, deltaY: -100, ctrlKey: true });
        geometry.update();
        expect(session.view.value.t1 - session.view.value.t0).toBeCloseTo(1e6 * Math.exp(-0.4), 3);
        expect(geometry.time(700)).toBeCloseTo(at, 3);
        const { t0 } = session.view.value;
        await canvas.send("wheel", 700, 300, { deltaX: 0, deltaY: 60 });
        expect([session.scroll.value, session.view.value.t0]).toEqual([60, t0]);
        const { scale } = geometry;
        await canvas.send("wheel", 700, 300, { deltaX: 0, deltaY: 50, shiftKey: true });
        expect(session.view.value.t0).toBeCloseTo(t0 + 50 / scale, 3);
        expect(session.scroll.value).toBe(60);
    });
});
