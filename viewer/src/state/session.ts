// State of the user interface: the current view and the user's choices. Timeline and panels read these signals and change
// them through the functions here; nothing else holds state.

import { batch, computed, effect, signal } from "@preact/signals";
import { laneOfBar, Level, type Groups } from "../data/bundle";
import { NONE } from "../data/layout";
import type { Bar, Related, Trace } from "../data/trace";
import { groupAbove } from "../data/groups";
import { firstOpen, layoutRows, rowHeightFor, type Row } from "../scene/layout";
import { DARK, LIGHT } from "../scene/palette";
import { Runs } from "../scene/runs";
import { clampView, fitView, History, type View } from "../scene/view";
import { Choices, type Current } from "./choices";
import { readHash, writeHash, type Place } from "./hash";
import { addMark, removeNearest, type Mark } from "./marks";

/** A place in the window, in CSS pixels. */
interface Spot {
    x: number;
    y: number;
}

export interface Hover extends Spot {
    bar: Bar;
}

/** The name of a row under the mouse. */
export interface RowHover extends Spot {
    row: Row;
}

/** Flags of communicators under the mouse. */
export interface FlagHover extends Spot {
    flags: number[];
}

/** A stretch of time over some rows. */
export interface Span {
    t0: number;
    t1: number;
    rowFrom: number;
    rowTo: number;
    /** Measured on the ruler: all rows, and no sums until one asks. */
    ruler?: boolean;
}

/** The menu of a right click, or of the menu key: what it is about, and where it opens. */
export interface Menu extends Spot {
    row: Row | null;
    bar: Bar | null;
    at: number; // ns
}

/** What a search found: bars, and when each begins. */
export interface Hits {
    bars: number[];
    times: number[];
}

export const NO_HITS: Hits = { bars: [], times: [] };

export type PanelId = "report" | "details" | "operations" | "heat" | "matrix" | "comms" | "search" | "notes" | "legend";

/** Ranks that the URL lists one by one: more would make it too long to be shared. */
const MOST_ONLY = 200;
const MOST_SAVED = 12;

const without = (set: Set<number>, gone: number[]): Set<number> => new Set([...set].filter((v) => !gone.includes(v)));

function ranksBelow(groups: Groups, process: number): number[] {
    const list: number[] = [];
    for (let g = process + 1; g < groups.count && groups.level[g]! >= Level.Rank; g++)
        if (groups.parent[g] === process) list.push(g);
    return list;
}

/** Panels from which one jumps to one thing after the other: a jump does not take them away. */
const LISTS = new Set<string>(["operations", "heat", "search"]);

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
    /** Ranks that are shown, in this order; null: all, as they are. */
    readonly only = signal<Set<number> | null>(null);
    readonly hiddenLanes = signal<Set<number>>(new Set());
    readonly hiddenGroups = signal<Set<number>>(new Set());
    readonly marks = signal<Mark[]>([]);
    /** Bars of this name stand out; "": all. */
    readonly sameName = signal("");
    readonly menu = signal<Menu | null>(null);
    readonly rowHover = signal<RowHover | null>(null);
    readonly flagHover = signal<FlagHover | null>(null);
    readonly finder = signal(false);
    /** A row that was jumped to: marked for a moment. */
    readonly shownRow = signal<{ lane: number; group: number } | null>(null);
    /** Status message, for screen readers and below the timeline: "copied". */
    readonly message = signal("");
    readonly panel = signal<PanelId | null>("report");
    readonly allRelations = signal(false);
    readonly themeChoice = signal<"auto" | "light" | "dark">("auto");
    readonly systemDark = signal(false);
    readonly help = signal(false);
    readonly query = signal("");
    readonly hits = signal<Hits>(NO_HITS);
    /** Of the table of operations. */
    readonly filter = signal("");
    /** Filters that are kept. */
    readonly saved = signal<string[]>([]);
    readonly error = signal("");
    /** Of two runs: the step at which they are aligned; null: at their begin. */
    readonly alignedAt = signal<number | null>(null);
    readonly runs: Runs;
    /** By run: ns that its bars are moved by. */
    readonly shifts = computed(() => this.runs.shifts(this.alignedAt.value));
    readonly theme = computed(() => {
        const choice = this.themeChoice.value;
        return choice === "dark" || (choice === "auto" && this.systemDark.value) ? DARK : LIGHT;
    });
    readonly layout;
    readonly history = new History();
    /** Kinds of rows that have a lane, in order: the buttons above, and the keys 1 to 9. */
    readonly kindsThere: number[];
    private readonly choices = new Choices((error) => (this.error.value = String(error)));
    private readonly firstOpened: Set<number>;
    private hashTimer = 0;

    constructor(readonly trace: Trace) {
        const { bundle } = trace;
        this.runs = new Runs(bundle);
        this.firstOpened = firstOpen(bundle);
        this.open.value = this.firstOpened;
        this.rowsOn.value = bundle.meta.rows.map((row) => row.on);
        this.view.value = this.wholeView();
        const there = new Set<number>();
        for (let lane = 0; lane < bundle.lanes.count; lane++) there.add(bundle.lanes.kind[lane]!);
        this.kindsThere = bundle.meta.rows.map((_, i) => i).filter((i) => there.has(i));
        const rowHeight = rowHeightFor(bundle);
        this.layout = computed(() =>
            layoutRows(bundle, {
                rowHeight,
                rowsOn: this.rowsOn.value,
                open: this.open.value,
                pinned: this.pinned.value,
                only: this.only.value,
                hiddenLanes: this.hiddenLanes.value,
                hiddenGroups: this.hiddenGroups.value,
            }),
        );
        // What the mouse was over has moved away from under it.
        effect(() => {
            void [this.view.value, this.scroll.value, this.layout.value, this.shifts.value];
            batch(() => {
                this.hover.value = null;
                this.rowHover.value = null;
                this.flagHover.value = null;
            });
        });
    }

    /** Fitted to the operations, not to seconds of start-up. */
    wholeView(): View {
        const { meta, span } = this.trace.bundle;
        const [from, to] = meta.focus_ns ?? [0, span];
        if (!(to > from)) return this.runView();
        // A little room, so that the first and the last bar do not stick to the edge.
        return clampView({ t0: from - (to - from) * 0.01, t1: to + (to - from) * 0.01 }, span);
    }

    /** The whole run, start-up and all. */
    runView(): View {
        return clampView({ t0: 0, t1: this.trace.bundle.span }, this.trace.bundle.span);
    }

    /** `same`: a further part of the movement that was begun. */
    look(view: View, same = false): void {
        this.history.note(this.view.value, performance.now(), same);
        this.view.value = clampView(view, this.trace.bundle.span);
    }

    /** By how much the bars of a group are moved, ns. */
    shift(group: number): number {
        return this.runs.list.length === 0 ? 0 : this.shifts.value[this.runs.ofGroup(group)]!;
    }

    /** The same of a lane. */
    shiftOf(lane: number): number {
        return this.runs.list.length === 0 ? 0 : this.shift(this.trace.bundle.lanes.group[lane]!);
    }

    /** Aligns two runs at a step, and keeps it in the window; null: at their begin. */
    alignAt(step: number | null): void {
        batch(() => {
            this.alignedAt.value = step;
            const at = step === null ? NaN : this.runs.begin(0, step);
            const { t0, t1 } = this.view.value;
            if (at < t0 || at > t1) this.look({ t0: at - (t1 - t0) * 0.1, t1: at + (t1 - t0) * 0.9 });
        });
    }

    /** A window around a bar, where it is drawn. */
    around(bar: Bar, room?: number): View {
        const by = this.shiftOf(bar.lane);
        return fitView(bar.start + by, bar.end + bar.fade + by, this.trace.bundle.span, room);
    }

    back(): void {
        const view = this.history.back();
        if (view) this.view.value = view;
    }

    /** Selects a bar and finds what it is related to; null: nothing. A panel that lists what one chooses from stays. */
    select(bar: Bar | null | Promise<Bar | undefined>): Promise<void> {
        return this.choices.choose(async (current) => {
            const found = bar instanceof Promise ? ((await bar) ?? null) : bar;
            if (current()) await this.show(found);
        });
    }

    /** Selects a bar and goes there: opens its groups, and moves the window when it is outside. null: nowhere. */
    jump(bar: number | Promise<number | null>): Promise<void> {
        return this.choices.choose(async (current) => this.go(await bar, current));
    }

    /** From what is selected to another bar; `to` is asked when all before it is selected and its relations are known. */
    step(to: () => number | null | Promise<number | null>): Promise<void> {
        return this.choices.step(async (current) => this.go(await to(), current));
    }

    private async show(bar: Bar | null): Promise<void> {
        batch(() => {
            this.selected.value = bar;
            this.related.value = null;
            if (bar && !LISTS.has(this.panel.value ?? "")) this.panel.value = "details";
        });
        const related = bar && (await this.trace.related(bar));
        if (this.selected.value === bar) this.related.value = related;
    }

    private async go(bar: number | null, current: Current): Promise<void> {
        const found = bar === null ? undefined : await this.trace.bar(bar);
        if (!found || !current()) return;
        this.reveal(found.lane);
        const { t0, t1 } = this.view.value;
        const by = this.shiftOf(found.lane);
        const [start, end] = [found.start + by, found.end + found.fade + by];
        const length = end - start;
        const small = length < (t1 - t0) / 200;
        // A moment has no width to be fitted to: it comes into the middle.
        const half = length === 0 ? (t1 - t0) / 2 : 0;
        const outside = start < t0 || end > t1;
        if (outside && half > 0) this.look({ t0: start - half, t1: end + half });
        else if (outside || (small && half === 0)) this.look(this.around(found, small ? 4 : 1));
        this.onReveal(found.lane, NONE);
        await this.show(found);
    }

    /** The timeline sets it: scrolls until a lane is seen. */
    onReveal: (lane: number, group: number) => void = () => {};

    /** Opens, unhides and switches on whatever keeps a lane from being seen. */
    private reveal(lane: number): void {
        const { bundle } = this.trace;
        const kind = bundle.lanes.kind[lane]!;
        if (!this.layout.value.standsFor[lane]) return; // an operation is seen on the folded row, too
        batch(() => {
            if (!this.rowsOn.value[kind]) this.rowsOn.value = this.rowsOn.value.map((on, i) => on || i === kind);
            if (this.hiddenLanes.value.has(lane)) this.hiddenLanes.value = without(this.hiddenLanes.value, [lane]);
            this.openTo(bundle.lanes.group[lane]!);
        });
    }

    private openTo(group: number): void {
        const { groups } = this.trace.bundle;
        const chain: number[] = [];
        for (let g = group, n = 0; g !== NONE && n < 8; g = groups.parent[g]!, n++) chain.push(g);
        // The threads of a process with one rank are shown with that rank.
        const below = groups.level[group] === Level.Process ? ranksBelow(groups, group) : [];
        this.open.value = new Set([...this.open.value, ...chain, ...(below.length === 1 ? below : [])]);
        if (chain.some((g) => this.hiddenGroups.value.has(g)))
            this.hiddenGroups.value = without(this.hiddenGroups.value, chain);
        const rank = groupAbove(this.trace.bundle, group, Level.Rank);
        if (this.only.value && !this.only.value.has(rank)) this.only.value = null;
    }

    /** Goes to a row without selecting anything: a lane, or the row of a group. */
    showRow(lane: number, group: number): void {
        if (lane !== NONE) this.reveal(lane);
        else batch(() => this.openTo(this.trace.bundle.groups.parent[group] ?? NONE));
        this.shownRow.value = { lane, group };
        this.onReveal(lane, group);
    }

    hideRow(row: Row): void {
        if (row.pinned) this.togglePin(row.lanes[0]!);
        else if (row.open === null) this.hiddenLanes.value = new Set([...this.hiddenLanes.value, ...row.lanes]);
        else this.hiddenGroups.value = new Set([...this.hiddenGroups.value, row.group]);
    }

    showHidden(): void {
        batch(() => {
            this.hiddenLanes.value = new Set();
            this.hiddenGroups.value = new Set();
        });
    }

    /** Marks the selection, the span, or a moment. */
    mark(at: number, kept: boolean): void {
        const bar = this.selected.value;
        const span = this.span.value;
        const [t0, t1] = span ? [span.t0, span.t1] : bar ? [bar.start, bar.end + bar.fade] : [at, at];
        this.marks.value = addMark(this.marks.value, { t0, t1, kept });
    }

    unmark(at: number): void {
        this.marks.value = removeNearest(this.marks.value, at);
    }

    /** Keeps a filter; the oldest goes where there are too many for an address. */
    save(filter: string): void {
        this.saved.value = [...this.saved.value.filter((other) => other !== filter), filter].slice(-MOST_SAVED);
    }

    forget(filter: string): void {
        this.saved.value = this.saved.value.filter((other) => other !== filter);
    }

    /** Only bars of the name stand out; the same again: all. */
    toggleName(name: string): void {
        this.sameName.value = this.sameName.value === name ? "" : name;
    }

    copyAddress(): Promise<void> {
        return this.copy(location.href.split("#")[0] + writeHash(this.place()));
    }

    /** The timeline sets it: where a bar or a row is on the screen, for a menu that no mouse opened. */
    placeOf: (bar: Bar | null, row: Row | null) => Spot = () => ({ x: 300, y: 200 });

    /** To the clipboard; a browser may forbid it to a page from disk. */
    async copy(text: string): Promise<void> {
        try {
            await navigator.clipboard.writeText(text);
            this.message.value = "copied";
        } catch {
            this.message.value = "copying is blocked by the browser";
        }
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
        if (this.only.value) return this.showOnly([]);
        void this.step(() => {
            const parts = this.only.value ? [] : (this.related.value?.parts ?? []);
            const { members } = this.trace.bundle;
            // By arrival: who was last is at the bottom. Unknown starts come behind.
            const order = [...parts].sort((a, b) => (a.start || Infinity) - (b.start || Infinity) || 0);
            this.showOnly(order.map((part) => members.group[part.member]!));
            return null;
        });
    }

    showOnly(groups: number[]): void {
        const known = groups.filter((g) => g < this.trace.bundle.groups.count);
        this.only.value = known.length > 0 ? new Set(known) : null;
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
        place.panel = this.panel.value ?? "none";
        if (this.rowsOn.value.some((on, i) => on !== meta.rows[i]!.on))
            place.rows = meta.rows.filter((_, i) => this.rowsOn.value[i]).map((row) => row.id);
        const differ = (a: Set<number>, b: Set<number>) => [...a].filter((g) => !b.has(g));
        place.toggled = [...differ(this.open.value, this.firstOpened), ...differ(this.firstOpened, this.open.value)];
        place.pinned = this.pinned.value;
        place.hiddenLanes = [...this.hiddenLanes.value];
        place.hiddenGroups = [...this.hiddenGroups.value];
        if (this.only.value && this.only.value.size <= MOST_ONLY) place.only = [...this.only.value];
        place.marks = this.marks.value;
        if (this.sameName.value) place.name = this.sameName.value;
        if (this.allRelations.value) place.relations = "all";
        if (this.themeChoice.value !== "auto") place.theme = this.themeChoice.value;
        if (this.query.value) place.query = this.query.value;
        if (this.filter.value) place.filter = this.filter.value;
        place.saved = this.saved.value;
        if (this.alignedAt.value !== null) place.align = this.alignedAt.value;
        place.scroll = this.scroll.value;
        return place;
    }

    /** Updates the URL, a moment after the last change: browsers limit how often. */
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
            this.hiddenLanes.value = new Set(place.hiddenLanes ?? []);
            this.hiddenGroups.value = new Set(place.hiddenGroups ?? []);
            this.showOnly(place.only ?? []);
            this.marks.value = place.marks ?? [];
            this.sameName.value = place.name ?? "";
            this.allRelations.value = place.relations === "all";
            if (place.theme) this.themeChoice.value = place.theme;
            if (place.query) this.query.value = place.query;
            this.alignedAt.value = place.align ?? null;
            this.filter.value = place.filter ?? "";
            this.saved.value = (place.saved ?? []).slice(-MOST_SAVED);
            if (place.scroll) this.scroll.value = place.scroll;
        });
        if (place.selected !== undefined) await this.select(this.trace.bar(place.selected));
        if (place.panel) this.panel.value = place.panel === "none" ? null : (place.panel as PanelId);
    }
}
