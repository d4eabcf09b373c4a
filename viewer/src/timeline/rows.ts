// Finding a row by words: host, process, rank, communicator, channel, thread.

import type { Bundle } from "../data/bundle";
import { Level } from "../data/bundle";
import { NONE } from "../data/layout";
import { laneTitle } from "../data/groups";

export interface FoundRow {
    lane: number; // NONE: the row of a group
    group: number;
    title: string;
}

function groupTitle(bundle: Bundle, group: number): string {
    const words: string[] = [];
    for (let g = group, n = 0; g !== NONE && n < 8; g = bundle.groups.parent[g]!, n++)
        words.unshift(bundle.strings.get(bundle.groups.label[g]!));
    return words.join(" › ");
}

/**
 * Rows whose full name has a word that begins with each word of the text, groups before lanes; "rank 1" is not found in
 * "rank 12" before it is in "rank 1": whole words come first.
 */
export function findRows(bundle: Bundle, text: string, most = 100): FoundRow[] {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const whole: FoundRow[] = [];
    const begun: FoundRow[] = [];
    const look = (row: FoundRow): void => {
        const has = row.title.toLowerCase().split(/[\s›,()]+/);
        if (!words.every((word) => has.some((other) => other.startsWith(word)))) return;
        if (words.every((word) => has.includes(word))) whole.push(row);
        else if (begun.length < most) begun.push(row);
    };
    for (let g = 0; g < bundle.groups.count && whole.length < most; g++)
        if (bundle.groups.level[g]! <= Level.Comm) look({ lane: NONE, group: g, title: groupTitle(bundle, g) });
    for (let lane = 0; lane < bundle.lanes.count && whole.length < most; lane++)
        if (bundle.lanes.bars[lane]! > 0)
            look({ lane, group: bundle.lanes.group[lane]!, title: laneTitle(bundle, lane) });
    return [...whole, ...begun].slice(0, most);
}
