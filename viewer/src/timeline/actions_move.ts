// Moving in time and along the rows.

import type { Entry } from "./action";
import { fit, focus, PAN, pan, ZOOM, zoom } from "./commands";

export const MOVE: Entry[] = [
    {
        id: "in",
        keys: ["KeyW", "Equal", "NumpadAdd"],
        shown: "W, +",
        text: "zoom in about the mouse",
        run: (s, w) => zoom(s, w.at, ZOOM),
    },
    {
        id: "out",
        keys: ["KeyS", "Minus", "NumpadSubtract"],
        shown: "S, -",
        text: "zoom out",
        run: (s, w) => zoom(s, w.at, 1 / ZOOM),
    },
    {
        id: "left",
        keys: ["KeyA", "ArrowLeft"],
        shown: "A, ←",
        text: "earlier; with Shift: faster",
        run: (s, w) => pan(s, w.shiftKey ? -0.9 : -PAN),
    },
    {
        id: "right",
        keys: ["KeyD", "ArrowRight"],
        shown: "D, →",
        text: "later; with Shift: faster",
        run: (s, w) => pan(s, w.shiftKey ? 0.9 : PAN),
    },
    {
        id: "up",
        keys: ["ArrowUp"],
        shown: "↑",
        text: "rows up",
        run: (s) => (s.scroll.value -= 60),
    },
    {
        id: "down",
        keys: ["ArrowDown"],
        shown: "↓",
        text: "rows down",
        run: (s) => (s.scroll.value += 60),
    },
    {
        id: "pageup",
        keys: ["PageUp"],
        shown: "Page ↑",
        text: "rows up by a screen",
        run: (s) => (s.scroll.value -= 500),
    },
    {
        id: "pagedown",
        keys: ["PageDown"],
        shown: "Page ↓",
        text: "rows down by a screen",
        run: (s) => (s.scroll.value += 500),
    },
    {
        id: "whole",
        keys: ["Digit0", "KeyZ", "Home"],
        shown: "0, Z",
        text: "all operations",
        menu: { on: "time", text: "show all operations" },
        run: (s) => s.look(s.wholeView()),
    },
    {
        id: "run",
        keys: ["Shift+Digit0", "Shift+KeyZ"],
        shown: "Shift+0",
        text: "the whole run, start-up and all",
        menu: { on: "time", text: "show the whole run" },
        run: (s) => s.look(s.runView()),
    },
    {
        id: "focus",
        keys: ["KeyF"],
        shown: "F",
        text: "the selection into the middle; again: to the full width",
        run: (s) => focus(s),
    },
    {
        id: "fit",
        keys: ["Shift+KeyF"],
        shown: "Shift+F",
        text: "zoom to the selection",
        menu: { on: "bar", text: "zoom to it" },
        run: (s) => fit(s),
    },
    {
        id: "back",
        keys: ["Backspace"],
        shown: "Backspace",
        text: "back to where one was",
        menu: { on: "time", text: "back to where I was" },
        run: (s) => s.back(),
    },
];
