// The strip above the timeline: the whole run in a few lines of pixels, from the overview alone. A line is a rank, or
// one of several thousand: every so many are taken, each with what its folded row would show.

import { Level } from "../data/bundle";
import type { Trace } from "../data/trace";
import { clearScan, foldOverview, newScan, type Axis } from "./fold";
import { emptyOverview } from "../data/overview";
import { summaryLanes } from "../scene/layout";
import { openWaits } from "../scene/opening";
import type { ColourTable } from "../scene/palette";
import { colourLine } from "./raster";

/** Lanes of a line: a rank has few that sum it up. */
const MOST_LANES = 6;

/** Ranks of the bundle; without any, what there is: processes or hosts. */
export function lineGroups(trace: Trace): number[] {
    const { groups } = trace.bundle;
    for (const level of [Level.Rank, Level.Process, Level.Host]) {
        const found: number[] = [];
        for (let g = 0; g < groups.count; g++) if (groups.level[g] === level) found.push(g);
        if (found.length > 0) return found;
    }
    return [];
}

/** Says whether all of it was there; else it is to be drawn again when more of the overview has come. */
export function drawMinimap(canvas: HTMLCanvasElement, trace: Trace, colours: ColourTable): boolean {
    const { width, height } = canvas;
    const context = canvas.getContext("2d", { alpha: false })!;
    const image = context.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer).fill(colours.background[0]);
    const ranks = lineGroups(trace);
    const lines = Math.min(ranks.length, Math.max(1, Math.floor(height / 2)));
    const scan = newScan(width);
    const line = new Uint32Array(width);
    const overview = emptyOverview();
    const { span } = trace.bundle;
    const axis: Axis = { t0: 0, scale: width / Math.max(1, span) };
    const waits = openWaits(trace.bundle);
    let complete = true;
    for (let k = 0; k < lines; k++) {
        clearScan(scan);
        const group = ranks[Math.floor((k * ranks.length) / lines)]!;
        for (const lane of summaryLanes(trace.bundle, group, () => true).slice(0, MOST_LANES)) {
            if (trace.overview.get(lane, overview)) foldOverview(overview, axis, scan, 0, span, waits);
            else complete = false;
        }
        colourLine(scan, line, 0, colours);
        const [from, to] = [Math.floor((k * height) / lines), Math.floor(((k + 1) * height) / lines)];
        // A line of background between two, where there is room for one.
        for (let y = from; y < (to - from > 3 ? to - 1 : to); y++) pixels.set(line, y * width);
    }
    context.putImageData(image, 0, 0);
    return complete;
}

/** What a press at `x` of `width` pixels takes hold of: an edge of the window, the window, or a new place for it. */
export function grip(x: number, from: number, to: number): "left" | "right" | "window" | "new" {
    const near = 6;
    if (Math.abs(x - from) <= near && Math.abs(x - from) <= Math.abs(x - to)) return "left";
    if (Math.abs(x - to) <= near) return "right";
    return x > from && x < to ? "window" : "new";
}
