// The address: it brings the view and the selection back, in a tab that knows nothing of the first one.

import { open } from "../dev/chromium";
import { L } from "../dev/shape";
import { close, comes, expect, selectedOf, settle, spotOf, viewOf, type Context } from "./check";

export async function address({ browser, page }: Context): Promise<void> {
    const tab = await open(browser, page);
    await settle(tab);
    const spot = await spotOf(tab, L.Ops, 11);
    await tab.mouse.click(spot.x, spot.y);
    await comes(tab, async () => (await selectedOf(tab)) === spot.bar);
    await tab.keyboard.press("w");
    await tab.click("#tab-heat");
    // The panel was changed last: an address that has it has all.
    await comes(tab, () => tab.evaluate(() => location.hash.includes("panel=heat")));
    const [place, view] = [await tab.evaluate(() => location.hash), await viewOf(tab)];
    expect(place.includes(`sel=${spot.bar}`), `the address has the selection (${place.slice(0, 80)})`);
    const again = await open(browser, page + place);
    expect(await comes(again, async () => (await selectedOf(again)) === spot.bar), "a fresh tab selects the same");
    const restored = await viewOf(again);
    expect(Math.abs(restored.t0 - view.t0) < 1 && Math.abs(restored.t1 - view.t1) < 1, "and shows the same window");
    const chosen = async () => (await again.getAttribute("#tab-heat", "aria-selected")) === "true";
    expect(await comes(again, chosen), "and the same panel");
    await close(again, "a fresh tab");
    // In the same tab: an address that is typed in or gone back to.
    await tab.evaluate(() => (location.hash = "#t=4000000:9000000"));
    expect(await comes(tab, async () => Math.abs((await viewOf(tab)).t0 - 4e6) < 1), "a changed address is followed");
    await tab.evaluate(() => (location.hash = "#t=x&sel=99999999999&panel=<b>&rows=&open=%ff"));
    await settle(tab);
    expect((await tab.locator("canvas.lower").count()) === 1, "an address full of nonsense does no harm");
    await close(tab, "address");
}
