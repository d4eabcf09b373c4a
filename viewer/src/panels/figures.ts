// The figures of a rank in words: what the small bars beside its name show.

import type { Bundle } from "../data/bundle";
import { FIGURES } from "../scene/opening";
import { count, duration } from "./words";

export function figuresOf({ groups }: Bundle, group: number): [string, string][] {
    return FIGURES.flatMap(({ id, text }): [string, string][] => {
        const value = groups.figures[id][group] ?? NaN;
        if (Number.isNaN(value)) return [];
        return [[id, `${id === "last" ? count(value) : duration(value)} (${text})`]];
    });
}
