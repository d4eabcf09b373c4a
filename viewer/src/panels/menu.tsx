// The menu of the right mouse button, made from the table of actions.

import { useEffect, useRef } from "preact/hooks";
import type { Session } from "../state/session";
import { menuActions, type Action } from "../timeline/actions";

export function ContextMenu({ session }: { session: Session }) {
    const menu = session.menu.value;
    const list = useRef<HTMLDivElement>(null);
    useEffect(() => {
        if (!menu) return undefined;
        const before = document.activeElement as HTMLElement | null;
        list.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
        const outside = (event: PointerEvent): void => {
            if (!list.current?.contains(event.target as Node)) session.menu.value = null;
        };
        document.addEventListener("pointerdown", outside, true);
        return () => {
            document.removeEventListener("pointerdown", outside, true);
            before?.focus();
        };
    }, [menu]);
    if (!menu) return null;
    const run = (action: Action): void => {
        session.menu.value = null;
        const bar = menu.bar && action.menu?.on === "bar";
        action.run(session, { shiftKey: false, at: menu.at, row: bar ? null : menu.row, digit: 0 });
    };
    const key = (event: KeyboardEvent): void => {
        const items = [...(list.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
        const at = items.indexOf(document.activeElement as HTMLElement);
        const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
        if (event.key === "Escape" || event.key === "Tab") session.menu.value = null;
        else if (step !== 0) items[(at + step + items.length) % items.length]?.focus();
        else return;
        event.preventDefault();
        event.stopPropagation();
    };
    const actions = menuActions(menu);
    const title = menu.bar ? session.trace.nameOf(menu.bar) : (menu.row?.label ?? "");
    return (
        <div
            class="menu"
            role="menu"
            ref={list}
            aria-label={title || "timeline"}
            style={{
                left: `${Math.max(4, Math.min(menu.x, window.innerWidth - 330))}px`,
                top: `${Math.max(4, Math.min(menu.y, window.innerHeight - 60 - actions.length * 26))}px`,
            }}
            onKeyDown={key}
        >
            {title ? <p class="of">{title}</p> : null}
            {actions.map((action, i) => (
                <button
                    key={action.id}
                    role="menuitem"
                    class={i > 0 && actions[i - 1]!.menu!.on !== action.menu!.on ? "apart" : ""}
                    onClick={() => run(action)}
                >
                    <span>{action.menu!.text}</span>
                    <kbd>{action.shown}</kbd>
                </button>
            ))}
        </div>
    );
}
