// Entry point: find the data, open them, show the page. Errors are shown in the page, as text.

import { render } from "preact";
import { App } from "./panels/app";
import { Decoder } from "./data/decoder";
import { HttpSource, pageSource } from "./data/source";
import { fetchTables } from "./data/sql";
import { Trace } from "./data/trace";
import { inWorker, serveJobs, startWorker } from "./data/worker";
import { Queries } from "./state/queries";
import { Session } from "./state/session";
import type { Timeline } from "./timeline/timeline";
import "./style.css";

declare global {
    interface Window {
        /** For tests, `make bench`, and the curious at the console. */
        ringscope?: { session: Session; timeline?: Timeline };
    }
}

/** The script runs before the browser has read the page to its end, so that a large one is drawn at once. */
const loaded = new Promise<void>((resolve) => {
    if (inWorker) return;
    if (document.readyState !== "loading") resolve();
    else document.addEventListener("DOMContentLoaded", () => resolve());
});

/** The place of the page; what stands before it in the document is complete when it is there. */
function rootElement(): Promise<HTMLElement> {
    return new Promise((resolve) => {
        const look = (): boolean => {
            const root = document.getElementById("app");
            if (root) resolve(root);
            return root !== null;
        };
        if (look()) return;
        const observer = new MutationObserver(() => look() && observer.disconnect());
        observer.observe(document.documentElement, { childList: true, subtree: true });
    });
}

/** Not every server answers queries. */
async function askForSql(session: Session): Promise<void> {
    const url = `sql${location.search}`;
    const tables = await fetchTables(url);
    if (tables) session.queries.value = new Queries(tables, url);
}

async function begin(): Promise<void> {
    const root = await rootElement();
    try {
        // Beside a page without data lies its bundle: `ringscope serve`, or any web server.
        const own = await pageSource(document, loaded);
        const source = own ?? new HttpSource(`bundle${location.search}`);
        const session = new Session(await Trace.open(source, new Decoder(startWorker)));
        if (!own) void askForSql(session);
        const dark = matchMedia("(prefers-color-scheme: dark)");
        session.systemDark.value = dark.matches;
        dark.addEventListener("change", () => (session.systemDark.value = dark.matches));
        window.ringscope = { session };
        document.title = `${session.trace.bundle.meta.title} - ringscope`;
        void session.goTo(location.hash);
        window.addEventListener("hashchange", () => void session.goTo(location.hash));
        render(<App session={session} onTimeline={(timeline) => (window.ringscope!.timeline = timeline)} />, root);
    } catch (error) {
        root.textContent = `The timeline cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
    }
}

if (inWorker) serveJobs();
else void begin();
