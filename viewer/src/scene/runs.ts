// Two runs above each other: which rows belong to which, and how far the second is moved so that a step of both begins
// at the same place. Each run keeps its own times: a move is of the drawing.

import type { Bundle } from "../data/bundle";
import { NONE } from "../data/layout";
import type { Run } from "../data/meta";

export class Runs {
    /** None: the bundle has one run. */
    readonly list: Run[];
    /** Numbers of the steps that both have. */
    readonly steps: number[];
    private readonly of: Uint8Array; // by group

    constructor(bundle: Bundle) {
        this.list = bundle.meta.runs ?? [];
        this.of = new Uint8Array(this.list.length > 0 ? bundle.groups.count : 0);
        const [first, second] = this.list;
        const there = new Set(second?.steps.map(([number]) => number) ?? []);
        this.steps = (first?.steps ?? []).map(([number]) => number).filter((number) => there.has(number));
        for (let g = 0; g < this.of.length; g++) {
            const parent = bundle.groups.parent[g]!;
            const run = this.list.findIndex((one) => one.group === g);
            this.of[g] = run >= 0 ? run : parent !== NONE && parent < g ? this.of[parent]! : 0;
        }
    }

    /** The run that a group is of: 0 or 1. */
    ofGroup(group: number): number {
        return this.of[group] ?? 0;
    }

    /** When a step of a run begins, in its own time; NaN: it has none of that number. */
    begin(run: number, step: number): number {
        return this.list[run]?.steps.find(([number]) => number === step)?.[1] ?? NaN;
    }

    /** The step of the first run that a time is in: the last that begins by then; null: none. */
    stepAt(time: number): number | null {
        let found: number | null = null;
        for (const step of this.steps) if (this.begin(0, step) <= time) found = step;
        return found ?? this.steps[0] ?? null;
    }

    /** By run: ns that it is moved by, so that a step begins at one place; null: as they are. */
    shifts(step: number | null): number[] {
        const by = step === null ? 0 : this.begin(0, step) - this.begin(1, step);
        return this.list.length === 0 ? [] : [0, Number.isFinite(by) ? by : 0];
    }
}
