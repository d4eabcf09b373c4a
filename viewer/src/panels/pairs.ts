// Who exchanged what with whom: from the network steps of the report, or from the sends and receives themselves.

import { Level } from "../data/bundle";
import { NONE, OpKind } from "../data/layout";
import type { Trace } from "../data/trace";

export interface Cell {
    rank: number;
    peer: number;
    bytes: number;
    messages: number;
    net_ns: number;
    credit_ns: number;
    gpu_ns: number;
}

export type Of = "bytes" | "messages" | "net_ns" | "credit_ns" | "gpu_ns";

/**
 * Rows of the report whose ranks are known, from sender to receiver. A row is what a rank exchanged with a peer: where it
 * only received, the peer's own row has it; without one (the peer is not recorded) it counts as received.
 */
export function networkCells(trace: Trace): Cell[] {
    const rows = (trace.bundle.meta.report?.network ?? []).filter(
        (r) => r.rank !== null && r.peer !== null && r.rank >= 0 && r.peer >= 0,
    );
    const sent = rows.filter((r) => r.messages > 0) as Cell[];
    const there = new Set(sent.map((r) => `${r.rank} ${r.peer}`));
    const received = rows.filter((r) => (r.received_messages ?? 0) > 0 && !there.has(`${r.peer} ${r.rank}`));
    return [
        ...sent,
        ...received.map((r) => ({
            rank: r.peer!,
            peer: r.rank!,
            bytes: r.received_bytes ?? 0,
            messages: r.received_messages ?? 0,
            net_ns: 0,
            credit_ns: 0,
            gpu_ns: 0,
        })),
    ];
}

/** Sums of the operations from one rank to one other; `net_ns` is their transfer. Ranks are those of the job. */
export function pairCells(trace: Trace): Cell[] {
    const { ops, members } = trace.bundle;
    const globalOf = new Map<string, number>();
    for (let i = 0; i < members.count; i++)
        globalOf.set(`${members.comm[i]} ${members.rank[i]}`, members.globalRank[i]!);
    const cells = new Map<string, Cell>();
    for (let op = 0; op < ops.count; op++) {
        if (ops.kind[op] !== OpKind.Pair) continue;
        const rank = globalOf.get(`${ops.comm[op]} ${ops.src[op]}`) ?? -1;
        const peer = globalOf.get(`${ops.comm[op]} ${ops.dst[op]}`) ?? -1;
        if (rank < 0 || peer < 0) continue;
        const key = `${rank} ${peer}`;
        let cell = cells.get(key);
        if (!cell) cells.set(key, (cell = { rank, peer, bytes: 0, messages: 0, net_ns: 0, credit_ns: 0, gpu_ns: 0 }));
        cell.messages++;
        cell.bytes += ops.bytes[op]! || 0;
        cell.net_ns += ops.transfer[op]! || 0;
    }
    return [...cells.values()];
}

/** A picture of `pixels` × `pixels` numbers; where several ranks fall onto one, the largest counts. NaN: nothing. */
export function matrixOf(cells: Cell[], of: Of, size: number, pixels: number): Float64Array {
    const grid = new Float64Array(pixels * pixels).fill(NaN);
    for (const cell of cells) {
        const y = Math.floor((cell.rank * pixels) / size);
        const x = Math.floor((cell.peer * pixels) / size);
        const at = y * pixels + x;
        if (!(cell[of] <= grid[at]!)) grid[at] = cell[of];
    }
    return grid;
}

/** The group of a rank of the job; NONE: not drawn. */
export function groupOfRank(trace: Trace, rank: number): number {
    const { members, groups } = trace.bundle;
    for (let i = 0; i < members.count; i++)
        if (members.globalRank[i] === rank && groups.level[members.group[i]!] === Level.Rank) return members.group[i]!;
    return NONE;
}
