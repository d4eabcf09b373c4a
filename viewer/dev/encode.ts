// Writing bundles: what the C program will do, for tests and synthetic data. FORMAT.md is the authority for both.

import { compress, init } from "@bokuweb/zstd-wasm";
import {
    COLUMN_BYTES,
    COLUMN_ENTRY_BYTES,
    ColumnCoding,
    ColumnType,
    DIRECTORY_ENTRY_BYTES,
    HEADER_BYTES,
    MAGIC,
    TABLE_HEADER_BYTES,
} from "../src/data/layout";
import type { Column } from "../src/data/columns";

export interface ColumnIn {
    name: string;
    values: Column;
    coding?: ColumnCoding;
}

export function column(name: string, values: ColumnIn["values"], coding?: ColumnCoding): ColumnIn {
    return { name, values, coding };
}

let ready: Promise<void> | undefined;

/** Once only: a second time would put a new memory below the pointers of the first, and what comes out is damaged. */
export const zstdInit = (): Promise<void> => (ready ??= init());

/** Copied, since the compressor hands out a view of its own memory. */
export function zstd(bytes: Uint8Array): Uint8Array {
    return bytes.length === 0 ? bytes : new Uint8Array(compress(bytes, 3));
}

function typeOf(values: Column): ColumnType {
    if (values instanceof Uint8Array) return ColumnType.U8;
    if (values instanceof Uint16Array) return ColumnType.U16;
    if (values instanceof Uint32Array) return ColumnType.U32;
    if (values instanceof Int32Array) return ColumnType.I32;
    if (values instanceof Float64Array) return ColumnType.F64;
    if (values instanceof BigUint64Array) return ColumnType.U64;
    return ColumnType.F32;
}

export function encodeTable(rows: number, columns: ColumnIn[]): Uint8Array {
    const head = TABLE_HEADER_BYTES + columns.length * COLUMN_ENTRY_BYTES;
    const size = columns.reduce((sum, c) => sum + c.values.byteLength, head);
    const out = new Uint8Array(size);
    const view = new DataView(out.buffer);
    view.setUint32(0, rows, true);
    view.setUint32(4, columns.length, true);
    let at = head;
    columns.forEach((c, i) => {
        if (c.values.length !== rows) throw new Error(`column ${c.name} has ${c.values.length} of ${rows} rows`);
        const entry = TABLE_HEADER_BYTES + i * COLUMN_ENTRY_BYTES;
        const type = typeOf(c.values);
        const coding = c.coding ?? (type === ColumnType.U8 ? ColumnCoding.Plain : ColumnCoding.Planes);
        out.set(new TextEncoder().encode(c.name), entry);
        view.setUint8(entry + 12, type);
        view.setUint8(entry + 13, coding);
        view.setUint32(entry + 16, at, true);
        view.setUint32(entry + 20, c.values.byteLength, true);
        out.set(code(c.values, coding, COLUMN_BYTES[type]!), at);
        at += c.values.byteLength;
    });
    return out;
}

function code(values: Column, coding: ColumnCoding, width: number): Uint8Array {
    const source = coding === ColumnCoding.DeltaPlanes ? delta(values) : values;
    const flat = new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    if (coding === ColumnCoding.Plain || width === 1) return flat;
    const rows = values.length;
    const out = new Uint8Array(flat.length);
    for (let plane = 0; plane < width; plane++)
        for (let i = 0; i < rows; i++) out[plane * rows + i] = flat[i * width + plane]!;
    return out;
}

function delta(values: Column): Column {
    const out = values.slice() as Column;
    if (out instanceof BigUint64Array) for (let i = out.length - 1; i > 0; i--) out[i]! -= out[i - 1]!;
    else for (let i = out.length - 1; i > 0; i--) out[i]! -= out[i - 1]!;
    return out;
}

/** Pieces one after the other in a section, with the index that finds them. */
export class Pieces {
    readonly parts: Uint8Array[] = [];
    private readonly offsets: number[] = [];
    private readonly storedSizes: number[] = [];
    private readonly sizes: number[] = [];
    private at = 0;

    add(raw: Uint8Array): void {
        const packed = zstd(raw);
        this.parts.push(packed);
        this.offsets.push(this.at);
        this.storedSizes.push(packed.length);
        this.sizes.push(raw.length);
        this.at += packed.length;
    }

    get count(): number {
        return this.parts.length;
    }

    columns(): ColumnIn[] {
        return [
            { name: "offset", values: Float64Array.from(this.offsets) },
            { name: "stored", values: Uint32Array.from(this.storedSizes) },
            { name: "size", values: Uint32Array.from(this.sizes) },
        ];
    }
}

export interface SectionIn {
    name: string;
    /** Compressed as a whole, or pieces that are compressed already. */
    raw?: Uint8Array;
    pieces?: Pieces;
}

export function assemble(span: number, buckets: number, sections: SectionIn[]): Uint8Array[] {
    const header = new Uint8Array(HEADER_BYTES);
    const view = new DataView(header.buffer);
    for (let i = 0; i < MAGIC.length; i++) header[i] = MAGIC.charCodeAt(i);
    view.setUint32(8, HEADER_BYTES, true);
    view.setBigUint64(16, BigInt(HEADER_BYTES), true);
    view.setUint32(24, sections.length, true);
    view.setFloat64(32, span, true);
    view.setUint32(40, buckets, true);
    const directory = new Uint8Array(sections.length * DIRECTORY_ENTRY_BYTES);
    const entries = new DataView(directory.buffer);
    const out: Uint8Array[] = [header, directory];
    let at = HEADER_BYTES + directory.length;
    sections.forEach((section, i) => {
        const parts = section.pieces ? section.pieces.parts : [zstd(section.raw!)];
        const stored = parts.reduce((sum, p) => sum + p.length, 0);
        const entry = i * DIRECTORY_ENTRY_BYTES;
        directory.set(new TextEncoder().encode(section.name), entry);
        entries.setBigUint64(entry + 8, BigInt(at), true);
        entries.setBigUint64(entry + 16, BigInt(stored), true);
        entries.setBigUint64(entry + 24, BigInt(section.raw?.length ?? stored), true);
        entries.setUint32(entry + 32, section.pieces ? 0 : 1, true);
        for (const part of parts) out.push(part); // there may be more than a call has arguments
        at += stored;
    });
    return out;
}

export function join(parts: Uint8Array[]): Uint8Array {
    const out = new Uint8Array(parts.reduce((sum, p) => sum + p.length, 0));
    let at = 0;
    for (const part of parts) {
        out.set(part, at);
        at += part.length;
    }
    return out;
}
