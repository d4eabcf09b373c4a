// The names of a bundle that is written.

import { ColumnCoding } from "../src/data/layout";
import { encodeTable } from "./encode";

/** Strings are numbered as they come; 0 is "". */
export class StringTable {
    private readonly ids = new Map<string, number>([["", 0]]);
    id(text: string): number {
        let id = this.ids.get(text);
        if (id === undefined) this.ids.set(text, (id = this.ids.size));
        return id;
    }
    encode(): { ends: Uint8Array; text: Uint8Array } {
        const texts = [...this.ids.keys()].map((text) => new TextEncoder().encode(text));
        let at = 0;
        const ends = Uint32Array.from(texts, (text) => (at += text.length));
        const text = new Uint8Array(at);
        texts.forEach((bytes, i) => text.set(bytes, ends[i]! - bytes.length));
        return {
            ends: encodeTable(texts.length, [{ name: "end", values: ends, coding: ColumnCoding.DeltaPlanes }]),
            text,
        };
    }
}
