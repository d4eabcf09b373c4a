// Search: bars by their names and arguments, operations, rows. What was found is shown as it comes.

import { useEffect, useState } from "preact/hooks";
import { NONE } from "../data/layout";
import type { Trace } from "../data/trace";
import { NO_HITS, type Session } from "../state/session";
import { hit } from "../timeline/commands";
import { laneTitle } from "../data/groups";
import { findRows } from "../timeline/rows";
import { MOST_HITS, searchBars, type Progress } from "./find";
import { filterOps } from "./operations";
import { SavedFilters } from "./saved";
import { VirtualRows } from "./virtual";
import { count, duration } from "./words";

const MOST_ROWS = 8;

export function Search({ session }: { session: Session }) {
    const { trace } = session;
    const [state, setState] = useState<Progress>({ hits: session.hits.value, done: true, partly: false });
    const query = session.query.value.trim();
    useEffect(() => {
        let over = false;
        if (query === "") {
            session.hits.value = NO_HITS;
            setState({ hits: NO_HITS, done: true, partly: false });
            return undefined;
        }
        const pause = (): Promise<boolean> => new Promise((resolve) => setTimeout(() => resolve(!over)));
        const timer = setTimeout(() => {
            setState({ hits: NO_HITS, done: false, partly: false });
            void searchBars(trace, query, pause, ({ hits, done, partly }) => {
                if (over) return;
                const copy = { bars: hits.bars.slice(), times: hits.times.slice() };
                setState({ hits: copy, done, partly });
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
    const place = at >= 0 ? ` (this is ${count(at + 1)})` : "";
    return (
        <div class="search">
            <input
                id="search-input"
                type="search"
                placeholder="a name, an operation, rank 5, peer 3, /regex/…"
                aria-label="search names, arguments, rows and operations"
                value={session.query.value}
                onInput={(e) => (session.query.value = e.currentTarget.value)}
                onKeyDown={(e) => {
                    if (e.key === "Enter") hit(session, e.shiftKey ? -1 : 1, bars);
                }}
            />
            <SavedFilters session={session} text={query} use={(text) => (session.query.value = text)} />
            <p class="hint" aria-live="polite">
                {query === ""
                    ? "Enter and Shift+Enter go from one to the next; the ruler has a tick for each."
                    : `${atLeast(bars.length, MOST_HITS)} bars${state.done ? "" : "…"}${place}, ` +
                      `${count(ops)} operations, ${atLeast(rows.length, MOST_ROWS)} rows`}
            </p>
            {state.partly ? <p class="hint">Arguments of further bars were not searched.</p> : null}
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

const atLeast = (n: number, most: number): string => `${count(n)}${n >= most ? " or more" : ""}`;

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
