// Places of the synthetic job: the tree of groups, its lanes and members, and their JSON.

import { NONE } from "../src/data/layout";
import type { Meta } from "../src/data/meta";
import { column, encodeTable } from "./encode";
import { HOSTILE, KINDS, LANES, ROWS, type Job } from "./shape";
import type { StringTable } from "./strings";

export function encodePlaces(job: Job, strings: StringTable, counts: number[]): { name: string; raw: Uint8Array }[] {
    const { ranks } = job.options;
    const g = {
        parent: [] as number[],
        level: [] as number[],
        label: [] as number[],
        lane_from: [] as number[],
        lane_to: [] as number[],
        error: [] as number[],
    };
    const lane = {
        group: [] as number[],
        kind: [] as number[],
        sub: [] as number[],
        label: [] as number[],
        bars: [] as number[],
    };
    const rankGroup: number[] = [];
    const group = (parent: number, level: number, label: string, from: number, to: number): number => {
        (g.parent.push(parent), g.level.push(level), g.label.push(strings.id(label)));
        (g.lane_from.push(from), g.lane_to.push(to), g.error.push(8700));
        return g.parent.length - 1;
    };
    for (let first = 0, host = 0; first < ranks; first += job.perHost, host++) {
        const after = Math.min(ranks, first + job.perHost);
        const hostGroup = group(NONE, 0, job.hostName(host), first * LANES.length, after * LANES.length);
        for (let rank = first; rank < after; rank++) {
            const [from, to] = [rank * LANES.length, (rank + 1) * LANES.length];
            const process = group(hostGroup, 1, `pid ${7000 + rank}`, from, to);
            const gpu = group(process, 2, `rank ${rank} GPU ${rank - first}`, from, to);
            const comm = group(gpu, 3, "default_pg", from + 1, to);
            rankGroup.push(gpu);
            LANES.forEach((l, i) => {
                (lane.group.push(l.comm < 0 ? gpu : comm), lane.kind.push(l.row), lane.sub.push(l.sub));
                (lane.label.push(strings.id(ROWS[l.row]!.label + (l.sub ? ` ${l.sub + 1}` : ""))),
                    lane.bars.push(counts[i]!));
            });
        }
    }
    const all = Array.from({ length: ranks }, (_, rank) => rank);
    const u32 = (values: number[]) => Uint32Array.from(values);
    return [
        {
            name: "groups",
            raw: encodeTable(g.parent.length, [
                column("parent", u32(g.parent)),
                column("level", Uint8Array.from(g.level)),
                column("label", u32(g.label)),
                column("lane_from", u32(g.lane_from)),
                column("lane_to", u32(g.lane_to)),
                column("error", Float32Array.from(g.error)),
            ]),
        },
        {
            name: "lanes",
            raw: encodeTable(lane.group.length, [
                column("group", u32(lane.group)),
                column("kind", Uint8Array.from(lane.kind)),
                column("sub", Uint8Array.from(lane.sub)),
                column("label", u32(lane.label)),
                column("bars", u32(lane.bars)),
            ]),
        },
        {
            name: "members",
            raw: encodeTable(2 * ranks, [
                column(
                    "comm",
                    Uint32Array.from([...all.map(() => 0), ...all.map((r) => 1 + Math.floor(r / job.perHost))]),
                ),
                column("rank", Int32Array.from([...all, ...all.map((r) => r % job.perHost)])),
                column("global", Int32Array.from([...all, ...all])),
                column("group", u32([...rankGroup, ...rankGroup])),
            ]),
        },
        {
            name: "flags",
            raw: encodeTable(ranks, [
                column(
                    "time",
                    Float64Array.from(all, (r) => 100_000 + r * 5_000),
                ),
                column("group", u32(rankGroup)),
                column("label", u32(all.map(() => strings.id("default_pg created")))),
                column("kind", new Uint8Array(ranks)),
            ]),
        },
    ];
}

export function metaOf(job: Job): Meta {
    const { ranks, slowRank } = job.options;
    const hostOf = (rank: number) => job.hostName(Math.floor(rank / job.perHost));
    const named = (name: string, i: number) => (job.options.hostile ? HOSTILE[i % HOSTILE.length]! : name);
    const person = (rank: number, local: number) => ({
        rank: local,
        global_rank: rank,
        host: hostOf(rank),
        pid: 7000 + rank,
        device: rank % job.perHost,
    });
    const all = Array.from({ length: ranks }, (_, rank) => rank);
    const hosts = Math.ceil(ranks / job.perHost);
    return {
        title: named(`synthetic: ${ranks} ranks, ${job.slots} slots`, 1),
        begin_ns: "1795331372000000000",
        focus_ns: [0, job.span],
        kinds: KINDS,
        rows: ROWS,
        arguments: { algo: { label: "algorithm", unit: "string" } },
        comms: [
            {
                comm: "0xe7c915ef00000000",
                name: "default_pg",
                nranks: ranks,
                nnodes: hosts,
                parent: null,
                created_ns: 0,
                destroyed_ns: null,
                members: all.map((r) => person(r, r)),
            },
            ...Array.from({ length: hosts }, (_, h) => ({
                comm: `0xa100000${h}`,
                name: named(`host_pg:${h}`, h),
                nranks: job.perHost,
                nnodes: 1,
                parent: { comm: "0xe7c915ef00000000", count: h, color: h },
                created_ns: 0,
                destroyed_ns: null,
                members: all.slice(h * job.perHost, (h + 1) * job.perHost).map((r, i) => person(r, i)),
            })),
        ],
        clocks: all.map((rank) => ({
            host: hostOf(rank),
            pid: 7000 + rank,
            device: rank % job.perHost,
            ranks: [rank],
            error_ns: 8700,
            method: "ends",
        })),
        report: {
            clock_error_ns: 8700,
            stragglers: [
                {
                    scope: "rank",
                    rank: slowRank,
                    host: hostOf(slowRank),
                    device: slowRank % job.perHost,
                    times_last: job.slots,
                    cost_ns: job.slots * job.options.lateNs,
                    inherited_ns: null,
                    gpu_time_lost_ns: null,
                    why: "queued behind compute",
                },
            ],
            network: all.map((rank) => ({
                rank,
                peer: (rank + 1) % ranks,
                gpu_ns: 1e6,
                credit_ns: 2e5,
                net_ns: 3e6,
                flush_ns: 0,
                consume_ns: 0,
                bytes: job.slots * 25 * 2 ** 20,
                messages: job.slots * 8,
            })),
            conclusion: [
                ...(job.options.hostile ? HOSTILE : []),
                `Rank ${slowRank} (${hostOf(slowRank)}) was last in most operations; ` +
                    `it was queued behind its own compute.`,
            ],
        },
        notes: ["Synthetic data: nothing here was measured."],
    };
}
