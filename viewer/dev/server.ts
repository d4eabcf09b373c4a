// A server of one bundle in ranges, as `ringscope serve` is one: the page with a token in its address, the bundle
// beside it. vite-node dev/server.ts BUNDLE.rsv serves until it is ended.

import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PAGE } from "./page";

export interface Served {
    address: string;
    ranges: () => number; // answered so far
    close: () => void;
}

export async function serveBundle(path: string, token = "abc"): Promise<Served> {
    const file = openSync(path, "r");
    const { size } = fstatSync(file);
    const page = readFileSync(PAGE);
    let ranges = 0;
    const server = createServer((request, response) => {
        const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
        const url = new URL(request.url ?? "/", "http://x");
        if (request.method !== "GET" || url.searchParams.get("t") !== token) return void response.writeHead(403).end();
        if (url.pathname === "/") return void response.writeHead(200, { "Content-Type": "text/html" }).end(page);
        if (url.pathname === "/sql") return void response.writeHead(204).end(); // no SQL here
        const [from, to] = [Number(range?.[1]), Number(range?.[2]) + 1];
        if (url.pathname !== "/bundle" || !(from < to && to <= size)) return void response.writeHead(404).end();
        ranges++;
        const bytes = Buffer.alloc(to - from);
        readSync(file, bytes, 0, bytes.length, from);
        response.writeHead(206, {
            "Content-Type": "application/octet-stream",
            "Content-Range": `bytes ${from}-${to - 1}/${size}`,
        });
        response.end(bytes);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return {
        address: `http://127.0.0.1:${port}/?t=${token}`,
        ranges: () => ranges,
        close: () => {
            server.closeAllConnections();
            server.close();
            closeSync(file);
        },
    };
}
