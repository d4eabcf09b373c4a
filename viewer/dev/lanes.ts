// The bars of one lane of the synthetic job, in columns.

import { BarFlag, NONE } from "../src/data/layout";
import type { StringTable } from "./strings";
import { HOSTILE, K, L, LANES, noise, SLOT_NS, SlotKind, slotKind, type Job } from "./shape";

export interface LaneBars {
    count: number;
    start: Float64Array;
    dur: Uint32Array;
    kind: Uint8Array;
    flags: Uint8Array;
    name: Uint32Array;
    op: Uint32Array;
    parent: Uint32Array;
    wait: Uint32Array;
    fade: Uint32Array;
    m1: Uint32Array;
    /** Arguments of steps: peer, size, when it was posted (ns after its start), transport, request. */
    a1: Uint32Array;
    a2: Uint32Array;
    a3: Float64Array;
    a4: Uint32Array;
    a5: BigUint64Array;
}

function empty(count: number): LaneBars {
    const u32 = () => new Uint32Array(count);
    return {
        count,
        start: new Float64Array(count),
        dur: u32(),
        kind: new Uint8Array(count),
        flags: new Uint8Array(count),
        name: u32(),
        op: u32(),
        parent: u32(),
        wait: u32(),
        fade: u32(),
        m1: u32(),
        a1: u32(),
        a2: u32(),
        a3: new Float64Array(count),
        a4: u32(),
        a5: new BigUint64Array(count),
    };
}

/** Two of the kernels bear names that would do harm if they were taken for HTML. */
const KERNELS = ["gemm_bf16_128x128", "layernorm_fwd<float>", HOSTILE[0], "softmax_kernel", HOSTILE[1]];

export function fillLane(
    job: Job,
    strings: StringTable,
    rank: number,
    which: number,
    count: number,
    opOf: (slot: number, rank: number) => number,
    firstOf: (rank: number, lane: number) => number,
): LaneBars {
    const bars = empty(count);
    const { seed, ranks } = job.options;
    const per = LANES[which]!.perSlot;
    const kernels = KERNELS.map((name) => strings.id(name));
    const transport = strings.id("IB");
    let i = 0;
    const put = (start: number, duration: number, kind: number, slot: number, parentLane: number): void => {
        bars.start[i] = Math.round(start);
        bars.dur[i] = Math.round(duration);
        bars.kind[i] = kind;
        if (parentLane >= 0) bars.parent[i] = 1 + firstOf(rank, parentLane) + slot;
        if (which !== L.Compute) bars.op[i] = 1 + opOf(slot, rank);
    };
    for (let slot = 0; slot < job.slots && i < count; slot++) {
        const begin = slot * SLOT_NS;
        const arrival = job.arrival(slot, rank);
        const last = job.last(slot, rank);
        const done = last + job.transfer(slot);
        if (which === L.Recvs) {
            if (slotKind(slot) !== SlotKind.Ring) continue;
            const from = (rank + ranks - 1) % ranks;
            const until = Math.max(arrival, job.arrival(slot, from)) + job.transfer(slot);
            put(arrival, until - arrival, K.Recv, slot, L.Launch);
            bars.op[i] = 1 + opOf(slot, from);
            i++;
            continue;
        }
        for (let n = 0; n < per; n++, i++) {
            if (which === L.Compute) {
                const piece = (arrival - begin) / per;
                put(begin + n * piece, piece * (0.6 + 0.35 * noise(seed, slot * 8 + n, rank)), K.Compute, slot, -1);
                bars.name[i] = kernels[(slot + n) % kernels.length]!;
            } else if (which === L.Api) put(begin + 20_000, 12_000, K.Api, slot, -1);
            else if (which === L.Launch) put(begin + 40_000, 9_000, K.Launch, slot, L.Api);
            else if (which === L.Ops) {
                const kind = slotKind(slot);
                put(
                    arrival,
                    done - arrival,
                    kind === SlotKind.Ring ? K.Send : kind === SlotKind.AllGather ? K.AllGather : K.AllReduce,
                    slot,
                    L.Launch,
                );
                bars.wait[i] = last - arrival;
                if (last === arrival) bars.flags[i]! |= BarFlag.LastArriver;
                if (rank === 1 && slot % 97 === 5) {
                    bars.flags[i]! |= BarFlag.EndBounded;
                    bars.dur[i] = (done - arrival) / 2;
                    bars.fade[i] = (done - arrival) / 2;
                }
                if (rank === 2 && slot % 89 === 7) bars.flags[i]! |= BarFlag.StartUnknown;
            } else if (which === L.Channel0 || which === L.Channel1)
                put(arrival + 500 * (which - L.Channel0), done - arrival - 1500, K.Channel, slot, L.Ops);
            else {
                const piece = (done - arrival) / per;
                put(arrival + n * piece, piece * 0.9, K.Step, slot, L.Ops);
                bars.m1[i] = piece * 0.4;
                bars.a1[i] = n === 3 ? NONE : (rank + 1) % ranks; // of the last step it is not known
                bars.a2[i] = 1 << 20;
                bars.a3[i] = n === 3 ? NaN : -700;
                bars.a4[i] = transport;
                bars.a5[i] = 0xfeed00000000n + BigInt(slot * 4 + n);
                if (rank === 3 && slot % 50 === 20 && n === 1) {
                    bars.kind[i] = K.Lost;
                    bars.flags[i] = BarFlag.Lost;
                }
            }
        }
    }
    return bars;
}
