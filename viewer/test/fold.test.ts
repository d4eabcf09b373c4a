import { describe, expect, it } from "vitest";
import { noise } from "../dev/shape";
import { BarFlag } from "../src/data/layout";
import { clearScan, foldBlock, foldOverview, newScan, shareScans, Shade } from "../src/timeline/fold";
import { blockOf, type BarIn } from "./traces";

const fold = (bars: BarIn[], width = 10, t0 = 0, scale = 0.1) => {
    const scan = newScan(width);
    foldBlock(blockOf(bars), { t0, scale }, scan);
    return scan;
};

describe("folding bars onto pixels of 10 ns", () => {
    it("draws a wide bar over its pixels, and parts of pixels at its ends", () => {
        const scan = fold([{ start: 15, dur: 30, kind: 2 }]);
        expect([...scan.kind]).toEqual([0, 3, 3, 3, 3, 0, 0, 0, 0, 0]);
        expect([...scan.cover].map((c) => Math.round(c * 10) / 10)).toEqual([0, 0.5, 1, 1, 0.5, 0, 0, 0, 0, 0]);
    });

    it("cuts what begins before and ends after the window", () => {
        expect([...fold([{ start: 0, dur: 1000 }], 4, 500).kind]).toEqual([1, 1, 1, 1]);
    });

    it("sums short bars of a pixel, the longest gives the kind", () => {
        const scan = fold([
            { start: 21, dur: 1, kind: 1 },
            { start: 23, dur: 4, kind: 5 },
            { start: 28, dur: 1, kind: 1 },
        ]);
        expect(scan.kind[2]).toBe(6);
        expect(scan.cover[2]).toBeCloseTo(0.6);
    });

    it("shows a bar of no length", () => {
        const scan = fold([{ start: 55, dur: 0 }]);
        expect(scan.kind[5]).toBe(1);
        expect(scan.cover[5]).toBeGreaterThan(0);
    });

    it("shades the wait at the head of a bar", () => {
        const scan = fold([{ start: 0, dur: 80, wait: 50 }]);
        expect(scan.shade[3]! & Shade.Wait).toBeTruthy();
        expect(scan.shade[6]! & Shade.Wait).toBeFalsy();
    });

    it("fades an end that is only bounded, and never draws it as known", () => {
        const scan = fold([{ start: 0, dur: 40, flags: BarFlag.EndBounded, fade: 40 }]);
        expect(scan.cover[3]).toBe(1);
        for (let x = 4; x < 8; x++) expect(scan.shade[x]).toBe(Shade.Fade);
        expect(scan.cover[4]!).toBeGreaterThan(scan.cover[7]!);
        expect(scan.kind[8]).toBe(0);
    });

    it("a loss shows even among what is longer", () => {
        const bars = [
            { start: 20, dur: 1, flags: BarFlag.Lost, kind: 1 },
            { start: 22, dur: 7, kind: 2 },
        ];
        expect(fold(bars).shade[2]! & Shade.Lost).toBeTruthy();
        const crowd = Array.from({ length: 64 }, (_, i) => ({
            start: 2000 + i,
            dur: 1,
            flags: i === 40 ? BarFlag.Lost : 0,
        }));
        expect([...fold(crowd, 10, 0, 0.001).shade]).toEqual([0, 0, Shade.Lost, 0, 0, 0, 0, 0, 0, 0]);
        crowd[40]!.flags = 0;
        expect([...fold(crowd, 10, 0, 0.001).shade]).toEqual(new Array(10).fill(0));
    });
});

describe("folding against a sum over all bars", () => {
    const bars: BarIn[] = [];
    for (let i = 0, t = 0; i < 5000; i++) {
        t += Math.floor(40 * noise(3, i, 0));
        const dur = Math.floor(60 * noise(3, i, 1) ** 4);
        bars.push({ start: t, dur, kind: i % 5 });
        t += dur;
    }
    const b = blockOf(bars);
    for (const [t0, scale] of [
        [0, 1],
        [1000, 0.05],
        [-500, 0.002],
        [30_000, 0.0005],
    ] as const)
        it(`covers the same at ${scale} pixels a ns from ${t0}`, () => {
            const scan = newScan(300);
            clearScan(scan);
            foldBlock(b, { t0, scale }, scan);
            const truth = new Float64Array(300);
            for (const bar of bars)
                for (
                    let x = Math.max(0, Math.floor((bar.start - t0) * scale));
                    x < 300 && x / scale + t0 < bar.start + bar.dur;
                    x++
                )
                    truth[x]! +=
                        (Math.min(bar.start + bar.dur, t0 + (x + 1) / scale) - Math.max(bar.start, t0 + x / scale)) *
                        scale;
            for (let x = 0; x < 300; x++) {
                // Short bars count for at least 2 % of a pixel each.
                expect(scan.cover[x]!).toBeGreaterThanOrEqual(Math.min(1, truth[x]!) - 1e-3);
                if (truth[x]! === 0 && scan.kind[x] !== 0) expect(scan.cover[x]!).toBeLessThan(0.9);
            }
        });
});

describe("two lanes on one row", () => {
    it("have halves where both have something, else the whole height", () => {
        const a = fold([{ start: 0, dur: 40, kind: 1 }]);
        const b = fold([{ start: 20, dur: 40, kind: 2 }]);
        shareScans(a, b);
        expect([...a.kind]).toEqual([2, 2, 2, 2, 3, 3, 0, 0, 0, 0]);
        expect([...b.kind]).toEqual([2, 2, 3, 3, 3, 3, 0, 0, 0, 0]);
    });
});

describe("the overview", () => {
    const overview = {
        base: 4,
        buckets: 4,
        width: 100,
        busy: Uint8Array.from([9, 9, 9, 9, 0, 255, 51, 0]),
        kind: Uint8Array.from([9, 9, 9, 9, 0, 3, 1, 0]),
        flags: Uint8Array.from([0, 0, 0, 0, 0, 0, BarFlag.Lost, 0]),
    };
    it("gives two buckets to a pixel", () => {
        const scan = newScan(2);
        foldOverview(overview, { t0: 0, scale: 1 / 200 }, scan, 0, 400);
        expect([...scan.kind]).toEqual([4, 2]);
        expect(scan.cover[0]).toBeCloseTo(0.5);
        expect(scan.shade[1]! & Shade.Lost).toBeTruthy();
    });
    it("has nothing before its begin and behind its end", () => {
        const scan = newScan(8);
        foldOverview({ ...overview, busy: new Uint8Array(8).fill(9) }, { t0: -200, scale: 1 / 100 }, scan, -200, 600);
        expect([...scan.cover].map((cover) => cover > 0)).toEqual([false, false, true, true, true, true, false, false]);
    });
    it("fills only the stretch asked for", () => {
        const scan = newScan(4);
        foldOverview(overview, { t0: 0, scale: 1 / 100 }, scan, 200, 300);
        expect([...scan.kind]).toEqual([0, 0, 2, 0]);
    });
});
