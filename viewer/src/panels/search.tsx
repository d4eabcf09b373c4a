// Search: names of bars, operations, rows. Bars are looked through block by block while the page stays alive; what was
// found is shown as it comes.

import { useEffect, useState } from "preact/hooks";
import { NONE } from "../data/layout";
import type { Trace } from "../data/trace";
import { NO_HITS, type Hits, type Session } from "../state/session";
import { laneTitle } from "../timeline/layout";
import { findRows } from "../timeline/rows";
import { filterOps } from "./operations";
import { VirtualRows } from "./virtual";
import { count, duration } from "./words";

const MOST_HITS = 20_000;
const MOST_ROWS = 8;
const PAUSE_MS = 8;

/** Bars whose name, or kind, contains the text. `show` gets the list so far. */
export async function searchBars(
    trace: Trace,
    text: string,
    goOn: () => Promise<boolean>,
    show: (hits: Hits, done: boolean) => void,
): Promise<void> {
    const { bundle, blocks } = trace;
    const { found, count: names } = bundle.strings.containing(text);
    const small = text.toLowerCase();
    const kinds = bundle.meta.kinds.map((kind) => kind.label.toLowerCase().includes(small));
    const hits: Hits = { bars: [], times: [] };
    if (names === 0 && !kinds.includes(true)) return show(hits, true);
    let begin = performance.now();
    for (let id = 0; id < bundle.blocks.count && hits.bars.length < MOST_HITS; id++) {
        const block = await blocks.load(id);
        for (let i = 0; i < block.count && hits.bars.length < MOST_HITS; i++) {
            const name = block.name[i]!;
            if (!(name > 0 ? found[name] : kinds[block.kind[i]!])) continue;
            hits.bars.push(block.first + i);
            hits.times.push(block.start[i]!);
        }
        if (performance.now() - begin < PAUSE_MS) continue;
        show(hits, false);
        if (!(await goOn())) return;
        begin = performance.now();
    }
    show(hits, true);
}

export function Search({ session }: { session: Session }) {
    const { trace } = session;
    const [state, setState] = useState<{ hits: Hits; done: boolean }>({ hits: session.hits.value, done: true });
    const query = session.query.value.trim();
    useEffect(() => {
        let over = false;
        if (query === "") {
            session.hits.value = NO_HITS;
            setState({ hits: NO_HITS, done: true });
            return undefined;
        }
        const pause = (): Promise<boolean> => new Promise((resolve) => setTimeout(() => resolve(!over)));
        const timer = setTimeout(() => {
            setState({ hits: NO_HITS, done: false });
            void searchBars(trace, query, pause, (hits, done) => {
                if (over) return;
                const copy = { bars: hits.bars.slice(), times: hits.times.slice() };
                setState({ hits: copy, done });
                if (done) session.hits.value = copy;
            });
        }, 200);
        return () => {
            over = true;
            clearTimeout(timer);
        };
    }, [query]);
    const rows = query === "" ? [] : findRows(trace.bundle, query, MOST_ROWS);
    const ops = query === "" ? 0 : filterOps(trace, query).length;
    const { bars } = state.hits;
    const at = bars.indexOf(session.selected.value?.bar ?? NONE);
    return (
        <div class="search">
            <input
                id="search-input"
                type="search"
                placeholder="a name, an operation, rank 5…"
                aria-label="search names, rows and operations"
                value={session.query.value}
                onInput={(e) => (session.query.value = e.currentTarget.value)}
                onKeyDown={(e) => {
                    if (e.key !== "Enter" || bars.length === 0) return;
                    void session.jump(bars[(at + (e.shiftKey ? -1 : 1) + bars.length) % bars.length]!);
                }}
            />
            <p class="hint" aria-live="polite">
                {query === ""
                    ? "Enter and Shift+Enter go from one to the next; the ruler has a tick for each."
                    : `${count(bars.length)}${bars.length >= MOST_HITS ? " or more" : ""} bars${state.done ? "" : "…"}${at >= 0 ? ` (this is ${count(at + 1)})` : ""}, ${count(ops)} operations, ${rows.length}${rows.length >= MOST_ROWS ? " or more" : ""} rows`}
            </p>
            {rows.length > 0 ? (
                <ul class="links">
                    {rows.map((row) => (
                        <li key={`${row.lane} ${row.group}`}>
                            <button class="link" dir="auto" onClick={() => session.showRow(row.lane, row.group)}>
                                {row.title}
                            </button>
                        </li>
                    ))}
                </ul>
            ) : null}
            <VirtualRows
                rows={bars.length}
                label="bars found"
                chosen={at}
                onChoose={(index) => void session.jump(bars[index]!)}
                row={(index) => <Hit trace={trace} bar={bars[index]!} />}
            />
        </div>
    );
}

function Hit({ trace, bar }: { trace: Trace; bar: number }) {
    const found = trace.barNow(bar);
    if (!found) return <span>bar {bar}</span>;
    return (
        <>
            <span dir="auto">{trace.nameOf(found)}</span>
            <span>{duration(found.end - found.start)}</span>
            <span>{laneTitle(trace.bundle, found.lane)}</span>
        </>
    );
}
