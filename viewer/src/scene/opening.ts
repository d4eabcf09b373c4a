// What is seen first: the window, the order of the rows, and the rank that the conclusion names.

import { Level, type Bundle } from "../data/bundle";
import type { Figures } from "../data/bundle";
import { NONE } from "../data/layout";
import { clampView, type View } from "./view";

/** By rank as they are, or by one of the figures: the largest first. */
export type Sort = "rank" | keyof Figures;

export const FIGURES: { id: keyof Figures; text: string }[] = [
    { id: "late", text: "its own lateness, summed over all operations: what it cost the others at most" },
    { id: "waited", text: "waited for the last rank, summed over all operations" },
    { id: "last", text: "operations in which it was the last to arrive" },
];

/** More ranks than that do not fit on a screen: those that cost most come first. */
const MOST_BY_RANK = 32;

/** Verdicts that are no hang. */
const NO_HANG = new Set(["NONE", "UNKNOWN"]);

/** Verdicts of a rank that did not come: the others wait for it, not for an agreement. */
const ABSENT = new Set(["RANK_DEAD", "NOT_JOINED", "STREAM_BLOCKED"]);

export function hangs({ meta }: Bundle): boolean {
    return meta.hang !== undefined && !NO_HANG.has(meta.hang.verdict);
}

/** Whether what was open at the end waits for another rank; all are in a transfer that does not move, else. */
export function openWaits(bundle: Bundle): boolean {
    const { hang } = bundle.meta;
    return hangs(bundle) && (hang!.verdict !== "STALLED_STEP" || hang!.culprits?.[0]?.suspected === true);
}

/** "rank 3": whom all wait for; "": several, or it is not known. */
export function awaited({ meta }: Bundle): string {
    const [first, ...others] = meta.hang?.culprits ?? [];
    if (!first || others.length > 0 || first.ranks.length !== 1 || first.suspected) return "";
    return ABSENT.has(first.verdict) && first.ranks[0] !== null ? `rank ${first.ranks[0]}` : "";
}

export function ranksOf({ groups }: Bundle): number[] {
    const ranks: number[] = [];
    for (let g = 0; g < groups.count; g++) if (groups.level[g] === Level.Rank) ranks.push(g);
    return ranks;
}

/** Whether there is anything to compare: a rank that was late, or waited. */
export function hasFigures({ groups }: Bundle): boolean {
    return FIGURES.some(({ id }) => groups.figures[id].some((value) => value > 0));
}

export function firstSort(bundle: Bundle): Sort {
    // Two runs stay above each other.
    const many = ranksOf(bundle).length > MOST_BY_RANK && bundle.meta.runs === undefined;
    return many && (hasFigures(bundle) || marked(bundle).length > 0) ? "late" : "rank";
}

const marked = ({ meta }: Bundle): number[] => (meta.marks ?? []).map((mark) => mark.group);

/** The ranks in their order; null: as they are. Those that are to blame for a hang come before all others. */
export function sortedRanks(bundle: Bundle, sort: Sort): number[] | null {
    if (sort === "rank") return null;
    const blamed = new Set(marked(bundle));
    const figure = bundle.groups.figures[sort];
    const key = (g: number): number => (blamed.has(g) ? Infinity : Number.isNaN(figure[g]!) ? -1 : figure[g]!);
    return ranksOf(bundle).sort((a, b) => (key(a) === key(b) ? a - b : key(b) - key(a)));
}

/** Two or three typical steps, or the end of a run that hangs; where there are no steps: all operations. */
export function openingView(bundle: Bundle): View {
    return windowOf(bundle, bundle.meta.open_ns ?? bundle.meta.focus_ns);
}

/** All operations, without seconds of start-up. */
export function operationsView(bundle: Bundle): View {
    return windowOf(bundle, bundle.meta.focus_ns);
}

function windowOf({ span }: Bundle, window: [number, number] | undefined): View {
    const [from, to] = window ?? [0, span];
    if (!(to > from)) return clampView({ t0: 0, t1: span }, span);
    // A little room, so that the first and the last bar do not stick to the edge.
    return clampView({ t0: from - (to - from) * 0.01, t1: to + (to - from) * 0.01 }, span);
}

/** More ranks than that are no single culprits: a host, or a link. */
const MOST_NAMED = 4;

/** The ranks that are to blame, the first first: for a hang, else those that the conclusion names as late. */
export function culprits(bundle: Bundle): number[] {
    const { marks, report } = bundle.meta;
    if (marks?.length) return [...marks].sort((a, b) => (a.culprit ?? 0) - (b.culprit ?? 0)).map((mark) => mark.group);
    return (report.findings ?? [])
        .filter(({ named, ranks }) => named && ranks && ranks.length <= MOST_NAMED)
        .flatMap(({ ranks }) => ranks!.map((rank) => groupOfRank(bundle, rank)))
        .filter((group) => group !== NONE);
}

/** The group of a rank of the job; NONE: it is not drawn. */
export function groupOfRank({ members }: Bundle, rank: number): number {
    for (let i = 0; i < members.count; i++) if (members.globalRank[i] === rank) return members.group[i]!;
    return NONE;
}
