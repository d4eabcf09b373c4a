// The overview: each lane in a few thousand buckets over the whole time. The first picture is painted from it, and
// wherever a bucket is not wider than a pixel it is all that is needed, however many bars there are.

import type { Bundle } from "./bundle";
import { Table, type Numbers } from "./columns";
import { OVERVIEW_LANES } from "./layout";
import { unzstd } from "./zstd";

export interface LaneOverview {
    /** Buckets of all lanes of the piece; those of this lane begin at `base`. */
    base: number;
    buckets: number;
    width: number; // ns of a bucket
    busy: Numbers; // 0..255: how much is covered; not 0 where there is anything
    kind: Numbers; // of the longest
    flags: Numbers; // of all
}

export class Overview {
    readonly width: number;
    onArrival: () => void = () => {};
    private readonly pieces = new Map<number, Table | "asked">();
    private asked = 0;
    private readonly offset: Numbers;
    private readonly stored: Numbers;
    private readonly size: Numbers;

    constructor(private readonly bundle: Bundle) {
        const { index, buckets } = bundle.overview;
        this.width = buckets > 0 ? bundle.span / buckets : Infinity;
        this.offset = index.need("offset");
        this.stored = index.need("stored");
        this.size = index.need("size");
    }

    /** Fills `into` and says so; false: not there (yet). */
    get(lane: number, into: LaneOverview): boolean {
        const piece = Math.floor(lane / OVERVIEW_LANES);
        const table = this.pieces.get(piece) ?? this.ask(piece);
        if (!table || table === "asked") return false;
        into.buckets = this.bundle.overview.buckets;
        into.base = (lane % OVERVIEW_LANES) * into.buckets;
        into.width = this.width;
        into.busy = table.need("busy");
        into.kind = table.need("kind");
        into.flags = table.need("flags");
        return true;
    }

    /** Pieces that are on their way. */
    get waiting(): number {
        return this.asked;
    }

    private ask(piece: number): Table | undefined {
        if (piece >= this.offset.length) return undefined;
        const at = this.bundle.overview.at + this.offset[piece]!;
        const now = this.bundle.source.now(at, this.stored[piece]!);
        if (now) return this.keep(piece, now);
        this.pieces.set(piece, "asked");
        this.asked++;
        void this.bundle.source.bytes(at, this.stored[piece]!).then((bytes) => {
            this.asked--;
            this.keep(piece, bytes);
            this.onArrival();
        });
        return undefined;
    }

    private keep(piece: number, bytes: Uint8Array): Table {
        const table = new Table(unzstd(bytes, this.size[piece]!));
        this.pieces.set(piece, table);
        return table;
    }
}

export function emptyOverview(): LaneOverview {
    const none = new Uint8Array(0);
    return { base: 0, buckets: 0, width: 1, busy: none, kind: none, flags: none };
}
