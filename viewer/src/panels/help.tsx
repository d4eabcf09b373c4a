// The help sheet, made from the table of actions.

import { useEffect, useRef } from "preact/hooks";
import type { Session } from "../state/session";
import { ACTIONS, MOUSE, type Action } from "../timeline/actions";

const GROUPS: [Action["group"], string][] = [
    ["move", "moving"],
    ["choose", "choosing"],
    ["show", "showing"],
];

export function Help({ session }: { session: Session }) {
    const open = session.help.value;
    const sheet = useRef<HTMLDivElement>(null);
    useEffect(() => {
        if (!open) return undefined;
        const before = document.activeElement as HTMLElement | null;
        sheet.current?.focus();
        return () => before?.focus();
    }, [open]);
    if (!open) return null;
    const lines = (list: { shown: string; text: string }[]) =>
        list.map(({ shown, text }) => (
            <p key={shown}>
                <kbd>{shown}</kbd> <span>{text}</span>
            </p>
        ));
    return (
        <div class="dialog" onClick={() => (session.help.value = false)}>
            <div class="help" role="dialog" aria-modal="true" aria-label="keys and mouse" tabIndex={-1} ref={sheet}>
                {GROUPS.map(([group, title]) => (
                    <section key={group}>
                        <h3>{title}</h3>
                        {lines(ACTIONS.filter((action) => action.group === group))}
                    </section>
                ))}
                <section>
                    <h3>mouse</h3>
                    {lines(MOUSE)}
                </section>
                <section>
                    <h3>and</h3>
                    <span>
                        The panel “legend” says what is drawn how. The address holds what is seen: window, selection,
                        rows and marks; sent to someone else, it opens the same place in the same file. Ctrl and + of
                        the browser make everything larger.
                    </span>
                </section>
            </div>
        </div>
    );
}
