// The tree of groups: hosts, their processes, ranks and communicators. Lanes belong to a group of any level.

import type { Bundle, Level } from "./bundle";
import { NONE } from "./layout";

/** The group at a level that a group is in, itself included; NONE: none. */
export function groupAbove(bundle: Bundle, group: number, level: Level): number {
    for (let g = group, n = 0; g !== NONE && n < 8; g = bundle.groups.parent[g]!, n++)
        if (bundle.groups.level[g] === level) return g;
    return NONE;
}

/** "host00 › pid 7 › rank 0 › default_pg › operations" */
export function laneTitle(bundle: Bundle, lane: number): string {
    const words = [bundle.strings.get(bundle.lanes.label[lane]!)];
    for (let g = bundle.lanes.group[lane]!, n = 0; g !== NONE && n < 8; g = bundle.groups.parent[g]!, n++)
        words.unshift(bundle.strings.get(bundle.groups.label[g]!));
    return words.join(" › ");
}
