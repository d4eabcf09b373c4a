// Ctrl+P: find a row by words and go there.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Session } from "../state/session";
import { findRows } from "../timeline/rows";

const SHOWN = 14;

export function Finder({ session }: { session: Session }) {
    const open = session.finder.value;
    const [text, setText] = useState("");
    const [at, setAt] = useState(0);
    const input = useRef<HTMLInputElement>(null);
    useEffect(() => {
        if (!open) return undefined;
        const before = document.activeElement as HTMLElement | null;
        setText("");
        setAt(0);
        input.current?.focus();
        return () => before?.focus();
    }, [open]);
    if (!open) return null;
    const found = findRows(session.trace.bundle, text, SHOWN);
    const go = (index: number): void => {
        const row = found[index];
        session.finder.value = false;
        if (row) session.showRow(row.lane, row.group);
    };
    const key = (event: KeyboardEvent): void => {
        const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
        if (step !== 0) setAt((at + step + found.length) % Math.max(1, found.length));
        else if (event.key === "Enter") go(at);
        else if (event.key === "Escape") session.finder.value = false;
        else return;
        event.preventDefault();
        event.stopPropagation();
    };
    return (
        <div class="dialog top" onPointerDown={(e) => e.target === e.currentTarget && (session.finder.value = false)}>
            <div role="dialog" aria-label="find a row" class="finder">
                <input
                    ref={input}
                    type="search"
                    role="combobox"
                    aria-expanded="true"
                    aria-controls="found-rows"
                    aria-activedescendant={found[at] ? `found-${at}` : undefined}
                    aria-label="find a row"
                    placeholder="find a row: rank 5 channel 3, a host, a communicator, a thread…"
                    value={text}
                    onInput={(e) => (setText(e.currentTarget.value), setAt(0))}
                    onKeyDown={key}
                />
                <ul id="found-rows" role="listbox" aria-label="rows">
                    {found.map((row, i) => (
                        <li
                            key={`${row.lane} ${row.group}`}
                            id={`found-${i}`}
                            role="option"
                            aria-selected={i === at}
                            onPointerDown={() => go(i)}
                        >
                            {row.title}
                        </li>
                    ))}
                </ul>
                {found.length === 0 ? <p class="hint">No row name matches.</p> : null}
            </div>
        </div>
    );
}
