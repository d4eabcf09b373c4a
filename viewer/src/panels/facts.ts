// Facts of a bar as name and value, for the tooltip and the details.

import { isDestroyed } from "../timeline/flags";
import { groupAbove, laneTitle } from "../data/groups";
import { type Row } from "../scene/layout";
import { BarFlag, NONE, OpFlag } from "../data/layout";
import type { Bar, Trace } from "../data/trace";
import { Level } from "../data/bundle";
import { figuresOf } from "./figures";
import { argument, bandwidth, bytes, count, duration, hex, moment, waited } from "./words";

export type Fact = [string, string];

const FLAG_WORDS: [BarFlag, string][] = [
    [BarFlag.Open, "still running when the recording ended"],
    [BarFlag.Lost, "callbacks were lost here"],
    [BarFlag.NotRecorded, "nothing was recorded here"],
    [BarFlag.Mismatch, "its arguments differ from those of the other ranks"],
    [BarFlag.Helped, "another process did some of its network work (PXN)"],
    [BarFlag.LastArriver, "last rank to arrive"],
    [BarFlag.StartUnknown, "start unknown: drawn from its launch or its call"],
];

export function factsOf(trace: Trace, bar: Bar): Fact[] {
    const { bundle } = trace;
    const noStart = (bar.flags & BarFlag.StartUnknown) !== 0;
    const facts: Fact[] = [
        ["where", laneTitle(bundle, bar.lane)],
        ["start", noStart ? `unknown: ${moment(bar.start, 1)} or later` : moment(bar.start, 1)],
    ];
    if (bar.flags & (BarFlag.Lost | BarFlag.NotRecorded)) facts.push(["to", moment(bar.end, 1)]);
    else if (bar.flags & BarFlag.Open)
        facts.push(["end", "not recorded"], ["duration", `at least ${duration(bar.end - bar.start)}`]);
    else if (bar.flags & BarFlag.EndBounded && moment(bar.end, 1) !== moment(bar.end + bar.fade, 1))
        facts.push(
            ["end", `unknown: between ${moment(bar.end, 1)} and ${moment(bar.end + bar.fade, 1)}`],
            ["duration", `${duration(bar.end - bar.start)} to ${duration(bar.end + bar.fade - bar.start)}`],
        );
    else {
        const most = noStart ? "at most " : "";
        facts.push(["end", moment(bar.end, 1)], ["duration", most + duration(bar.end - bar.start)]);
    }
    if (bar.wait > 0 && bar.flags & BarFlag.Open && bar.wait >= bar.end - bar.start)
        facts.push(["wait", `at least ${duration(bar.wait)}: another rank had not arrived`]);
    else if (bar.wait > 0)
        facts.push(
            ["wait", `${duration(bar.wait)} for the last rank`],
            ["after the wait", duration(bar.end - bar.start - bar.wait)],
        );
    const marks = bundle.meta.kinds[bar.kind]?.marks ?? [];
    bar.marks.forEach((mark, i) => mark > 0 && facts.push([marks[i] ?? `mark ${i + 1}`, `after ${duration(mark)}`]));
    for (const [flag, words] of FLAG_WORDS) if (bar.flags & flag) facts.push(["note", words]);
    facts.push(["clock error", clockError(trace, bundle.lanes.group[bar.lane]!)]);
    return facts;
}

function clockError(trace: Trace, group: number): string {
    const { bundle } = trace;
    const rank = groupAbove(bundle, group, Level.Rank);
    const error = bundle.groups.error[rank === NONE ? group : rank] ?? NaN;
    return Number.isFinite(error) ? duration(error) : "unknown: not comparable with the other clocks";
}

/** What a flag says: which communicator of which rank, and when. */
export function factsOfFlag(trace: Trace, flag: number): Fact[] {
    const { flags, groups, strings } = trace.bundle;
    const group = flags.group[flag]!;
    const words: string[] = [];
    for (let g = group, n = 0; g < groups.count && n < 8; g = groups.parent[g]!, n++)
        words.unshift(strings.get(groups.label[g]!));
    return [
        [isDestroyed(trace, flag) ? "destroyed" : "created", moment(flags.time[flag]!, 1)],
        ["where", words.join(" › ")],
        ["clock error", clockError(trace, group)],
    ];
}

/** What a row is: its host, process, rank, communicator and thread, how much is on it, how well its clock is known. */
export function factsOfRow(trace: Trace, row: Row): Fact[] {
    const { bundle } = trace;
    const { groups, lanes, strings, meta } = bundle;
    const facts: Fact[] = [];
    const levels: [Level, string][] = [
        [Level.Host, "host"],
        [Level.Process, "process"],
        [Level.Rank, "rank"],
        [Level.Comm, "communicator"],
    ];
    for (const [level, name] of levels) {
        const group = groupAbove(bundle, row.group, level);
        if (group !== NONE) facts.push([name, strings.get(groups.label[group]!)]);
    }
    const only = row.open === null ? row.lanes[0] : undefined;
    const kinds = new Map<number, number>();
    let bars = 0;
    const [from, to] = only === undefined ? [groups.laneFrom[row.group]!, groups.laneTo[row.group]!] : [only, only + 1];
    for (let lane = from; lane < to; lane++) {
        bars += lanes.bars[lane]!;
        kinds.set(lanes.kind[lane]!, (kinds.get(lanes.kind[lane]!) ?? 0) + lanes.bars[lane]!);
    }
    if (only !== undefined) facts.push(["row", strings.get(lanes.label[only]!)]);
    if (row.open === false && groups.level[row.group] === Level.Rank) {
        const members = commsOf(trace, row.group);
        if (members) facts.push(["communicators", members]);
    }
    for (const [kind, n] of kinds) if (n > 0) facts.push([meta.rows[kind]?.label ?? "?", `${count(n)} bars`]);
    if (bars === 0) facts.push(["bars", "none"]);
    facts.push(...figuresOf(bundle, row.group));
    facts.push(["clock error", clockError(trace, row.group)]);
    return facts;
}

/** "default_pg (rank 3), pp (rank 0)": what a GPU is in. */
function commsOf(trace: Trace, group: number): string {
    const { members, meta } = trace.bundle;
    const words: string[] = [];
    for (let i = 0; i < members.count && words.length < 12; i++) {
        if (members.group[i] !== group) continue;
        const comm = meta.comms[members.comm[i]!];
        const rank = members.rank[i]!;
        words.push(`${comm?.name || comm?.comm || "?"} (rank ${rank < 0 ? "?" : rank})`);
    }
    return words.join(", ");
}

export function factsOfOp(trace: Trace, op: number): Fact[] {
    const { ops, meta, strings } = trace.bundle;
    if (op === NONE || op >= ops.count) return [];
    const comm = meta.comms[ops.comm[op]!];
    const facts: Fact[] = [
        ["operation", trace.opName(op)],
        ["id", hex(ops.id[op]!)],
        ["communicator", `${comm?.name ?? ""} ${comm?.comm ?? "?"}`.trim()],
        ["size", bytes(ops.bytes[op]!)],
        ["ranks", `${ops.ranks[op]} of ${comm?.nranks ?? "?"}`],
        ["longest wait", waited(ops.longestWait[op]!, trace.leastWait(op))],
        ["mean wait", waited(ops.wait[op]!, trace.leastWait(op))],
        ["transfer", duration(ops.transfer[op]!)],
        ["bus bandwidth", bandwidth(ops.busbw[op]!)],
        ["clock error between ranks", duration(ops.error[op]!)],
    ];
    const flags = ops.flags[op]!;
    if (flags & OpFlag.Tie) facts.push(["last", "a tie: the lead is below twice the clock error"]);
    if (!(flags & OpFlag.Complete)) facts.push(["note", "incomplete"]);
    if (flags & OpFlag.Mismatch) facts.push(["note", "arguments differ between ranks"]);
    if (flags & OpFlag.Violation) facts.push(["note", "a rank ended before another started: the clocks disagree"]);
    if (flags & OpFlag.Double) facts.push(["note", "a rank appears twice"]);
    // Columns of a later writer, or such that only some operations have: datatype, algorithm, protocol, replay...
    for (const [name, how] of Object.entries(meta.arguments ?? {})) {
        const value = ops.table.wide(name)?.[op] ?? ops.table.find(name)?.[op];
        if (value === undefined || name === "bytes" || !isKnown(value)) continue;
        const words = argument(value, how, strings);
        if (words !== "") facts.push([how.label, words]);
    }
    return facts;
}

/** Facts of an operation that are not among those of its bar, under the same name or another. */
export function onlyNew(ofOp: Fact[], ofBar: Fact[]): Fact[] {
    const shown = new Set(ofBar.map(([name, value]) => `${OTHER_NAMES[name] ?? name} ${value}`));
    return ofOp.filter(([name, value]) => !shown.has(`${name} ${value}`));
}

const OTHER_NAMES: Record<string, string> = { bytes: "size", count: "elements" };

/** "Not known" is NaN in a double and NONE in an index. */
const isKnown = (value: number | bigint): boolean =>
    typeof value === "bigint" || (!Number.isNaN(value) && value !== NONE);

/** Arguments that only the block has; they are read when someone asks. */
export async function furtherFacts(trace: Trace, bar: Bar): Promise<Fact[]> {
    const { meta, strings } = trace.bundle;
    const values = await trace.blocks.further(bar.bar);
    const facts: Fact[] = [];
    (meta.kinds[bar.kind]?.arguments ?? []).forEach((how, i) => {
        const value = values[i];
        if (value !== undefined) facts.push([how.label, argument(value, how, strings)]);
    });
    return facts;
}
