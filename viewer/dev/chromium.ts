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
        args: [
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--enable-precise-memory-info",
            "--font-render-hinting=none",
            // No name is looked up: a test of what a page may ask for must not wait for a network.
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
            "--disable-background-networking",
            "--disable-component-update",
        ],
    });
}

/** What takes longer does not come. */
const MOST_MS = 60_000;

/** What a tab did that it should not. */
export interface Watched {
    problems: string[]; // errors, also those on the console
    requests: string[]; // addresses, all that it asked for
}

const watched = new WeakMap<Page, Watched>();

export const watchedOf = (tab: Page): Watched => watched.get(tab)!;

export interface Size {
    width: number;
    height: number;
}

/** Opens a page from disk or from a server (with its #place) and waits for its first picture. */
export async function open(
    browser: Browser,
    page: string,
    viewport: Size = { width: 1500, height: 850 },
): Promise<Page> {
    const tab = await browser.newPage({ viewport, reducedMotion: "reduce", colorScheme: "light" });
    tab.setDefaultTimeout(MOST_MS);
    const seen: Watched = { problems: [], requests: [] };
    watched.set(tab, seen);
    let broken: (error: Error) => void = () => {};
    const breaks = new Promise<never>((_, reject) => (broken = reject));
    breaks.catch(() => {});
    tab.on("pageerror", (error) => (seen.problems.push(error.message), broken(error)));
    tab.on("console", (message) => message.type() === "error" && seen.problems.push(message.text()));
    tab.on("request", (request) => seen.requests.push(request.url()));
    try {
        await tab.goto(addressOf(page));
        const painted = () => (window.ringscope?.timeline?.times.firstPaint ?? NaN) > 0;
        await Promise.race([tab.waitForFunction(painted, undefined, { timeout: MOST_MS }), breaks]);
    } catch (error) {
        const text = await tab.textContent("body").catch(() => "");
        throw new Error(`${page} did not draw: ${seen.problems.join("; ")} ${String(error)} ${text?.slice(0, 300)}`);
    }
    return tab;
}

/** A path as the address of a file; an address as it is. */
export function addressOf(page: string): string {
    if (/^https?:/.test(page)) return page;
    const cut = page.indexOf("#");
    const file = cut < 0 ? page : page.slice(0, cut);
    return pathToFileURL(resolve(file)).href + (cut < 0 ? "" : page.slice(cut));
}
