// The ranks that are to blame for a hang, in their rows: what they did not do, from their last sign to the end.

import type { RowMark } from "../data/meta";
import type { Trace } from "../data/trace";
import type { Row } from "../scene/layout";
import type { Theme } from "../scene/palette";
import { NAMES_WIDTH, type Geometry } from "./geometry";

const BOLD = "600 11px system-ui, sans-serif";
/** Pixels that the words have at least: they may begin before their time. */
const LEAST_ROOM = 170;

export class Blamed {
    private readonly byGroup = new Map<number, RowMark>();

    constructor(
        private readonly trace: Trace,
        private readonly context: CanvasRenderingContext2D,
    ) {
        for (const mark of trace.bundle.meta.marks ?? []) this.byGroup.set(mark.group, mark);
    }

    isMarked(row: Row): boolean {
        return !row.pinned && row.open !== null && this.byGroup.has(row.group);
    }

    draw(row: Row, geometry: Geometry, theme: Theme): void {
        const mark = this.isMarked(row) ? this.byGroup.get(row.group)! : undefined;
        if (!mark) return;
        const c = this.context;
        const [a, b] = [geometry.x(mark.from_ns), geometry.x(this.trace.bundle.span)];
        if (b < NAMES_WIDTH || a > geometry.width) return;
        const [left, right] = [Math.max(a, NAMES_WIDTH), Math.min(b, geometry.width - 2)];
        const y = geometry.rowY(row);
        c.fillStyle = theme.sameOp;
        c.globalAlpha = 0.1;
        c.fillRect(left, y + 1, right - left, row.height - 2);
        c.globalAlpha = 1;
        c.strokeStyle = theme.sameOp;
        c.lineWidth = 1.5;
        c.strokeRect(left, y + 1.5, right - left, row.height - 3);
        if (row.height < 12) return;
        c.font = BOLD;
        const at = Math.max(NAMES_WIDTH + 6, Math.min(left + 8, geometry.width - LEAST_ROOM));
        const { width } = c.measureText(mark.text);
        c.fillStyle = theme.background;
        c.fillRect(at - 4, y + row.height / 2 - 8, Math.min(width + 8, right - at), 16);
        c.fillStyle = theme.sameOp;
        c.fillText(mark.text, at, y + row.height / 2 + 0.5);
    }
}
