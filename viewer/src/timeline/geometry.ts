// Where things are on the screen, in CSS pixels of the timeline's canvas: names on the left, ruler on top, pinned rows
// below it, then the rows that scroll.

import { NONE } from "../data/layout";
import type { Session } from "../state/session";
import { rowAt, type Layout, type Row } from "../scene/layout";
import type { View } from "../scene/view";

export const NAMES_WIDTH = 230;
export const RULER_HEIGHT = 34;

export class Geometry {
    width = 0;
    height = 0;
    layout!: Layout;
    view: View = { t0: 0, t1: 1 };
    scroll = 0;

    constructor(private readonly session: Session) {}

    /** Takes over where the session looks now; once a frame. */
    update(): void {
        this.layout = this.session.layout.value;
        this.view = this.session.view.value;
        const most = Math.max(0, this.layout.height - this.rowsHeight);
        this.scroll = Math.min(Math.max(0, this.session.scroll.value), most);
        if (this.scroll !== this.session.scroll.value) this.session.scroll.value = this.scroll;
    }

    get timeWidth(): number {
        return Math.max(1, this.width - NAMES_WIDTH);
    }
    get rowsTop(): number {
        return RULER_HEIGHT + this.layout.pinnedHeight;
    }
    get rowsHeight(): number {
        return Math.max(0, this.height - this.rowsTop);
    }
    /** Pixels a ns. */
    get scale(): number {
        return this.timeWidth / (this.view.t1 - this.view.t0);
    }
    x(time: number): number {
        return NAMES_WIDTH + (time - this.view.t0) * this.scale;
    }
    time(x: number): number {
        return this.view.t0 + (x - NAMES_WIDTH) / this.scale;
    }
    /** By run: ns that its bars are moved by; none where there is one run. */
    get shifts(): number[] {
        return this.session.shifts.value;
    }
    /** By how much the bars of a group are moved: of two runs, the second is aligned at a step. */
    shift(group: number): number {
        return this.session.shift(group);
    }
    rowY(row: Row): number {
        return row.pinned ? RULER_HEIGHT + row.y : this.rowsTop + row.y - this.scroll;
    }

    rowUnder(y: number): Row | undefined {
        if (y < RULER_HEIGHT) return undefined;
        if (y < this.rowsTop) return this.layout.pinned[rowAt(this.layout.pinned, y - RULER_HEIGHT)];
        return this.layout.rows[rowAt(this.layout.rows, y - this.rowsTop + this.scroll)];
    }

    /** The row that a lane is drawn on, among those that scroll. */
    rowOf(lane: number): Row | undefined {
        return lane === NONE || this.layout.standsFor[lane] ? undefined : this.standIn(lane);
    }

    /** The same; or, where it is folded away or hidden, the closest row above it. */
    standIn(lane: number): Row | undefined {
        return lane === NONE ? undefined : this.layout.rows[this.layout.rowOfLane[lane] ?? -1];
    }

    /** The rows that are seen, those that are pinned first. */
    eachRow(visit: (row: Row, index: number) => void): void {
        this.layout.pinned.forEach((row, i) => visit(row, i));
        const { rows } = this.layout;
        for (
            let i = Math.max(0, rowAt(rows, this.scroll));
            i < rows.length && rows[i]!.y < this.scroll + this.rowsHeight;
            i++
        )
            visit(rows[i]!, i);
    }
}
