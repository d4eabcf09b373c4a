// Moving in time and along the rows.

import type { Entry } from "./action";
import { fit, focus, PAN, pan, ZOOM, zoom } from "./commands";

export const MOVE: Entry[] = [
    {
        id: "in",
        keys: ["KeyW", "Equal", "NumpadAdd"],
        shown: "W, +",
        text: "zoom in at the cursor",
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
        text: "pan earlier; with Shift: faster",
        run: (s, w) => pan(s, w.shiftKey ? -0.9 : -PAN),
    },
    {
        id: "right",
        keys: ["KeyD", "ArrowRight"],
        shown: "D, →",
        text: "pan later; with Shift: faster",
        run: (s, w) => pan(s, w.shiftKey ? 0.9 : PAN),
    },
    {
        id: "up",
        keys: ["ArrowUp"],
        shown: "↑",
        text: "scroll up",
        run: (s) => (s.scroll.value -= 60),
    },
    {
        id: "down",
        keys: ["ArrowDown"],
        shown: "↓",
        text: "scroll down",
        run: (s) => (s.scroll.value += 60),
    },
    {
        id: "pageup",
        keys: ["PageUp"],
        shown: "Page ↑",
        text: "scroll up one screen",
        run: (s) => (s.scroll.value -= 500),
    },
    {
        id: "pagedown",
        keys: ["PageDown"],
        shown: "Page ↓",
        text: "scroll down one screen",
        run: (s) => (s.scroll.value += 500),
    },
    {
        id: "whole",
        keys: ["Digit0", "KeyZ", "Home"],
        shown: "0, Z",
        text: "fit all operations",
        menu: { on: "time", text: "show all operations" },
        run: (s) => s.look(s.wholeView()),
    },
    {
        id: "run",
        keys: ["Shift+Digit0", "Shift+KeyZ"],
        shown: "Shift+0",
        text: "fit the whole run, including start-up",
        menu: { on: "time", text: "show the whole run" },
        run: (s) => s.look(s.runView()),
    },
    {
        id: "focus",
        keys: ["KeyF"],
        shown: "F",
        text: "center the selection; again: zoom to it",
        run: (s) => focus(s),
    },
    {
        id: "fit",
        keys: ["Shift+KeyF"],
        shown: "Shift+F",
        text: "zoom to the selection",
        menu: { on: "bar", text: "zoom to selection" },
        run: (s) => fit(s),
    },
    {
        id: "back",
        keys: ["Backspace"],
        shown: "Backspace",
        text: "go back to the previous view",
        menu: { on: "time", text: "previous view" },
        run: (s) => s.back(),
    },
];
