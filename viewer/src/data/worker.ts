// The page's script in a worker: unpacks and decodes blocks beside the page, so that no frame waits for it. It is the
// same script, started a second time: a page that opens from disk has no other file, and zstd is in it once.

import { buffersOf, decodeBlock } from "./block";
import type { Answer, Job } from "./decoder";
import { unzstd, zstdReady } from "./zstd";

export const inWorker = typeof document === "undefined";

/** In the page: the worker; undefined: the script is not in the page itself. */
export function startWorker(): Worker | undefined {
    const text = document.querySelector("script[type=module]")?.textContent;
    if (!text) return undefined;
    // As a classic script, which it can be since nothing is imported: a page from disk may not start a module.
    const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    return new Worker(url);
}

interface Scope {
    onmessage: (event: MessageEvent<Job>) => void;
    postMessage(answer: Answer, transfer: Transferable[]): void;
}

/** In the worker: answers jobs, one after the other. */
export function serveJobs(scope: Scope = self as unknown as Scope): void {
    scope.onmessage = async (event) => {
        const { id, bytes, size, first, count, from } = event.data;
        try {
            await zstdReady();
            const block = decodeBlock(unzstd(bytes, size), first, count, from);
            scope.postMessage({ id, block }, buffersOf(block));
        } catch (error) {
            scope.postMessage({ id, error: error instanceof Error ? error.message : String(error) }, []);
        }
    };
}
