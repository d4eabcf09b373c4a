// What hurt those who tried the page first: each with the test that showed it.

import { beforeEach, describe, expect, it } from "vitest";
import { DEFAULTS, L } from "../dev/shape";
import { Level } from "../src/data/bundle";
import { groupAbove } from "../src/data/groups";
import type { NetworkRow } from "../src/data/meta";
import type { Trace } from "../src/data/trace";
import { networkCells } from "../src/panels/pairs";
import { layoutRows } from "../src/scene/layout";
import { Session } from "../src/state/session";
import { lastArriver } from "../src/timeline/commands";
import { DATA, program, view } from "./program";
import { openTrace } from "./traces";

let trace: Trace;
let session: Session;
beforeEach(async () => {
    trace = await openTrace(DEFAULTS);
    session = new Session(trace);
});

describe("what is at the mouse goes away", () => {
    const hover = async (): Promise<void> => {
        session.hover.value = { bar: (await trace.bar(0))!, x: 500, y: 300 };
        session.flagHover.value = { flags: [0], x: 500, y: 300 };
        session.rowHover.value = { row: session.layout.value.rows[1]!, x: 50, y: 300 };
    };
    const gone = (): boolean =>
        session.hover.value === null && session.flagHover.value === null && session.rowHover.value === null;
    it("when the window moves: to the selection, to what a search found, back", async () => {
        await hover();
        expect(gone()).toBe(false);
        await session.jump(trace.bundle.bars - 1);
        expect(gone()).toBe(true);
        await hover();
        session.back();
        expect(gone()).toBe(true);
    });
    it("when the rows move", async () => {
        await hover();
        session.scroll.value = 40;
        expect(gone()).toBe(true);
        await hover();
        session.toggleGroup(session.layout.value.rows.find((row) => row.open === false)!.group);
        expect(gone()).toBe(true);
    });
});

describe("the last rank to arrive", () => {
    const asked = async (): Promise<string> => {
        session.message.value = "";
        lastArriver(session);
        await session.step(() => null);
        return session.message.value;
    };
    it("of nothing is not a tie", async () => {
        expect(await asked()).toBe("select an operation first: a click, or the key .");
    });
    it("of a bar without an operation is not one either", async () => {
        const bar = (await trace.bar(0))!;
        session.selected.value = { ...bar, op: 0xffffffff };
        session.related.value = {
            bar: { ...bar, op: 0xffffffff },
            parents: [],
            children: [],
            launched: [],
            parts: [],
            arrows: [],
        };
        expect(await asked()).toBe("this bar belongs to no operation");
    });
});

it("a pinned row begins with its rank", () => {
    const { bundle } = trace;
    for (const lane of [L.Ops, bundle.lanes.count - 1]) {
        session.togglePin(lane);
        const rank = groupAbove(bundle, bundle.lanes.group[lane]!, Level.Rank);
        const row = session.layout.value.pinned.find((one) => one.lanes[0] === lane)!;
        expect(row.label).toBe(
            `${bundle.strings.get(bundle.groups.label[rank]!)} › ${bundle.strings.get(bundle.lanes.label[lane]!)}`,
        );
    }
});

it("the matrix goes from senders to receivers: what only came in is not a message of 0 bytes", () => {
    const row = (rank: number, peer: number, sent: [number, number], received: [number, number]): NetworkRow => ({
        rank,
        peer,
        gpu_ns: 1,
        credit_ns: 2,
        net_ns: 3,
        flush_ns: 0,
        consume_ns: 0,
        messages: sent[0],
        bytes: sent[1],
        received_messages: received[0],
        received_bytes: received[1],
    });
    trace.bundle.meta.report.network = [
        row(7, 0, [5, 500], [0, 0]),
        row(0, 7, [0, 0], [5, 500]), // the receive side of it
        row(1, 2, [3, 30], [4, 40]), // both ways; rank 2 has no row
    ];
    const cells = networkCells(trace).map(({ rank, peer, messages, bytes }) => [rank, peer, messages, bytes]);
    expect(cells).toEqual([
        [7, 0, 5, 500],
        [1, 2, 3, 30],
        [2, 1, 4, 40],
    ]);
});

it.skipIf(!program)("under an opened rank of a Kineto trace the operations come first", async () => {
    const { bundle } = await view([`${DATA}/kineto`]);
    const ranks = [...Array(bundle.groups.count).keys()].filter((g) => bundle.groups.level[g] === Level.Rank);
    const { rows } = layoutRows(bundle, {
        rowsOn: bundle.meta.rows.map(() => true),
        open: new Set(Array.from({ length: bundle.groups.count }, (_, g) => g)),
        pinned: [],
        only: null,
    });
    expect(ranks).toHaveLength(4);
    for (const rank of ranks) {
        const kinds = rows
            .filter((row) => row.open === null && groupAbove(bundle, row.group, Level.Rank) === rank)
            .map((row) => {
                const lane = row.lanes[0]!;
                const isLoss = bundle.strings.get(bundle.lanes.label[lane]!) === "lost or not recorded";
                return isLoss ? "lost" : bundle.meta.rows[bundle.lanes.kind[lane]!]!.id;
            });
        const at = (kind: string): number => kinds.indexOf(kind);
        expect(at("operations")).toBeGreaterThanOrEqual(0);
        for (const other of ["compute", "copies", "annotations", "host", "lost"])
            if (at(other) >= 0) expect(at("operations")).toBeLessThan(at(other));
    }
});
