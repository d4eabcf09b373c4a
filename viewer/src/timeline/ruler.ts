// Ticks of the time axis, and times in words.

/** The smallest of 1, 2, 5 times a power of ten that is at least `ns`. */
export function niceStep(ns: number): number {
    const power = 10 ** Math.floor(Math.log10(Math.max(ns, 1)));
    for (const factor of [1, 2, 5]) if (factor * power >= ns) return factor * power;
    return 10 * power;
}

const UNITS: [number, string][] = [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "us"],
    [1, "ns"],
];

/** "1.25 ms": three digits that count. */
export function duration(ns: number): string {
    return inWords(ns, 3);
}

/** "112 ms", "1.1 ms": two digits that count, where there is little room. */
export function shortDuration(ns: number): string {
    const digits = Math.floor(Math.log10(Math.max(1, ns))) % 3 === 2 ? 3 : 2;
    return duration(Number(ns.toPrecision(digits)))
        .replace(/(\d\d)\.\d+ /, "$1 ")
        .replace(/(\.\d)\d+ /, "$1 ");
}

/** "1.253841 ms": six digits, without zeros at the end, for what was measured or is a place. */
export function longDuration(ns: number): string {
    return inWords(ns, 6)
        .replace(/(\.\d*?)0+ /, "$1 ")
        .replace(". ", " ");
}

function inWords(ns: number, digits: number): string {
    if (!Number.isFinite(ns)) return "?";
    if (ns < 0) return `-${inWords(-ns, digits)}`;
    const [size, unit] = UNITS.find(([size]) => ns >= size) ?? UNITS[3]!;
    const value = ns / size;
    const before = value >= 100 ? 3 : value >= 10 ? 2 : 1;
    return `${value.toFixed(unit === "ns" ? 0 : Math.max(0, digits - before))} ${unit}`;
}

/**
 * A moment, with as many digits as a step needs: "0.012742 s". Rounded down, as the commands do: `--from` with it takes
 * in what began there.
 */
export function moment(ns: number, step = 1000): string {
    if (!Number.isFinite(ns)) return "? s";
    const digits = Math.min(9, Math.max(0, 9 - Math.floor(Math.log10(Math.max(step, 1)))));
    const size = 10 ** (9 - digits);
    return `${((Math.floor(ns / size) * size) / 1e9).toFixed(digits)} s`;
}

/** The unit in which steps of the axis are whole numbers. */
function unitOf(step: number): [number, string] {
    return UNITS.find(([size]) => step >= size) ?? UNITS[3]!;
}

/** The base shown once beside the axis when its numbers would be long: ticks are relative to it. 0: none. */
export function tickBase(t0: number, t1: number, step: number): number {
    const large = unitOf(step)[0] * 1000;
    // Within one larger unit, or beyond four digits: count from the unit before.
    if (unitOf(step)[1] === "s" || Math.max(Math.abs(t0), Math.abs(t1)) < 10 * large) return 0;
    return Math.max(0, Math.floor(t0 / large) * large);
}

/** "320 us", or "+320 us" from a base. */
export function tickWords(ns: number, step: number, base: number): string {
    const [size, unit] = unitOf(step);
    const value = Math.round((ns - base) / size);
    const grouped = String(Math.abs(value)).replace(/\B(?=(\d{3})+$)/g, "\u2009");
    return `${base > 0 ? "+" : ""}${value < 0 ? "-" : ""}${grouped} ${unit}`;
}

/** Wall time in ns since 1970; undefined for times of a tool's own zero, which have no date. */
export function wallTime(begin: string): bigint | undefined {
    const ns = /^\d{19,}$/.test(begin) ? BigInt(begin) : 0n;
    return ns >= 1_000_000_000_000_000_000n && ns <= 8_000_000_000_000_000_000n ? ns : undefined;
}

/** "01:07:04.120": the time of day (UTC) at a tick, with as many digits as a step of the axis needs. */
export function clockWords(begin: bigint, ns: number, step: number): string {
    const at = begin + BigInt(Math.round(ns));
    const date = new Date(Number(at / 1_000_000n)).toISOString();
    const digits = step >= 1e9 ? 0 : step >= 1e6 ? 3 : step >= 1e3 ? 6 : 9;
    const rest = String(at % 1_000_000_000n).padStart(9, "0");
    return date.slice(11, 19) + (digits > 0 ? `.${rest.slice(0, digits)}` : "");
}

/** "2026-11-15" */
export const dayOf = (wall: bigint): string => new Date(Number(wall / 1_000_000n)).toISOString().slice(0, 10);
