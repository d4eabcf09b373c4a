// The lower canvas: rows, their bars, names, ruler and flags. Drawn again only when the window, the rows or the data
// change; what follows the mouse is on the canvas above (overlay.ts).

import { firstEndAfter, GROUP, GROUP_SHIFT, type Block } from "../data/block";
import { firstBlock } from "../data/bundle";
import { BarFlag } from "../data/layout";
import type { Trace } from "../data/trace";
import { drawFlags } from "./flags";
import { clearScan, Folder, newScan, shareScans, type Axis, type Scan } from "./fold";
import { NAMES_WIDTH, RULER_HEIGHT, type Geometry } from "./geometry";
import { Labels } from "./labels";
import type { Row } from "../scene/layout";
import { FONT, Margins } from "./margins";
import { ColourTable, type Theme } from "../scene/palette";
import { Raster } from "./raster";

const LABEL_FROM = 44; // pixels: below that nothing readable fits
const MARKS_FROM = 14;

export class Painter {
    private readonly raster = new Raster();
    private readonly folder: Folder;
    private readonly labels: Labels;
    private readonly margins: Margins;
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
        this.labels = new Labels(trace, context);
        this.margins = new Margins(trace, context);
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
        this.margins.rulerAndGrid(geometry, theme);
        c.save();
        c.beginPath();
        c.rect(NAMES_WIDTH, RULER_HEIGHT, geometry.timeWidth, geometry.height);
        c.clip();
        geometry.eachRow((row) => this.texts(row, geometry, theme));
        drawFlags(c, this.trace, geometry, theme);
        c.restore();
        this.margins.names(geometry, theme);
    }

    private rasterise(geometry: Geometry, ratio: number): void {
        const colours = this.colours!;
        const width = Math.max(1, Math.round(geometry.timeWidth * ratio));
        const height = Math.max(1, Math.round((geometry.height - RULER_HEIGHT) * ratio));
        this.raster.resize(width, height);
        if (this.scan.width !== width) [this.scan, this.second] = [newScan(width), newScan(width)];
        this.axis.scale = geometry.scale * ratio;
        const pinnedEnd = geometry.layout.pinnedHeight;
        // Rows fill all but what is below the last of them.
        const bottom = Math.round((geometry.rowsTop + geometry.layout.height - geometry.scroll - RULER_HEIGHT) * ratio);
        this.raster.strip(bottom, height - bottom, colours.background[0]);
        // Rows that scroll first: those that are pinned lie over them.
        const draw = (row: Row, index: number): void => {
            const top = Math.round((geometry.rowY(row) - RULER_HEIGHT) * ratio);
            const high = Math.round(row.height * ratio);
            if (row.lanes.length === 0) {
                this.raster.strip(top, high, colours.heading);
                return;
            }
            const striped = (index & 1) as 0 | 1;
            const gap = Math.max(1, Math.round(2 * ratio));
            const inner = high - 2 * gap;
            this.raster.strip(top, gap, colours.background[striped]);
            // One line more: where heights are rounded, no line stays as it was.
            this.raster.strip(top + gap + inner, gap + 1, colours.background[striped]);
            clearScan(this.scan);
            this.axis.t0 = geometry.view.t0 - geometry.shift(row.group);
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
        // From the top down: where lanes are overlaid, the labels are those of the upper one.
        for (let k = row.lanes.length - 1; k >= 0; k--) {
            const lane = row.lanes[k]!;
            this.eachWide(lane, geometry, row.group, MARKS_FROM, (block, i, a, b) => {
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
            if (this.trace.findAt(other, (start + end) / 2, (end - start) / 2) >= 0) return true;
        }
        return false;
    }

    /** Bars of a lane that are at least `least` pixels wide. Groups of short ones are passed over without a look. */
    private eachWide(
        lane: number,
        geometry: Geometry,
        group: number,
        least: number,
        visit: (block: Block, i: number, a: number, b: number) => void,
    ): void {
        const { lanes, blocks } = this.trace.bundle;
        const by = geometry.shift(group);
        const [t0, t1] = [geometry.view.t0 - by, geometry.view.t1 - by];
        const { scale } = geometry;
        const time = least / scale;
        const last = lanes.blockFrom[lane + 1]!;
        for (let id = firstBlock(this.trace.bundle, lane, t0); id < last; id++) {
            if (blocks.from[id]! >= t1) break;
            const block = this.trace.blocks.peek(id);
            if (!block || (block.longestBar < time && !block.fade)) continue;
            for (let i = firstEndAfter(block, t0); i < block.count && block.start[i]! < t1; ) {
                if ((i & (GROUP - 1)) === 0 && block.longestTime[i >>> GROUP_SHIFT]! < time && !block.fade) {
                    i += GROUP;
                    continue;
                }
                // With what its end may reach: a bar of which only bounds are known has a name, too.
                const end = block.end[i]! + (block.fade?.[i] ?? 0);
                if (end - block.start[i]! >= time)
                    visit(block, i, NAMES_WIDTH + (block.start[i]! - t0) * scale, NAMES_WIDTH + (end - t0) * scale);
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
        if (block.flags[i]! & BarFlag.StartUnknown) this.openStart(a, b, y, height, theme);
        const onBar = this.colours!.onBar[block.kind[i]!] ?? theme.onBar;
        c.fillStyle = onBar;
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
        // What is hatched or pale has the background's lightness, and takes its text; behind a short wait there is
        // room.
        const waited = block.wait ? a + block.wait[i]! * geometry.scale : a;
        const behind = Math.max(0, to - Math.max(waited, from));
        // Where the words go: behind the wait, or on it where that has more room.
        const pale = waited > from && behind < LABEL_FROM + (waited - from > LABEL_FROM ? waited - from : 0);
        const left = waited > from && !pale ? waited : from;
        const right = pale && waited - from >= LABEL_FROM ? Math.min(waited, to) : to;
        const text = this.labels.of(block.name[i]!, block.kind[i]!, right - left - 8);
        if (text === "") return;
        for (let k = 0; k < this.taken.length; k += 3)
            if (from < this.taken[k + 1]! && to > this.taken[k]! && this.taken[k + 2] === y) return;
        this.taken.push(from, to, y);
        c.fillStyle = pale || block.flags[i]! & (BarFlag.Lost | BarFlag.NotRecorded) ? theme.text : onBar;
        c.fillText(text, left + 5, y + height / 2 + 0.5);
    }

    /** It began somewhere here or later: it comes in by steps, and has no edge. */
    private openStart(a: number, b: number, y: number, height: number, theme: Theme): void {
        const c = this.context;
        const step = Math.max(2, Math.min(6, (b - a) / 8));
        c.fillStyle = theme.background;
        for (let k = 0; k < 4; k++) {
            c.globalAlpha = 0.85 - 0.2 * k;
            c.fillRect(a + k * step, y + 2, step, height - 4);
        }
        c.globalAlpha = 1;
    }
}
