// The page from a server that answers ranges, as `ringscope serve` does.

import { join } from "node:path";
import { open } from "../dev/chromium";
import { writePage } from "../dev/page";
import { serveBundle } from "../dev/server";
import { close, comes, expect, selectedOf, settle, type Context } from "./check";

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
    expect(read < all, `what is not seen is not read: ${read} of ${all} blocks, in ${server.ranges()} ranges`);
    await close(tab, "served");
    server.close();
}
