// What hurt those who tried the page first, as far as only a browser shows it.

import { open } from "../dev/chromium";
import { close, comes, expect, settle, type Context } from "./check";

export async function tried({ browser, page }: Context): Promise<void> {
    const tab = await open(browser, page, { width: 1280, height: 800 });
    await settle(tab);

    const tabs = await tab
        .locator("nav [role=tab]")
        .evaluateAll((list) => list.map((one) => (one as HTMLElement).offsetTop));
    expect(tabs.length >= 9 && new Set(tabs).size === 1, "at 1280 pixels all tabs are in one line");
    const cut = await tab.locator("nav").evaluate((nav) => nav.scrollWidth > nav.clientWidth);
    expect(!cut, "and none of them is cut off");

    await tab.locator("#tab-matrix").click();
    expect(
        await comes(tab, () => tab.evaluate(() => location.hash.includes("panel=matrix"))),
        "a tab is in the address",
    );
    await tab.locator("#tab-operations").click();
    expect(
        await comes(tab, () => tab.evaluate(() => location.hash.includes("panel=operations"))),
        "as soon as it is chosen",
    );

    // The mouse rests on a bar; F moves the window away from under it.
    const box = (await tab.locator("canvas.upper").boundingBox())!;
    await tab.evaluate(async () => {
        const { session } = window.ringscope!;
        const { lanes } = session.trace.bundle;
        await session.jump(lanes.first[0]! + Math.floor(lanes.bars[0]! / 2));
        session.panel.value = "legend";
    });
    await settle(tab);
    await tab.keyboard.press("w");
    await tab.keyboard.press("a");
    await settle(tab);
    const rows = await tab.evaluate(() =>
        window.ringscope!.session.layout.value.rows.map((row) => [row.y, row.height, row.lanes.length]),
    );
    const first = rows.find(([, , lanes]) => lanes! > 0)!;
    let shown = false;
    for (let x = 260; x < box.width - 20 && !shown; x += 7) {
        await tab.mouse.move(box.x + x, box.y + 32 + first[0]! + first[1]! / 2);
        shown = await tab.evaluate(() => window.ringscope!.session.hover.value !== null);
    }
    expect(
        shown && (await comes(tab, async () => (await tab.locator(".tooltip").count()) === 1)),
        "a bar has a tooltip",
    );
    await tab.keyboard.press("f");
    expect(await comes(tab, async () => (await tab.locator(".tooltip").count()) === 0), "which goes away with F");
    await close(tab, "tried");
}
