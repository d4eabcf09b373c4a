// Tables of named columns: the unit in which everything large is stored. A reader takes the columns it knows by name
// and ignores others, so that columns can be added without a new version.

import {
    COLUMN_BYTES,
    COLUMN_ENTRY_BYTES,
    COLUMN_NAME_BYTES,
    ColumnCoding,
    ColumnType,
    TABLE_HEADER_BYTES,
} from "./layout";

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array | Float32Array;
export type Column = Numbers | BigUint64Array;

export class FormatError extends Error {}

interface Place {
    type: ColumnType;
    coding: ColumnCoding;
    offset: number;
    bytes: number;
}

/** Decodes columns when they are asked for: what nobody looks at costs nothing. */
export class Table {
    readonly rows: number;
    private readonly places = new Map<string, Place>();
    private readonly decoded = new Map<string, Column>();

    constructor(private readonly data: Uint8Array) {
        if (data.byteLength < TABLE_HEADER_BYTES) throw new FormatError("a table is cut short");
        const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
        this.rows = view.getUint32(0, true);
        const columns = view.getUint32(4, true);
        if (columns > (data.byteLength - TABLE_HEADER_BYTES) / COLUMN_ENTRY_BYTES)
            throw new FormatError("a table has more columns than bytes");
        for (let i = 0; i < columns; i++) {
            const at = TABLE_HEADER_BYTES + i * COLUMN_ENTRY_BYTES;
            const name = ascii(data.subarray(at, at + COLUMN_NAME_BYTES));
            const place: Place = {
                type: view.getUint8(at + 12),
                coding: view.getUint8(at + 13),
                offset: view.getUint32(at + 16, true),
                bytes: view.getUint32(at + 20, true),
            };
            const width = COLUMN_BYTES[place.type];
            if (width === undefined) continue; // a type of a later version
            if (place.bytes !== width * this.rows || place.offset + place.bytes > data.byteLength)
                throw new FormatError(`column ${name} does not fit its table`);
            this.places.set(name, place);
        }
    }

    has(name: string): boolean {
        return this.places.has(name);
    }

    names(): string[] {
        return [...this.places.keys()];
    }

    /** A column as numbers; `undefined` when the table has none of that name. */
    find(name: string): Numbers | undefined {
        const column = this.column(name);
        return column instanceof BigUint64Array ? Float64Array.from(column, Number) : column;
    }

    /** A column that must be there, unless the table is empty. */
    need(name: string): Numbers {
        const found = this.find(name);
        if (found) return found;
        if (this.rows === 0) return new Uint8Array(0);
        throw new FormatError(`column ${name} is missing`);
    }

    /** 64-bit identities, exact. */
    wide(name: string): BigUint64Array | undefined {
        const column = this.column(name);
        return column instanceof BigUint64Array ? column : undefined;
    }

    private column(name: string): Column | undefined {
        const known = this.decoded.get(name);
        if (known) return known;
        const place = this.places.get(name);
        if (!place) return undefined;
        const column = decodeColumn(this.data.subarray(place.offset, place.offset + place.bytes), place, this.rows);
        this.decoded.set(name, column);
        return column;
    }
}

function decodeColumn(bytes: Uint8Array, place: Place, rows: number): Column {
    const width = COLUMN_BYTES[place.type]!;
    const flat = new Uint8Array(rows * width);
    if (place.coding === ColumnCoding.Plain || width === 1) flat.set(bytes);
    else if (place.coding === ColumnCoding.Planes || place.coding === ColumnCoding.DeltaPlanes)
        unplane(bytes, flat, rows, width);
    else throw new FormatError(`a column has coding ${place.coding}`);
    const column = typed(flat, place.type);
    if (place.coding === ColumnCoding.DeltaPlanes) undelta(column);
    return column;
}

function unplane(from: Uint8Array, to: Uint8Array, rows: number, width: number): void {
    for (let plane = 0; plane < width; plane++) {
        const base = plane * rows;
        for (let i = 0, at = plane; i < rows; i++, at += width) to[at] = from[base + i]!;
    }
}

/** The typed array wraps each sum to its own width, which is what the writer did. */
function undelta(column: Column): void {
    if (column instanceof BigUint64Array) {
        for (let i = 1; i < column.length; i++) column[i]! += column[i - 1]!;
        return;
    }
    if (column instanceof Float64Array || column instanceof Float32Array) throw new FormatError("a delta of a float");
    for (let i = 1; i < column.length; i++) column[i]! += column[i - 1]!;
}

function typed(flat: Uint8Array, type: ColumnType): Column {
    switch (type) {
        case ColumnType.U8:
            return flat;
        case ColumnType.U16:
            return new Uint16Array(flat.buffer);
        case ColumnType.U32:
            return new Uint32Array(flat.buffer);
        case ColumnType.I32:
            return new Int32Array(flat.buffer);
        case ColumnType.F64:
            return new Float64Array(flat.buffer);
        case ColumnType.U64:
            return new BigUint64Array(flat.buffer);
        case ColumnType.F32:
            return new Float32Array(flat.buffer);
        default:
            throw new FormatError(`a column has type ${type as number}`);
    }
}

export function ascii(bytes: Uint8Array): string {
    let text = "";
    for (const byte of bytes) {
        if (byte === 0) break;
        text += String.fromCharCode(byte);
    }
    return text;
}
