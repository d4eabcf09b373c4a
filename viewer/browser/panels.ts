// Search, table of operations, heat map, matrix, communicators, help, light and dark.

import { open } from "../dev/chromium";
import { DEFAULTS } from "../dev/shape";
import { isBrightest, close, comes, expect, selectedOf, settle, text, type Context } from "./check";

export async function panels({ browser, page }: Context): Promise<void> {
    const tab = await open(browser, page);
    await settle(tab);
    await tab.keyboard.press("/");
    await tab.waitForSelector("#search-input:focus");
    await tab.keyboard.type("layernorm");
    expect(await comes(tab, async () => /[1-9][\d,]* bars/.test(await text(tab, ".search"))), "search finds a name");
    await tab.keyboard.press("Enter");
    expect(await comes(tab, async () => (await selectedOf(tab)) >= 0), "Enter goes to the first place");
    const first = await selectedOf(tab);
    await tab.focus("#search-input");
    await tab.keyboard.press("Enter");
    expect(await comes(tab, async () => (await selectedOf(tab)) > first), "and again to the next");

    await tab.fill("#search-input", "peer 3");
    await comes(tab, async () => /[1-9][\d,]* bars,/.test(await text(tab, ".search")));
    expect(/[1-9][\d,]* bars,/.test(await text(tab, ".search")), "and an argument: what goes to rank 3");

    await tab.click("#tab-operations");
    expect(await comes(tab, async () => (await tab.locator(".virtual .line").count()) > 5), "operations have lines");
    const line = tab.locator(".virtual .line").nth(3);
    const [words, searched] = [await line.innerText(), await selectedOf(tab)];
    await line.click();
    expect(await comes(tab, async () => (await selectedOf(tab)) !== searched), `a line jumps to its operation`);
    const name = await tab.evaluate(() => {
        const { session } = window.ringscope!;
        return session.trace.bundle.strings.get(session.trace.bundle.ops.func[session.selected.value!.op]!);
    });
    expect(words.includes(name), `which is the one of the line (${name})`);

    await tab.click("#tab-heat");
    expect(await isBrightest(tab, DEFAULTS.slowRank), "the heat map of lateness shows the slow rank at a glance");
    await tab.click("#tab-matrix");
    const panel = (...words: string[]) =>
        comes(tab, async () => {
            const shown = await text(tab, ".panel");
            return words.every((word) => shown.includes(word));
        });
    const drawn = async () => (await tab.locator(".panel canvas").count()) === 1;
    expect(await comes(tab, drawn), "the matrix is drawn");
    await tab.click("#tab-comms");
    expect(await panel("default_pg", "host_pg:0"), "communicators are listed");
    await tab.click("#tab-report");
    expect(await panel("Rank 5"), "the conclusion names the rank");
    for (const id of await tab.locator("[role=tab]").evaluateAll((list) => list.map((tab) => tab.id)))
        await tab.click(`#${id}`);

    await tab.keyboard.press("?");
    expect(await comes(tab, async () => (await text(tab, ".help")).includes("zoom")), "? shows the help sheet");
    await tab.keyboard.press("Escape");
    expect(await comes(tab, async () => (await tab.locator(".help").count()) === 0), "Escape closes it");
    const ground = () => tab.evaluate(() => getComputedStyle(document.querySelector(".page")!).backgroundColor);
    const light = await ground();
    await tab.keyboard.press("l");
    expect(await comes(tab, async () => (await ground()) !== light), "L makes it dark");
    await close(tab, "panels");
}
