// Menu, marks, finding rows, measuring, the strip of the whole run, hidden rows, kinds of rows.

import type { Browser, Page } from "playwright-core";
import { open } from "../dev/chromium";
import { NAMES_WIDTH } from "../src/timeline/geometry";
import { close, comes, expect, settle, text, viewOf, type Context } from "./check";

export async function use({ browser, page }: Context): Promise<void> {
    const tab = await open(browser, page);
    await settle(tab);
    const rows = () => tab.evaluate(() => window.ringscope!.session.layout.value.rows.length);
    const box = (await tab.locator("canvas.upper").boundingBox())!;
    const all = await rows();

    // The second row is a rank: its name has a menu.
    await tab.mouse.click(box.x + 60, box.y + 60, { button: "right" });
    expect(
        await comes(tab, async () => (await tab.locator("[role=menuitem]").count()) > 3),
        "a right click has a menu",
    );
    await tab.keyboard.press("Escape");
    expect(await comes(tab, async () => (await tab.locator(".menu").count()) === 0), "Escape closes it");
    await tab.mouse.click(box.x + 60, box.y + 60, { button: "right" });
    await tab.locator("[role=menuitem]", { hasText: "hide this row" }).click();
    expect(await comes(tab, async () => (await rows()) === all - 1), "which hides the row");
    await tab.mouse.move(box.x + 500, box.y + 300);
    await tab.keyboard.press("u");
    expect(await comes(tab, async () => (await rows()) === all), "U shows it again");

    await tab.keyboard.press("Control+p");
    await tab.waitForSelector(".finder input:focus");
    await tab.keyboard.type("rank 3 channels");
    await tab.keyboard.press("Enter");
    expect(await comes(tab, async () => (await rows()) > all), "Ctrl+P opens the row that is wanted");
    expect((await tab.locator(".finder").count()) === 0, "and closes");

    await tab.mouse.move(box.x + 400, box.y + 10);
    await tab.mouse.down();
    await tab.mouse.move(box.x + 500, box.y + 12, { steps: 4 });
    await tab.mouse.up();
    const span = await tab.evaluate(() => window.ringscope!.session.span.value);
    const view = await viewOf(tab);
    const wanted = (100 / (box.width - NAMES_WIDTH)) * (view.t1 - view.t0);
    expect(span?.ruler === true && Math.abs(span.t1 - span.t0 - wanted) < wanted / 50, "a drag on the ruler measures");
    await tab.keyboard.press("Shift+M");
    expect(await comes(tab, () => tab.evaluate(() => location.hash.includes("marks="))), "a mark is in the address");
    await tab.keyboard.press("Delete");
    expect(await comes(tab, () => tab.evaluate(() => !location.hash.includes("marks="))), "Delete takes it away");
    await tab.keyboard.press("Escape");

    const strip = (await tab.locator(".strip").boundingBox())!;
    await tab.evaluate(() => {
        const { session } = window.ringscope!;
        session.look({ t0: session.trace.bundle.span * 0.4, t1: session.trace.bundle.span * 0.5 });
    });
    const before = await viewOf(tab);
    await tab.waitForTimeout(700); // steps that follow quickly are one for Backspace
    await tab.mouse.move(strip.x + strip.width * 0.45, strip.y + 10);
    await tab.mouse.down();
    await tab.mouse.move(strip.x + strip.width * 0.55, strip.y + 10, { steps: 2 });
    await tab.waitForTimeout(700); // a drag is one step, even for those who rest in it
    await tab.mouse.move(strip.x + strip.width * 0.65, strip.y + 10, { steps: 2 });
    await tab.mouse.up();
    const after = await viewOf(tab);
    const moved = (after.t0 - before.t0) / (before.t1 - before.t0);
    expect(Math.abs(moved - 2) < 0.1, "a drag on the strip moves the window");
    await tab.keyboard.press("Backspace");
    expect(Math.abs((await viewOf(tab)).t0 - before.t0) < 1, "Backspace goes back");

    const on = () => tab.evaluate(() => window.ringscope!.session.rowsOn.value.filter(Boolean).length);
    const kinds = await on();
    await tab.locator(".kinds button").first().click();
    expect((await on()) === kinds - 1, "a kind of rows is switched off");
    await tab.mouse.move(box.x + 500, box.y + 300);
    await tab.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await tab.keyboard.press("1");
    expect((await on()) === kinds, "and on by its number");
    await nothing(tab);
    await close(tab, "use");
    await narrow(browser, page);
}

/** The tooltip of a flag; and a page without any row. */
async function nothing(tab: Page): Promise<void> {
    await tab.evaluate(() => {
        const { session } = window.ringscope!;
        session.scroll.value = 0;
        session.look({ t0: 0, t1: 2e6 });
    });
    await settle(tab);
    const spot = await tab.evaluate(() => {
        const { session, timeline } = window.ringscope!;
        const { flags } = session.trace.bundle;
        const { geometry } = timeline!;
        const row = geometry.layout.rows[geometry.layout.rowOfGroup[flags.group[0]!]!]!;
        const box = document.querySelector("canvas.upper")!.getBoundingClientRect();
        return { x: box.x + geometry.x(flags.time[0]!) + 3, y: box.y + geometry.rowY(row) + 4 };
    });
    await tab.mouse.move(spot.x, spot.y);
    const shown = () => text(tab, ".tooltip");
    expect(await comes(tab, async () => /created.*clock error/.test(await shown())), "a flag says what it is");
    await tab.evaluate(() => {
        const { session } = window.ringscope!;
        const { groups } = session.trace.bundle;
        session.hiddenGroups.value = new Set(Array.from({ length: groups.count }, (_, g) => g));
    });
    await settle(tab);
    expect(
        (await tab.evaluate(() => window.ringscope!.session.layout.value.rows.length)) === 0,
        "all rows can be hidden",
    );
}

/** 1440 x 900 at a zoom of 200 %: the panel goes below, and neither covers the other. */
async function narrow(browser: Browser, page: string): Promise<void> {
    const tab = await open(browser, page, { width: 720, height: 450 });
    await settle(tab);
    const [rows, panel] = [await tab.locator(".timeline").boundingBox(), await tab.locator("aside").boundingBox()];
    const apart = rows!.y + rows!.height <= panel!.y + 1 || rows!.x + rows!.width <= panel!.x + 1;
    expect(apart && rows!.height > 120 && panel!.height > 80, "at 200 % timeline and panel have room");
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wide <= 0, "and nothing is beyond the edge");
    await close(tab, "narrow");
}
