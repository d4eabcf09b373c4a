// A bar as JSON, for the clipboard: what the page knows of it, under the names that the commands use.

import { Level } from "../data/bundle";
import { BarFlag, NONE } from "../data/layout";
import type { Bar, Trace } from "../data/trace";
import { groupAbove } from "../data/groups";

/** Flags of a bar by name, in the order of their bits. */
export const FLAG_NAMES: [BarFlag, string][] = [
    [BarFlag.EndBounded, "end_bounded"],
    [BarFlag.Lost, "lost"],
    [BarFlag.Open, "open"],
    [BarFlag.Mismatch, "mismatch"],
    [BarFlag.Helped, "helped"],
    [BarFlag.LastArriver, "last_arriver"],
    [BarFlag.NotRecorded, "not_recorded"],
    [BarFlag.StartUnknown, "start_unknown"],
];

export async function barAsJson(trace: Trace, bar: Bar): Promise<string> {
    const { bundle } = trace;
    const label = (level: Level): string | null => {
        const group = groupAbove(bundle, bundle.lanes.group[bar.lane]!, level);
        return group === NONE ? null : bundle.strings.get(bundle.groups.label[group]!);
    };
    const bounded = (bar.flags & BarFlag.EndBounded) !== 0;
    const kind = bundle.meta.kinds[bar.kind];
    const further: Record<string, string | number> = {};
    (await trace.blocks.further(bar.bar)).forEach((value, i) => {
        const how = kind?.arguments?.[i];
        if (value === undefined || !how) return;
        const plain = typeof value === "bigint" ? String(value) : value;
        further[how.label] = how.unit === "string" ? bundle.strings.get(Number(value)) : plain;
    });
    const { ops } = bundle;
    const op = bar.op !== NONE && bar.op < ops.count ? bar.op : NONE;
    return JSON.stringify(
        {
            name: trace.nameOf(bar),
            kind: kind?.id ?? null,
            host: label(Level.Host),
            process: label(Level.Process),
            rank: label(Level.Rank),
            communicator: label(Level.Comm),
            row: bundle.strings.get(bundle.lanes.label[bar.lane]!),
            start_ns: bar.flags & BarFlag.StartUnknown ? null : bar.start,
            end_ns: bounded || bar.flags & BarFlag.Open ? null : bar.end,
            ...(bounded ? { end_after_ns: bar.end, end_before_ns: bar.end + bar.fade } : {}),
            wait_ns: bar.wait > 0 ? bar.wait : null,
            flags: FLAG_NAMES.filter(([flag]) => bar.flags & flag).map(([, name]) => name),
            arguments: further,
            operation:
                op === NONE
                    ? null
                    : {
                          op: `0x${ops.id[op]!.toString(16)}`,
                          name: trace.opName(op),
                          bytes: known(ops.bytes[op]!),
                          longest_wait_ns: known(ops.longestWait[op]!),
                          mean_wait_ns: known(ops.wait[op]!),
                          transfer_ns: known(ops.transfer[op]!),
                          busbw_gbs: known(ops.busbw[op]!),
                          error_ns: known(ops.error[op]!),
                      },
        },
        null,
        2,
    );
}

const known = (value: number): number | null => (Number.isFinite(value) ? value : null);
