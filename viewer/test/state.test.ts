import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readHash, writeHash } from "../src/state/hash";
import { ACTIONS, actionFor } from "../src/timeline/actions";
import { duration, niceStep } from "../src/timeline/ruler";
import { clampView, History, LEAST_NS, panBy, zoomAbout } from "../src/scene/view";

describe("the window", () => {
    it("zooms about a moment that stays in its place", () => {
        const view = zoomAbout({ t0: 100, t1: 1100 }, 350, 0.5, 10_000);
        expect(view).toEqual({ t0: 225, t1: 725 });
    });
    it("stays with the data and above the least width", () => {
        const view = clampView({ t0: -1e9, t1: 1e9 }, 1000);
        expect(view.t1 - view.t0).toBeLessThanOrEqual(1200);
        const small = zoomAbout({ t0: 0, t1: 100 }, 50, 1e-9, 1000);
        expect(small.t1 - small.t0).toBeCloseTo(LEAST_NS);
        expect(panBy({ t0: 0, t1: 100 }, 1e12, 1000).t1).toBeLessThanOrEqual(1010 + 1e-6);
    });
    it("goes back, quick steps as one", () => {
        const history = new History();
        history.note({ t0: 0, t1: 1 }, 0);
        history.note({ t0: 0, t1: 2 }, 100);
        history.note({ t0: 0, t1: 3 }, 2000);
        expect(history.back()).toEqual({ t0: 0, t1: 3 });
        expect(history.back()).toEqual({ t0: 0, t1: 1 });
        expect(history.back()).toBeUndefined();
        history.note({ t0: 0, t1: 4 }, 5000);
        history.note({ t0: 0, t1: 5 }, 9000, true);
        expect(history.back()).toEqual({ t0: 0, t1: 4 });
        expect(history.back()).toBeUndefined();
    });
});

describe("the address", () => {
    it("comes back as it was", () => {
        const place = {
            view: { t0: 1.5, t1: 2e9 },
            selected: 7,
            panel: "heat",
            rows: ["ops", "api"],
            toggled: [1, 5],
            pinned: [3],
            relations: "all" as const,
            theme: "dark" as const,
            query: "a&b=c#é",
            scroll: 40,
        };
        expect(readHash(writeHash(place))).toEqual(place);
    });
    it("leaves out what it cannot read", () => {
        expect(readHash("#t=5:1&sel=-1&panel=<b>&theme=pink&q=%E0%A4%A&open=1.x.3&nonsense")).toEqual({
            toggled: [1, 3],
        });
    });
});

describe("keys", () => {
    it("belong to one action each", () => {
        const keys = ACTIONS.flatMap((action) => action.keys);
        expect(new Set(keys).size).toBe(keys.length);
        expect(actionFor({ code: "Slash", key: "?" })?.id).toBe("help");
        expect(actionFor({ code: "Slash", key: "/" })?.id).toBe("search");
        expect(actionFor({ code: "KeyW", key: "ц" })?.id).toBe("in");
    });
});

describe("words", () => {
    it("say durations with three digits", () => {
        expect([0, 950, 1500, 23_456, 1.5e6, 2e9, NaN].map(duration)).toEqual([
            "0 ns",
            "950 ns",
            "1.50 us",
            "23.5 us",
            "1.50 ms",
            "2.00 s",
            "?",
        ]);
        expect([1, 3, 11, 60].map(niceStep)).toEqual([1, 5, 20, 100]);
    });
});

describe("names of a trace", () => {
    it("are never taken for HTML: nothing in src can do it", () => {
        const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
        expect(files.length).toBeGreaterThan(20);
        for (const file of files) {
            const text = readFileSync(`src/${file}`, "utf8").replace(/\/\/.*$/gm, "");
            expect(text, file).not.toMatch(
                /innerHTML|outerHTML|insertAdjacentHTML|dangerouslySet|document\.write|eval\(|new Function/,
            );
        }
    });
});
