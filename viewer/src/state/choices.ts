// One choice after another while data load. What is chosen by itself, as by a click, drops all that is under way. A step
// from what is chosen to something else waits for it, so that no press of a key is lost or counted from an old place.

/** Whether nothing was chosen by itself since: who has waited for data asks before it shows them. */
export type Current = () => boolean;

/** Steps that wait at most: a key held down stops when it is let go. */
const MOST_STEPS = 4;

export class Choices {
    /** Until the latest is done. Never rejects. */
    private latest: Promise<void> = Promise.resolve();
    private waiting = 0;
    private turn = 0;

    constructor(private readonly onError: (error: unknown) => void) {}

    /** Begins at once: what `work` does before it first waits is done when this returns. */
    choose(work: (current: Current) => Promise<void>): Promise<void> {
        const turn = ++this.turn;
        this.waiting = 0; // steps of earlier turns come to nothing
        return this.until(work(() => turn === this.turn));
    }

    /** Begins when all before it is done, if nothing is chosen by itself until then. */
    step(work: (current: Current) => Promise<void>): Promise<void> {
        if (this.waiting >= MOST_STEPS) return this.latest;
        this.waiting++;
        const { latest, turn } = this;
        const current = (): boolean => turn === this.turn;
        const begin = async (): Promise<void> => {
            if (!current()) return;
            this.waiting--;
            await work(current);
        };
        return this.until(latest.then(begin));
    }

    private until(work: Promise<void>): Promise<void> {
        return (this.latest = work.catch(this.onError));
    }
}
