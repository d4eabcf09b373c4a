// Colours. Those of the functions were chosen so that people with the common kinds of colour blindness can tell any two
// apart (a test computes it); in the dark they are a little lighter. No meaning hangs on a hue alone: losses are
// hatched, waits are paler, ends fade. Pictures have the same colours (src/picture/palette.c).

import type { Kind } from "../data/meta";

export interface Theme {
    dark: boolean;
    background: string;
    row: string; // every other row
    heading: string;
    grid: string;
    text: string;
    dim: string;
    onBar: string;
    relation: string; // child to parent
    sameOp: string;
    arrow: string;
    selection: string;
    hover: string;
    mark: string; // marks and places found
}

export const LIGHT: Theme = {
    dark: false,
    background: "#ffffff",
    row: "#f6f7f9",
    heading: "#e9ecf1",
    grid: "#d5dae2",
    text: "#1b1f27",
    dim: "#5a6270",
    onBar: "#10131a",
    relation: "#0b5fff",
    sameOp: "#c8102e",
    arrow: "#7a3db8",
    selection: "#000000",
    hover: "#444b57",
    mark: "#8a5a00",
};

export const DARK: Theme = {
    dark: true,
    background: "#14171d",
    row: "#191d25",
    heading: "#232934",
    grid: "#343c4a",
    text: "#e8ebf0",
    dim: "#a3adbd",
    onBar: "#0b0d11",
    relation: "#7fb0ff",
    sameOp: "#ff6b7d",
    arrow: "#c9a0ff",
    selection: "#ffffff",
    hover: "#c5ccd8",
    mark: "#f2b84b",
};

/** By the word in Kind.colour. What is not here gets a hue by its place, which is stable for a bundle. */
export const NAMED: Record<string, string> = {
    AllReduce: "#0072b2",
    AllGather: "#009f5f",
    ReduceScatter: "#56b4e9",
    Broadcast: "#e69f00",
    Reduce: "#664b17",
    AlltoAll: "#b57fa1",
    Gather: "#e8b4d0",
    Scatter: "#8e4270",
    Send: "#d55e00",
    Recv: "#f0e442",
    SendRecv: "#d55e00",
    call: "#8d99ae",
    api: "#8d99ae",
    group: "#a5b1c2",
    launch: "#7d8ba4",
    channel: "#4aa3df",
    phase: "#7cc0ea",
    "proxy-send": "#d98b5f",
    "proxy-recv": "#d9cf6a",
    "step-send": "#e0a07a",
    "step-recv": "#e6dd85",
    proxy: "#e6b800",
    network: "#9a8f3f",
    "proxy-thread": "#b0a160",
    "proxy-idle": "#cfc9ad",
    compute: "#9bbf85",
    copy: "#7f9f9f",
    "copy-engine": "#5f8f8f",
    annotation: "#b7a6d8",
    step: "#9a86c4",
    sync: "#b58fa0",
    host: "#aab2bd",
    other: "#777f8c",
    lost: "#d0021b",
    "not-recorded": "#8a8f98",
    flag: "#c8102e",
};
const OTHERS = ["#56b4e9", "#e69f00", "#009f5f", "#b57fa1", "#0072b2", "#d55e00", "#b7a6d8", "#9bbf85"];

export type Rgb = [number, number, number];

export function rgb(hex: string): Rgb {
    const n = parseInt(hex.slice(1), 16);
    return [(n >> 16) & 255, (n >> 8) & 255, n & 255];
}

export function mix(a: Rgb, b: Rgb, share: number): Rgb {
    return [0, 1, 2].map((i) => Math.round(a[i]! + (b[i]! - a[i]!) * share)) as Rgb;
}

/** As a canvas stores it: bytes red, green, blue, alpha in a little-endian word. */
export function pack([r, g, b]: Rgb): number {
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

export function kindColours(kinds: Kind[], theme: Theme): Rgb[] {
    return kinds.map((kind, i) => {
        const base = rgb(NAMED[kind.colour] ?? OTHERS[i % OTHERS.length]!);
        return theme.dark ? mix(base, [255, 255, 255], 0.16) : base;
    });
}

/** Relative luminance, and how far two colours are apart in it: 4.5 is what WCAG asks for text. */
export function luminance(colour: Rgb): number {
    const [r, g, b] = colour.map((v) => (v <= 10 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

export function contrast(a: Rgb, b: Rgb): number {
    const [x, y] = [luminance(a), luminance(b)];
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** Words on a bar: dark, or white where that is easier to read. */
export function textOn(colour: Rgb, theme: Theme): string {
    return contrast(colour, rgb(theme.onBar)) >= contrast(colour, [255, 255, 255]) ? theme.onBar : "#ffffff";
}

export const css = ([r, g, b]: Rgb): string => `rgb(${r},${g},${b})`;

/** Shades of each kind against a background, so that drawing a pixel is one look into a table. */
export const LEVELS = 32;
/** How strong the colour of a wait is against the background. */
export const WAIT_STRENGTH = 0.42;

/** Of what is between bars: to be seen, and never taken for one. */
export const OUTSIDE_STRENGTH = 0.5;

export class ColourTable {
    /** (kind + 1) * LEVELS + level, for full bars and for waiting ones, on plain and on striped rows. */
    readonly full: [Uint32Array, Uint32Array];
    readonly wait: [Uint32Array, Uint32Array];
    readonly background: [number, number];
    readonly outside: [number, number];
    readonly edge: number;
    readonly lost: number;
    readonly notRecorded: number;
    readonly heading: number;
    /** Of words and marks on a bar, by kind. */
    readonly onBar: string[];

    constructor(
        kinds: Kind[],
        readonly theme: Theme,
    ) {
        const colours = kindColours(kinds, theme);
        this.onBar = colours.map((colour) => textOn(colour, theme));
        const grounds: [Rgb, Rgb] = [rgb(theme.background), rgb(theme.row)];
        const table = (ground: Rgb, strength: number): Uint32Array => {
            const out = new Uint32Array(257 * LEVELS); // a kind that meta does not name is drawn too
            for (let i = 0; i < 256; i++) {
                const colour = colours[i] ?? rgb(NAMED["not-recorded"]!);
                for (let level = 0; level < LEVELS; level++) {
                    // Even the faintest is to be seen: a quarter at least.
                    const share = (0.25 + (0.75 * level) / (LEVELS - 1)) * strength;
                    out[(i + 1) * LEVELS + level] = pack(mix(ground, colour, share));
                }
            }
            return out;
        };
        this.full = [table(grounds[0], 1), table(grounds[1], 1)];
        this.wait = [table(grounds[0], WAIT_STRENGTH), table(grounds[1], WAIT_STRENGTH)];
        this.background = [pack(grounds[0]), pack(grounds[1])];
        const faint = (ground: Rgb): number => pack(mix(ground, rgb(theme.grid), OUTSIDE_STRENGTH));
        this.outside = [faint(grounds[0]), faint(grounds[1])];
        this.edge = pack(rgb(theme.background));
        this.lost = pack(rgb(NAMED.lost!));
        this.notRecorded = pack(rgb(NAMED["not-recorded"]!));
        this.heading = pack(rgb(theme.heading));
    }
}
