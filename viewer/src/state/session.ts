// What the page knows of the user: where they look, what they chose. Timeline and panels read these signals and change
// them through the functions here; nothing else holds state.

import { batch, computed, signal } from "@preact/signals";
import { laneOfBar, Level } from "../data/bundle";
import { NONE } from "../data/layout";
import type { Bar, Related, Trace } from "../data/trace";
import { firstOpen, groupAbove, layoutRows, rowHeightFor } from "../timeline/layout";
import { DARK, LIGHT } from "../timeline/palette";
import { clampView, fitView, History, type View } from "../timeline/view";
import { readHash, writeHash, type Place } from "./hash";

export interface Hover {
    bar: Bar;
    x: number; // CSS pixels in the window
    y: number;
}

/** A stretch of time over some rows. */
export interface Span {
    t0: number;
    t1: number;
    rowFrom: number;
    rowTo: number;
}

export type PanelId = "details" | "operations" | "heat" | "matrix" | "comms" | "report" | "search";

export class Session {
    readonly view = signal<View>({ t0: 0, t1: 1 });
    readonly scroll = signal(0);
    readonly selected = signal<Bar | null>(null);
    readonly related = signal<Related | null>(null);
    readonly hover = signal<Hover | null>(null);
    readonly span = signal<Span | null>(null);
    readonly open = signal<Set<number>>(new Set());
    readonly rowsOn = signal<boolean[]>([]);
    readonly pinned = signal<number[]>([]);
    readonly only = signal<Set<number> | null>(null);
    readonly panel = signal<PanelId | null>("report");
    readonly allRelations = signal(false);
    readonly themeChoice = signal<"auto" | "light" | "dark">("auto");
    readonly systemDark = signal(false);
    readonly help = signal(false);
    readonly query = signal("");
    readonly hits = signal<number[]>([]); // bars
    readonly error = signal("");
    readonly theme = computed(() => {
        const choice = this.themeChoice.value;
        return choice === "dark" || (choice === "auto" && this.systemDark.value) ? DARK : LIGHT;
    });
    readonly layout;
    readonly history = new History();
    private readonly firstOpened: Set<number>;
    private hashTimer = 0;

    constructor(readonly trace: Trace) {
        const { bundle } = trace;
        this.firstOpened = firstOpen(bundle);
        this.open.value = this.firstOpened;
        this.rowsOn.value = bundle.meta.rows.map((row) => row.on);
        this.view.value = this.wholeView();
        const rowHeight = rowHeightFor(bundle);
        this.layout = computed(() =>
            layoutRows(bundle, {
                rowHeight,
                rowsOn: this.rowsOn.value,
                open: this.open.value,
                pinned: this.pinned.value,
                only: this.only.value,
            }),
        );
    }

    /** Fitted to the operations, not to seconds of start-up. */
    wholeView(): View {
        const { meta, span } = this.trace.bundle;
        const [from, to] = meta.focus_ns ?? [0, span];
        return clampView({ t0: from, t1: to }, span);
    }

    look(view: View, now = performance.now()): void {
        this.history.note(this.view.value, now);
        this.view.value = clampView(view, this.trace.bundle.span);
    }

    back(): void {
        const view = this.history.back();
        if (view) this.view.value = view;
    }

    /** Selects a bar and finds what it is related to; null: nothing. */
    async select(bar: Bar | number | null): Promise<void> {
        const found = typeof bar === "number" ? ((await this.trace.bar(bar)) ?? null) : bar;
        batch(() => {
            this.selected.value = found;
            this.related.value = null;
            if (found) this.panel.value = "details";
        });
        if (!found) return;
        try {
            const related = await this.trace.related(found);
            if (this.selected.value === found) this.related.value = related;
        } catch (error) {
            this.error.value = String(error);
        }
    }

    /** Selects a bar and goes there: opens its groups, and moves the window when it is outside. */
    async jump(bar: number): Promise<void> {
        const found = await this.trace.bar(bar);
        if (!found) return;
        this.reveal(found.lane);
        const { t0, t1 } = this.view.value;
        const small = found.end - found.start < (t1 - t0) / 200;
        if (found.start < t0 || found.end > t1 || small)
            this.look(fitView(found.start, found.end, this.trace.bundle.span, small ? 4 : 1));
        await this.select(found);
        this.onReveal(found.lane);
    }

    /** The timeline sets it: scrolls until a lane is seen. */
    onReveal: (lane: number) => void = () => {};

    private reveal(lane: number): void {
        const { bundle } = this.trace;
        const kind = bundle.lanes.kind[lane]!;
        const group = bundle.lanes.group[lane]!;
        // An operation is seen on the folded row; what lies below it only when it is open.
        if (bundle.meta.rows[kind]?.summary && this.rowsOn.value[kind]) return;
        batch(() => {
            if (!this.rowsOn.value[kind]) this.rowsOn.value = this.rowsOn.value.map((on, i) => on || i === kind);
            const open = new Set(this.open.value);
            for (let g = group, n = 0; g !== NONE && n < 8; g = bundle.groups.parent[g]!, n++) open.add(g);
            this.open.value = open;
        });
    }

    toggleGroup(group: number): void {
        const open = new Set(this.open.value);
        const { groups } = this.trace.bundle;
        if (!open.delete(group)) {
            open.add(group);
            // With a rank its communicators open too: that is what one wants to see.
            if (groups.level[group] === Level.Rank)
                for (let g = group + 1; g < groups.count && groups.level[g] === Level.Comm; g++) open.add(g);
        }
        this.open.value = open;
    }

    toggleRow(kind: number): void {
        this.rowsOn.value = this.rowsOn.value.map((on, i) => (i === kind ? !on : on));
    }

    togglePin(lane: number): void {
        const pinned = this.pinned.value;
        this.pinned.value = pinned.includes(lane) ? pinned.filter((l) => l !== lane) : [...pinned, lane];
    }

    /** Only the ranks of the selected operation; again: all. */
    toggleOnly(): void {
        const related = this.related.value;
        if (this.only.value || !related || related.parts.length === 0) {
            this.only.value = null;
            return;
        }
        const { members } = this.trace.bundle;
        this.only.value = new Set(related.parts.map((part) => members.group[part.member]!));
    }

    /** The group of the rank that a bar belongs to. */
    rankOf(bar: number): number {
        const { lanes } = this.trace.bundle;
        return groupAbove(this.trace.bundle, lanes.group[laneOfBar(lanes, bar)]!, Level.Rank);
    }

    place(): Place {
        const { meta } = this.trace.bundle;
        const place: Place = { view: this.view.value };
        if (this.selected.value) place.selected = this.selected.value.bar;
        if (this.panel.value) place.panel = this.panel.value;
        if (this.rowsOn.value.some((on, i) => on !== meta.rows[i]!.on))
            place.rows = meta.rows.filter((_, i) => this.rowsOn.value[i]).map((row) => row.id);
        const differ = (a: Set<number>, b: Set<number>) => [...a].filter((g) => !b.has(g));
        place.toggled = [...differ(this.open.value, this.firstOpened), ...differ(this.firstOpened, this.open.value)];
        place.pinned = this.pinned.value;
        if (this.allRelations.value) place.relations = "all";
        if (this.themeChoice.value !== "auto") place.theme = this.themeChoice.value;
        if (this.query.value) place.query = this.query.value;
        place.scroll = this.scroll.value;
        return place;
    }

    /** Puts the place into the address, a moment after the last change: browsers limit how often. */
    shareSoon(): void {
        clearTimeout(this.hashTimer);
        this.hashTimer = window.setTimeout(
            () => history.replaceState(null, "", writeHash(this.place()) || location.pathname),
            300,
        );
    }

    async goTo(hash: string): Promise<void> {
        const place = readHash(hash);
        const { bundle } = this.trace;
        batch(() => {
            if (place.view) this.view.value = clampView(place.view, bundle.span);
            if (place.rows) this.rowsOn.value = bundle.meta.rows.map((row) => place.rows!.includes(row.id));
            if (place.toggled) {
                const open = new Set(this.firstOpened);
                for (const group of place.toggled) if (!open.delete(group)) open.add(group);
                this.open.value = open;
            }
            if (place.pinned) this.pinned.value = place.pinned.filter((lane) => lane < bundle.lanes.count);
            this.allRelations.value = place.relations === "all";
            if (place.theme) this.themeChoice.value = place.theme;
            if (place.query) this.query.value = place.query;
            if (place.scroll) this.scroll.value = place.scroll;
        });
        if (place.selected !== undefined) await this.select(place.selected);
        if (place.panel) this.panel.value = place.panel as PanelId;
    }
}
