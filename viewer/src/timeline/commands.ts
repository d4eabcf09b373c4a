// What the actions do: each is one change of the session. The table that gives them keys is actions.ts.

import { firstEndAfter } from "../data/block";
import { firstBlock } from "../data/bundle";
import { NONE } from "../data/layout";
import type { Bar } from "../data/trace";
import type { Session } from "../state/session";
import { barAsJson } from "./copy";
import type { Row } from "../scene/layout";
import { LEAST_NS, fitView, panBy, zoomAbout } from "../scene/view";

/** What an action is about, besides the selection. */
export interface Where {
    shiftKey: boolean;
    at: number; // ns: under the mouse, or the middle
    row: Row | null; // under the mouse
    digit: number; // of the key; 0: none
}

export const ZOOM = 0.7;
export const PAN = 0.15;

export function zoom(session: Session, at: number, factor: number): void {
    session.look(zoomAbout(session.view.value, at, factor, session.trace.bundle.span));
}

export function pan(session: Session, share: number): void {
    const { t0, t1 } = session.view.value;
    session.look(panBy(session.view.value, (t1 - t0) * share, session.trace.bundle.span));
}

/** Where one begins without a mouse: the first operation that is seen. */
async function firstInView(session: Session): Promise<number | null> {
    const { t0, t1 } = session.view.value;
    const [from, to] = session.trace.opsFrom(t0, t1);
    const parts = from < to ? await session.trace.partsOf(from) : [];
    const part = parts.find((p) => p.bar !== NONE);
    if (part) return part.bar;
    // Data without start times of operations: the first bar of the rows.
    const { bundle, blocks } = session.trace;
    for (const lane of session.layout.value.rows.flatMap((row) => row.lanes)) {
        const id = firstBlock(bundle, lane, t0);
        if (id >= bundle.lanes.blockFrom[lane + 1]! || bundle.blocks.from[id]! >= t1) continue;
        const block = await blocks.load(id);
        const i = firstEndAfter(block, t0);
        if (i < block.count && block.start[i]! < t1) return block.first + i;
    }
    return null;
}

/** The next or previous bar of the same lane. */
export function neighbour(session: Session, step: number): void {
    void session.step(() => {
        const bar = session.selected.value;
        if (!bar) return firstInView(session);
        const { lanes } = session.trace.bundle;
        const next = bar.bar + step;
        const first = lanes.first[bar.lane]!;
        return next >= first && next < first + lanes.bars[bar.lane]! ? next : null;
    });
}

/** Along relations: back to the parent, forward to the first child, else across the ranks of the operation. */
export function follow(session: Session, forward: boolean): void {
    void session.step(() => {
        const related = session.related.value;
        if (!related) return null;
        const { arrows, children, launched, parents } = related;
        const other = (end: 0 | 1) => arrows.map((pair) => pair[end]).find((bar) => bar.bar !== related.bar.bar);
        const to = forward ? (children[0] ?? launched[0] ?? other(1)) : (parents[0] ?? other(0));
        return to?.bar ?? null;
    });
}

export function peer(session: Session, step: number): void {
    void session.step(() => {
        const related = session.related.value;
        if (!related || related.parts.length === 0) return null;
        const at = related.parts.findIndex((part) => part.bar === related.bar.bar);
        return related.parts[(at + step + related.parts.length) % related.parts.length]!.bar;
    });
}

export function focus(session: Session): void {
    const bar = session.selected.value;
    const span = session.span.value;
    const by = bar ? session.shiftOf(bar.lane) : 0;
    const [start, end] = bar ? [bar.start + by, bar.end + bar.fade + by] : span ? [span.t0, span.t1] : [NaN, NaN];
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

/** To the full width: the selection, or the span. */
export function fit(session: Session): void {
    const bar = session.selected.value;
    const span = session.span.value;
    if (span) session.look(fitView(span.t0, span.t1, session.trace.bundle.span, 0.02));
    else if (bar) session.look(session.around(bar));
}

export function lastArriver(session: Session): void {
    void session.step(() => {
        const related = session.related.value;
        if (!related) {
            session.message.value = "select an operation first: a click, or the key .";
            return null;
        }
        const { op } = related.bar;
        const last = op !== NONE ? session.trace.bundle.ops.lastPart[op] : NONE;
        const part = related.parts.find((p) => p.index === last);
        if (part && part.bar !== NONE) return part.bar;
        session.message.value =
            op === NONE ? "this bar belongs to no operation" : "the last rank to arrive is unknown, or a tie";
        return null;
    });
}

export function hideRow(session: Session, where: Where): void {
    const row = rowMeant(session, where);
    if (row) session.hideRow(row);
}

/** Through what was found; `hits` of a search that still runs. */
export function hit(session: Session, step: number, hits = session.hits.value.bars): void {
    void session.step(() => {
        if (hits.length === 0) return null;
        const at = hits.indexOf(session.selected.value?.bar ?? -1);
        return hits[(at + step + hits.length) % hits.length]!;
    });
}

/** The row that is meant: under the mouse, else that of the selection. */
function rowMeant(session: Session, where: Where): Row | undefined {
    const bar = session.selected.value;
    const { rows, rowOfLane } = session.layout.value;
    return where.row ?? (bar ? rows[rowOfLane[bar.lane] ?? -1] : undefined);
}

export function pin(session: Session, where: Where): void {
    const row = rowMeant(session, where);
    const lane = session.selected.value && !where.row ? session.selected.value.lane : row?.lanes[0];
    if (lane !== undefined) session.togglePin(lane);
}

export function fold(session: Session, where: Where): void {
    const bar = session.selected.value;
    const row = rowMeant(session, where);
    const group = where.row ? where.row.group : bar ? session.rankOf(bar.bar) : row?.group;
    if (group === undefined || group === NONE) return;
    session.toggleGroup(group);
    // What is selected stays in sight.
    if (bar && !where.row) session.onReveal(bar.lane, NONE);
}

/** All that is seen as a span: its sums. */
export function selectAll(session: Session): void {
    const { t0, t1 } = session.view.value;
    session.span.value = { t0, t1, rowFrom: 0, rowTo: Math.max(0, session.layout.value.rows.length - 1) };
    session.panel.value = "details";
}

export function copyBar(session: Session, bar: Bar | null): void {
    if (bar) void barAsJson(session.trace, bar).then((text) => session.copy(text));
}

/** Esc: what lies on top goes first. */
export function close(session: Session): void {
    if (session.menu.value || session.finder.value || session.help.value) {
        session.menu.value = null;
        session.finder.value = false;
        session.help.value = false;
        return;
    }
    session.span.value = null;
    session.only.value = null;
    session.sameName.value = "";
    void session.select(null);
}

/** Opens the menu where the selection is, for those without a mouse. */
export function openMenu(session: Session, where: Where): void {
    const spot = session.placeOf(session.selected.value, where.row);
    session.menu.value = { ...spot, row: rowMeant(session, where) ?? null, bar: session.selected.value, at: where.at };
}

/** The next kind of row that there is, by its place: 1 is the first. */
export function toggleKind(session: Session, place: number): void {
    const kind = session.kindsThere[place - 1];
    if (kind !== undefined) session.toggleRow(kind);
}

export function focusSearch(): void {
    requestAnimationFrame(() => document.getElementById("search-input")?.focus());
}

/** Aligns two runs at the step of the upper one that a moment is in; the same again: at their begin. */
export function align(session: Session, where: Where): void {
    const step = session.runs.stepAt(where.at);
    if (step === null) session.message.value = "there is one run here, or its steps are unknown";
    else session.alignAt(session.alignedAt.value === step ? null : step);
}
