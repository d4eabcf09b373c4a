// vite-node dev/make.ts EVENTS RANKS OUT.html|OUT.rsv: the built page with synthetic data in it, or the bundle alone.

import { writePage } from "./page";

const [events, ranks, out] = process.argv.slice(2);
if (!out?.match(/\.(html|rsv)$/)) throw new Error("usage: make.ts EVENTS RANKS OUT.html|OUT.rsv");
const size = await writePage(out, { events: Number(events), ranks: Number(ranks) });
console.log(`${out}: ${size} bytes of data, ${(size / Number(events)).toFixed(2)} bytes an event`);
