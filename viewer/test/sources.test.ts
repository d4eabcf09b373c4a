import { describe, expect, it } from "vitest";
import { fromBase64, HttpSource, SplitSource } from "../src/data/source";

const at = async (): Promise<void> => {};

describe("base64", () => {
    const bytes = Uint8Array.from({ length: 3_300_001 }, (_, i) => i * 7);
    const text = Buffer.from(bytes).toString("base64");

    it("is decoded in pieces, with pauses between them", async () => {
        let pauses = 0;
        const back = await fromBase64(`${text}\n`, async () => void pauses++);
        expect(Buffer.compare(Buffer.from(back), Buffer.from(bytes))).toBe(0);
        expect(pauses).toBe(1);
    });
    it("of every length comes back", async () => {
        for (let n = 0; n < 7; n++)
            expect([...(await fromBase64(Buffer.from(bytes.subarray(0, n)).toString("base64"), at))]).toEqual([
                ...bytes.subarray(0, n),
            ]);
    });
    it("that is cut or damaged is refused", async () => {
        await expect(fromBase64(text.slice(0, 1001), at)).rejects.toThrow("cut short");
        await expect(fromBase64("AB$=", at)).rejects.toThrow("damaged");
    });
});

describe("a page in two pieces", () => {
    it("gives the first piece while the second is to come", async () => {
        let come: (rest: Uint8Array) => void = () => {};
        const split = new SplitSource(Uint8Array.from([0, 1, 2, 3]), new Promise((resolve) => (come = resolve)));
        expect([...split.now(1, 3)!]).toEqual([1, 2, 3]);
        expect(split.now(4, 2)).toBeUndefined();
        const [later, across] = [split.bytes(5, 2), split.bytes(2, 4)];
        come(Uint8Array.from([4, 5, 6, 7]));
        expect([...(await later)]).toEqual([5, 6]);
        expect([...(await across)]).toEqual([2, 3, 4, 5]);
        await expect(split.bytes(6, 4)).rejects.toThrow("cut short");
    });
    it("tells those who ask that the second is damaged", async () => {
        const split = new SplitSource(new Uint8Array(4), Promise.reject(new Error("the data of this page is damaged")));
        await expect(split.bytes(4, 1)).rejects.toThrow("damaged");
        expect(split.now(4, 1)).toBeUndefined();
    });
});

describe("a server", () => {
    it("is asked for ranges, and nothing else is taken from it", async () => {
        const original = globalThis.fetch;
        let asked = "";
        try {
            globalThis.fetch = (async (_: unknown, init: RequestInit) => {
                asked = (init.headers as Record<string, string>).Range!;
                return new Response(new Uint8Array(4), { status: 206 });
            }) as typeof fetch;
            expect((await new HttpSource("x").bytes(10, 4)).length).toBe(4);
            expect(asked).toBe("bytes=10-13");
            await expect(new HttpSource("x").bytes(10, 5)).rejects.toThrow("instead of 5");
            expect((await new HttpSource("x").bytes(10, 0)).length).toBe(0);
            globalThis.fetch = (async () => new Response("all of it", { status: 200 })) as typeof fetch;
            await expect(new HttpSource("x").bytes(0, 4)).rejects.toThrow("instead of a range");
        } finally {
            globalThis.fetch = original;
        }
    });
});
