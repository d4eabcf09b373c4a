// vite-node dev/shot.ts PAGE.html#place OUT.png [WIDTH HEIGHT]: a picture of a page, to look at.

import { launch, open } from "./chromium";

const [page, out, width, height] = process.argv.slice(2);
if (page && out) {
    const browser = await launch();
    const tab = await open(browser, page, { width: Number(width ?? 1500), height: Number(height ?? 850) });
    await tab.waitForTimeout(600);
    await tab.screenshot({ path: out });
    await browser.close();
}
