// Folding: the bars of a lane onto the pixels of a row. What is wider than a pixel is drawn as it is; of what is
// narrower, a pixel shows how much of it is covered and by what most. Nothing is stored beforehand but a summary of
// every 16 bars, and nothing is allocated: the arrays of a Scan are used again for every row of every frame.

import { firstEndAfter, GROUP, GROUP_SHIFT, type Block } from "../data/block";
import { firstBlock, type Bundle } from "../data/bundle";
import { BarFlag } from "../data/layout";
import type { LaneOverview, Overview } from "../data/overview";
import type { Blocks } from "../data/blocks";
import { emptyOverview } from "../data/overview";
import { openWaits } from "../scene/opening";

/** What a pixel shows besides a colour. */
export const enum Shade {
    /** Waiting for the last rank: paler. */
    Wait = 1,
    /** Between the bounds of an end that is not known: `cover` falls towards the later one. */
    Fade = 2,
    /** Lost: hatched. */
    Lost = 4,
    /** Not recorded: hatched in grey. */
    NotRecorded = 8,
    /** A bar begins here: a line keeps two alike apart. */
    Edge = 16,
    /** Nothing, between two bars of a rank: outside NCCL. */
    Outside = 32,
}

/** One row of pixels. */
export interface Scan {
    width: number;
    kind: Uint8Array; // 0: nothing; else kind + 1
    cover: Float32Array; // 0..1
    most: Float32Array; // pixels that the bar of `kind` covers here, 0..1: the larger wins
    shade: Uint8Array;
}

export function newScan(width: number): Scan {
    return {
        width,
        kind: new Uint8Array(width),
        cover: new Float32Array(width),
        most: new Float32Array(width),
        shade: new Uint8Array(width),
    };
}

export function clearScan(scan: Scan): void {
    scan.kind.fill(0);
    scan.cover.fill(0);
    scan.most.fill(0);
    scan.shade.fill(0);
}

/** Where only one of two has something, both show it; where both have, each keeps its own: halves of a row. */
export function shareScans(a: Scan, b: Scan): void {
    for (let x = 0; x < a.width; x++) {
        if ((a.kind[x] === 0) === (b.kind[x] === 0)) continue;
        const from = a.kind[x] === 0 ? b : a;
        const to = from === a ? b : a;
        to.kind[x] = from.kind[x]!;
        to.cover[x] = from.cover[x]!;
        to.shade[x] = from.shade[x]!;
    }
}

/** Where the pixels lie in time. */
export interface Axis {
    t0: number;
    scale: number; // pixels a ns
}

/** Adds `amount` of a pixel: the bar that covers most of it gives the colour. */
function touch(scan: Scan, x: number, amount: number, kind: number, shade: number): void {
    const cover = scan.cover[x]! + amount;
    scan.cover[x] = cover > 1 ? 1 : cover;
    if (amount >= scan.most[x]!) {
        scan.most[x] = amount;
        scan.kind[x] = kind + 1;
        scan.shade[x] = shade | (scan.shade[x]! & Shade.Lost);
    }
    // A loss is never hidden by what is larger.
    else if (shade & Shade.Lost) scan.shade[x]! |= Shade.Lost;
}

/** A stretch from a to b in pixels, not both in one pixel necessarily. */
function stretch(scan: Scan, a: number, b: number, kind: number, shade: number): void {
    const from = a < 0 ? 0 : a;
    const to = b > scan.width ? scan.width : b;
    if (to <= from) return;
    let x = Math.floor(from);
    const last = Math.floor(to);
    if (x === last) {
        touch(scan, x, to - from, kind, shade);
        return;
    }
    touch(scan, x, x + 1 - from, kind, shade);
    for (x++; x < last; x++) {
        scan.cover[x] = 1;
        scan.most[x] = 1;
        scan.kind[x] = kind + 1;
        scan.shade[x] = shade;
    }
    if (x < scan.width && to > x) touch(scan, x, to - x, kind, shade);
}

function shadeOf(flags: number): number {
    if (flags & BarFlag.Lost) return Shade.Lost;
    return flags & BarFlag.NotRecorded ? Shade.NotRecorded : 0;
}

/** One bar that is wider than a pixel, or lies on the edge of two. */
function wideBar(b: Block, i: number, axis: Axis, scan: Scan): void {
    const a = (b.start[i]! - axis.t0) * axis.scale;
    const end = (b.end[i]! - axis.t0) * axis.scale;
    const kind = b.kind[i]!;
    const shade = shadeOf(b.flags[i]!);
    const wait = b.wait ? b.wait[i]! * axis.scale : 0;
    if (wait > 0) stretch(scan, a, Math.min(a + wait, end), kind, shade | Shade.Wait);
    stretch(scan, a + wait, end, kind, shade);
    if (b.flags[i]! & BarFlag.EndBounded && b.fade) fade(scan, end, b.fade[i]! * axis.scale, kind);
    if (end - a >= 3 && a >= 0 && a < scan.width) scan.shade[Math.floor(a)]! |= Shade.Edge;
}

/** From certain at `from` to gone after `length` pixels. */
function fade(scan: Scan, from: number, length: number, kind: number): void {
    const last = Math.min(scan.width, Math.ceil(from + length));
    for (let x = Math.max(0, Math.floor(from)); x < last; x++) {
        const left = 1 - (x + 0.5 - from) / length;
        if (left <= 0 || scan.most[x]! >= 1) continue;
        scan.cover[x] = Math.max(scan.cover[x]!, Math.min(1, left) * 0.8);
        scan.most[x] = Math.max(scan.most[x]!, 0.01);
        scan.kind[x] = kind + 1;
        scan.shade[x] = Shade.Fade;
    }
}

export function foldBlock(b: Block, axis: Axis, scan: Scan): void {
    const { t0, scale } = axis;
    const pixel = 1 / scale; // ns
    const t1 = t0 + scan.width * pixel;
    let i = firstEndAfter(b, t0);
    // The bar before may reach in with its fading end.
    if (i > 0 && b.fade && b.fade[i - 1]! > 0 && b.end[i - 1]! + b.fade[i - 1]! > t0) i--;
    while (i < b.count && b.start[i]! < t1) {
        const x = Math.floor((b.start[i]! - t0) * scale);
        const pixelEnd = t0 + (x + 1) * pixel;
        if (b.end[i]! > pixelEnd || x < 0 || (b.fade && b.fade[i]! * scale > 1)) {
            wideBar(b, i, axis, scan);
            i++;
            continue;
        }
        // All in one pixel: whole groups at once where they fit.
        if ((i & (GROUP - 1)) === 0 && i + GROUP <= b.count && b.end[i + GROUP - 1]! <= pixelEnd) {
            const g = i >>> GROUP_SHIFT;
            crowd(
                scan,
                x,
                b.busy[g]! * scale,
                b.longestTime[g]! * scale,
                b.longest[g]!,
                shadeOf(b.anyFlags[g]! & BarFlag.Lost),
            );
            i += GROUP;
        } else {
            const amount = (b.end[i]! - b.start[i]!) * scale;
            crowd(scan, x, amount, amount, b.kind[i]!, shadeOf(b.flags[i]!));
            i++;
        }
    }
}

/** Something must be seen of what is there, however short it is. */
const LEAST_COVER = 0.02;

function crowd(scan: Scan, x: number, busy: number, longest: number, kind: number, shade: number): void {
    if (x >= scan.width) return;
    const cover = scan.cover[x]! + (busy > LEAST_COVER ? busy : LEAST_COVER);
    scan.cover[x] = cover > 1 ? 1 : cover;
    if (longest >= scan.most[x]!) {
        scan.most[x] = longest;
        scan.kind[x] = kind + 1;
        scan.shade[x] = (scan.shade[x]! & Shade.Lost) | shade;
    } else if (shade & Shade.Lost) scan.shade[x]! |= Shade.Lost;
}

/**
 * The same from the overview, for the pixels of from .. to (ns). It does not know of waits, but for one: `openWaits`, what
 * was open at the end waits.
 */
export function foldOverview(
    o: LaneOverview,
    axis: Axis,
    scan: Scan,
    from: number,
    to: number,
    openWaits = false,
): void {
    const first = Math.max(0, Math.floor((from - axis.t0) * axis.scale));
    const last = Math.min(scan.width, Math.ceil((to - axis.t0) * axis.scale));
    const perPixel = 1 / (axis.scale * o.width); // buckets
    const start = axis.t0 / o.width;
    for (let x = first; x < last; x++) {
        if (start + (x + 1) * perPixel <= 0) continue; // before the begin there is nothing
        const a = Math.max(0, Math.floor(start + x * perPixel));
        const b = Math.min(o.buckets, Math.max(a + 1, Math.floor(start + (x + 1) * perPixel)));
        let sum = 0;
        let best = 0;
        for (let k = o.base + a; k < o.base + b; k++) {
            const busy = o.busy[k]!;
            sum += busy;
            if (busy > best) {
                best = busy;
                if (busy / 255 >= scan.most[x]!) {
                    scan.most[x] = busy / 255;
                    scan.kind[x] = o.kind[k]! + 1;
                    scan.shade[x] =
                        (scan.shade[x]! & Shade.Lost) | (openWaits && o.flags[k]! & BarFlag.Open ? Shade.Wait : 0);
                }
            }
            if (o.flags[k]! & BarFlag.Lost) scan.shade[x]! |= Shade.Lost;
        }
        if (sum > 0) scan.cover[x] = Math.min(1, scan.cover[x]! + Math.max(LEAST_COVER, sum / (255 * (b - a))));
    }
}

/** Bars per pixel up to which a lane is drawn from its bars, at any zoom: they show waits and fading ends. */
const FEW_A_PIXEL = 2;

/** Folds lanes onto a scan; says whether all of it came from bars that are there, or from an overview fine enough. */
export class Folder {
    private readonly overviewOfLane = emptyOverview();
    private readonly openWaits: boolean;

    constructor(
        private readonly bundle: Bundle,
        private readonly blocks: Blocks,
        private readonly overview: Overview,
    ) {
        this.openWaits = openWaits(bundle);
    }

    fold(lane: number, axis: Axis, scan: Scan): boolean {
        const { lanes, blocks } = this.bundle;
        const t1 = axis.t0 + scan.width / axis.scale;
        const has = this.overview.get(lane, this.overviewOfLane);
        const many = lanes.bars[lane]! > FEW_A_PIXEL * scan.width;
        if (has && many && this.overviewOfLane.width * axis.scale <= 1) {
            foldOverview(this.overviewOfLane, axis, scan, axis.t0, t1, this.openWaits);
            return true;
        }
        let complete = true;
        const last = lanes.blockFrom[lane + 1]!;
        for (let id = firstBlock(this.bundle, lane, axis.t0); id < last && blocks.from[id]! < t1; id++) {
            const block = this.blocks.get(id);
            if (block) foldBlock(block, axis, scan);
            else {
                complete = false;
                if (has)
                    foldOverview(this.overviewOfLane, axis, scan, blocks.from[id]!, blocks.to[id]!, this.openWaits);
            }
        }
        return complete;
    }
}
