// All that is known of a bar, as pairs of words: for hover and for details.

import { groupAbove, laneTitle } from "../timeline/layout";
import { BarFlag, NONE, OpFlag } from "../data/layout";
import type { Bar, Trace } from "../data/trace";
import { Level } from "../data/bundle";
import { argument, bandwidth, bytes, duration, hex, moment } from "./words";

export type Fact = [string, string];

const FLAG_WORDS: [BarFlag, string][] = [
    [BarFlag.Open, "it had not ended when the recording did"],
    [BarFlag.Lost, "callbacks were lost here"],
    [BarFlag.NotRecorded, "nothing was recorded here"],
    [BarFlag.Mismatch, "its arguments differ from those of the other ranks"],
    [BarFlag.Helped, "another process did some of its network work"],
    [BarFlag.LastArriver, "the last to arrive"],
];

export function factsOf(trace: Trace, bar: Bar): Fact[] {
    const { bundle } = trace;
    const facts: Fact[] = [
        ["where", laneTitle(bundle, bar.lane)],
        ["start", moment(bar.start, 1)],
    ];
    if (bar.flags & BarFlag.EndBounded)
        facts.push(
            ["end", `not known: between ${moment(bar.end, 1)} and ${moment(bar.end + bar.fade, 1)}`],
            ["lasted", `${duration(bar.end - bar.start)} to ${duration(bar.end + bar.fade - bar.start)}`],
        );
    else facts.push(["end", moment(bar.end, 1)], ["lasted", duration(bar.end - bar.start)]);
    if (bar.wait > 0)
        facts.push(
            ["wait", `${duration(bar.wait)} for the last rank`],
            ["after that", duration(bar.end - bar.start - bar.wait)],
        );
    const marks = bundle.meta.kinds[bar.kind]?.marks ?? [];
    bar.marks.forEach((mark, i) => mark > 0 && facts.push([marks[i] ?? `mark ${i + 1}`, `after ${duration(mark)}`]));
    for (const [flag, words] of FLAG_WORDS) if (bar.flags & flag) facts.push(["note", words]);
    const rank = groupAbove(bundle, bundle.lanes.group[bar.lane]!, Level.Rank);
    const error = rank === NONE ? NaN : bundle.groups.error[rank]!;
    facts.push(["clock error", Number.isFinite(error) ? duration(error) : "not known"]);
    return facts;
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
        ["ranks", `${ops.nparts[op]} of ${comm?.nranks ?? "?"}`],
        ["mean wait", duration(ops.wait[op]!)],
        ["transfer", duration(ops.transfer[op]!)],
        ["bus bandwidth", bandwidth(ops.busbw[op]!)],
        ["error of comparing", duration(ops.error[op]!)],
    ];
    const flags = ops.flags[op]!;
    if (flags & OpFlag.Tie) facts.push(["last", "a tie: the lead is below twice the clock error"]);
    if (!(flags & OpFlag.Complete)) facts.push(["note", "not complete"]);
    if (flags & OpFlag.Mismatch) facts.push(["note", "arguments of its ranks differ"]);
    if (flags & OpFlag.Violation) facts.push(["note", "a rank ended before another started: the clocks disagree"]);
    if (flags & OpFlag.Double) facts.push(["note", "a rank is in it twice"]);
    // Columns of a later writer, or such that only some operations have: datatype, algorithm, protocol, replay...
    for (const [name, how] of Object.entries(meta.arguments ?? {})) {
        const column = ops.table.find(name);
        if (column && name !== "bytes") facts.push([how.label, argument(column[op]!, how, strings)]);
    }
    return facts;
}

/** Arguments that only the block has; they are read when someone asks. */
export async function furtherFacts(trace: Trace, bar: Bar): Promise<Fact[]> {
    const { meta, strings } = trace.bundle;
    return (await trace.blocks.further(bar.bar)).map(([name, value]) => [
        meta.arguments?.[name]?.label ?? name,
        argument(value, meta.arguments?.[name], strings),
    ]);
}
