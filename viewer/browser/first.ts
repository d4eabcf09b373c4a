// What a first-time reader sees, without a click: the demo run, a folder of Kineto traces, a hang from recordings and from
// dumps, and 256 ranks. The rank to blame is in sight and named, and the window shows why.

import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { open } from "../dev/chromium";
import { close, comes, expect, note, settle, text, viewOf, type Context } from "./check";
import { DATA, programIsThere, run } from "./program";

const SIZE = { width: 1280, height: 800 };

interface Case {
    name: string;
    /** Makes a recording in the folder; not there: `inputs` are there already. */
    make?: string[];
    inputs?: string[];
    /** The rank to blame. */
    rank: number;
    /** Of a hang: what its row says. */
    says?: RegExp;
    frames?: RegExp;
    /** What is between operations. */
    between?: RegExp;
}

const CASES: Case[] = [
    {
        name: "demo",
        make: ["sim", "--ranks", "8", "--hosts", "2", "--steps", "20", "--slow", "5:2000"],
        rank: 5,
    },
    { name: "kineto", inputs: [`${DATA}/kineto`], rank: 2, between: /GPU idle/ },
    {
        name: "256 ranks",
        make: ["gen", "--ranks", "256", "--steps", "30", "--events", "ops", "--slow", "77:2000"],
        rank: 77,
        between: /^outside /,
    },
    {
        name: "hang",
        make: ["sim", "--ranks", "8", "--hosts", "2", "--steps", "30", "--hang", "3@20", "--hang-seconds", "1"],
        rank: 3,
        says: /^did not join AllReduce/,
    },
    {
        name: "hang of 256 ranks",
        make: ["gen", "--ranks", "256", "--steps", "12", "--events", "ops", "--hang", "not-joined:200@8"],
        rank: 200,
        says: /^did not join AllReduce/,
    },
    {
        name: "dumps",
        inputs: [`${DATA}/flight/hang-real/notjoined`],
        rank: 1,
        says: /^did not join AllReduce 6 of /,
        frames: /hang\.py:\d+/,
    },
];

export async function first({ browser, folder }: Context): Promise<void> {
    if (!(await programIsThere())) return;
    for (const one of CASES) {
        const work = mkdtempSync(join(folder, "first-"));
        const [recording, page] = [join(work, "run"), join(work, "run.html")];
        const made = one.make ? await run([...one.make, "-o", recording]) : { ok: true, said: "" };
        const viewed = await run(["view", ...(one.inputs ?? [recording]), "-o", page]);
        expect(made.ok && viewed.ok, `${one.name}: a page is made ${made.said} ${viewed.said}`.trim());
        if (!made.ok || !viewed.ok) continue;
        const tab = await open(browser, page, SIZE);
        await settle(tab);
        if (one.says) await aHang(tab, one);
        else await aStraggler(tab, one);
        await ways(tab, one);
        await close(tab, one.name);
        if (one.name === "demo") await anAddress({ browser, page });
    }
}

interface Seen {
    rank: number; // row of the rank: its middle, in pixels of the canvas; -1: not in sight
    from: number;
    to: number;
    names: number; // where the rows begin
    height: number;
    above: number; // rank rows above it
    words: { text: string; x: number; y: number }[];
}

/** What the canvas shows: the row of a rank, and all words that are drawn. */
const look = (tab: Page, rank: number): Promise<Seen> =>
    tab.evaluate(async (rank) => {
        const { session, timeline } = window.ringscope!;
        const { members, groups } = session.trace.bundle;
        const { geometry } = timeline!;
        const words: { text: string; x: number; y: number }[] = [];
        const { fillText } = CanvasRenderingContext2D.prototype;
        CanvasRenderingContext2D.prototype.fillText = function (text: string, x: number, y: number) {
            if (this.canvas.className === "lower") words.push({ text, x, y });
            fillText.call(this, text, x, y);
        };
        timeline!.invalidate();
        const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
        for (let still = 0; still < 3; await frame()) still = timeline!.settled ? still + 1 : 0;
        CanvasRenderingContext2D.prototype.fillText = fillText;
        let group = -1;
        for (let i = 0; i < members.count; i++) if (members.globalRank[i] === rank) group = members.group[i]!;
        const { rows, rowOfGroup } = geometry.layout;
        const at = rowOfGroup[group] ?? -1;
        const row = rows[at];
        const y = row ? geometry.rowY(row) : -1;
        const inSight = row && y >= geometry.rowsTop && y + row.height <= geometry.height;
        return {
            rank: inSight ? y + row.height / 2 : -1,
            from: y,
            to: y + (row?.height ?? 0),
            names: geometry.width - geometry.timeWidth,
            height: geometry.height,
            above: rows.slice(0, at).filter((row) => groups.level[row.group] === 2).length,
            words,
        };
    }, rank);

const onRow = (seen: Seen) => seen.words.filter(({ y }) => y > seen.from && y < seen.to);

async function inSight(tab: Page, selector: string): Promise<boolean> {
    const box = await tab.locator(selector).first().boundingBox();
    return box !== null && box.y >= 0 && box.y + Math.min(box.height, 100) <= SIZE.height;
}

async function aStraggler(tab: Page, { name, rank, between }: Case): Promise<void> {
    const named = new RegExp(`\\bRank ${rank}\\b`);
    expect(named.test(await text(tab, ".conclusion")), `${name}: the first sentence names rank ${rank}`);
    expect(await inSight(tab, ".conclusion"), `${name}: the conclusion is in sight`);
    expect((await tab.locator(".verdict").count()) === 0, `${name}: no verdict of a hang`);
    const seen = await look(tab, rank);
    expect(
        seen.rank > 0,
        `${name}: the row of rank ${rank} is in sight, at ${Math.round(seen.rank)} of ${seen.height}`,
    );
    const numbers = onRow(seen).filter(({ text, x }) => x < seen.names && /^\d[\d.]* (s|ms|us|ns)$/.test(text));
    expect(numbers.length > 0, `${name}: its lateness is beside its name: ${numbers[0]?.text}`);
    const gap = seen.words.find(({ text, x }) => x > seen.names && between?.test(text));
    if (between) expect(gap !== undefined, `${name}: what is between operations is named: ${gap?.text}`);
    const steps = await tab.evaluate(async () => {
        const { session } = window.ringscope!;
        const { meta, span } = session.trace.bundle;
        const { t0, t1 } = session.view.value;
        const [from, to] = meta.focus_ns!;
        return { shown: t1 - t0, of: to - from, t0, t1, span };
    });
    expect(
        steps.shown < 0.75 * steps.of && steps.t0 >= -0.1 * steps.shown,
        `${name}: it opens on ${(steps.shown / 1e6).toFixed(1)} ms of ${(steps.of / 1e6).toFixed(1)} ms of operations`,
    );
    expect(await isLast(tab, rank), `${name}: in these steps rank ${rank} is the last to arrive`);
}

/** Whether of the operations in sight most have that rank as the last to arrive, where one is known. */
const isLast = (tab: Page, rank: number): Promise<boolean> =>
    tab.evaluate(async (rank) => {
        const { trace, view } = window.ringscope!.session;
        const { ops, members } = trace.bundle;
        let [known, its] = [0, 0];
        const cost = new Map<number, number>();
        for (let op = 0; op < ops.count; op++) {
            if (!(ops.first[op]! >= view.value.t0 && ops.end[op]! <= view.value.t1)) continue;
            const [part] =
                ops.lastPart[op] === 0xffffffff ? [] : await trace.parts.list(ops.lastPart[op]!, ops.lastPart[op]! + 1);
            if (!part) continue;
            known++;
            const who = members.globalRank[part.member]!;
            if (who === rank) its++;
            cost.set(who, (cost.get(who) ?? 0) + ops.wait[op]!);
        }
        const others = [...cost].filter(([who]) => who !== rank).map(([, wait]) => wait);
        return known > 0 && its > 0 && (cost.get(rank) ?? 0) > Math.max(0, ...others);
    }, rank);

async function aHang(tab: Page, { name, rank, says, frames }: Case): Promise<void> {
    const verdict = await text(tab, ".verdict");
    expect(
        verdict.includes("NOT_JOINED") && verdict.includes(`rank ${rank}`),
        `${name}: the verdict names rank ${rank}`,
    );
    expect(await inSight(tab, ".verdict"), `${name}: the verdict is in sight`);
    expect(/Look at what its program does/.test(verdict), `${name}: it says what to do`);
    if (frames) expect(frames.test(await text(tab, ".verdict .frames")), `${name}: frames with file and line`);
    const red = await tab.locator(".verdict h2").evaluate((element) => getComputedStyle(element).color);
    expect(/^rgb\((1[5-9]\d|2\d\d), ([0-9]|[0-9]\d), /.test(red), `${name}: in red: ${red}`);
    const said = (await tab.locator(".conclusion").allTextContents()).join(" ");
    expect(!said.includes("did not join"), `${name}: said once`);
    const seen = await look(tab, rank);
    expect(
        seen.rank > 0,
        `${name}: the row of rank ${rank} is in sight, at ${Math.round(seen.rank)} of ${seen.height}`,
    );
    expect(
        seen.above === 0 || seen.above === rank,
        `${name}: it is where ranks are sought: below ${seen.above} others`,
    );
    const mark = onRow(seen).find(({ text }) => says!.test(text));
    expect(mark !== undefined && mark.x >= seen.names, `${name}: its row says: ${mark?.text}`);
    expect(seen.words.filter(({ text }) => says!.test(text)).length === 1, `${name}: no other row says so`);
    const waiting = seen.words.filter(({ text }) => text === `AllReduce: waits for rank ${rank}`);
    expect(waiting.length >= 3, `${name}: ${waiting.length} others in sight say that they wait for it`);
    const { t1 } = await viewOf(tab);
    const { span, paleness } = await tab.evaluate(pendingPixels, rank);
    expect(t1 >= span, `${name}: the end of the run is in sight`);
    expect(
        paleness.length >= 3 && paleness.every((p) => p === "wait"),
        `${name}: drawn as waiting: ${paleness.slice(0, 4)}`,
    );
    // A click on the rank goes to its row, from wherever one is.
    await tab.evaluate(() => (window.ringscope!.session.scroll.value = 1e9));
    await settle(tab);
    await tab.click(".verdict .who button");
    const there = await comes(tab, async () => (await look(tab, rank)).rank > 0);
    expect(there, `${name}: a click on the rank shows its row`);
}

/** Of rows of other ranks in sight: what the pixels near the end are, by lightness: "wait", "full" or "nothing". */
function pendingPixels(rank: number): { span: number; paleness: string[] } {
    const { session, timeline } = window.ringscope!;
    const { geometry } = timeline!;
    const { span, groups, strings } = session.trace.bundle;
    const canvas = document.querySelector<HTMLCanvasElement>("canvas.lower")!;
    const context = canvas.getContext("2d")!;
    const from = session.trace.bundle.meta.marks![0]!.from_ns;
    const paleness: string[] = [];
    geometry.eachRow((row) => {
        const label = strings.get(groups.label[row.group]!);
        if (geometry.rowY(row) + row.height > geometry.height) return;
        if (groups.level[row.group] !== 2 || label.startsWith(`rank ${rank} `) || label === `rank ${rank}`) return;
        const x = geometry.x(from + (span - from) * 0.6);
        const y = geometry.rowY(row) + row.height - 5;
        const [r, , b] = context.getImageData(Math.round(x), Math.round(y), 1, 1).data;
        // AllReduce is a strong blue: half of it is left where it waits.
        paleness.push(b! - r! < 20 ? "nothing" : r! < 60 ? "full" : "wait");
    });
    return { span, paleness };
}

/** To the whole run and back, by button and by key. */
async function ways(tab: Page, { name }: Case): Promise<void> {
    const opened = await viewOf(tab);
    if ((await tab.locator(".of-run button").count()) === 0) return note(`${name}: it opens on all there is`);
    await tab.click(".of-run button");
    const whole = await viewOf(tab);
    const [from, to] = await tab.evaluate(() => window.ringscope!.session.trace.bundle.meta.focus_ns!);
    expect(whole.t0 <= from && whole.t1 >= to, `${name}: a button shows the whole run`);
    await tab.keyboard.press("t");
    const again = await viewOf(tab);
    expect(Math.abs(again.t0 - opened.t0) < 1 && Math.abs(again.t1 - opened.t1) < 1, `${name}: a key goes back`);
}

/** An address with a window decides; and one with an order of the rows. */
async function anAddress({ browser, page }: { browser: Context["browser"]; page: string }): Promise<void> {
    const tab = await open(browser, `${page}#t=50000000:60000000&sort=waited`, SIZE);
    await settle(tab);
    const { t0, t1 } = await viewOf(tab);
    expect(Math.round(t0) === 5e7 && Math.round(t1) === 6e7, "demo: the window of an address is shown");
    const seen = await look(tab, 5);
    expect(seen.above === 7, `demo: sorted by waiting, rank 5 is last: below ${seen.above} others`);
    await close(tab, "demo, with an address");
    note("an address with a window and an order");
}
