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

/** Reads by HTTP ranges. The token of `ringscope serve` is in the URL already. */
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
        // Errors are passed to those who ask for bytes.
        coming.then(
            (rest) => (this.rest = rest),
            () => {},
        );
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

/**
 * Elements of a self-contained page: the first piece of the bundle, before #app, and the rest, at the end of the body.
 */
export const DATA_ELEMENT = "ringscope-data";
export const REST_ELEMENT = "ringscope-rest";

/** The bundle of this page; undefined: it has none. To be called when #app is there. */
export async function pageSource(document: Document, loaded: Promise<void>): Promise<Source | undefined> {
    const element = document.getElementById(DATA_ELEMENT);
    if (!element) return undefined;
    const url = element.getAttribute("data-url");
    if (url) return new HttpSource(url);
    return new SplitSource(
        await fromBase64(textOf(element)),
        loaded.then(() => {
            const rest = document.getElementById(REST_ELEMENT);
            return rest ? fromBase64(textOf(rest)) : new Uint8Array(0);
        }),
    );
}

/** The text of an element, which is dropped from the document then: it is as large as the data. */
function textOf(element: HTMLElement): string {
    // One text node: nodeValue hands the browser's own string out, where textContent would join a copy.
    const text = (element.childNodes.length === 1 ? element.firstChild?.nodeValue : element.textContent) ?? "";
    element.remove();
    return text;
}

/**
 * Characters that are decoded before the page may draw again; a multiple of four. Takes 3 ms, or 15 in older browsers.
 */
const PIECE = 1 << 22;

type Native = Uint8Array & { setFromBase64?: (text: string) => unknown };

/** Base64, a piece at a time: 10 M bars are 90 MB of it. Browsers of 2025 decode by themselves. */
export async function fromBase64(text: string, pause: () => Promise<void> = nextTask): Promise<Uint8Array> {
    let length = text.length;
    while (length > 0 && text.charCodeAt(length - 1) <= 32) length--;
    const padding = text[length - 2] === "=" ? 2 : text[length - 1] === "=" ? 1 : 0;
    if (length % 4 !== 0) throw new Error("the data of this page is cut short");
    const bytes: Native = new Uint8Array((length / 4) * 3 - padding);
    for (let from = 0, at = 0; from < length; from += PIECE) {
        if (from > 0) await pause();
        const piece = text.slice(from, Math.min(length, from + PIECE));
        try {
            if (bytes.setFromBase64) (bytes.subarray(at) as Native).setFromBase64!(piece);
            else decodePiece(piece, bytes, at);
        } catch {
            throw new Error("the data of this page is damaged");
        }
        at += (PIECE / 4) * 3;
    }
    return bytes;
}

function decodePiece(piece: string, bytes: Uint8Array, at: number): void {
    const binary = atob(piece);
    for (let i = 0; i < binary.length; i++) bytes[at + i] = binary.charCodeAt(i);
}

/** A message, not a timer: timers wait 4 ms and more each. */
function nextTask(): Promise<void> {
    return new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => {
            port1.close();
            resolve();
        };
        port2.postMessage(0);
    });
}
