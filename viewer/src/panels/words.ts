// Numbers in words, for all panels. Everything that a panel shows goes through text nodes: a name from a trace is never
// taken for HTML (preact escapes; nothing here may use dangerouslySetInnerHTML, and a test looks for it).

import type { Argument } from "../data/meta";
import type { Strings } from "../data/strings";
import { clockWords, dayOf, duration, moment, wallTime } from "../timeline/ruler";

export { duration, longDuration, moment } from "../timeline/ruler";

const BYTES = ["B", "KiB", "MiB", "GiB", "TiB"];

export function bytes(n: number): string {
    if (!Number.isFinite(n)) return "?";
    let unit = 0;
    while (n >= 1024 && unit < BYTES.length - 1) {
        n /= 1024;
        unit++;
    }
    return `${unit === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${BYTES[unit]}`;
}

/** A wait time; below the clock error, only its bound. */
export const waited = (ns: number, least: number): string => (ns < least ? `<${duration(least)}` : duration(ns));

/** "2026-11-15 01:07:04.120345 UTC"; "" for times of a tool's own zero, which have no date. */
export function utc(ns: string): string {
    const wall = wallTime(ns);
    if (wall === undefined) return "";
    return `${dayOf(wall)} ${clockWords(wall, 0, 1000)} UTC`;
}

const RATES = ["GB/s", "MB/s", "kB/s"];

export function bandwidth(gigabytes: number): string {
    if (!Number.isFinite(gigabytes)) return "?";
    let [rate, unit] = [gigabytes, 0];
    for (; rate > 0 && rate < 0.1 && unit < RATES.length - 1; unit++) rate *= 1000;
    return `${rate >= 100 || (unit > 0 && rate >= 10) ? rate.toFixed(0) : rate.toFixed(1)} ${RATES[unit]}`;
}

export function count(n: number): string {
    return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");
}

export const hex = (id: bigint): string => `0x${id.toString(16)}`;

/** The value of a further column, as its description says. */
export function argument(value: number | bigint, how: Argument | undefined, strings: Strings): string {
    if (typeof value === "bigint") return how?.unit === "hex" ? hex(value) : String(value);
    switch (how?.unit) {
        case "ns":
            return duration(value);
        case "time":
            return moment(value, 1);
        case "bytes":
            return bytes(value);
        case "string":
            return strings.get(value);
        case "hex":
            return `0x${value.toString(16)}`;
        default:
            return String(value);
    }
}
