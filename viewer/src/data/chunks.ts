// Tables that are too long to be held at once, in chunks of rows: the parts of operations, and the relations.

import { Table, type Numbers } from "./columns";
import { NONE } from "./layout";
import type { Source } from "./source";
import { unzstd } from "./zstd";

/** Chunks in memory at one time; of 65536 rows of about 40 bytes. */
const HELD = 48;

export class Chunks {
    private readonly first: Numbers;
    private readonly offset: Numbers;
    private readonly stored: Numbers;
    private readonly size: Numbers;
    private readonly held = new Map<number, Table>();

    /** The index has `first` (the key of the chunk's first row), `offset`, `stored`, `size`. */
    constructor(
        private readonly source: Source,
        index: Table,
        private readonly at: number,
    ) {
        this.first = index.need("first");
        this.offset = index.need("offset");
        this.stored = index.need("stored");
        this.size = index.need("size");
    }

    get count(): number {
        return this.first.length;
    }

    /** The key of the first row of a chunk. */
    key(chunk: number): number {
        return chunk < this.first.length ? this.first[chunk]! : Infinity;
    }

    /** The last chunk whose first key is at most `key` (strictly below it, if `before`). */
    find(key: number, before = false): number {
        let low = 0;
        let high = this.first.length;
        while (low < high) {
            const middle = (low + high) >>> 1;
            const at = this.first[middle]!;
            if (before ? at < key : at <= key) low = middle + 1;
            else high = middle;
        }
        return Math.max(0, low - 1);
    }

    async get(chunk: number): Promise<Table> {
        const known = this.held.get(chunk);
        if (known) {
            this.held.delete(chunk); // to the young end
            this.held.set(chunk, known);
            return known;
        }
        const bytes = await this.source.bytes(this.at + this.offset[chunk]!, this.stored[chunk]!);
        const table = new Table(unzstd(bytes, this.size[chunk]!));
        this.held.set(chunk, table);
        if (this.held.size > HELD) this.held.delete(this.held.keys().next().value!);
        return table;
    }
}

/** What one rank did in an operation. */
export interface Part {
    index: number;
    member: number;
    bar: number; // NONE: not drawn
    start: number; // ns; NaN: not known
    end: number;
    wait: number;
}

export class Parts {
    constructor(private readonly chunks: Chunks) {}

    /** Parts from .. to, in order, one call each. Nothing is allocated for a row. */
    async each(
        from: number,
        to: number,
        visit: (columns: PartColumns, row: number, index: number) => void,
    ): Promise<void> {
        if (this.chunks.count === 0) return;
        for (let chunk = this.chunks.find(from); chunk < this.chunks.count && this.chunks.key(chunk) < to; chunk++) {
            const table = await this.chunks.get(chunk);
            const columns = partColumns(table);
            const base = this.chunks.key(chunk);
            const last = Math.min(to - base, table.rows);
            for (let row = Math.max(0, from - base); row < last; row++) visit(columns, row, base + row);
        }
    }

    async list(from: number, to: number): Promise<Part[]> {
        const list: Part[] = [];
        await this.each(from, to, (c, row, index) =>
            list.push({
                index,
                member: c.member[row]!,
                bar: c.bar[row]!,
                start: c.start[row]!,
                end: c.end[row]!,
                wait: c.wait[row]!,
            }),
        );
        return list;
    }
}

export interface PartColumns {
    member: Numbers;
    bar: Numbers;
    start: Numbers;
    end: Numbers;
    wait: Numbers;
}

function partColumns(t: Table): PartColumns {
    return {
        member: t.need("member"),
        bar: t.need("bar"),
        start: t.need("start"),
        end: t.need("end"),
        wait: t.need("wait"),
    };
}

export interface Edge {
    from: number;
    to: number;
    kind: number;
}

export class Edges {
    constructor(private readonly chunks: Chunks) {}

    /** Relations that leave a bar, `most` at the most. Rows are sorted by `from`; one bar's may cross chunks. */
    async leaving(bar: number, most = 2000): Promise<Edge[]> {
        const list: Edge[] = [];
        if (bar === NONE || this.chunks.count === 0) return list;
        for (
            let chunk = this.chunks.find(bar, true);
            chunk < this.chunks.count && this.chunks.key(chunk) <= bar;
            chunk++
        ) {
            const table = await this.chunks.get(chunk);
            const from = table.need("from");
            const to = table.need("to");
            const kind = table.need("kind");
            for (let row = lowerBound(from, bar); row < table.rows && from[row] === bar && list.length < most; row++)
                list.push({ from: bar, to: to[row]!, kind: kind[row]! });
        }
        return list;
    }
}

/** The first index whose value is at least `value`. */
export function lowerBound(values: Numbers, value: number): number {
    let low = 0;
    let high = values.length;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (values[middle]! < value) low = middle + 1;
        else high = middle;
    }
    return low;
}
