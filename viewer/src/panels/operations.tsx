// The table of operations: sorted and filtered as an array of indexes, so that a million take no objects.

import { useMemo, useState } from "preact/hooks";
import type { Numbers } from "../data/columns";
import { NONE, OpFlag } from "../data/layout";
import { isExpression, patternOf, wordsOf } from "../data/pattern";
import type { Trace } from "../data/trace";
import type { Session } from "../state/session";
import { bandwidth, bytes, count, duration, moment, waited } from "./words";
import { SavedFilters } from "./saved";
import { VirtualRows } from "./virtual";

type Key = "first" | "func" | "bytes" | "ranks" | "lastRank" | "longestWait" | "transfer" | "busbw";

const COLUMNS: { key: Key; label: string }[] = [
    { key: "first", label: "start" },
    { key: "func", label: "operation" },
    { key: "bytes", label: "size" },
    { key: "ranks", label: "ranks" },
    { key: "lastRank", label: "last" },
    { key: "longestWait", label: "longest wait" },
    { key: "transfer", label: "transfer" },
    { key: "busbw", label: "busbw" },
];

/**
 * Operations whose name contains every word or matches every "/expression/", or that match a comparison: `wait>1ms` (the
 * longest), `size>=1M`, `ranks=8`, `last=3`, `tie`.
 */
export function filterOps(trace: Trace, text: string): Uint32Array {
    const { ops, strings, meta } = trace.bundle;
    const tests = wordsOf(text).map((word) => testOf(trace, word));
    const out = new Uint32Array(ops.count);
    let n = 0;
    const names = new Map<string, string>();
    for (let op = 0; op < ops.count; op++) {
        const key = `${ops.func[op]} ${ops.comm[op]}`;
        let name = names.get(key);
        if (name === undefined) {
            const comm = meta.comms[ops.comm[op]!];
            names.set(
                key,
                (name = `${strings.get(ops.func[op]!)} ${comm?.name ?? ""} ${comm?.comm ?? ""}`.toLowerCase()),
            );
        }
        if (tests.every((test) => test(op, name))) out[n++] = op;
    }
    return out.subarray(0, n);
}

type Test = (op: number, name: string) => boolean;

const UNITS: Record<string, number> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, k: 1024, m: 2 ** 20, g: 2 ** 30, "": 1 };

function testOf(trace: Trace, word: string): Test {
    const { ops } = trace.bundle;
    const small = word.toLowerCase();
    if (isExpression(word)) {
        const pattern = patternOf(word);
        return (_, name) => pattern.test(name);
    }
    if (small === "tie") return (op) => (ops.flags[op]! & OpFlag.Tie) !== 0;
    if (small === "incomplete") return (op) => (ops.flags[op]! & OpFlag.Complete) === 0;
    const match = /^(wait|transfer|size|busbw|ranks|seq|last)(<=|>=|<|>|=)([\d.]+)(ns|us|ms|s|k|m|g|)$/.exec(small);
    if (!match) return (op, name) => name.includes(small) || String(ops.seq[op]) === small;
    const columns: Record<string, Numbers> = {
        wait: ops.longestWait,
        transfer: ops.transfer,
        size: ops.bytes,
        busbw: ops.busbw,
        ranks: ops.ranks,
        seq: ops.seq,
        last: ops.lastRank,
    };
    const column = columns[match[1]!]!;
    const value = Number(match[3]) * UNITS[match[4]!]!;
    switch (match[2]) {
        case "<":
            return (op) => column[op]! < value;
        case "<=":
            return (op) => column[op]! <= value;
        case ">":
            return (op) => column[op]! > value;
        case ">=":
            return (op) => column[op]! >= value;
        default:
            return (op) => column[op]! === value;
    }
}

/** In place. What is not known comes last, whichever way; equal ones stay in the order of time. */
export function sortOps(trace: Trace, list: Uint32Array, key: Key, down: boolean): Uint32Array {
    const column = trace.bundle.ops[key];
    const sign = down ? -1 : 1;
    return list.sort((a, b) => {
        const [x, y] = [column[a]!, column[b]!];
        if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a - b;
        return sign * (x - y) || a - b;
    });
}

export function Operations({ session }: { session: Session }) {
    const { trace } = session;
    const { ops } = trace.bundle;
    const filter = session.filter.value;
    const setFilter = (text: string): void => void (session.filter.value = text);
    const [sort, setSort] = useState<{ key: Key; down: boolean }>({ key: "first", down: false });
    const list = useMemo(() => {
        const found = filterOps(trace, filter);
        return sort.key === "first" && !sort.down ? found : sortOps(trace, found, sort.key, sort.down);
    }, [filter, sort]);
    const all = useMemo(() => trace.countOf(), [trace]);
    const selected = session.selected.value?.op ?? NONE;
    const barOf = async (index: number): Promise<number | null> => {
        const parts = await trace.partsOf(list[index]!);
        // The rank that the others waited for is what one wants to see.
        const part = parts.find((p) => p.index === ops.lastPart[list[index]!]) ?? parts.find((p) => p.bar !== NONE);
        if (part && part.bar !== NONE) return part.bar;
        session.message.value = "its start is unknown: it is not on the timeline";
        return null;
    };
    return (
        <div class="operations">
            <input
                type="search"
                placeholder="filter: AllReduce wait>1ms size>=1M last=3 tie /regex/"
                aria-label="filter operations"
                value={filter}
                onInput={(e) => setFilter(e.currentTarget.value)}
            />
            <SavedFilters session={session} text={filter} use={setFilter} />
            <p class="hint">
                {count(trace.countOf(list))} of {count(all)} operations
                {list.length > trace.countOf(list)
                    ? `, ${count(list.length - trace.countOf(list))} sends and receives inside fan-outs`
                    : ""}
            </p>
            <div class="line head">
                {COLUMNS.map(({ key, label }) => (
                    <button
                        key={key}
                        aria-pressed={sort.key === key}
                        title={key === "lastRank" ? "sort by the rank that was last to arrive" : `sort by ${label}`}
                        onClick={() =>
                            setSort({ key, down: sort.key === key ? !sort.down : key !== "first" && key !== "func" })
                        }
                    >
                        {label}
                        {sort.key === key ? (sort.down ? " ▾" : " ▴") : ""}
                    </button>
                ))}
            </div>
            <VirtualRows
                rows={list.length}
                label="operations"
                chosen={selected === NONE ? -1 : list.indexOf(selected)}
                onChoose={(index) => void session.jump(barOf(index))}
                row={(index) => {
                    const op = list[index]!;
                    const cells = [
                        moment(ops.first[op]!, 1000),
                        trace.opName(op),
                        bytes(ops.bytes[op]!),
                        String(ops.ranks[op]),
                        ops.lastRank[op]! >= 0 ? String(ops.lastRank[op]) : "",
                        waited(ops.longestWait[op]!, trace.leastWait(op)),
                        duration(ops.transfer[op]!),
                        bandwidth(ops.busbw[op]!),
                    ];
                    return cells.map((cell, i) => (
                        <span key={i} role="gridcell" title={i === 1 ? cell : undefined}>
                            {cell}
                        </span>
                    ));
                }}
            />
        </div>
    );
}
