// The shape of the synthetic job: which places, rows and kinds there are, and when every rank arrives in every slot.
// A slot is one step of the job: an all-reduce of all, an all-gather within each host, or a ring of sends and receives.

import type { Kind, RowKind } from "../src/data/meta";

export interface Options {
    events: number;
    ranks: number;
    hosts: number;
    seed: number;
    /** This rank comes `lateNs` late to every operation. */
    slowRank: number;
    lateNs: number;
    /** Names that would do harm if they were taken for HTML, wherever a trace has names. */
    hostile: boolean;
}

export const DEFAULTS: Options = {
    events: 20_000,
    ranks: 8,
    hosts: 2,
    seed: 1,
    slowRank: 5,
    lateNs: 400_000,
    hostile: false,
};

/** What ends a script, what begins an element, and what would run. */
export const HOSTILE = [
    "<img src=x onerror=\"document.title='broken'\">",
    "</script><script>document.title='broken'</script>",
    "\u0022 onmouseover=alert(1) <!-- <svg onload=document.title='broken'> &lt;b&gt;",
] as const;

export const ROWS: RowKind[] = [
    { id: "compute", label: "compute", on: true, summary: false },
    { id: "api", label: "API calls", on: true, summary: false },
    { id: "launch", label: "launches", on: true, summary: false },
    { id: "ops", label: "operations", on: true, summary: true },
    { id: "channels", label: "GPU channels", on: true, summary: false },
    { id: "steps", label: "network steps", on: false, summary: false },
];
export const enum Row {
    Compute,
    Api,
    Launch,
    Ops,
    Channels,
    Steps,
}

export const KINDS: Kind[] = [
    { id: "compute", label: "kernel", row: Row.Compute, colour: "compute", explain: "A kernel that is not NCCL's." },
    {
        id: "api",
        label: "ncclAllReduce",
        row: Row.Api,
        colour: "api",
        explain: "The call of the program into NCCL, on the host.",
    },
    {
        id: "launch",
        label: "launch",
        row: Row.Launch,
        colour: "launch",
        explain: "The host launches the kernel of a group.",
    },
    {
        id: "AllReduce",
        label: "AllReduce",
        row: Row.Ops,
        colour: "AllReduce",
        explain: "The operation on this rank: from its first channel's start to its last one's end.",
    },
    {
        id: "AllGather",
        label: "AllGather",
        row: Row.Ops,
        colour: "AllGather",
        explain: "The operation on this rank: from its first channel's start to its last one's end.",
    },
    { id: "Send", label: "Send", row: Row.Ops, colour: "Send", explain: "A send on this rank." },
    { id: "Recv", label: "Recv", row: Row.Ops, colour: "Recv", explain: "A receive on this rank." },
    {
        id: "channel",
        label: "channel",
        row: Row.Channels,
        colour: "channel",
        explain: "One channel of the kernel, by the GPU's timer.",
    },
    {
        id: "step",
        label: "step",
        row: Row.Steps,
        colour: "proxy",
        marks: ["network", "flush"],
        arguments: [
            { label: "peer" },
            { label: "size", unit: "bytes" },
            { label: "posted", unit: "time" },
            { label: "transport", unit: "string" },
            { label: "request", unit: "hex" },
        ],
        explain: "One network step of the proxy.",
    },
    {
        id: "lost",
        label: "lost",
        row: Row.Steps,
        colour: "lost",
        explain: "Callbacks were lost here; their number is known, they are not.",
    },
];
export const enum K {
    Compute,
    Api,
    Launch,
    AllReduce,
    AllGather,
    Send,
    Recv,
    Channel,
    Step,
    Lost,
}

/** The lanes of a rank, in order, and how many bars each has in a slot. */
export const LANES = [
    { row: Row.Compute, sub: 0, perSlot: 3, comm: -1 },
    { row: Row.Api, sub: 0, perSlot: 1, comm: 0 },
    { row: Row.Launch, sub: 0, perSlot: 1, comm: 0 },
    { row: Row.Ops, sub: 0, perSlot: 1, comm: 0 },
    { row: Row.Ops, sub: 1, perSlot: 1, comm: 0 },
    { row: Row.Channels, sub: 0, perSlot: 1, comm: 0 },
    { row: Row.Channels, sub: 1, perSlot: 1, comm: 0 },
    { row: Row.Steps, sub: 0, perSlot: 4, comm: 0 },
    { row: Row.Steps, sub: 1, perSlot: 4, comm: 0 },
] as const;
export const enum L {
    Compute,
    Api,
    Launch,
    Ops,
    Recvs,
    Channel0,
    Channel1,
    Steps0,
    Steps1,
}

export const enum SlotKind {
    AllReduce,
    AllGather,
    Ring,
}

export const SLOT_NS = 2_000_000;
export const COMPUTE_NS = 900_000;

export function slotKind(slot: number): SlotKind {
    if (slot % 8 === 7) return SlotKind.Ring;
    return slot % 4 === 2 ? SlotKind.AllGather : SlotKind.AllReduce;
}

/** A number in 0..1 that only depends on its arguments. */
export function noise(seed: number, a: number, b: number): number {
    let x = (seed * 0x9e3779b1) ^ Math.imul(a + 1, 0x85ebca6b) ^ Math.imul(b + 1, 0xc2b2ae35);
    x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
    x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
    return ((x ^ (x >>> 16)) >>> 0) / 4294967296;
}

/**
 * Bars of a slot on all lanes of a rank: the receive lane has bars in rings only, but is counted, which is near enough.
 */
const PER_SLOT = LANES.reduce((sum, lane) => sum + lane.perSlot, 0);

export class Job {
    private readonly latest = new Map<number, number>();
    readonly slots: number;
    readonly perHost: number;
    readonly span: number;

    constructor(readonly options: Options) {
        this.slots = Math.max(1, Math.ceil(options.events / (options.ranks * PER_SLOT)));
        this.perHost = Math.ceil(options.ranks / options.hosts);
        this.span = (this.slots + 1) * SLOT_NS;
    }

    /** When a rank's kernel starts in a slot. */
    arrival(slot: number, rank: number): number {
        const { seed, slowRank, lateNs } = this.options;
        const late = rank === slowRank ? lateNs : 0;
        return Math.round(slot * SLOT_NS + COMPUTE_NS + 150_000 * noise(seed, slot, rank) + late);
    }

    /** The ranks that take part together with a rank. */
    partners(slot: number, rank: number): [number, number] {
        if (slotKind(slot) !== SlotKind.AllGather) return [0, this.options.ranks];
        const host = Math.floor(rank / this.perHost);
        return [host * this.perHost, Math.min(this.options.ranks, (host + 1) * this.perHost)];
    }

    /** When the last of those arrives that a rank takes part with. */
    last(slot: number, rank: number): number {
        const { ranks } = this.options;
        if (slotKind(slot) === SlotKind.Ring)
            return Math.max(this.arrival(slot, rank), this.arrival(slot, (rank + 1) % ranks));
        const [low, high] = this.partners(slot, rank);
        const key = slot * ranks + low;
        let last = this.latest.get(key);
        if (last === undefined) {
            last = 0;
            for (let r = low; r < high; r++) last = Math.max(last, this.arrival(slot, r));
            this.latest.set(key, last);
        }
        return last;
    }

    hostName(host: number): string {
        return this.options.hostile ? HOSTILE[host % HOSTILE.length]! : `host${String(host).padStart(2, "0")}`;
    }

    transfer(slot: number): number {
        return Math.round(200_000 + 100_000 * noise(this.options.seed, slot, 99_999));
    }
}
