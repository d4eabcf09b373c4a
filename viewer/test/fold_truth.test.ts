// The same folding in C (src/timeline/fold.c): its unit test makes tests/data/fold.json, and what is drawn here must be
// what is there. That both are right is checked by looking at every bar for every pixel.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { encodeTable } from "../dev/encode";
import { decodeBlock } from "../src/data/block";
import { BarFlag } from "../src/data/layout";
import { foldBlock, newScan, Shade } from "../src/timeline/fold";

interface Case {
    name: string;
    t0: number;
    scale: number;
    width: number;
    bars: Record<"start" | "dur" | "kind" | "flags" | "wait" | "fade", number[]>;
    kind: number[];
    cover: number[];
    shade: number[];
}

const file = new URL("../../tests/data/fold.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: Case[] };

describe("folding as the program does", () => {
    it.each(cases)("$name", (c) => {
        const bytes = new Set(["kind", "flags"]);
        const columns = Object.entries(c.bars).map(([name, values]) => ({
            name,
            values: bytes.has(name) ? Uint8Array.from(values) : Uint32Array.from(values),
        }));
        const block = decodeBlock(encodeTable(c.bars.start.length, columns), 0, c.bars.start.length, 0);
        const scan = newScan(c.width);
        foldBlock(block, { t0: c.t0, scale: c.scale }, scan);
        expect([...scan.kind]).toEqual(c.kind);
        expect([...scan.shade]).toEqual(c.shade);
        for (let x = 0; x < c.width; x++) expect(scan.cover[x]).toBeCloseTo(c.cover[x]!, 3);
    });

    it.each(cases)("and as the bars say: $name", (c) => {
        const { start, dur, kind, flags, fade } = c.bars;
        const wrong: string[] = [];
        for (let x = 0; x < c.width; x++) {
            const [from, to] = [c.t0 + x / c.scale, c.t0 + (x + 1) / c.scale];
            const overlap = (a: number, b: number): number => Math.max(0, Math.min(b, to) - Math.max(a, from));
            const end = (i: number): number => start[i]! + dur[i]!;
            const all = [...start.keys()];
            const here = all.filter(
                (i) => overlap(start[i]!, end(i)) > 0 || (dur[i] === 0 && start[i]! >= from && start[i]! < to),
            );
            const fading = all.filter((i) => overlap(end(i), end(i) + fade[i]!) > 0);
            const covered = here.reduce((sum, i) => sum + overlap(start[i]!, end(i)), 0) * c.scale;
            const kinds = new Set([...here, ...fading].map((i) => kind[i]! + 1));
            const lost = here.some((i) => flags[i]! & BarFlag.Lost);
            const holds =
                (kinds.has(c.kind[x]!) || (c.kind[x] === 0 && here.length === 0)) &&
                c.cover[x]! >= Math.min(1, covered) - 1e-3 &&
                // What is short is drawn larger than it is, and ends that are not known fade.
                c.cover[x]! <= Math.min(1, covered + (fading.length > 0 ? 0.8 : 0.02 * here.length)) + 1e-3 &&
                (fading.length > 0 || ((c.shade[x]! & Shade.Lost) !== 0) === lost);
            if (!holds) wrong.push(`pixel ${x}: ${c.kind[x]} ${c.cover[x]} ${c.shade[x]}, ${covered} covered`);
        }
        expect(wrong).toEqual([]);
    });
});
