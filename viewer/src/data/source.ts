// Where the bytes of a bundle come from: out of the page itself, or from the server in ranges.

export interface Source {
    /** Exactly `length` bytes from `offset`, or an error. The result must not be written to. */
    bytes(offset: number, length: number): Promise<Uint8Array>;
    /** The same at once, where the bytes are in memory; else undefined. */
    now(offset: number, length: number): Uint8Array | undefined;
}

export class MemorySource implements Source {
    constructor(private readonly all: Uint8Array) {}

    now(offset: number, length: number): Uint8Array {
        if (offset < 0 || length < 0 || offset + length > this.all.byteLength)
            throw new Error(`the bundle is cut short: bytes ${offset} to ${offset + length} of ${this.all.byteLength}`);
        return this.all.subarray(offset, offset + length);
    }

    async bytes(offset: number, length: number): Promise<Uint8Array> {
        return this.now(offset, length);
    }
}

/** Reads by HTTP ranges. The token of `ringscope serve` is in the address already. */
export class HttpSource implements Source {
    constructor(private readonly url: string) {}

    now(): undefined {
        return undefined;
    }

    async bytes(offset: number, length: number): Promise<Uint8Array> {
        if (length === 0) return new Uint8Array(0);
        const answer = await fetch(this.url, { headers: { Range: `bytes=${offset}-${offset + length - 1}` } });
        if (answer.status !== 206) throw new Error(`the server answered ${answer.status} instead of a range`);
        const bytes = new Uint8Array(await answer.arrayBuffer());
        if (bytes.byteLength !== length) throw new Error(`the server sent ${bytes.byteLength} bytes instead of ${length}`);
        return bytes;
    }
}

/** The id of the element that carries the bundle in a self-contained page, and of one that names its address. */
export const DATA_ELEMENT = "ringscope-data";

/** The bundle of this page. The text is dropped from the document once it is decoded: it is as large as the data. */
export function pageSource(document: Document): Source | undefined {
    const element = document.getElementById(DATA_ELEMENT);
    if (!element) return undefined;
    const url = element.getAttribute("data-url");
    if (url) return new HttpSource(url);
    // One text node: nodeValue hands the browser's own string out, where textContent would join a copy.
    const text = (element.childNodes.length === 1 ? element.firstChild?.nodeValue : element.textContent) ?? "";
    const bytes = fromBase64(text);
    element.remove();
    return new MemorySource(bytes);
}

/** Browsers of 2025 decode by themselves (33 MB in 90 ms); the loop is for those before. */
export function fromBase64(text: string): Uint8Array {
    const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
    if (native) return native.call(Uint8Array, text);
    const piece = 1 << 20; // a multiple of four characters
    const clean = text.trim();
    const padding = clean.endsWith("==") ? 2 : clean.endsWith("=") ? 1 : 0;
    const bytes = new Uint8Array((clean.length / 4) * 3 - padding);
    let at = 0;
    for (let from = 0; from < clean.length; from += piece) {
        const binary = atob(clean.slice(from, from + piece));
        for (let i = 0; i < binary.length; i++) bytes[at++] = binary.charCodeAt(i);
    }
    return bytes;
}
