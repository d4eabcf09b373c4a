// Blocks from bytes: in a worker where the browser lets the page have one, else here. Who asks does not see which.

import { decodeBlock, type Block } from "./block";
import { FormatError } from "./columns";
import { unzstd } from "./zstd";

/** What is to be decoded. */
export interface Job {
    id: number;
    bytes: Uint8Array; // zstd
    size: number; // unpacked
    first: number;
    count: number;
    from: number;
}

export type Answer = { id: number; block: Block; error?: undefined } | { id: number; block?: undefined; error: string };

interface Waiting {
    job: Job;
    resolve: (block: Block) => void;
    reject: (error: Error) => void;
}

export function decodeHere(job: Job): Block {
    return decodeBlock(unzstd(job.bytes, job.size), job.first, job.count, job.from);
}

export class Decoder {
    private worker: Worker | undefined;
    private readonly waiting = new Map<number, Waiting>();

    /** `make` may throw or hand out nothing: then the page decodes by itself. */
    constructor(make?: () => Worker | undefined) {
        try {
            this.worker = make?.();
        } catch {
            this.worker = undefined;
        }
        if (!this.worker) return;
        this.worker.onmessage = (event: MessageEvent<Answer>) => this.answer(event.data);
        // It did not start, or broke down: what it was given is done here.
        this.worker.onerror = (event) => {
            event.preventDefault();
            this.giveUp();
        };
    }

    get hasWorker(): boolean {
        return this.worker !== undefined;
    }

    /** Each id once at a time. */
    decode(job: Job): Promise<Block> {
        if (!this.worker) return Promise.resolve().then(() => decodeHere(job));
        return new Promise((resolve, reject) => {
            this.waiting.set(job.id, { job, resolve, reject });
            // A copy goes over: the bytes are a view of the whole bundle, and all of it would be copied with them.
            const bytes = job.bytes.slice();
            this.worker!.postMessage({ ...job, bytes }, [bytes.buffer]);
        });
    }

    private answer(answer: Answer): void {
        const waiting = this.waiting.get(answer.id);
        if (!waiting) return;
        this.waiting.delete(answer.id);
        if (answer.block) waiting.resolve(answer.block);
        else waiting.reject(new FormatError(answer.error));
    }

    private giveUp(): void {
        this.worker?.terminate();
        this.worker = undefined;
        const left = [...this.waiting.values()];
        this.waiting.clear();
        for (const { job, resolve, reject } of left)
            try {
                resolve(decodeHere(job));
            } catch (error) {
                reject(error instanceof Error ? error : new Error(String(error)));
            }
    }
}
