// What a search looks for in bars: names, kinds, and arguments as they are shown ("peer 3", "channel=5", "RING"). Bars
// are looked through block by block; arguments only where one of a block's kinds can have what is wanted.

import { argumentAt, argumentColumns, type ArgumentColumn } from "../data/block";
import type { Argument } from "../data/meta";
import { patternOf } from "../data/pattern";
import type { Trace } from "../data/trace";
import type { Hits } from "../state/session";
import { argument } from "./words";

export const MOST_HITS = 20_000;
/** Blocks whose arguments are read: about 16 M bars. They are decoded a second time for it. */
const MOST_BLOCKS = 1000;
const PAUSE_MS = 8;
/** Values whose words are kept while a search goes on. */
const MOST_VALUES = 100_000;

export interface Progress {
    hits: Hits;
    done: boolean;
    /** Of some bars the arguments were not looked at: there are too many. */
    partly: boolean;
}

/** Bars whose name, kind or argument is, or contains, the text. `show` gets the list so far. */
export async function searchBars(
    trace: Trace,
    text: string,
    goOn: () => Promise<boolean>,
    show: (progress: Progress) => void,
): Promise<void> {
    const { bundle, blocks } = trace;
    const { found, count: names } = bundle.strings.containing(text);
    const small = text.toLowerCase();
    const pattern = patternOf(text);
    const kinds = bundle.meta.kinds.map((kind) => pattern.test(kind.label));
    const wanted = new WantedArguments(trace, small, found, names);
    const state: Progress = { hits: { bars: [], times: [] }, done: false, partly: false };
    const { bars, times } = state.hits;
    const end = (): void => show({ ...state, done: true });
    if (names === 0 && !kinds.includes(true) && !wanted.any) return end();
    let begin = performance.now();
    let read = 0;
    for (let id = 0; id < bundle.blocks.count && bars.length < MOST_HITS; id++) {
        const block = await blocks.load(id);
        let columns: ArgumentColumn[] | undefined;
        if (wanted.any && block.kind.some((kind) => wanted.ofKind[kind])) {
            if (read++ < MOST_BLOCKS) columns = argumentColumns(await blocks.tableOf(id));
            else state.partly = true;
        }
        for (let i = 0; i < block.count && bars.length < MOST_HITS; i++) {
            const [name, kind] = [block.name[i]!, block.kind[i]!];
            if (!(name > 0 ? found[name] : kinds[kind]) && !(columns && wanted.holds(columns, i, kind))) continue;
            bars.push(block.first + i);
            times.push(block.start[i]!);
        }
        if (performance.now() - begin < PAUSE_MS) continue;
        show(state);
        if (!(await goOn())) return;
        begin = performance.now();
    }
    end();
}

/** Numbers must be what is wanted, alone or behind their label; of words a piece is enough. */
class WantedArguments {
    /** By kind: an argument of it may fit. */
    readonly ofKind: boolean[];
    readonly any: boolean;
    private readonly words: string;
    private readonly known = new Map<Argument, Map<number | bigint, boolean>>();

    constructor(
        private readonly trace: Trace,
        small: string,
        private readonly found: Uint8Array,
        names: number,
    ) {
        this.words = small.replace(/[=:]+/g, " ").replace(/\s+/g, " ").trim();
        const may = ({ label, unit }: Argument): boolean => {
            if (unit === "time") return false; // a moment is gone to, not searched for
            if (this.words.startsWith(`${label.toLowerCase()} `)) return true;
            return unit === "string" ? names > 0 : /^(0x)?[0-9a-f.]*\d/.test(this.words);
        };
        this.ofKind = trace.bundle.meta.kinds.map((kind) => (kind.arguments ?? []).some(may));
        this.any = this.words !== "" && this.ofKind.includes(true);
    }

    holds(columns: ArgumentColumn[], index: number, kind: number): boolean {
        if (!this.ofKind[kind]) return false;
        const list = this.trace.bundle.meta.kinds[kind]!.arguments!;
        for (let i = 0; i < list.length; i++) {
            const value = argumentAt(columns[i], index);
            if (value !== undefined && this.fits(list[i]!, value)) return true;
        }
        return false;
    }

    private fits(how: Argument, value: number | bigint): boolean {
        if (how.unit === "time") return false;
        if (how.unit === "string" && this.found[Number(value)]) return true;
        let known = this.known.get(how);
        if (!known) this.known.set(how, (known = new Map()));
        let fits = known.get(value);
        if (fits === undefined) {
            const shown = argument(value, how, this.trace.bundle.strings).toLowerCase();
            fits = shown === this.words || `${how.label.toLowerCase()} ${shown}` === this.words;
            if (known.size >= MOST_VALUES) known.clear();
            known.set(value, fits);
        }
        return fits;
    }
}
