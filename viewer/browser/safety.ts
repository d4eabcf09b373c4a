// Names of a trace are text, whatever they contain; and the page asks nobody for anything.

import { join } from "node:path";
import { open } from "../dev/chromium";
import { writePage } from "../dev/page";
import { HOSTILE, L } from "../dev/shape";
import { close, comes, expect, settle, spotOf, text, type Context } from "./check";

export async function safety({ browser, folder }: Context): Promise<void> {
    const page = join(folder, "hostile.html");
    await writePage(page, { events: 6000, ranks: 4, hosts: 2, hostile: true });
    const tab = await open(browser, page);
    await settle(tab);
    expect((await tab.title()).startsWith(HOSTILE[1]), "a title that ends a script is a title");
    for (const id of await tab.locator("[role=tab]").evaluateAll((list) => list.map((tab) => tab.id))) {
        await tab.click(`#${id}`);
        await tab.waitForTimeout(120);
    }
    for (const name of [HOSTILE[0], HOSTILE[1]]) {
        const index = await tab.evaluate(async (name) => {
            const { trace } = window.ringscope!.session;
            for (let i = 0; i < 20; i++) if (trace.nameOf((await trace.bar(i))!) === name) return i;
            return -1;
        }, name);
        await tab.evaluate((bar) => window.ringscope!.session.jump(bar), index);
        expect(
            await comes(tab, async () => (await text(tab, ".details h2")).includes(name)),
            `${name} is text in details`,
        );
        await tab.keyboard.press("Escape"); // what the panel shows is not repeated at the mouse
        const spot = await spotOf(tab, L.Compute, index);
        await tab.mouse.move(spot.x, spot.y);
        expect(await comes(tab, async () => (await text(tab, ".tooltip")).includes(name)), "and under the mouse");
    }
    await tab.keyboard.press("/");
    await tab.waitForSelector("#search-input:focus");
    await tab.keyboard.type("<img src=x onerror");
    expect(
        await comes(tab, async () => /[1-9][\d,]* bars/.test(await text(tab, ".search"))),
        "markup can be searched for",
    );
    const made = await tab.evaluate(
        () => document.querySelectorAll("img, svg[onload], [onerror], [onmouseover], iframe, object").length,
    );
    expect(made === 0, "no name made an element");
    expect(!(await tab.title()).startsWith("broken"), "no name ran");
    // The second wall: the policy of the page.
    const sent = await tab.evaluate(async () => {
        const tries = [
            fetch("https://example.org/").then(
                () => "fetch",
                () => "",
            ),
            new Promise<string>((resolve) => {
                const image = new Image();
                image.onload = () => resolve("image");
                image.onerror = () => resolve("");
                image.src = "https://example.org/x.png";
            }),
        ];
        const late = new Promise<string[]>((resolve) => setTimeout(() => resolve(["no answer"]), 60_000));
        return (await Promise.race([Promise.all(tries), late])).join("");
    });
    expect(sent === "", "the page's policy lets nothing out");
    // What the test itself tried is refused with a line on the console: it is not looked at again.
    await tab.context().close();

    const bare = await open(browser, page);
    await settle(bare);
    await close(bare, "hostile names");
}
