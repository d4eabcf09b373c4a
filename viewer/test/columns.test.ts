import { beforeAll, describe, expect, it } from "vitest";
import { encodeTable, zstd, zstdInit, type ColumnIn } from "../dev/encode";
import { FormatError, Table } from "../src/data/columns";
import { ColumnCoding } from "../src/data/layout";
import { unzstd, zstdReady } from "../src/data/zstd";

beforeAll(async () => {
    await zstdInit();
    await zstdReady();
});

describe("columns", () => {
    const cases: [string, ColumnIn["values"]][] = [
        ["u8", Uint8Array.from([0, 255, 3, 4])],
        ["u16", Uint16Array.from([65535, 0, 7, 256])],
        ["u32", Uint32Array.from([4294967295, 0, 1, 16777216])],
        ["i32", Int32Array.from([-2147483648, 2147483647, -1, 0])],
        ["u64", BigUint64Array.from([2n ** 64n - 1n, 0n, 1n, 2n ** 53n + 1n])],
    ];
    for (const [name, values] of cases)
        for (const coding of [ColumnCoding.Plain, ColumnCoding.Planes, ColumnCoding.DeltaPlanes])
            it(`${name} in coding ${coding} comes back`, () => {
                const table = new Table(encodeTable(4, [{ name, values, coding }]));
                const back = values instanceof BigUint64Array ? table.wide(name) : table.need(name);
                expect([...back!]).toEqual([...values]);
            });

    it("keeps doubles exactly, NaN too", () => {
        const values = Float64Array.from([NaN, -0.5, 9007199254740991, 1e300]);
        expect([...new Table(encodeTable(4, [{ name: "t", values }])).need("t")]).toEqual([...values]);
    });

    it("ignores columns of types it does not know", () => {
        const bytes = encodeTable(2, [
            { name: "a", values: Uint8Array.from([1, 2]) },
            { name: "b", values: Uint8Array.from([3, 4]) },
        ]);
        bytes[8 + 12] = 77;
        const table = new Table(bytes);
        expect(table.has("a")).toBe(false);
        expect([...table.need("b")]).toEqual([3, 4]);
    });

    it("refuses what is cut short or lies outside", () => {
        const bytes = encodeTable(100, [{ name: "a", values: new Uint32Array(100) }]);
        expect(() => new Table(bytes.subarray(0, 4))).toThrow(FormatError);
        expect(() => new Table(bytes.subarray(0, 200))).toThrow(FormatError);
        const many = bytes.slice();
        new DataView(many.buffer).setUint32(4, 1_000_000, true);
        expect(() => new Table(many)).toThrow(FormatError);
    });
});

describe("zstd", () => {
    it("comes back, and damage is said", () => {
        const bytes = Uint8Array.from({ length: 10_000 }, (_, i) => (i * i) & 31);
        const packed = zstd(bytes);
        expect(packed.length).toBeLessThan(bytes.length);
        expect(unzstd(packed, bytes.length)).toEqual(bytes);
        expect(() => unzstd(packed.subarray(0, packed.length >> 1), bytes.length)).toThrow();
        expect(() => unzstd(packed, 2 ** 31)).toThrow(FormatError);
    });
});
