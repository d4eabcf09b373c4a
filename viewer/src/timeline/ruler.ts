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
    if (!Number.isFinite(ns)) return "?";
    if (ns < 0) return `-${duration(-ns)}`;
    const [size, unit] = UNITS.find(([size]) => ns >= size) ?? UNITS[3]!;
    const value = ns / size;
    const digits = value >= 100 || unit === "ns" ? 0 : value >= 10 ? 1 : 2;
    return `${value.toFixed(digits)} ${unit}`;
}

/** A moment, with as many digits as a step needs: "0.012742 s". */
export function moment(ns: number, step = 1000): string {
    const digits = Math.min(9, Math.max(0, 9 - Math.floor(Math.log10(Math.max(step, 1)))));
    return `${(ns / 1e9).toFixed(digits)} s`;
}
