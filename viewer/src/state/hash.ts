// The current view in the URL: time window, selection, panel, rows, so that a link to it can be shared. Only what differs
// from how the page opens is written.

import type { View } from "../scene/view";
import { readMarks, writeMarks, type Mark } from "./marks";

export interface Place {
    view?: View;
    selected?: number;
    panel?: string;
    rows?: string[]; // ids of the row kinds that are on
    toggled?: number[]; // groups that are not as they were at first
    pinned?: number[];
    hiddenLanes?: number[];
    hiddenGroups?: number[];
    only?: number[]; // groups of the ranks that are shown, in this order
    marks?: Mark[];
    name?: string; // only bars of that name stand out
    relations?: "all";
    theme?: "light" | "dark";
    query?: string;
    scroll?: number;
    filter?: string; // of the table of operations
    saved?: string[]; // filters that are kept
    align?: number; // the step at which two runs are aligned
}

export function writeHash(place: Place): string {
    const words: string[] = [];
    const put = (key: string, value: string): number => words.push(`${key}=${encodeURIComponent(value)}`);
    // Tenths of a ns are finer than any pixel that can be zoomed to.
    if (place.view) put("t", `${place.view.t0.toFixed(1)}:${place.view.t1.toFixed(1)}`);
    if (place.selected !== undefined) put("sel", String(place.selected));
    if (place.panel) put("panel", place.panel);
    if (place.rows) put("rows", place.rows.join("."));
    if (place.toggled?.length) put("open", place.toggled.join("."));
    if (place.pinned?.length) put("pin", place.pinned.join("."));
    if (place.hiddenLanes?.length) put("hide", place.hiddenLanes.join("."));
    if (place.hiddenGroups?.length) put("hideg", place.hiddenGroups.join("."));
    if (place.only?.length) put("only", place.only.join("."));
    if (place.marks?.length) put("marks", writeMarks(place.marks));
    if (place.name) put("name", place.name);
    if (place.relations) put("rel", place.relations);
    if (place.theme) put("theme", place.theme);
    if (place.query) put("q", place.query);
    if (place.filter) put("f", place.filter);
    for (const filter of place.saved ?? []) put("saved", filter);
    if (place.align !== undefined) put("align", String(place.align));
    if (place.scroll) put("y", String(Math.round(place.scroll)));
    return words.length > 0 ? `#${words.join("&")}` : "";
}

/** What cannot be read is left out: a link may come from anyone. */
export function readHash(hash: string): Place {
    const place: Place = {};
    for (const word of hash.replace(/^#/, "").split("&")) {
        const cut = word.indexOf("=");
        if (cut < 0) continue;
        const value = decode(word.slice(cut + 1));
        if (value === undefined) continue;
        switch (word.slice(0, cut)) {
            case "t": {
                const [t0, t1] = value.split(":").map(Number);
                if (Number.isFinite(t0) && Number.isFinite(t1) && t1! > t0!) place.view = { t0: t0!, t1: t1! };
                break;
            }
            case "sel":
                if (/^\d{1,15}$/.test(value)) place.selected = Number(value);
                break;
            case "panel":
                if (/^[a-z]{1,20}$/.test(value)) place.panel = value;
                break;
            case "rows":
                place.rows = value.split(".").filter((id) => id !== "");
                break;
            case "open":
                place.toggled = numbers(value);
                break;
            case "pin":
                place.pinned = numbers(value);
                break;
            case "hide":
                place.hiddenLanes = numbers(value);
                break;
            case "hideg":
                place.hiddenGroups = numbers(value);
                break;
            case "only":
                place.only = numbers(value);
                break;
            case "marks": {
                const marks = readMarks(value);
                if (marks.length > 0) place.marks = marks;
                break;
            }
            case "name":
                if (value) place.name = value.slice(0, 1000);
                break;
            case "rel":
                if (value === "all") place.relations = value;
                break;
            case "theme":
                if (value === "light" || value === "dark") place.theme = value;
                break;
            case "q":
                place.query = value.slice(0, 1000);
                break;
            case "f":
                place.filter = value.slice(0, 1000);
                break;
            case "saved":
                if (value) place.saved = [...(place.saved ?? []), value.slice(0, 300)];
                break;
            case "align":
                if (/^\d{1,9}$/.test(value)) place.align = Number(value);
                break;
            case "y":
                if (/^\d{1,9}$/.test(value)) place.scroll = Number(value);
                break;
        }
    }
    return place;
}

function decode(text: string): string | undefined {
    try {
        return decodeURIComponent(text);
    } catch {
        return undefined;
    }
}

function numbers(text: string): number[] {
    return text
        .split(".")
        .filter((word) => /^\d{1,9}$/.test(word))
        .map(Number);
}
