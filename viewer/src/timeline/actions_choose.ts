// Choosing a bar, and going from one to another.

import type { Entry } from "./action";
import { close, focusSearch, follow, hit, lastArriver, neighbour, peer, selectAll } from "./commands";

export const CHOOSE: Entry[] = [
    {
        id: "next",
        keys: ["Period"],
        shown: ".",
        text: "next bar in the row; with no selection: the first visible operation",
        run: (s) => neighbour(s, 1),
    },
    {
        id: "previous",
        keys: ["Comma"],
        shown: ",",
        text: "previous bar in the row",
        run: (s) => neighbour(s, -1),
    },
    {
        id: "parent",
        keys: ["BracketLeft"],
        shown: "[",
        text: "go to the parent, or from a receive to its send",
        menu: { on: "bar", text: "go to parent" },
        run: (s) => follow(s, false),
    },
    {
        id: "child",
        keys: ["BracketRight"],
        shown: "]",
        text: "go to the first child, to what it launched, or from a send to its receive",
        run: (s) => follow(s, true),
    },
    {
        id: "peer",
        keys: ["KeyN"],
        shown: "N, Shift+N",
        text: "same operation on the next or previous rank",
        run: (s, w) => peer(s, w.shiftKey ? -1 : 1),
    },
    {
        id: "last",
        keys: ["KeyE"],
        shown: "E",
        text: "go to the last rank to arrive in the operation",
        menu: { on: "bar", text: "go to the last rank to arrive" },
        run: (s) => lastArriver(s),
    },
    {
        id: "search",
        keys: ["Slash", "Ctrl+KeyF"],
        shown: "/",
        text: "search",
        run: (s) => ((s.panel.value = "search"), focusSearch()),
    },
    {
        id: "hit",
        keys: ["Enter"],
        shown: "Enter, Shift+Enter",
        text: "next or previous search result",
        run: (s, w) => hit(s, w.shiftKey ? -1 : 1),
    },
    {
        id: "find",
        keys: ["Ctrl+KeyP"],
        shown: "Ctrl+P",
        text: "find a row: rank, communicator, channel, thread",
        run: (s) => (s.finder.value = true),
    },
    {
        id: "all",
        keys: ["Ctrl+KeyA"],
        shown: "Ctrl+A",
        text: "select the visible time range, with totals",
        run: (s) => selectAll(s),
    },
    {
        id: "none",
        keys: ["Escape"],
        shown: "Esc",
        text: "close what is open, then clear the selection, then show all rows",
        run: (s) => close(s),
    },
];
