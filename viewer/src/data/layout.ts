// The numbers of the bundle format (FORMAT.md has the tables). The C writer has the same in a header; a bundle that the
// two disagree on is refused, not guessed at.

export const MAGIC = "RSVIEW\0\u0001";
export const HEADER_BYTES = 64;
export const DIRECTORY_ENTRY_BYTES = 40;
/** Feature bits of the upper half must be understood; those of the lower half may be ignored. */
export const FEATURES_KNOWN = 0;

export const enum Coding {
    Raw = 0,
    Zstd = 1,
}

export const enum ColumnType {
    U8 = 0,
    U16 = 1,
    U32 = 2,
    I32 = 3,
    F64 = 4,
    U64 = 5,
    F32 = 6,
}

export const enum ColumnCoding {
    Plain = 0,
    /** All first bytes, then all second bytes...: what is alike lies together. */
    Planes = 1,
    /** Each value less the one before, modulo its width, then planes. Integers only. */
    DeltaPlanes = 2,
}

export const COLUMN_BYTES = [1, 2, 4, 4, 8, 8, 4] as const;
export const TABLE_HEADER_BYTES = 8;
export const COLUMN_ENTRY_BYTES = 24;
export const COLUMN_NAME_BYTES = 12;

/** Bars in a block, at most. 16384 decode in about a millisecond: several fit into a frame. */
export const BLOCK_BARS = 16384;
/** Lanes whose overviews are stored together. */
export const OVERVIEW_LANES = 64;

export const enum BarFlag {
    /** The end is only bounded: `end` is the lower bound and `fade` leads to the upper one. */
    EndBounded = 1,
    /** Not an event: something was lost here. */
    Lost = 2,
    /** It had not ended when the recording did. */
    Open = 4,
    /** Its arguments differ from those of the other ranks. */
    Mismatch = 8,
    /** Another process did some of its network work (PXN). */
    Helped = 16,
    /** The last to arrive in its operation, by more than the clock error. */
    LastArriver = 32,
    /** Nothing was recorded here: not asked for, or overwritten. */
    NotRecorded = 64,
    /** Start unknown: drawn from its launch or its call. */
    StartUnknown = 128,
}

/** As RS_OP_... of the model. */
export const enum OpFlag {
    Complete = 1,
    Whole = 2,
    Tie = 4,
    Mismatch = 8,
    Violation = 16,
    Double = 32,
    Clocked = 64,
    /** A send and its receive inside a fan-out: they do not count beside it. */
    Inside = 128,
}

export const enum OpKind {
    Collective = 0,
    Pair = 1,
    FanOut = 2,
    CopyEngine = 3,
    Api = 4,
}

export const enum EdgeKind {
    /** from the parent to its child */
    Child = 0,
    /** from the launch to what it launched */
    Launch = 1,
    /** from a send to its receive */
    SendRecv = 2,
}

/** "No such row", as RS_NONE of the model. */
export const NONE = 0xffffffff;
