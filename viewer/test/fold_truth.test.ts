// The same folding in C (src/timeline/fold.c): its unit test makes tests/data/fold.json, and what is drawn here must be
// what is there.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { encodeTable } from "../dev/encode";
import { decodeBlock } from "../src/data/block";
import { foldBlock, newScan } from "../src/timeline/fold";

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
});
