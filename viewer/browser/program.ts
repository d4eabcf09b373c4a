// The built program: RINGSCOPE names it (../build/ringscope). Without it, topics that need it are passed over.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { note } from "./check";

export const PROGRAM = process.env.RINGSCOPE ?? "../build/ringscope";
export const DATA = "../tests/data";

export function run(args: string[]): Promise<{ ok: boolean; said: string }> {
    return new Promise((resolve) =>
        execFile(PROGRAM, args, { timeout: 120_000 }, (error, _, stderr) =>
            resolve({ ok: !error, said: stderr.trim().split("\n").pop() ?? "" }),
        ),
    );
}

export async function programIsThere(): Promise<boolean> {
    const there = existsSync(PROGRAM) && (await run(["view", "--help"])).ok;
    if (!there) note(`passed over: no ${PROGRAM} that has the command view`);
    return there;
}
