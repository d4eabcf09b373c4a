// Every action, with its keys and a sentence: the keyboard is driven by this table and the help sheet is made from it,
// so neither can say something else than the other.

import { NONE } from "../data/layout";
import type { Session } from "../state/session";
import { LEAST_NS, fitView, panBy, zoomAbout } from "./view";

export interface Action {
    id: string;
    /** As KeyboardEvent.code, so that WASD lies together on every keyboard; or as key where the sign is meant ("?"). */
    keys: string[];
    shown: string; // how the keys are written in the help sheet
    group: "move" | "choose" | "show";
    text: string;
    run: (session: Session, event: { shiftKey: boolean; at: number }) => void;
}

const ZOOM = 0.7;
const PAN = 0.15;

function zoom(session: Session, at: number, factor: number): void {
    session.look(zoomAbout(session.view.value, at, factor, session.trace.bundle.span));
}

function pan(session: Session, share: number): void {
    const { t0, t1 } = session.view.value;
    session.look(panBy(session.view.value, (t1 - t0) * share, session.trace.bundle.span));
}

/** Where one begins without a mouse: the first operation that is seen. */
async function firstInView(session: Session): Promise<void> {
    const { t0, t1 } = session.view.value;
    const [from, to] = session.trace.opsFrom(t0, t1);
    const parts = from < to ? await session.trace.partsOf(from) : [];
    const part = parts.find((p) => p.bar !== NONE);
    if (part) await session.jump(part.bar);
}

/** The next or previous bar of the same lane. */
function neighbour(session: Session, step: number): void {
    const bar = session.selected.value;
    if (!bar) return void firstInView(session);
    const { lanes } = session.trace.bundle;
    const next = bar.bar + step;
    const first = lanes.first[bar.lane]!;
    if (next >= first && next < first + lanes.bars[bar.lane]!) void session.jump(next);
}

/** Along relations: back to the parent, forward to the first child, else across the ranks of the operation. */
function follow(session: Session, forward: boolean): void {
    const related = session.related.value;
    if (!related) return;
    const to = forward ? (related.children[0] ?? related.launched[0] ?? related.arrows[0]?.[1]) : related.parents[0];
    if (to) void session.jump(to.bar);
}

function peer(session: Session, step: number): void {
    const related = session.related.value;
    if (!related || related.parts.length === 0) return;
    const at = related.parts.findIndex((part) => part.bar === related.bar.bar);
    const next = related.parts[(at + step + related.parts.length) % related.parts.length]!;
    void session.jump(next.bar);
}

function focus(session: Session): void {
    const bar = session.selected.value;
    const span = session.span.value;
    const [start, end] = bar ? [bar.start, bar.end + bar.fade] : span ? [span.t0, span.t1] : [NaN, NaN];
    if (!Number.isFinite(start)) return;
    const { t0, t1 } = session.view.value;
    const centred = Math.abs((t0 + t1) / 2 - (start! + end!) / 2) < (t1 - t0) / 50;
    // Once: into the middle; twice: to the full width.
    const width = centred ? Math.max(end! - start!, LEAST_NS) : t1 - t0;
    const middle = (start! + end!) / 2;
    session.look(
        centred ? fitView(start!, end!, session.trace.bundle.span) : { t0: middle - width / 2, t1: middle + width / 2 },
    );
}

function hit(session: Session, step: number): void {
    const hits = session.hits.value;
    if (hits.length === 0) return;
    const at = hits.indexOf(session.selected.value?.bar ?? -1);
    void session.jump(hits[(at + step + hits.length) % hits.length]!);
}

export const ACTIONS: Action[] = [
    {
        id: "in",
        keys: ["KeyW", "Equal", "NumpadAdd"],
        shown: "W, +",
        group: "move",
        text: "zoom in about the mouse",
        run: (s, e) => zoom(s, e.at, ZOOM),
    },
    {
        id: "out",
        keys: ["KeyS", "Minus", "NumpadSubtract"],
        shown: "S, -",
        group: "move",
        text: "zoom out",
        run: (s, e) => zoom(s, e.at, 1 / ZOOM),
    },
    {
        id: "left",
        keys: ["KeyA", "ArrowLeft"],
        shown: "A, ←",
        group: "move",
        text: "earlier",
        run: (s) => pan(s, -PAN),
    },
    { id: "right", keys: ["KeyD", "ArrowRight"], shown: "D, →", group: "move", text: "later", run: (s) => pan(s, PAN) },
    { id: "up", keys: ["ArrowUp"], shown: "↑", group: "move", text: "rows up", run: (s) => (s.scroll.value -= 60) },
    {
        id: "down",
        keys: ["ArrowDown"],
        shown: "↓",
        group: "move",
        text: "rows down",
        run: (s) => (s.scroll.value += 60),
    },
    {
        id: "whole",
        keys: ["Digit0", "KeyZ", "Home"],
        shown: "0, Z",
        group: "move",
        text: "all of it",
        run: (s) => s.look(s.wholeView()),
    },
    {
        id: "focus",
        keys: ["KeyF"],
        shown: "F",
        group: "move",
        text: "the selection into the middle; again: to the full width",
        run: (s) => focus(s),
    },
    {
        id: "back",
        keys: ["Backspace"],
        shown: "Backspace",
        group: "move",
        text: "back to where one was",
        run: (s) => s.back(),
    },
    {
        id: "next",
        keys: ["Period"],
        shown: ".",
        group: "choose",
        text: "next bar of the row; with nothing selected: the first operation seen",
        run: (s) => neighbour(s, 1),
    },
    {
        id: "previous",
        keys: ["Comma"],
        shown: ",",
        group: "choose",
        text: "previous bar of the row",
        run: (s) => neighbour(s, -1),
    },
    {
        id: "parent",
        keys: ["BracketLeft"],
        shown: "[",
        group: "choose",
        text: "to the parent",
        run: (s) => follow(s, false),
    },
    {
        id: "child",
        keys: ["BracketRight"],
        shown: "]",
        group: "choose",
        text: "to the first child, or from a send to its receive",
        run: (s) => follow(s, true),
    },
    {
        id: "peer",
        keys: ["KeyN"],
        shown: "N, Shift+N",
        group: "choose",
        text: "same operation on the next rank, the previous rank",
        run: (s, e) => peer(s, e.shiftKey ? -1 : 1),
    },
    {
        id: "search",
        keys: ["Slash"],
        shown: "/",
        group: "choose",
        text: "search",
        run: (s) => ((s.panel.value = "search"), focusSearch()),
    },
    {
        id: "hit",
        keys: ["Enter"],
        shown: "Enter, Shift+Enter",
        group: "choose",
        text: "next, previous place found",
        run: (s, e) => hit(s, e.shiftKey ? -1 : 1),
    },
    {
        id: "none",
        keys: ["Escape"],
        shown: "Esc",
        group: "choose",
        text: "nothing selected; closes the help",
        run: (s) => ((s.help.value = false), (s.span.value = null), (s.only.value = null), void s.select(null)),
    },
    {
        id: "only",
        keys: ["KeyG"],
        shown: "G",
        group: "show",
        text: "only the ranks of the selected operation; again: all",
        run: (s) => s.toggleOnly(),
    },
    {
        id: "relations",
        keys: ["KeyR"],
        shown: "R",
        group: "show",
        text: "relations of all that is seen, or of the selection",
        run: (s) => (s.allRelations.value = !s.allRelations.value),
    },
    {
        id: "pin",
        keys: ["KeyP"],
        shown: "P",
        group: "show",
        text: "pin the selected row to the top, or let it go",
        run: (s) => s.selected.value && s.togglePin(s.selected.value.lane),
    },
    {
        id: "fold",
        keys: ["Space"],
        shown: "Space",
        group: "show",
        text: "open or fold the rank of the selection",
        run: (s) => s.selected.value && s.toggleGroup(s.rankOf(s.selected.value.bar)),
    },
    {
        id: "panel",
        keys: ["KeyQ"],
        shown: "Q",
        group: "show",
        text: "panel on or off",
        run: (s) => (s.panel.value = s.panel.value ? null : "details"),
    },
    {
        id: "theme",
        keys: ["KeyL"],
        shown: "L",
        group: "show",
        text: "light or dark",
        run: (s) => (s.themeChoice.value = s.theme.value.dark ? "light" : "dark"),
    },
    {
        id: "help",
        keys: ["?"],
        shown: "?",
        group: "show",
        text: "this sheet",
        run: (s) => (s.help.value = !s.help.value),
    },
];

/** What the mouse does: told in the help sheet beside the keys, done in input.ts. */
export const MOUSE: { shown: string; text: string }[] = [
    { shown: "wheel", text: "rows up and down" },
    { shown: "Ctrl+wheel, pinch", text: "zoom about the mouse" },
    { shown: "Shift+wheel, Shift+drag", text: "earlier and later" },
    { shown: "drag", text: "a span, with sums for each rank and function" },
    { shown: "Ctrl+drag, drag on the ruler", text: "zoom to the span" },
    { shown: "click", text: "select; on a row's name: open or fold" },
    { shown: "double click", text: "fit to the bar" },
    { shown: "hover", text: "all that is known of a bar" },
];

function focusSearch(): void {
    requestAnimationFrame(() => document.getElementById("search-input")?.focus());
}

export function actionFor(event: { code: string; key: string }): Action | undefined {
    return (
        ACTIONS.find((a) => a.keys.includes(event.key)) ??
        (event.key === "?" ? undefined : ACTIONS.find((a) => a.keys.includes(event.code)))
    );
}
