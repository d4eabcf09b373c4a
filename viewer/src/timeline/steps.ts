// Where the steps of two runs begin: a line through the rows of each run, and the number on the run's own row.

import { NONE } from "../data/layout";
import type { Session } from "../state/session";
import type { Theme } from "../scene/palette";
import { NAMES_WIDTH, type Geometry } from "./geometry";

/** Lines closer than that, in pixels, would be a hatching. */
const LEAST_APART = 5;

export function drawSteps(c: CanvasRenderingContext2D, session: Session, geometry: Geometry, theme: Theme): void {
    const { runs } = session;
    const lines = runs.list.map((run, i) => linesOf(run.steps, geometry, session.shifts.value[i] ?? 0));
    if (lines.every((list) => list.length === 0)) return;
    const { groups } = session.trace.bundle;
    geometry.eachRow((row) => {
        const y = geometry.rowY(row);
        if (!row.pinned && y + row.height < geometry.rowsTop) return;
        const own = groups.parent[row.group] === NONE;
        c.fillStyle = own ? theme.text : theme.relation;
        let free = 0; // where the next number may begin
        for (const { x, number } of lines[runs.ofGroup(row.group)] ?? []) {
            c.globalAlpha = own ? 1 : 0.55;
            c.fillRect(x, y, 1, row.height);
            if (!own || x < free) continue;
            const text = `step ${number}`;
            c.fillText(text, x + 4, y + row.height / 2 + 0.5);
            free = x + c.measureText(text).width + 10;
        }
    });
    c.globalAlpha = 1;
}

function linesOf(steps: [number, number][], geometry: Geometry, shift: number): { x: number; number: number }[] {
    const seen: { x: number; number: number }[] = [];
    for (const [number, begin] of steps) {
        const x = Math.round(geometry.x(begin + shift));
        if (x >= NAMES_WIDTH && x <= geometry.width) seen.push({ x, number });
    }
    const narrow = seen.length > 1 && (seen[seen.length - 1]!.x - seen[0]!.x) / (seen.length - 1) < LEAST_APART;
    return narrow ? [] : seen;
}
