// Debian's Chromium through playwright-core, without a GPU: what users on a login node have.

import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-headless-shell"];

export function chromiumPath(): string | undefined {
    return PLACES.find((path) => existsSync(path));
}

export function launch(): Promise<Browser> {
    const executablePath = chromiumPath();
    if (!executablePath) throw new Error("no chromium: apt-get install chromium");
    // Its sandbox does not work for root, and containers have a small /dev/shm.
    return chromium.launch({
        executablePath,
        args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-precise-memory-info"],
    });
}

/** Opens a page from disk (with its #place) and waits for its first picture. */
export async function open(browser: Browser, page: string, width = 1500, height = 850): Promise<Page> {
    const tab = await browser.newPage({ viewport: { width, height } });
    const problems: string[] = [];
    tab.on("pageerror", (error) => problems.push(error.message));
    tab.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    const cut = page.indexOf("#");
    const file = cut < 0 ? page : page.slice(0, cut);
    await tab.goto(pathToFileURL(resolve(file)).href + (cut < 0 ? "" : page.slice(cut)));
    try {
        await tab.waitForFunction(() => (window.ringscope?.timeline?.times.firstPaint ?? NaN) > 0, undefined, {
            timeout: 60_000,
        });
    } catch (error) {
        throw new Error(`the page did not draw: ${problems.join("; ")} ${String(error)}`);
    }
    if (problems.length > 0) throw new Error(`the page complained: ${problems.join("; ")}`);
    return tab;
}
