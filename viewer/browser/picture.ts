// A picture of a small run, compared with the stored one. Letters differ a little from machine to machine; a row that
// is missing, or a colour that is another, does not pass. `npm run browser -- picture --update` stores it anew.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { open } from "../dev/chromium";
import { writePage } from "../dev/page";
import { close, comes, expect, note, settle, type Context } from "./check";

const STORED = fileURLToPath(new URL("timeline.png", import.meta.url));
const SIZE = { width: 900, height: 420 };
/** Share of tiles that may differ. Bars of one row are more than twice that. */
const TOLERANCE = 0.008;

export async function picture({ browser, folder, update }: Context): Promise<void> {
    const page = join(folder, "picture.html");
    await writePage(page, { events: 2400, ranks: 4, hosts: 2 });
    const tab = await open(browser, `${page}#t=16500000:19100000`, SIZE);
    await tab.evaluate(() => {
        const { session } = window.ringscope!;
        session.panel.value = null;
        // The first rank with all its rows, the others as the page opens.
        session.toggleGroup(2);
        session.themeChoice.value = "light";
    });
    let now = await still(tab);
    if (update) {
        writeFileSync(STORED, now);
        note(`${STORED} is stored anew`);
    }
    if (!existsSync(STORED)) return expect(false, `there is no ${STORED}: npm run browser -- picture --update`);
    const stored = readFileSync(STORED);
    let same = 1;
    await comes(tab, async () => {
        now = await still(tab);
        same = await difference(browser, stored, now);
        return same <= TOLERANCE;
    });
    if (same > TOLERANCE) writeFileSync(join(process.cwd(), "timeline.seen.png"), now);
    expect(same <= TOLERANCE, `the picture is the stored one but for ${(same * 100).toFixed(2)} %`);
    await without(tab);
    const other = await difference(browser, stored, await still(tab));
    expect(other > TOLERANCE, `and without one row it is not: ${(other * 100).toFixed(2)} %`);
    await close(tab, "picture");
}

/** A picture of which a second one, a moment later, is the same to the last bit: the strip above is drawn later. */
async function still(tab: Page): Promise<Buffer> {
    await settle(tab);
    await tab.evaluate(() => document.fonts.ready.then(() => undefined));
    let last = await tab.screenshot({ animations: "disabled", caret: "hide" });
    for (let i = 0; i < 100; i++) {
        await tab.waitForTimeout(250);
        const next = await tab.screenshot({ animations: "disabled", caret: "hide" });
        if (next.equals(last)) return next;
        last = next;
    }
    expect(false, "the picture comes to rest");
    return last;
}

/** What is on the row of rank 1 is gone; nothing else moves. */
async function without(tab: Page): Promise<void> {
    await tab.evaluate(() => {
        const { session, timeline } = window.ringscope!;
        session.layout.value.rows.find((row) => row.label.startsWith("rank 1"))!.lanes = [];
        timeline!.invalidate();
    });
    await settle(tab);
}

/** Share of tiles of 8 x 8 pixels whose mean colours differ, by the browser's own decoder. */
async function difference(browser: Browser, a: Buffer, b: Buffer): Promise<number> {
    const tab = await browser.newPage();
    try {
        return await tab.evaluate(
            async ([a, b]) => {
                const pixels = async (base64: string): Promise<ImageData> => {
                    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
                    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
                    const canvas = new OffscreenCanvas(image.width, image.height);
                    const context = canvas.getContext("2d")!;
                    context.drawImage(image, 0, 0);
                    return context.getImageData(0, 0, image.width, image.height);
                };
                const [one, two] = [await pixels(a!), await pixels(b!)];
                if (one.width !== two.width || one.height !== two.height) return 1;
                const [across, down] = [Math.floor(one.width / 8), Math.floor(one.height / 8)];
                const mean = (image: ImageData, tx: number, ty: number, channel: number): number => {
                    let sum = 0;
                    for (let y = 0; y < 8; y++)
                        for (let x = 0; x < 8; x++)
                            sum += image.data[((ty * 8 + y) * image.width + tx * 8 + x) * 4 + channel]!;
                    return sum / 64;
                };
                let differ = 0;
                for (let ty = 0; ty < down; ty++)
                    for (let tx = 0; tx < across; tx++)
                        if ([0, 1, 2].some((c) => Math.abs(mean(one, tx, ty, c) - mean(two, tx, ty, c)) > 16)) differ++;
                return differ / (across * down);
            },
            [a.toString("base64"), b.toString("base64")],
        );
    } finally {
        await tab.close();
    }
}
