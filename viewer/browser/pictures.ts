// vite-node browser/pictures.ts [FOLDER]: the pictures of the page in the documents, from the recordings of the tests.
// RINGSCOPE is the built program (../build/ringscope).

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { launch, open } from "../dev/chromium";
import { comes, settle } from "./check";

const PROGRAM = process.env.RINGSCOPE ?? "../build/ringscope";
const DATA = "../tests/data";
const WIDTH = 1440;

const PICTURES: { name: string; inputs: string[]; height: number; show: (tab: Page) => Promise<void> }[] = [
    { name: "page", inputs: [`${DATA}/h200-mix`], height: 810, show: anOperation },
    {
        name: "late",
        inputs: [0, 1, 2, 3].map((rank) => `${DATA}/kineto/kineto_rank${rank}.json.gz`),
        height: 600,
        show: async () => {}, // it opens with the conclusion, and the waits are to be seen
    },
];

/** An all-reduce of all ranks with some of its wait, first rank open, half of the window wide. */
async function anOperation(tab: Page): Promise<void> {
    const bar = await tab.evaluate(async () => {
        const { session } = window.ringscope!;
        const { trace } = session;
        const { ops, strings } = trace.bundle;
        const most = Math.max(...ops.ranks);
        let best = -1;
        for (let op = 0; op < ops.count; op++) {
            const share = ops.wait[op]! / ops.transfer[op]!;
            if (strings.get(ops.func[op]!) !== "AllReduce" || ops.ranks[op] !== most || !(share > 0.2)) continue;
            const [first] = await trace.partsOf(op);
            const bar = first && (await trace.bar(first.bar));
            // On a row by itself: nothing else goes on at the same time.
            if (!bar || trace.bundle.lanes.sub[bar.lane]! > 0) continue;
            if (best < 0 || ops.bytes[op]! > ops.bytes[best]!) best = op;
        }
        const part = (await trace.partsOf(best))[0]!;
        await session.jump(part.bar);
        // The rank with the one communicator: the others have nothing there.
        const comm = trace.bundle.lanes.group[session.selected.value!.lane]!;
        session.open.value = new Set([...session.open.value, session.rankOf(part.bar), comm]);
        const { start, end } = session.selected.value!;
        session.look({ t0: start - 1.2 * (end - start), t1: end + 2 * (end - start) });
        session.onReveal(session.selected.value!.lane, 0xffffffff);
        return part.bar;
    });
    await comes(tab, () => tab.evaluate((b) => window.ringscope!.session.related.value?.bar.bar === b, bar));
}

const out = process.argv[2] ?? "../docs/pictures";
const folder = mkdtempSync(join(tmpdir(), "ringscope-pictures-"));
const browser = await launch();
try {
    mkdirSync(out, { recursive: true });
    for (const { name, inputs, height, show } of PICTURES) {
        const page = join(folder, `${name}.html`);
        execFileSync(PROGRAM, ["view", ...inputs, "-o", page], { stdio: "inherit" });
        const tab = await open(browser, page, { width: WIDTH, height });
        await settle(tab);
        await show(tab);
        await settle(tab);
        await tab.waitForTimeout(500); // the strip above, and words that go by themselves
        const path = join(out, `${name}.png`);
        await tab.screenshot({ path, animations: "disabled", caret: "hide" });
        console.log(`${path}: ${statSync(path).size} bytes`);
    }
} finally {
    await browser.close();
    rmSync(folder, { recursive: true });
}
