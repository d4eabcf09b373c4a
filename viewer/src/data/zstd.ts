// zstd in the browser: WebAssembly that is inlined in the page. About nine times as fast as a decoder in JavaScript.

import { ZSTDDecoder } from "zstddec";
import { FormatError } from "./columns";

const decoder = new ZSTDDecoder();

/** To be awaited once, before the first unpack(). */
export function zstdReady(): Promise<void> {
    return decoder.init();
}

/** The limit of one piece: a damaged size must not take all memory. */
const MOST_BYTES = 1 << 30;

export function unzstd(packed: Uint8Array, size: number): Uint8Array {
    if (size === 0) return new Uint8Array(0);
    if (size > MOST_BYTES) throw new FormatError(`a piece of ${size} bytes is too large`);
    const bytes = decoder.decode(packed, size);
    if (bytes.byteLength !== size) throw new FormatError("a compressed piece is damaged");
    return bytes;
}
