// Relations: dotted blue from a child to its parent, red through the same operation on all ranks with the wait and the
// transfer shaded apart, arrows from a send to its receive. Of the selection, or of all that is seen.

import { firstEndAfter } from "../data/block";
import { laneOfBar } from "../data/bundle";
import type { Part } from "../data/chunks";
import { NONE, OpKind } from "../data/layout";
import type { Bar, Related, Trace } from "../data/trace";
import type { Geometry } from "./geometry";
import type { Theme } from "../scene/palette";

/** Operations whose lines are drawn when all are wanted: more is a carpet. */
const MOST_OPS = 250;
const LEAST_WIDTH = 5; // pixels of an operation
const LAST_WIDTH = 25; // of the word "last"
/** Dotted lines: of one bar's children, and of all that is seen. */
const MOST_CHILDREN = 300;
const MOST_PARENTS = 500;
/** Operations before the window that may still run in it. */
const STILL_RUNNING = 200;

interface Spot {
    x: number;
    y: number; // of the middle
    height: number;
    exact: boolean; // the bar itself is there; else a row that stands for it
}

/** Height of the strip below the bars of the selected operation, in pixels. */
const STRIP = 3;

export class Relations {
    /** Called when parts have come that were not there. */
    onArrival: () => void = () => {};
    private readonly parts = new Map<number, Part[] | "asked">();

    constructor(private readonly trace: Trace) {}

    ofSelection(c: CanvasRenderingContext2D, related: Related, geometry: Geometry, theme: Theme): void {
        for (const parent of related.parents) this.dotted(c, related.bar, parent, geometry, theme);
        for (const child of related.children.slice(0, MOST_CHILDREN))
            this.dotted(c, child, related.bar, geometry, theme);
        for (const work of related.launched.slice(0, MOST_CHILDREN)) this.dotted(c, work, related.bar, geometry, theme);
        if (related.parts.length > 1) {
            this.shade(c, related.bar.op, related.parts, geometry, theme);
            this.through(c, related.parts, geometry, theme, 1.8);
        }
        for (const [send, receive] of related.arrows) this.arrow(c, send, receive, geometry, theme);
    }

    /** The operations in the window; those whose parts are not here yet are asked for and come with the next frame. */
    ofAll(c: CanvasRenderingContext2D, geometry: Geometry, theme: Theme): void {
        const { ops } = this.trace.bundle;
        // The second of two runs may be moved either way.
        const by = Math.abs(geometry.shifts[1] ?? 0);
        const [from, to] = this.trace.opsFrom(geometry.view.t0 - by, geometry.view.t1 + by);
        let drawn = 0;
        for (let op = Math.max(0, from - STILL_RUNNING); op < to && drawn < MOST_OPS; op++) {
            // An end that is not known may be anywhere: such operations are drawn, too.
            if ((ops.end[op]! - ops.first[op]!) * geometry.scale < LEAST_WIDTH) continue;
            if (ops.end[op]! + by < geometry.view.t0) continue;
            drawn++;
            const parts = this.parts.get(op);
            if (parts === undefined) this.ask(op);
            else if (parts === "asked") continue;
            else if (ops.kind[op] === OpKind.Pair) this.pair(c, op, parts, geometry, theme);
            else this.through(c, parts, geometry, theme, 1);
        }
        this.allParents(c, geometry, theme);
    }

    /** Of bars that are wide enough to be distinguished, and whose parents are in memory. */
    private allParents(c: CanvasRenderingContext2D, geometry: Geometry, theme: Theme): void {
        const { lanes, blocks } = this.trace.bundle;
        let drawn = 0;
        geometry.eachRow((row) => {
            if (row.lanes.length !== 1) return;
            const lane = row.lanes[0]!;
            const by = geometry.shift(row.group);
            const [t0, t1] = [geometry.view.t0 - by, geometry.view.t1 - by];
            for (let id = lanes.blockFrom[lane]!; id < lanes.blockFrom[lane + 1]! && blocks.from[id]! < t1; id++) {
                const block = this.trace.blocks.peek(id);
                if (!block?.parent || blocks.to[id]! <= t0 || block.longestBar * geometry.scale < 8) continue;
                for (
                    let i = firstEndAfter(block, t0);
                    i < block.count && block.start[i]! < t1 && drawn < MOST_PARENTS;
                    i++
                ) {
                    if ((block.end[i]! - block.start[i]!) * geometry.scale < 8) continue;
                    const child = this.trace.barNow(block.first + i);
                    const parent = block.parent[i]! > 0 ? this.trace.barNow(block.parent[i]! - 1) : undefined;
                    if (!child || !parent) continue;
                    this.dotted(c, child, parent, geometry, theme);
                    drawn++;
                }
            }
        });
    }

    private ask(op: number): void {
        this.parts.set(op, "asked");
        void this.trace.partsOf(op).then((parts) => {
            this.parts.set(op, parts);
            if (this.parts.size > 5000) this.parts.clear();
            this.onArrival();
        });
    }

    private spot(lane: number, time: number, geometry: Geometry): Spot | undefined {
        const row = geometry.standIn(lane);
        if (!row) return undefined;
        const exact = geometry.rowOf(lane) !== undefined;
        return {
            x: geometry.x(time + geometry.shift(row.group)),
            y: geometry.rowY(row) + row.height / 2,
            height: row.height,
            exact,
        };
    }

    /** Where the other end is folded away or hidden: a dot on the row that stands for it. */
    private dot(c: CanvasRenderingContext2D, spot: Spot, colour: string, ground: string): void {
        c.fillStyle = spot.exact ? colour : ground;
        c.strokeStyle = colour;
        c.lineWidth = 1.4;
        c.beginPath();
        c.arc(spot.x, spot.y, spot.exact ? 2.5 : 3.5, 0, 7);
        c.fill();
        c.stroke();
    }

    private dotted(c: CanvasRenderingContext2D, child: Bar, parent: Bar, geometry: Geometry, theme: Theme): void {
        const a = this.spot(child.lane, child.start, geometry);
        const b = this.spot(parent.lane, parent.start, geometry);
        if (!a || !b || (a.y === b.y && !(a.exact && b.exact))) return;
        c.strokeStyle = theme.relation;
        c.lineWidth = 1.4;
        c.setLineDash([2, 3]);
        c.beginPath();
        c.moveTo(a.x, a.y);
        c.lineTo(b.x, b.y);
        c.stroke();
        c.setLineDash([]);
        this.dot(c, b, theme.relation, theme.background);
        if (!a.exact) this.dot(c, a, theme.relation, theme.background);
    }

    private laneOf(part: Part): number {
        return part.bar === NONE ? NONE : laneOfBar(this.trace.bundle.lanes, part.bar);
    }

    /** Red lines through all starts and through all ends, from row to row. */
    private through(c: CanvasRenderingContext2D, parts: Part[], geometry: Geometry, theme: Theme, width: number): void {
        const points: { y: number; height: number; exact: boolean; start: number; end: number }[] = [];
        for (const part of parts) {
            const spot = Number.isFinite(part.start) ? this.spot(this.laneOf(part), part.start, geometry) : undefined;
            if (spot)
                points.push({
                    ...spot,
                    y: spot.y - spot.height / 2,
                    start: spot.x,
                    end: spot.x + (part.end - part.start) * geometry.scale,
                });
        }
        points.sort((a, b) => a.y - b.y);
        c.strokeStyle = theme.sameOp;
        c.lineWidth = width;
        for (const side of ["start", "end"] as const) {
            c.globalAlpha = side === "start" ? 1 : 0.45;
            c.beginPath();
            let open = false;
            for (const p of points) {
                if (!Number.isFinite(p[side])) {
                    open = false;
                    continue;
                }
                if (open) c.lineTo(p[side], p.y);
                else c.moveTo(p[side], p.y);
                c.lineTo(p[side], p.y + p.height);
                open = true;
            }
            c.stroke();
        }
        c.globalAlpha = 1;
        for (const p of points)
            if (!p.exact) this.dot(c, { ...p, x: p.start, y: p.y + p.height / 2 }, theme.sameOp, theme.background);
    }

    /** Wait pale, transfer strong; the last arriver with a mark, unless it is a tie. */
    private shade(c: CanvasRenderingContext2D, op: number, parts: Part[], geometry: Geometry, theme: Theme): void {
        const { ops } = this.trace.bundle;
        c.fillStyle = theme.sameOp;
        for (const part of parts) {
            const row = geometry.rowOf(this.laneOf(part));
            if (!row || !Number.isFinite(part.start)) continue;
            const y = geometry.rowY(row);
            const by = geometry.shift(row.group);
            const [start, last] = [geometry.x(part.start + by), geometry.x(ops.last[op]! + by)];
            const end = Number.isFinite(part.end) ? geometry.x(part.end + by) : last;
            // Below the words of the bars: they stay readable on every theme.
            const [top, high] = [y + row.height - STRIP, STRIP];
            c.globalAlpha = 0.4;
            c.fillRect(start, top, Math.max(0, Math.min(last, end) - start), high);
            c.globalAlpha = 0.9;
            c.fillRect(last, top, Math.max(0, end - last), high);
            c.globalAlpha = 1;
            if (part.index === ops.lastPart[op]) {
                c.beginPath();
                c.moveTo(start - 9, y + 3);
                c.lineTo(start - 1, y + row.height / 2);
                c.lineTo(start - 9, y + row.height - 3);
                c.fill();
                // On a plate of its own: there may be another operation just before.
                c.fillStyle = theme.background;
                c.fillRect(start - 12 - LAST_WIDTH, y + row.height / 2 - 7, LAST_WIDTH, 14);
                c.fillStyle = theme.sameOp;
                c.fillText("last", start - 9 - LAST_WIDTH, y + row.height / 2 + 0.5);
            }
        }
    }

    /** Of a pair that is not selected: its parts are enough for the arrow. */
    private pair(c: CanvasRenderingContext2D, op: number, parts: Part[], geometry: Geometry, theme: Theme): void {
        const { ops, members } = this.trace.bundle;
        const of = (rank: number) => parts.find((part) => members.rank[part.member] === rank && part.bar !== NONE);
        const [send, receive] = [of(ops.src[op]!), of(ops.dst[op]!)];
        if (!send || !receive || send === receive) return;
        const a = this.spot(this.laneOf(send), send.start, geometry);
        const bar = this.trace.barNow(receive.bar);
        const end = Number.isFinite(receive.end) ? receive.end : bar ? bar.end + bar.fade : NaN;
        const b = this.spot(this.laneOf(receive), end, geometry);
        if (a && b && Number.isFinite(b.x)) this.line(c, a, b, theme, 1.2, !Number.isFinite(receive.end));
    }

    private arrow(c: CanvasRenderingContext2D, send: Bar, receive: Bar, geometry: Geometry, theme: Theme): void {
        const a = this.spot(send.lane, send.start, geometry);
        // Where its end is only bounded, it was there by the later bound: the arrow is dashed.
        const b = this.spot(receive.lane, receive.end + receive.fade, geometry);
        if (a && b) this.line(c, a, b, theme, 2, receive.fade > 0);
    }

    private line(c: CanvasRenderingContext2D, a: Spot, b: Spot, theme: Theme, width: number, bounded: boolean): void {
        const angle = Math.atan2(b.y - a.y, b.x - a.x);
        c.strokeStyle = theme.arrow;
        c.lineWidth = width;
        c.setLineDash(bounded ? [7, 4] : []);
        c.beginPath();
        c.moveTo(a.x, a.y);
        c.lineTo(b.x, b.y);
        c.stroke();
        c.setLineDash([]);
        if (!a.exact) this.dot(c, a, theme.arrow, theme.background);
        if (!b.exact) return this.dot(c, b, theme.arrow, theme.background);
        c.fillStyle = theme.arrow;
        c.beginPath();
        c.moveTo(b.x, b.y);
        const size = 6 + 2 * width;
        for (const turn of [2.7, -2.7])
            c.lineTo(b.x + size * Math.cos(angle + turn), b.y + size * Math.sin(angle + turn));
        c.fill();
    }
}
