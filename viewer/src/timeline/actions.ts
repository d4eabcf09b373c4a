// Every action, with its keys and a sentence: the keyboard is driven by this table and the help sheet is made from it,
// so neither can say something else than the other.

import type { Session } from "../state/session";
import {
    close,
    copyBar,
    fit,
    focus,
    focusSearch,
    fold,
    follow,
    hideRow,
    hit,
    lastArriver,
    neighbour,
    openMenu,
    PAN,
    pan,
    peer,
    pin,
    selectAll,
    toggleKind,
    ZOOM,
    zoom,
    type Where,
} from "./commands";

export interface Action {
    id: string;
    /** As KeyboardEvent.code, so that WASD lies together on every keyboard; or as key where the sign is meant ("?"). */
    keys: string[];
    shown: string; // how the keys are written in the help sheet
    group: "move" | "choose" | "show";
    text: string;
    /** In the menu of the right mouse button too: on a bar, a row's name, or anywhere in time; its words there. */
    menu?: { on: "bar" | "row" | "time"; text: string };
    run: (session: Session, where: Where) => void;
}

const KIND_KEYS = Array.from({ length: 9 }, (_, i) => `Digit${i + 1}`);

export const ACTIONS: Action[] = [
    {
        id: "in",
        keys: ["KeyW", "Equal", "NumpadAdd"],
        shown: "W, +",
        group: "move",
        text: "zoom in about the mouse",
        run: (s, w) => zoom(s, w.at, ZOOM),
    },
    {
        id: "out",
        keys: ["KeyS", "Minus", "NumpadSubtract"],
        shown: "S, -",
        group: "move",
        text: "zoom out",
        run: (s, w) => zoom(s, w.at, 1 / ZOOM),
    },
    {
        id: "left",
        keys: ["KeyA", "ArrowLeft"],
        shown: "A, ←",
        group: "move",
        text: "earlier; with Shift: faster",
        run: (s, w) => pan(s, w.shiftKey ? -0.9 : -PAN),
    },
    {
        id: "right",
        keys: ["KeyD", "ArrowRight"],
        shown: "D, →",
        group: "move",
        text: "later; with Shift: faster",
        run: (s, w) => pan(s, w.shiftKey ? 0.9 : PAN),
    },
    {
        id: "up",
        keys: ["ArrowUp"],
        shown: "↑",
        group: "move",
        text: "rows up",
        run: (s) => (s.scroll.value -= 60),
    },
    {
        id: "down",
        keys: ["ArrowDown"],
        shown: "↓",
        group: "move",
        text: "rows down",
        run: (s) => (s.scroll.value += 60),
    },
    {
        id: "pageup",
        keys: ["PageUp"],
        shown: "Page ↑",
        group: "move",
        text: "rows up by a screen",
        run: (s) => (s.scroll.value -= 500),
    },
    {
        id: "pagedown",
        keys: ["PageDown"],
        shown: "Page ↓",
        group: "move",
        text: "rows down by a screen",
        run: (s) => (s.scroll.value += 500),
    },
    {
        id: "whole",
        keys: ["Digit0", "KeyZ", "Home"],
        shown: "0, Z",
        group: "move",
        text: "all operations",
        menu: { on: "time", text: "show all operations" },
        run: (s) => s.look(s.wholeView()),
    },
    {
        id: "run",
        keys: ["Shift+Digit0", "Shift+KeyZ"],
        shown: "Shift+0",
        group: "move",
        text: "the whole run, start-up and all",
        menu: { on: "time", text: "show the whole run" },
        run: (s) => s.look(s.runView()),
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
        id: "fit",
        keys: ["Shift+KeyF"],
        shown: "Shift+F",
        group: "move",
        text: "zoom to the selection",
        menu: { on: "bar", text: "zoom to it" },
        run: (s) => fit(s),
    },
    {
        id: "back",
        keys: ["Backspace"],
        shown: "Backspace",
        group: "move",
        text: "back to where one was",
        menu: { on: "time", text: "back to where I was" },
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
        text: "to the parent, or from a receive to its send",
        menu: { on: "bar", text: "to its parent" },
        run: (s) => follow(s, false),
    },
    {
        id: "child",
        keys: ["BracketRight"],
        shown: "]",
        group: "choose",
        text: "to the first child, to what it launched, or from a send to its receive",
        run: (s) => follow(s, true),
    },
    {
        id: "peer",
        keys: ["KeyN"],
        shown: "N, Shift+N",
        group: "choose",
        text: "same operation on the next rank, the previous rank",
        run: (s, w) => peer(s, w.shiftKey ? -1 : 1),
    },
    {
        id: "last",
        keys: ["KeyE"],
        shown: "E",
        group: "choose",
        text: "to the rank that was last in the operation",
        menu: { on: "bar", text: "to the rank that was last" },
        run: (s) => lastArriver(s),
    },
    {
        id: "search",
        keys: ["Slash", "Ctrl+KeyF"],
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
        run: (s, w) => hit(s, w.shiftKey ? -1 : 1),
    },
    {
        id: "find",
        keys: ["Ctrl+KeyP"],
        shown: "Ctrl+P",
        group: "choose",
        text: "find a row: rank, communicator, channel, thread",
        run: (s) => (s.finder.value = true),
    },
    {
        id: "all",
        keys: ["Ctrl+KeyA"],
        shown: "Ctrl+A",
        group: "choose",
        text: "a span of all that is seen, with its sums",
        run: (s) => selectAll(s),
    },
    {
        id: "none",
        keys: ["Escape"],
        shown: "Esc",
        group: "choose",
        text: "closes what is open; then: nothing selected, all rows again",
        run: (s) => close(s),
    },
    {
        id: "only",
        keys: ["KeyG"],
        shown: "G",
        group: "show",
        text: "only the ranks of the selected operation, by arrival; again: all",
        menu: { on: "bar", text: "only the ranks of this operation, by arrival" },
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
        id: "same",
        keys: ["KeyH"],
        shown: "H",
        group: "show",
        text: "only bars of the same name stand out; again: all",
        menu: { on: "bar", text: "only bars of this name" },
        run: (s) => s.selected.value && s.toggleName(s.trace.nameOf(s.selected.value)),
    },
    {
        id: "mark",
        keys: ["KeyM"],
        shown: "M",
        group: "show",
        text: "mark the selection, the span or the moment, for now",
        run: (s, w) => s.mark(w.at, false),
    },
    {
        id: "keep",
        keys: ["Shift+KeyM"],
        shown: "Shift+M",
        group: "show",
        text: "mark it and keep the mark; marks are in the address",
        menu: { on: "time", text: "mark this" },
        run: (s, w) => s.mark(w.at, true),
    },
    {
        id: "unmark",
        keys: ["Delete"],
        shown: "Delete",
        group: "show",
        text: "remove the nearest mark",
        menu: { on: "time", text: "remove the nearest mark" },
        run: (s, w) => s.unmark(w.at),
    },
    {
        id: "pin",
        keys: ["KeyP"],
        shown: "P",
        group: "show",
        text: "pin the row to the top, or let it go",
        menu: { on: "row", text: "pin this row to the top" },
        run: (s, w) => pin(s, w),
    },
    {
        id: "fold",
        keys: ["Space"],
        shown: "Space",
        group: "show",
        text: "open or fold the rank of the selection",
        menu: { on: "row", text: "open or fold" },
        run: (s, w) => fold(s, w),
    },
    {
        id: "hide",
        keys: ["Shift+KeyH"],
        shown: "Shift+H",
        group: "show",
        text: "hide the row",
        menu: { on: "row", text: "hide this row" },
        run: (s, w) => hideRow(s, w),
    },
    {
        id: "unhide",
        keys: ["KeyU"],
        shown: "U",
        group: "show",
        text: "all hidden rows again",
        menu: { on: "row", text: "show hidden rows" },
        run: (s) => s.showHidden(),
    },
    {
        id: "kinds",
        keys: KIND_KEYS,
        shown: "1 to 9",
        group: "show",
        text: "a kind of rows on or off, in the order of the buttons above",
        run: (s, w) => toggleKind(s, w.digit),
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
        id: "copy",
        keys: ["KeyC"],
        shown: "C",
        group: "show",
        text: "copy the selection as JSON",
        menu: { on: "bar", text: "copy as JSON" },
        run: (s) => copyBar(s, s.selected.value),
    },
    {
        id: "link",
        keys: ["Shift+KeyC"],
        shown: "Shift+C",
        group: "show",
        text: "copy the address of what is seen",
        menu: { on: "time", text: "copy the address of this place" },
        run: (s) => s.copyAddress(),
    },
    {
        id: "menu",
        keys: ["ContextMenu", "Shift+F10"],
        shown: "Menu, Shift+F10",
        group: "show",
        text: "what can be done here",
        run: (s, w) => openMenu(s, w),
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
    { shown: "Ctrl+drag", text: "zoom to the span" },
    { shown: "drag on the ruler", text: "measure a time; a click there takes it away" },
    { shown: "drag on the strip above", text: "move the window; its edges: make it wider or narrower" },
    { shown: "click", text: "select; on a row's name: open or fold" },
    { shown: "double click", text: "fit to the bar" },
    { shown: "right click", text: "what can be done with a bar or a row" },
    { shown: "hover", text: "all that is known of a bar or a row; bars of the same name are outlined" },
];

/** The entries of a menu, from the same table: of the bar, then of the row, then of the time. */
export function menuActions(menu: { bar: unknown; row: unknown }): Action[] {
    const of = (on: "bar" | "row" | "time"): Action[] => ACTIONS.filter((action) => action.menu?.on === on);
    return [...(menu.bar ? of("bar") : []), ...(menu.row ? of("row") : []), ...of("time")];
}

interface Key {
    code: string;
    key: string;
    shiftKey?: boolean;
    ctrlKey?: boolean;
    metaKey?: boolean;
}

/** With its modifiers first; an action that does not name Shift takes it as a variant of its own. */
export function actionFor(event: Key): Action | undefined {
    const by = (name: string): Action | undefined => ACTIONS.find((action) => action.keys.includes(name));
    if (event.ctrlKey || event.metaKey) return by(`Ctrl+${event.code}`);
    if (event.key === "?") return by("?");
    return (event.shiftKey ? by(`Shift+${event.code}`) : undefined) ?? by(event.code);
}
