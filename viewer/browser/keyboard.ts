// All without a mouse.

import { open } from "../dev/chromium";
import { close, comes, expect, selectedOf, settle, viewOf, widthOf, type Context } from "./check";

export async function keyboard({ browser, page }: Context): Promise<void> {
    const tab = await open(browser, page);
    await settle(tab);
    const all = await widthOf(tab);
    await tab.keyboard.press("Equal");
    expect((await widthOf(tab)) < all, "+ zooms in without a mouse");
    await tab.keyboard.press("Minus");
    const { t0 } = await viewOf(tab);
    await tab.keyboard.press("Equal");
    await tab.keyboard.press("ArrowRight");
    expect((await viewOf(tab)).t0 > t0, "→ goes later");
    await tab.keyboard.press(".");
    expect(await comes(tab, async () => (await selectedOf(tab)) >= 0), ". selects the first operation seen");
    const first = await selectedOf(tab);
    await tab.keyboard.press(".");
    expect(await comes(tab, async () => (await selectedOf(tab)) === first + 1), ". again: the next of the row");
    await tab.keyboard.press(",");
    expect(await comes(tab, async () => (await selectedOf(tab)) === first), ", goes back");
    await tab.keyboard.press("f");
    await tab.keyboard.press("f");
    const bar = await tab.evaluate(() => {
        const { start, end } = window.ringscope!.session.selected.value!;
        return end - start;
    });
    expect(await comes(tab, async () => (await widthOf(tab)) < bar * 4), "F twice shows it in full width");
    const rows = () => tab.evaluate(() => window.ringscope!.session.layout.value.rows.length);
    const folded = await rows();
    await tab.keyboard.press("Space");
    expect(await comes(tab, async () => (await rows()) > folded), "Space opens its rank");
    // Tab reaches everything that can be pressed, and Enter presses it.
    const seen = new Set<string>();
    for (let i = 0; i < 60; i++) {
        await tab.keyboard.press("Tab");
        seen.add(
            await tab.evaluate(() => {
                const at = document.activeElement;
                return at?.id || at?.getAttribute("aria-label") || at?.textContent?.trim() || "";
            }),
        );
    }
    expect(
        [...seen].some((id) => id.startsWith("tab-")),
        "Tab reaches the panels",
    );
    expect(
        [...seen].some((label) => label.startsWith("timeline")),
        "and the timeline",
    );
    expect(seen.has("help"), "and the help");
    await close(tab, "keyboard");
}
