// The page from a server that answers ranges, as `ringscope serve` does.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { open, watchedOf } from "../dev/chromium";
import { writePage } from "../dev/page";
import { serveBundle } from "../dev/server";
import { close, comes, expect, selectedOf, settle, text, type Context } from "./check";
import { DATA, PROGRAM, programIsThere } from "./program";

export async function served({ browser, folder }: Context): Promise<void> {
    const file = join(folder, "bundle.rsv");
    await writePage(file, { events: 60_000, ranks: 8 });
    const server = await serveBundle(file);
    const tab = await open(browser, `${server.address}#t=20000000:24000000`);
    await settle(tab);
    expect((await tab.evaluate(() => window.ringscope!.session.trace.blocks.used)) > 0, "bars come from a server");
    await tab.keyboard.press(".");
    expect(await comes(tab, async () => (await selectedOf(tab)) >= 0), "and can be selected");
    const all = await tab.evaluate(() => window.ringscope!.session.trace.bundle.blocks.count);
    const read = await tab.evaluate(() => {
        const { trace } = window.ringscope!.session;
        let n = 0;
        for (let id = 0; id < trace.bundle.blocks.count; id++) if (trace.blocks.peek(id)) n++;
        return n;
    });
    expect((await tab.locator("#tab-sql").count()) === 0, "no SQL where the server has none");
    expect(read < all, `what is not seen is not read: ${read} of ${all} blocks, in ${server.ranges()} ranges`);
    await close(tab, "served");
    server.close();
    if (await programIsThere()) await queries(browser);
}

/** Queries in SQL, answered by the program itself. */
async function queries(browser: Context["browser"]): Promise<void> {
    const server = spawn(PROGRAM, ["serve", join(DATA, "h200-mix")], { stdio: ["ignore", "pipe", "ignore"] });
    try {
        const address = await new Promise<string>((resolve, reject) => {
            createInterface(server.stdout).once("line", resolve);
            server.once("exit", () => reject(new Error("`ringscope serve` has ended")));
        });
        const tab = await open(browser, address);
        await settle(tab);
        await tab.locator("#tab-sql").click();
        const query = tab.locator(".sql textarea");
        await query.fill(
            "SELECT '<b>bold</b>' AS name, count(*) AS n, 9007199254740993 AS large, NULL AS none FROM ranks",
        );
        await query.press("Control+Enter");
        expect(
            await comes(tab, async () => (await text(tab, ".sql tbody tr")) === "<b>bold</b>49007199254740993null"),
            `rows of a query: ${await text(tab, ".sql .result")}`,
        );
        await query.fill("DROP TABLE ranks");
        await tab.locator(".sql .run").click();
        expect(await comes(tab, async () => (await text(tab, ".sql .mistake")).includes("only read")), "only reading");
        // The browser logs the refusal as an error of the page: it is none.
        const { problems } = watchedOf(tab);
        problems.splice(0, problems.length, ...problems.filter((problem) => !problem.includes("400")));
        await tab.locator("#tab-details").click();
        await tab.locator("#tab-sql").click();
        expect((await query.inputValue()) === "DROP TABLE ranks", "the query is kept while other panels are open");
        await close(tab, "SQL");
    } finally {
        server.kill();
    }
}
