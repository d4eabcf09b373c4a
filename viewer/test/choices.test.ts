// Choosing while data load slowly: which choice holds in the end, and from where steps count.

import { beforeEach, describe, expect, it } from "vitest";
import { DEFAULTS } from "../dev/shape";
import type { Bar } from "../src/data/trace";
import { Choices } from "../src/state/choices";
import { Session } from "../src/state/session";
import { close, neighbour } from "../src/timeline/commands";
import { openTrace } from "./traces";

/** All that is due has happened. */
const quiet = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** Something that loads until it is told that it has come. */
class Slow {
    come: () => void = () => {};
    fail: (error: Error) => void = () => {};
    readonly loaded = new Promise<void>((resolve, reject) => {
        this.come = resolve;
        this.fail = reject;
    });
}

describe("choices", () => {
    let choices: Choices;
    let done: string[];
    let errors: string[];
    const work = (name: string) => async () => void done.push(name);
    const slow = (name: string, slow: Slow) => async (current: () => boolean) => {
        await slow.loaded;
        done.push(current() ? name : `late ${name}`);
    };
    beforeEach(() => {
        [done, errors] = [[], []];
        choices = new Choices((error) => errors.push(String(error)));
    });

    it("begin at once, and steps one after the other", async () => {
        const first = new Slow();
        void choices.choose(slow("a", first));
        void choices.step(work("b"));
        void choices.step(work("c"));
        first.come();
        await choices.step(work("d"));
        expect(done).toEqual(["a", "b", "c", "d"]);
        void choices.choose(work("e"));
        expect(done).toEqual(["a", "b", "c", "d", "e"]);
    });
    it("drop what is under way, however long it takes", async () => {
        const [first, second] = [new Slow(), new Slow()];
        void choices.choose(slow("a", first));
        void choices.step(work("from a"));
        void choices.choose(slow("b", second));
        void choices.step(work("from b"));
        second.come();
        await quiet();
        expect(done).toEqual(["b", "from b"]);
        first.come();
        await quiet();
        expect(done).toEqual(["b", "from b", "late a"]);
    });
    it("let few steps wait, and none of an earlier turn in the way of new ones", async () => {
        const [first, second] = [new Slow(), new Slow()];
        void choices.choose(slow("a", first));
        for (let i = 0; i < 20; i++) void choices.step(work("lost"));
        void choices.choose(slow("b", second)); // the first never comes
        for (let i = 0; i < 20; i++) void choices.step(work("step"));
        second.come();
        await quiet();
        expect(done).toEqual(["b", "step", "step", "step", "step"]);
        for (let i = 0; i < 3; i++) await choices.step(work("more"));
        expect(done.slice(5)).toEqual(["more", "more", "more"]);
    });
    it("go on after an error, which is told", async () => {
        const first = new Slow();
        void choices.choose(slow("a", first));
        for (let i = 0; i < 3; i++) void choices.step(() => Promise.reject(new Error(`no ${i}`)));
        first.fail(new Error("cut short"));
        await quiet();
        expect(errors).toEqual(["Error: cut short", "Error: no 0", "Error: no 1", "Error: no 2"]);
        for (let i = 0; i < 4; i++) void choices.step(work("b"));
        await quiet();
        expect(done).toEqual(["b", "b", "b", "b"]);
    });
});

describe("the selection", () => {
    let session: Session;
    let first: number;
    const selected = (): number => session.selected.value?.bar ?? -1;
    const slowRelations = (): Slow => {
        const { trace } = session;
        const slow = new Slow();
        const related = trace.related.bind(trace);
        trace.related = (bar: Bar) => slow.loaded.then(() => related(bar));
        return slow;
    };
    beforeEach(async () => {
        session = new Session(await openTrace(DEFAULTS));
        first = session.trace.bundle.lanes.first[3]!;
    });

    it("is the one that was clicked last, not the one that came last", async () => {
        const { trace } = session;
        const slow = new Slow();
        const late = slow.loaded.then(() => trace.bar(first + 5));
        void session.select(late);
        neighbour(session, 1); // from what was clicked, which is given up
        await session.select((await trace.bar(first)) ?? null);
        slow.come();
        await quiet();
        expect(selected()).toBe(first);
        void session.jump(slow.loaded.then(() => first + 7));
        close(session);
        await quiet();
        expect(selected()).toBe(-1);
    });
    it("has its relations, though nothing came of what was chosen after it", async () => {
        const slow = slowRelations();
        void session.jump(first);
        await quiet();
        void session.jump(Promise.resolve(null));
        slow.come();
        await quiet();
        expect(selected()).toBe(first);
        expect(session.related.value?.bar.bar).toBe(first);
    });
    it("has its own relations, though those of one before it come later", async () => {
        const { trace } = session;
        const related = trace.related.bind(trace);
        const slow = slowRelations();
        void session.jump(first);
        await quiet();
        trace.related = related;
        await session.jump(first + 1);
        slow.come();
        await quiet();
        expect([selected(), session.related.value?.bar.bar]).toEqual([first + 1, first + 1]);
    });
    it("is not scrolled back to when something else was chosen meanwhile", async () => {
        const slow = slowRelations();
        const seen: number[] = [];
        session.onReveal = (lane) => seen.push(lane);
        void session.jump(first);
        await quiet();
        expect(seen).toEqual([3]); // at once, not when all relations have come
        void session.select(null);
        slow.come();
        await quiet();
        expect(seen).toEqual([3]);
    });
    it("need not be loaded for all ranks to be shown again", async () => {
        const slow = slowRelations();
        void session.jump(first);
        await quiet();
        session.toggleOnly(); // of these ranks alone, when they are known
        expect(session.only.value).toBeNull();
        slow.come();
        await quiet();
        expect(session.only.value?.size).toBe(session.related.value?.parts.length);
        slowRelations();
        void session.jump(first + 1);
        await quiet();
        session.toggleOnly();
        expect(session.only.value).toBeNull();
    });
    it("says when its data cannot be had, and steps go on", async () => {
        const { trace } = session;
        const bar = trace.bar.bind(trace);
        trace.bar = () => Promise.reject(new Error("gone"));
        await session.jump(first);
        await session.goTo(`#sel=${first}`);
        expect(session.error.value).toBe("Error: gone");
        trace.bar = bar;
        for (let i = 0; i < 6; i++) {
            neighbour(session, 1);
            await quiet();
        }
        expect(selected()).toBeGreaterThan(0);
    });
});
