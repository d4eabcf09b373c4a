// Bars of one name among those that are seen: outlined while the mouse is over one of them, or left bright while all
// others are dimmed. Only what is in memory is looked at, and not more than a frame can bear.

import { firstEndAfter, GROUP, GROUP_SHIFT } from "../data/block";
import type { Trace } from "../data/trace";
import { NAMES_WIDTH, type Geometry } from "./geometry";

/** Bars that are looked at, and such that are drawn, in one frame. */
const MOST_SEEN = 40_000;
const MOST_DRAWN = 3000;

export type Box = (x: number, y: number, width: number, height: number) => void;

export class SameName {
    private text = "";
    private kinds: boolean[] = [];
    private readonly names = new Map<number, boolean>();

    constructor(private readonly trace: Trace) {}

    private is(name: number, kind: number): boolean {
        if (name === 0) return this.kinds[kind] ?? false;
        let same = this.names.get(name);
        if (same === undefined) this.names.set(name, (same = this.trace.bundle.strings.get(name) === this.text));
        return same;
    }

    /** A box for each bar of the name that is at least `least` pixels wide. */
    each(text: string, geometry: Geometry, least: number, draw: Box): void {
        if (text !== this.text) {
            this.text = text;
            this.kinds = this.trace.bundle.meta.kinds.map((kind) => kind.label === text);
            this.names.clear();
        }
        const { lanes, blocks } = this.trace.bundle;
        const time = least / geometry.scale;
        let seen = 0;
        let drawn = 0;
        geometry.eachRow((row) => {
            const y = geometry.rowY(row);
            const by = geometry.shift(row.group);
            const [t0, t1] = [geometry.view.t0 - by, geometry.view.t1 - by];
            for (const lane of row.lanes) {
                for (let id = lanes.blockFrom[lane]!; id < lanes.blockFrom[lane + 1]!; id++) {
                    if (blocks.to[id]! <= t0) continue;
                    if (blocks.from[id]! >= t1 || seen > MOST_SEEN || drawn > MOST_DRAWN) break;
                    const block = this.trace.blocks.peek(id);
                    if (!block || block.longestBar < time) continue;
                    for (let i = firstEndAfter(block, t0); i < block.count && block.start[i]! < t1; i++) {
                        if ((i & (GROUP - 1)) === 0 && block.longestTime[i >>> GROUP_SHIFT]! < time) {
                            i += GROUP - 1;
                            continue;
                        }
                        if (++seen > MOST_SEEN || drawn > MOST_DRAWN) break;
                        if (block.end[i]! - block.start[i]! < time || !this.is(block.name[i]!, block.kind[i]!))
                            continue;
                        const a = Math.max(NAMES_WIDTH, geometry.x(block.start[i]! + by));
                        const b = Math.min(geometry.width, geometry.x(block.end[i]! + by));
                        draw(a, y + 2, Math.max(1, b - a), row.height - 4);
                        drawn++;
                    }
                }
            }
        });
    }
}
