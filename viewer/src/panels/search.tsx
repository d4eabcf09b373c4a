// Search: names of bars, operations, rows. Bars are looked through block by block while the page stays alive; what was
// found is shown as it comes.

import { useEffect, useState } from "preact/hooks";
import { NONE } from "../data/layout";
import type { Trace } from "../data/trace";
import type { Session } from "../state/session";
import { laneTitle } from "../timeline/layout";
import { filterOps } from "./operations";
import { VirtualRows } from "./virtual";
import { count, duration } from "./words";

const MOST_HITS = 20_000;
const PAUSE_MS = 8;

/** Bars whose name, or kind, contains the text. `show` gets the list so far. */
export async function searchBars(
    trace: Trace,
    text: string,
    goOn: () => Promise<boolean>,
    show: (hits: number[], done: boolean) => void,
): Promise<void> {
    const { bundle, blocks } = trace;
    const { found, count: names } = bundle.strings.containing(text);
    const small = text.toLowerCase();
    const kinds = bundle.meta.kinds.map((kind) => kind.label.toLowerCase().includes(small));
    const hits: number[] = [];
    if (names === 0 && !kinds.includes(true)) return show(hits, true);
    let begin = performance.now();
    for (let id = 0; id < bundle.blocks.count && hits.length < MOST_HITS; id++) {
        const block = await blocks.load(id);
        for (let i = 0; i < block.count && hits.length < MOST_HITS; i++) {
            const name = block.name[i]!;
            if (name > 0 ? found[name] : kinds[block.kind[i]!]) hits.push(block.first + i);
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
    const [state, setState] = useState<{ hits: number[]; done: boolean }>({ hits: [], done: true });
    const query = session.query.value.trim();
    useEffect(() => {
        let over = false;
        session.hits.value = [];
        setState({ hits: [], done: query === "" });
        if (query === "") return;
        const pause = (): Promise<boolean> => new Promise((resolve) => setTimeout(() => resolve(!over)));
        const timer = setTimeout(() => {
            void searchBars(trace, query, pause, (hits, done) => {
                if (over) return;
                setState({ hits: hits.slice(), done });
                if (done) session.hits.value = hits.slice();
            });
        }, 200);
        return () => {
            over = true;
            clearTimeout(timer);
        };
    }, [query]);
    const rows = query === "" ? [] : findLanes(trace, query);
    const ops = query === "" ? 0 : filterOps(trace, query).length;
    return (
        <div class="search">
            <input
                id="search-input"
                type="search"
                placeholder="a name, an operation, rank 5…"
                aria-label="search"
                value={session.query.value}
                onInput={(e) => (session.query.value = e.currentTarget.value)}
                onKeyDown={(e) => {
                    if (e.key !== "Enter" || state.hits.length === 0) return;
                    const at = state.hits.indexOf(session.selected.value?.bar ?? NONE);
                    const next = (at + (e.shiftKey ? -1 : 1) + state.hits.length) % state.hits.length;
                    void session.jump(state.hits[next]!).then(() => (session.panel.value = "search"));
                }}
            />
            <p class="hint">
                {query === ""
                    ? ""
                    : `${count(state.hits.length)}${state.hits.length >= MOST_HITS ? " or more" : ""} bars${state.done ? "" : "…"}, ${rows.length} rows, ${count(ops)} operations`}
            </p>
            <ul class="links">
                {rows.slice(0, 20).map((lane) => (
                    <li key={lane}>
                        <button
                            onClick={() =>
                                void session
                                    .jump(trace.bundle.lanes.first[lane]!)
                                    .then(() => (session.panel.value = "search"))
                            }
                        >
                            {laneTitle(trace.bundle, lane)}
                        </button>
                    </li>
                ))}
            </ul>
            <VirtualRows
                rows={state.hits.length}
                chosen={state.hits.indexOf(session.selected.value?.bar ?? NONE)}
                onChoose={(index) => void session.jump(state.hits[index]!).then(() => (session.panel.value = "search"))}
                row={(index) => <Hit trace={trace} bar={state.hits[index]!} />}
            />
        </div>
    );
}

function Hit({ trace, bar }: { trace: Trace; bar: number }) {
    const found = trace.barNow(bar);
    if (!found) return <span>bar {bar}</span>;
    return (
        <>
            <span>{trace.nameOf(found)}</span>
            <span>{duration(found.end - found.start)}</span>
            <span>{laneTitle(trace.bundle, found.lane)}</span>
        </>
    );
}

/** Rows whose full name contains all words. */
export function findLanes(trace: Trace, text: string): number[] {
    const words = text.toLowerCase().split(/\s+/);
    const found: number[] = [];
    for (let lane = 0; lane < trace.bundle.lanes.count && found.length < 200; lane++) {
        const title = laneTitle(trace.bundle, lane).toLowerCase();
        if (trace.bundle.lanes.bars[lane]! > 0 && words.every((word) => title.includes(word))) found.push(lane);
    }
    return found;
}
