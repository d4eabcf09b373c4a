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
        if (bytes.byteLength !== length)
            throw new Error(`the server sent ${bytes.byteLength} bytes instead of ${length}`);
        return bytes;
    }
}

/** A bundle in two pieces, the second of which comes later: the page is drawn while the browser still reads its end. */
export class SplitSource implements Source {
    private rest: Uint8Array | undefined;

    constructor(
        private readonly head: Uint8Array,
        private readonly coming: Promise<Uint8Array>,
    ) {
        void coming.then((rest) => (this.rest = rest));
    }

    now(offset: number, length: number): Uint8Array | undefined {
        const cut = this.head.byteLength;
        if (offset + length <= cut) return this.head.subarray(offset, offset + length);
        if (!this.rest) return undefined;
        if (offset >= cut) return new MemorySource(this.rest).now(offset - cut, length);
        // Across the cut: the writer does not do that, but it would not be wrong.
        const both = new Uint8Array(length);
        both.set(this.head.subarray(offset));
        both.set(new MemorySource(this.rest).now(0, offset + length - cut), cut - offset);
        return both;
    }

    async bytes(offset: number, length: number): Promise<Uint8Array> {
        const there = this.now(offset, length);
        if (there) return there;
        this.rest = await this.coming;
        return this.now(offset, length)!;
    }
}

/** Elements of a self-contained page: the first piece of the bundle, before #app, and the rest, at the end of the body. */
export const DATA_ELEMENT = "ringscope-data";
export const REST_ELEMENT = "ringscope-rest";

/** The bundle of this page; undefined: it has none. To be called when #app is there. */
export function pageSource(document: Document, loaded: Promise<void>): Source | undefined {
    const element = document.getElementById(DATA_ELEMENT);
    if (!element) return undefined;
    const url = element.getAttribute("data-url");
    if (url) return new HttpSource(url);
    return new SplitSource(
        textOf(element),
        loaded.then(() => {
            const rest = document.getElementById(REST_ELEMENT);
            return rest ? textOf(rest) : new Uint8Array(0);
        }),
    );
}

/** The bytes in an element. Its text is dropped from the document then: it is as large as the data. */
function textOf(element: HTMLElement): Uint8Array {
    // One text node: nodeValue hands the browser's own string out, where textContent would join a copy.
    const text = (element.childNodes.length === 1 ? element.firstChild?.nodeValue : element.textContent) ?? "";
    const bytes = fromBase64(text);
    element.remove();
    return bytes;
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
