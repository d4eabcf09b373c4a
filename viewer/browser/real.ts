// Pages and servers of the built program (program.ts).

import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { open } from "../dev/chromium";
import { isBrightest, close, comes, expect, selectedOf, settle, text, type Context, type Topic } from "./check";
import { DATA, PROGRAM, programIsThere, run } from "./program";

/** What is to be seen of each: kinds of rows, and words in the panels. */
const RUNS: { name: string; inputs: string[]; ranks: number; rows: RegExp; relations: boolean }[] = [
    { name: "h200-mix", inputs: [`${DATA}/h200-mix`], ranks: 4, rows: /operations/, relations: true },
    {
        name: "kineto",
        inputs: [0, 1, 2, 3].map((rank) => `${DATA}/kineto/kineto_rank${rank}.json.gz`),
        ranks: 4,
        rows: /operations/,
        relations: true,
    },
    { name: "ring4", inputs: [`${DATA}/example/ring4`], ranks: 4, rows: /operations/, relations: true },
    { name: "flight", inputs: [`${DATA}/flight/ddp4`], ranks: 4, rows: /./, relations: false },
];

/** A topic for each recording, under its name. */
export const RECORDINGS: Record<string, Topic> = Object.fromEntries(
    RUNS.map((recorded) => [
        recorded.name,
        async ({ browser, folder }) => {
            if (await programIsThere()) await look(browser, folder, recorded);
        },
    ]),
);

/** A run of the program's own, from disk and from its server. */
export async function made({ browser, folder }: Context): Promise<void> {
    if (!(await programIsThere())) return;
    await slowRank(browser, folder);
    await serve(browser, folder);
}

async function look(browser: Browser, folder: string, recorded: (typeof RUNS)[number]): Promise<void> {
    const { name, inputs, ranks, rows } = recorded;
    const page = join(folder, `${name}.html`);
    const { ok, said } = await run(["view", ...inputs, "-o", page]);
    expect(ok, `${name}: a page is made ${ok ? "" : said}`.trim());
    if (!ok) return;
    const tab = await open(browser, page);
    await settle(tab);
    const about = await tab.evaluate(() => {
        const { bundle } = window.ringscope!.session.trace;
        const groups = Array.from({ length: bundle.groups.count }, (_, g) => bundle.groups.level[g]!);
        return {
            bars: bundle.bars,
            ops: bundle.ops.count,
            ranks: groups.filter((level) => level === 2).length,
            rows: bundle.meta.rows.map((row) => row.label).join(" "),
        };
    });
    expect(about.bars > 0 && about.ops > 0, `${name}: ${about.bars} bars, ${about.ops} operations`);
    expect(about.ranks === ranks, `${name}: one row for each of ${about.ranks} ranks`);
    expect(rows.test(about.rows), `${name}: rows of ${about.rows}`);
    await tab.keyboard.press(".");
    const selected = await comes(tab, async () => (await selectedOf(tab)) >= 0);
    expect(selected, `${name}: an operation can be selected`);
    if (!selected) return close(tab, name);
    await tab.waitForFunction(() => window.ringscope!.session.related.value !== null);
    const parts = await tab.evaluate(() => window.ringscope!.session.related.value!.parts.length);
    expect(parts > 1 || !recorded.relations, `${name}: it is joined with ${parts - 1} others`);
    await everyPanel(tab);
    await close(tab, name);
}

async function everyPanel(tab: Page): Promise<void> {
    for (const id of await tab.locator("[role=tab]").evaluateAll((list) => list.map((tab) => tab.id))) {
        if ((await tab.getAttribute(`#${id}`, "aria-selected")) !== "true") await tab.click(`#${id}`);
        await tab.waitForTimeout(150);
    }
}

/** A run whose truth is known: rank 3 computes 2 ms longer in each step. */
async function slowRank(browser: Browser, folder: string): Promise<void> {
    const [recording, page] = [join(folder, "slow"), join(folder, "slow.html")];
    const made = await run(["gen", "--ranks", "8", "--steps", "30", "--slow", "3:2000", "-o", recording]);
    const viewed = await run(["view", recording, "-o", page]);
    expect(made.ok && viewed.ok, `slow: a run is made and viewed ${made.said} ${viewed.said}`.trim());
    if (!viewed.ok) return;
    const tab = await open(browser, page);
    await settle(tab);
    const named = async () => /rank 3\b/i.test(await text(tab, ".panel"));
    expect(await comes(tab, named), "slow: the conclusion names rank 3");
    await tab.click("#tab-heat");
    expect(await isBrightest(tab, 3), "slow: the heat map shows rank 3 as the last");
    await close(tab, "slow");
}

async function serve(browser: Browser, folder: string): Promise<void> {
    const server = spawn(PROGRAM, ["serve", join(folder, "slow")], { stdio: ["ignore", "pipe", "pipe"] });
    try {
        const address = await addressFrom(server);
        expect(address !== undefined, "serve: it says its address");
        if (!address) return;
        const tab = await open(browser, address);
        await settle(tab);
        await tab.keyboard.press(".");
        expect(await comes(tab, async () => (await selectedOf(tab)) >= 0), "serve: a page that can be used");
        await close(tab, "serve");
        const without = await fetch(address.replace(/\?.*/, ""));
        expect(without.status >= 400, `serve: nothing without the token (${without.status})`);
    } finally {
        server.kill("SIGTERM");
    }
}

function addressFrom(server: ChildProcess): Promise<string | undefined> {
    return new Promise((resolve) => {
        let said = "";
        const more = (bytes: Buffer): void => {
            said += bytes.toString("utf8");
            const found = /http:\/\/\S+/.exec(said);
            if (found && said.indexOf("\n", found.index) > 0) resolve(found[0]);
        };
        server.stdout!.on("data", more);
        server.stderr!.on("data", more);
        server.on("exit", () => resolve(undefined));
        setTimeout(() => resolve(undefined), 60_000).unref();
    });
}
