// The lower canvas: rows, their bars, names, ruler and flags. Drawn again only when the window, the rows or the data
// change; what follows the mouse is on the canvas above (overlay.ts).

import { firstEndAfter, GROUP, GROUP_SHIFT, type Block } from "../data/block";
import { BarFlag } from "../data/layout";
import type { Trace } from "../data/trace";
import { clearScan, Folder, newScan, shareScans, type Axis, type Scan } from "./fold";
import { NAMES_WIDTH, RULER_HEIGHT, type Geometry } from "./geometry";
import type { Row } from "./layout";
import { ColourTable, type Theme } from "./palette";
import { Raster } from "./raster";
import { moment, niceStep } from "./ruler";

const FONT = "11px system-ui, sans-serif";
const CHARACTER = 6.3; // mean width in that font: text is cut by count, measuring each would cost more than drawing it
const LABEL_FROM = 34; // pixels: below that nothing readable fits
const MARKS_FROM = 14;

export class Painter {
    private readonly raster = new Raster();
    private readonly folder: Folder;
    private scan: Scan = newScan(1);
    private second: Scan = newScan(1); // of the lower halves
    private colours: ColourTable | undefined;
    private readonly axis: Axis = { t0: 0, scale: 1 };
    /** From, to and height of the words on the row that is drawn, in pixels. */
    private readonly taken: number[] = [];

    constructor(
        private readonly trace: Trace,
        private readonly context: CanvasRenderingContext2D,
    ) {
        this.folder = new Folder(trace.bundle, trace.blocks, trace.overview);
    }

    paint(geometry: Geometry, theme: Theme, ratio: number): void {
        const c = this.context;
        if (this.colours?.theme !== theme) this.colours = new ColourTable(this.trace.bundle.meta.kinds, theme);
        this.trace.blocks.beginFrame();
        c.setTransform(1, 0, 0, 1, 0, 0);
        this.rasterise(geometry, ratio);
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        c.font = FONT;
        c.textBaseline = "middle";
        this.rulerAndGrid(geometry, theme);
        c.save();
        c.beginPath();
        c.rect(NAMES_WIDTH, RULER_HEIGHT, geometry.timeWidth, geometry.height);
        c.clip();
        geometry.eachRow((row) => this.texts(row, geometry, theme));
        this.flags(geometry, theme);
        c.restore();
        this.names(geometry, theme);
    }

    private rasterise(geometry: Geometry, ratio: number): void {
        const colours = this.colours!;
        const width = Math.max(1, Math.round(geometry.timeWidth * ratio));
        const height = Math.max(1, Math.round((geometry.height - RULER_HEIGHT) * ratio));
        this.raster.resize(width, height);
        if (this.scan.width !== width) [this.scan, this.second] = [newScan(width), newScan(width)];
        this.raster.clear(colours.background[0]);
        this.axis.t0 = geometry.view.t0;
        this.axis.scale = geometry.scale * ratio;
        const pinnedEnd = geometry.layout.pinnedHeight;
        // Rows that scroll first: those that are pinned lie over them.
        const draw = (row: Row, index: number): void => {
            const top = Math.round((geometry.rowY(row) - RULER_HEIGHT) * ratio);
            const high = Math.round(row.height * ratio);
            if (row.open === true) {
                this.raster.strip(top, high, colours.heading);
                return;
            }
            const striped = (index & 1) as 0 | 1;
            this.raster.strip(top, high, colours.background[striped]);
            clearScan(this.scan);
            const gap = Math.max(1, Math.round(2 * ratio));
            const inner = high - 2 * gap;
            if (!row.halves) {
                for (const lane of row.lanes) this.folder.fold(lane, this.axis, this.scan);
                this.raster.row(this.scan, top + gap, inner, striped, colours);
                return;
            }
            clearScan(this.second);
            for (const lane of row.lanes)
                this.folder.fold(lane, this.axis, this.isLower(lane) ? this.second : this.scan);
            shareScans(this.scan, this.second);
            const half = inner >> 1;
            this.raster.row(this.scan, top + gap, half, striped, colours);
            this.raster.row(this.second, top + gap + half, inner - half, striped, colours);
        };
        geometry.eachRow((row, i) => !row.pinned && draw(row, i));
        if (pinnedEnd > 0) geometry.eachRow((row, i) => row.pinned && draw(row, i));
        if (this.raster.image)
            this.context.putImageData(
                this.raster.image,
                Math.round(NAMES_WIDTH * ratio),
                Math.round(RULER_HEIGHT * ratio),
            );
    }

    private texts(row: Row, geometry: Geometry, theme: Theme): void {
        const y = geometry.rowY(row);
        if (row.lanes.length === 0 || (!row.pinned && y + row.height < geometry.rowsTop)) return;
        this.taken.length = 0;
        // From the top down: where lanes lie over each other, the words are those of the upper one.
        for (let k = row.lanes.length - 1; k >= 0; k--) {
            const lane = row.lanes[k]!;
            this.eachWide(lane, geometry, MARKS_FROM, (block, i, a, b) => {
                const shared = row.halves && this.sharesRow(row, lane, block.start[i]!, block.end[i]!);
                const height = shared ? row.height / 2 : row.height;
                this.onBar(block, i, a, b, shared && this.isLower(lane) ? y + height : y, height, geometry, theme);
            });
        }
    }

    private isLower(lane: number): boolean {
        return this.trace.bundle.lanes.sub[lane]! > 0;
    }

    /** Whether a bar of the other half is there at the same time. */
    private sharesRow(row: Row, lane: number, start: number, end: number): boolean {
        for (const other of row.lanes) {
            if (this.isLower(other) === this.isLower(lane)) continue;
            const found = this.trace.barAtNow(other, (start + end) / 2, (end - start) / 2);
            if (found && found !== "not here") return true;
        }
        return false;
    }

    /** Bars of a lane that are at least `least` pixels wide. Groups of short ones are passed over without a look. */
    private eachWide(
        lane: number,
        geometry: Geometry,
        least: number,
        visit: (block: Block, i: number, a: number, b: number) => void,
    ): void {
        const { lanes, blocks } = this.trace.bundle;
        const { t0, t1 } = geometry.view;
        const time = least / geometry.scale;
        for (let id = lanes.blockFrom[lane]!; id < lanes.blockFrom[lane + 1]!; id++) {
            if (blocks.to[id]! <= t0) continue;
            if (blocks.from[id]! >= t1) break;
            const block = this.trace.blocks.peek(id);
            if (!block || block.longestBar < time) continue;
            for (let i = firstEndAfter(block, t0); i < block.count && block.start[i]! < t1; ) {
                if ((i & (GROUP - 1)) === 0 && block.longestTime[i >>> GROUP_SHIFT]! < time) {
                    i += GROUP;
                    continue;
                }
                if (block.end[i]! - block.start[i]! >= time)
                    visit(block, i, geometry.x(block.start[i]!), geometry.x(block.end[i]!));
                i++;
            }
        }
    }

    private onBar(
        block: Block,
        i: number,
        a: number,
        b: number,
        y: number,
        height: number,
        geometry: Geometry,
        theme: Theme,
    ): void {
        const c = this.context;
        const from = Math.max(a, NAMES_WIDTH);
        const to = Math.min(b, geometry.width);
        c.fillStyle = theme.onBar;
        // States of a step: a line where each begins.
        for (const column of block.marks) {
            const offset = column[i]!;
            if (offset > 0) c.fillRect(Math.round(a + offset * geometry.scale), y + 3, 1, height - 6);
        }
        if (block.flags[i]! & BarFlag.LastArriver) {
            c.fillStyle = theme.sameOp;
            c.beginPath();
            c.moveTo(a, y + 2);
            c.lineTo(a + 6, y + 2);
            c.lineTo(a, y + 9);
            c.fill();
        }
        if (to - from < LABEL_FROM || height < 12) return;
        const room = Math.floor((to - from - 8) / CHARACTER);
        const name = this.trace.nameOf({ name: block.name[i]!, kind: block.kind[i]! });
        for (let k = 0; k < this.taken.length; k += 3)
            if (from < this.taken[k + 1]! && to > this.taken[k]! && this.taken[k + 2] === y) return;
        this.taken.push(from, to, y);
        // What is hatched or pale has the background's lightness, and takes its text.
        const pale = block.wait !== undefined && geometry.x(block.start[i]! + block.wait[i]!) - from > LABEL_FROM;
        c.fillStyle = pale || block.flags[i]! & (BarFlag.Lost | BarFlag.NotRecorded) ? theme.text : theme.onBar;
        c.fillText(
            name.length > room ? `${name.slice(0, Math.max(1, room - 1))}…` : name,
            from + 5,
            y + height / 2 + 0.5,
        );
    }

    private rulerAndGrid(geometry: Geometry, theme: Theme): void {
        const c = this.context;
        c.fillStyle = theme.heading;
        c.fillRect(0, 0, geometry.width, RULER_HEIGHT);
        const { t0, t1 } = geometry.view;
        const step = niceStep(110 / geometry.scale);
        for (let k = Math.ceil(t0 / step); k * step < t1; k++) {
            const x = Math.round(geometry.x(k * step)) + 0.5;
            c.fillStyle = theme.grid;
            c.globalAlpha = 0.6;
            c.fillRect(x, RULER_HEIGHT - 6, 1, geometry.height);
            c.globalAlpha = 1;
            c.fillStyle = theme.dim;
            c.fillText(moment(k * step, step), x + 4, RULER_HEIGHT / 2);
        }
    }

    /** Creation and destruction of communicators. */
    private flags(geometry: Geometry, theme: Theme): void {
        const { flags, groups, strings } = this.trace.bundle;
        const c = this.context;
        let lastX = -100;
        let lastY = -100;
        for (let i = 0; i < flags.count; i++) {
            const time = flags.time[i]!;
            if (time < geometry.view.t0 || time > geometry.view.t1) continue;
            const row = geometry.rowOf(groups.laneFrom[flags.group[i]!]!);
            if (!row) continue;
            const x = geometry.x(time);
            const y = geometry.rowY(row);
            if (y < geometry.rowsTop || y > geometry.height || (Math.abs(x - lastX) < 2 && y === lastY)) continue;
            [lastX, lastY] = [x, y];
            c.fillStyle = theme.sameOp;
            c.fillRect(x, y, 1.5, row.height);
            c.beginPath();
            c.moveTo(x, y);
            c.lineTo(x + 9, y + 4);
            c.lineTo(x, y + 8);
            c.fill();
            // The words only where there is room for them.
            if (geometry.scale * 1e6 > 60) {
                c.fillStyle = theme.text;
                c.fillText(strings.get(flags.label[i]!), x + 12, y + 6);
            }
        }
    }

    private names(geometry: Geometry, theme: Theme): void {
        const c = this.context;
        const { groups } = this.trace.bundle;
        c.fillStyle = theme.background;
        c.fillRect(0, RULER_HEIGHT, NAMES_WIDTH, geometry.height);
        c.save();
        c.beginPath();
        c.rect(0, RULER_HEIGHT, NAMES_WIDTH - 6, geometry.height);
        c.clip();
        const draw = (row: Row): void => {
            const y = geometry.rowY(row);
            if (row.open === true || row.pinned) {
                c.fillStyle = theme.heading;
                c.fillRect(0, y, NAMES_WIDTH, row.height);
            }
            c.fillStyle = row.open === null ? theme.dim : theme.text;
            const mark = row.open === null ? (row.pinned ? "• " : "") : row.open ? "▾ " : "▸ ";
            c.fillText(mark + row.label, 6 + row.depth * 12, y + row.height / 2 + 0.5);
        };
        geometry.eachRow((row) => !row.pinned && draw(row));
        geometry.eachRow((row) => row.pinned && draw(row));
        c.restore();
        c.fillStyle = theme.grid;
        c.fillRect(NAMES_WIDTH - 1, 0, 1, geometry.height);
        c.fillStyle = theme.dim;
        const error = largest(groups.error);
        c.fillText(
            Number.isFinite(error) ? `clock error up to ${(error / 1000).toFixed(1)} us` : "clock error not known",
            6,
            RULER_HEIGHT / 2,
        );
    }
}

function largest(values: ArrayLike<number>): number {
    let most = NaN;
    for (let i = 0; i < values.length; i++) if (!(values[i]! <= most) && Number.isFinite(values[i]!)) most = values[i]!;
    return most;
}
