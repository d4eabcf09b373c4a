// The words on bars, cut to the room there is: measured and made once, not sixty times a second.

import type { Trace } from "../data/trace";
import { cut, FONT } from "./margins";

const MOST_CHARACTERS = 250;
/** Of them in memory at one time. */
const MOST_LABELS = 20_000;

interface Measured {
    text: string;
    character: number; // pixels, mean
}

export class Labels {
    private readonly names = new Map<number, Measured>();
    private readonly known = new Map<number, string>();

    constructor(
        private readonly trace: Trace,
        private readonly context: CanvasRenderingContext2D,
    ) {}

    /** The name of a bar in at most `room` pixels; "" where nothing of it fits. */
    of(name: number, kind: number, room: number): string {
        // A bar without a name of its own has that of its kind, of which there are 256.
        const id = name > 0 ? name + 256 : kind;
        let measured = this.names.get(id);
        if (!measured) {
            measured = this.measure(name, kind);
            if (this.names.size >= MOST_LABELS) this.names.clear();
            this.names.set(id, measured);
        }
        const { text, character } = measured;
        const most = Math.floor(room / character);
        if (most >= text.length) return text;
        if (most < 2) return "";
        const key = id * (MOST_CHARACTERS + 1) + most;
        let short = this.known.get(key);
        if (short === undefined) {
            // Wide letters may stand first.
            let characters = most;
            do short = cut(text, characters--);
            while (characters > 1 && this.context.measureText(short).width > most * character);
            if (this.known.size >= MOST_LABELS) this.known.clear();
            this.known.set(key, short);
        }
        return short;
    }

    private measure(name: number, kind: number): Measured {
        const text = cut(this.trace.nameOf({ name, kind }), MOST_CHARACTERS);
        this.context.font = FONT;
        return { text, character: Math.max(1, this.context.measureText(text).width / Math.max(1, text.length)) };
    }
}
