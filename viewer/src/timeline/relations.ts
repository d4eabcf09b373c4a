// Relations: dotted blue from a child to its parent, red through the same operation on all ranks with the wait and the
// transfer shaded apart, arrows from a send to its receive. Of the selection, or of all that is seen.

import { firstEndAfter } from "../data/block";
import { laneOfBar } from "../data/bundle";
import type { Part } from "../data/chunks";
import { NONE } from "../data/layout";
import type { Bar, Related, Trace } from "../data/trace";
import type { Geometry } from "./geometry";
import type { Theme } from "./palette";

/** Operations whose lines are drawn when all are wanted: more is a carpet. */
const MOST_OPS = 250;
const LEAST_WIDTH = 5; // pixels of an operation

interface Spot {
    x: number;
    y: number;
    height: number;
}

export class Relations {
    /** Called when parts have come that were not there. */
    onArrival: () => void = () => {};
    private readonly parts = new Map<number, Part[] | "asked">();

    constructor(private readonly trace: Trace) {}

    ofSelection(c: CanvasRenderingContext2D, related: Related, geometry: Geometry, theme: Theme): void {
        for (const parent of related.parents) this.dotted(c, related.bar, parent, geometry, theme);
        for (const child of related.children) this.dotted(c, child, related.bar, geometry, theme);
        for (const work of related.launched) this.dotted(c, work, related.bar, geometry, theme);
        if (related.parts.length > 1) {
            this.shade(c, related.bar.op, related.parts, geometry, theme);
            this.through(c, related.parts, geometry, theme, 1.8);
        }
        for (const [send, receive] of related.arrows) this.arrow(c, send, receive, geometry, theme);
    }

    /** The operations in the window; those whose parts are not here yet are asked for and come with the next frame. */
    ofAll(c: CanvasRenderingContext2D, geometry: Geometry, theme: Theme): void {
        const { ops } = this.trace.bundle;
        const [from, to] = this.trace.opsFrom(geometry.view.t0, geometry.view.t1);
        let drawn = 0;
        for (let op = from; op < to && drawn < MOST_OPS; op++) {
            if ((ops.end[op]! - ops.first[op]!) * geometry.scale < LEAST_WIDTH) continue;
            drawn++;
            const parts = this.parts.get(op);
            if (parts === undefined) this.ask(op);
            else if (parts !== "asked") this.through(c, parts, geometry, theme, 1);
        }
        this.allParents(c, geometry, theme);
    }

    /** Of bars that are wide enough to be told apart, and whose parents are in memory. */
    private allParents(c: CanvasRenderingContext2D, geometry: Geometry, theme: Theme): void {
        const { lanes, blocks } = this.trace.bundle;
        const { t0, t1 } = geometry.view;
        let drawn = 0;
        geometry.eachRow((row) => {
            if (row.lanes.length !== 1) return;
            const lane = row.lanes[0]!;
            for (let id = lanes.blockFrom[lane]!; id < lanes.blockFrom[lane + 1]! && blocks.from[id]! < t1; id++) {
                const block = this.trace.blocks.peek(id);
                if (!block?.parent || blocks.to[id]! <= t0 || block.longestBar * geometry.scale < 8) continue;
                for (let i = firstEndAfter(block, t0); i < block.count && block.start[i]! < t1 && drawn < 500; i++) {
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

    private spot(bar: Bar, time: number, geometry: Geometry): Spot | undefined {
        const row = geometry.rowOf(bar.lane);
        return row && { x: geometry.x(time), y: geometry.rowY(row), height: row.height };
    }

    private dotted(c: CanvasRenderingContext2D, child: Bar, parent: Bar, geometry: Geometry, theme: Theme): void {
        const a = this.spot(child, child.start, geometry);
        const b = this.spot(parent, parent.start, geometry);
        if (!a || !b || a.y === b.y) return;
        c.strokeStyle = theme.relation;
        c.lineWidth = 1.4;
        c.setLineDash([2, 3]);
        c.beginPath();
        c.moveTo(a.x, a.y + a.height / 2);
        c.lineTo(b.x, b.y + b.height / 2);
        c.stroke();
        c.setLineDash([]);
        c.fillStyle = theme.relation;
        c.beginPath();
        c.arc(b.x, b.y + b.height / 2, 3, 0, 7);
        c.fill();
    }

    private rowOfPart(part: Part, geometry: Geometry): ReturnType<Geometry["rowOf"]> {
        return part.bar === NONE ? undefined : geometry.rowOf(laneOfBar(this.trace.bundle.lanes, part.bar));
    }

    /** Red lines through all starts and through all ends, from row to row. */
    private through(c: CanvasRenderingContext2D, parts: Part[], geometry: Geometry, theme: Theme, width: number): void {
        const points: { y: number; height: number; start: number; end: number }[] = [];
        for (const part of parts) {
            const row = this.rowOfPart(part, geometry);
            if (row && Number.isFinite(part.start))
                points.push({
                    y: geometry.rowY(row),
                    height: row.height,
                    start: geometry.x(part.start),
                    end: geometry.x(part.end),
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
    }

    /** Wait pale, transfer strong; the last arriver with a mark, unless it is a tie. */
    private shade(c: CanvasRenderingContext2D, op: number, parts: Part[], geometry: Geometry, theme: Theme): void {
        const { ops } = this.trace.bundle;
        const last = geometry.x(ops.last[op]!);
        c.fillStyle = theme.sameOp;
        for (const part of parts) {
            const row = this.rowOfPart(part, geometry);
            if (!row || !Number.isFinite(part.start)) continue;
            const y = geometry.rowY(row);
            const start = geometry.x(part.start);
            const end = Number.isFinite(part.end) ? geometry.x(part.end) : last;
            c.globalAlpha = 0.12;
            c.fillRect(start, y, Math.max(0, Math.min(last, end) - start), row.height);
            c.globalAlpha = 0.34;
            c.fillRect(last, y, Math.max(0, end - last), row.height);
            c.globalAlpha = 1;
            if (part.index === ops.lastPart[op]) {
                c.beginPath();
                c.moveTo(start - 9, y + 3);
                c.lineTo(start - 1, y + row.height / 2);
                c.lineTo(start - 9, y + row.height - 3);
                c.fill();
            }
        }
    }

    private arrow(c: CanvasRenderingContext2D, send: Bar, receive: Bar, geometry: Geometry, theme: Theme): void {
        const a = this.spot(send, send.start, geometry);
        const b = this.spot(receive, receive.end, geometry);
        if (!a || !b) return;
        const [y1, y2] = [a.y + a.height / 2, b.y + b.height / 2];
        const angle = Math.atan2(y2 - y1, b.x - a.x);
        c.strokeStyle = theme.arrow;
        c.fillStyle = theme.arrow;
        c.lineWidth = 2;
        c.beginPath();
        c.moveTo(a.x, y1);
        c.lineTo(b.x, y2);
        c.stroke();
        c.beginPath();
        c.moveTo(b.x, y2);
        for (const turn of [2.7, -2.7]) c.lineTo(b.x + 10 * Math.cos(angle + turn), y2 + 10 * Math.sin(angle + turn));
        c.fill();
    }
}
