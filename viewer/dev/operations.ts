// Operations of the synthetic job and the parts of all ranks in them.

import { NONE, OpFlag, OpKind } from "../src/data/layout";
import { column, encodeTable, Pieces } from "./encode";
import { HOSTILE, L, SlotKind, slotKind, type Job } from "./shape";
import type { StringTable } from "./strings";

/** Rows of a piece of a long table. */
export const CHUNK_ROWS = 65536;

interface Op {
    slot: number;
    from: number; // its first rank
    first: number;
}

/** Operations by their first start, and the number of each by slot and rank. */
export class OpTable {
    readonly list: Op[] = [];
    private readonly ids = new Map<number, number>();
    constructor(readonly job: Job) {
        const { ranks } = job.options;
        for (let slot = 0; slot < job.slots; slot++) {
            const step =
                slotKind(slot) === SlotKind.AllReduce ? ranks : slotKind(slot) === SlotKind.AllGather ? job.perHost : 1;
            for (let from = 0; from < ranks; from += step) {
                let first = Infinity;
                for (const rank of this.ranksOf(slot, from)) first = Math.min(first, job.arrival(slot, rank));
                this.list.push({ slot, from, first });
            }
        }
        this.list.sort((a, b) => a.first - b.first);
        this.list.forEach((op, i) => this.ids.set(op.slot * ranks + op.from, i));
    }
    ranksOf(slot: number, from: number): number[] {
        const { ranks } = this.job.options;
        if (slotKind(slot) === SlotKind.Ring) return ranks > 1 ? [from, (from + 1) % ranks] : [from];
        const [low, high] = this.job.partners(slot, from);
        return Array.from({ length: high - low }, (_, i) => low + i);
    }
    /** The operation in which a rank is in a slot; of a ring: in which it sends. */
    of(slot: number, rank: number): number {
        const from = slotKind(slot) === SlotKind.Ring ? rank : this.job.partners(slot, rank)[0];
        return this.ids.get(slot * this.job.options.ranks + from)!;
    }
}

export function encodeOps(
    job: Job,
    ops: OpTable,
    strings: StringTable,
    firstOf: (rank: number, lane: number) => number,
): { ops: Uint8Array; partIndex: Uint8Array; parts: Pieces } {
    const n = ops.list.length;
    const { ranks } = job.options;
    const f64 = () => new Float64Array(n);
    const c = {
        id: new BigUint64Array(n),
        comm: new Uint16Array(n),
        func: new Uint32Array(n),
        seq: new Int32Array(n),
        bytes: f64(),
        first: f64(),
        last: f64(),
        end: f64(),
        wait: f64(),
        longest_wait: f64(),
        transfer: f64(),
        busbw: new Float32Array(n),
        error: new Float32Array(n),
        part: new Uint32Array(n),
        nparts: new Uint32Array(n),
        last_part: new Uint32Array(n).fill(NONE),
        flags: new Uint8Array(n),
        kind: new Uint8Array(n),
        src: new Int32Array(n).fill(-1),
        dst: new Int32Array(n).fill(-1),
        algo: new Uint32Array(n).fill(strings.id(job.options.hostile ? HOSTILE[0] : "RING")),
    };
    const member: number[] = [],
        bar: number[] = [],
        start: number[] = [],
        end: number[] = [],
        wait: number[] = [];
    ops.list.forEach((op, i) => {
        const kind = slotKind(op.slot);
        const list = ops.ranksOf(op.slot, op.from);
        const times = list.map((rank) => job.arrival(op.slot, rank));
        const last = Math.max(...times);
        const done = last + job.transfer(op.slot);
        const perHost = kind === SlotKind.AllGather;
        c.id[i] = BigInt(op.slot) * 0x9e3779b97f4an + BigInt(op.from);
        c.comm[i] = perHost ? 1 + Math.floor(op.from / job.perHost) : 0;
        c.func[i] = strings.id(kind === SlotKind.Ring ? "SendRecv" : perHost ? "AllGather" : "AllReduce");
        c.seq[i] = op.slot;
        c.bytes[i] = 25 * 2 ** 20;
        [c.first[i], c.last[i], c.end[i]] = [op.first, last, done];
        c.wait[i] = times.reduce((sum, t) => sum + last - t, 0) / times.length;
        c.longest_wait[i] = last - Math.min(...times);
        c.transfer[i] = done - last;
        c.busbw[i] = (25 * 2 ** 20 * 1.75) / (done - last);
        c.error[i] = 8700;
        c.part[i] = member.length;
        c.nparts[i] = list.length;
        c.kind[i] = kind === SlotKind.Ring ? OpKind.Pair : OpKind.Collective;
        const sorted = [...times].sort((a, b) => b - a);
        const tie = sorted.length > 1 && sorted[0]! - sorted[1]! < 2 * 8700;
        c.flags[i] = OpFlag.Complete | OpFlag.Whole | OpFlag.Clocked | (tie ? OpFlag.Tie : 0);
        if (!tie) c.last_part[i] = member.length + times.indexOf(last);
        if (kind === SlotKind.Ring) [c.src[i], c.dst[i]] = [list[0]!, list[list.length - 1]!];
        list.forEach((rank, k) => {
            const receives = kind === SlotKind.Ring && k === 1;
            member.push(perHost ? ranks + rank : rank);
            bar.push(receives ? firstOf(rank, L.Recvs) + Math.floor(op.slot / 8) : firstOf(rank, L.Ops) + op.slot);
            start.push(times[k]!);
            end.push(done);
            wait.push(last - times[k]!);
        });
    });
    const parts = new Pieces();
    const firsts: number[] = [];
    for (let from = 0; from < member.length; from += CHUNK_ROWS) {
        const cut = <T>(a: T[]) => a.slice(from, from + CHUNK_ROWS);
        firsts.push(from);
        parts.add(
            encodeTable(cut(member).length, [
                column("member", Uint32Array.from(cut(member))),
                column("bar", Uint32Array.from(cut(bar))),
                column("start", Float64Array.from(cut(start))),
                column("end", Float64Array.from(cut(end))),
                column("wait", Float32Array.from(cut(wait))),
            ]),
        );
    }
    return {
        ops: encodeTable(
            n,
            Object.entries(c).map(([name, values]) => column(name, values)),
        ),
        partIndex: encodeTable(parts.count, [column("first", Float64Array.from(firsts)), ...parts.columns()]),
        parts,
    };
}
