// The names of a trace. They stay UTF-8 until someone looks: a trace may have a million, and a screen shows a hundred.

import type { Numbers } from "./columns";
import { patternOf } from "./pattern";

export class Strings {
    private readonly decoder = new TextDecoder();
    private readonly known = new Map<number, string>();

    /** `ends[i]` is where string i ends in `text`; string 0 is "": not known. */
    constructor(
        private readonly ends: Numbers,
        private readonly text: Uint8Array,
    ) {}

    get count(): number {
        return this.ends.length;
    }

    get(id: number): string {
        if (!(id > 0 && id < this.ends.length)) return "";
        let text = this.known.get(id);
        if (text === undefined) {
            text = this.decoder.decode(this.text.subarray(this.ends[id - 1]!, this.ends[id]!));
            this.known.set(id, text);
        }
        return text;
    }

    /** Ids of the strings that contain a text, in any case, or match "/expression/"; `found[id]` is 1. */
    containing(needle: string): { found: Uint8Array; count: number } {
        const found = new Uint8Array(this.ends.length);
        const pattern = patternOf(needle);
        let count = 0;
        for (let id = 1; needle !== "" && id < this.ends.length; id++)
            if (pattern.test(this.get(id))) {
                found[id] = 1;
                count++;
            }
        return { found, count };
    }
}
