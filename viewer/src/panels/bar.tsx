// The bar on top: what is shown, which kinds of rows, and what is always at hand.

import type { Session } from "../state/session";
import { count } from "./words";

export function Header({ session }: { session: Session }) {
    const { meta } = session.trace.bundle;
    const dark = session.theme.value.dark;
    return (
        <header>
            <h1>ringscope</h1>
            <span class="title" title={meta.title} dir="auto">
                {meta.title}
            </span>
            <Kinds session={session} />
            <Filters session={session} />
            <div class="tools">
                <button
                    aria-pressed={session.allRelations.value}
                    title="relations of all visible bars (R)"
                    onClick={() => (session.allRelations.value = !session.allRelations.value)}
                >
                    all relations
                </button>
                <button
                    aria-pressed={session.counters.value}
                    title="bytes in flight, lateness and bus bandwidth over time (B)"
                    onClick={() => (session.counters.value = !session.counters.value)}
                >
                    counters
                </button>
                <button title="find a row (Ctrl+P)" onClick={() => (session.finder.value = true)}>
                    find row
                </button>
                <button
                    title="light or dark theme (L)"
                    onClick={() => (session.themeChoice.value = dark ? "light" : "dark")}
                >
                    {dark ? "light" : "dark"}
                </button>
                <button title="keys and mouse (?)" aria-label="help" onClick={() => (session.help.value = true)}>
                    ?
                </button>
            </div>
        </header>
    );
}

/** Kinds of rows that these data have. The keys 1 to 9 do the same. */
function Kinds({ session }: { session: Session }) {
    const { meta } = session.trace.bundle;
    return (
        <div class="kinds" role="group" aria-label="row types">
            {session.kindsThere.map((kind, i) => (
                <button
                    key={kind}
                    class="kind"
                    aria-pressed={session.rowsOn.value[kind]}
                    title={`show or hide rows: ${meta.rows[kind]!.label}${i < 9 ? ` (${i + 1})` : ""}`}
                    onClick={() => session.toggleRow(kind)}
                >
                    {meta.rows[kind]!.label}
                </button>
            ))}
        </div>
    );
}

/** What is left out of the picture now, each with a way back. */
function Filters({ session }: { session: Session }) {
    const hidden = session.hiddenLanes.value.size + session.hiddenGroups.value.size;
    const only = session.only.value;
    const name = session.sameName.value;
    const marks = session.marks.value.length;
    const chip = (text: string, undo: () => void) => (
        <button class="filter" key={text} onClick={undo} title="undo" dir="auto">
            {text} ×
        </button>
    );
    return (
        <>
            {only ? chip(`only ${count(only.size)} ranks`, () => (session.only.value = null)) : null}
            {hidden > 0 ? chip(`${count(hidden)} hidden`, () => session.showHidden()) : null}
            {name ? chip(`only ${name.slice(0, 40)}`, () => (session.sameName.value = "")) : null}
            {marks > 0 ? chip(marks === 1 ? "1 mark" : `${marks} marks`, () => (session.marks.value = [])) : null}
        </>
    );
}
