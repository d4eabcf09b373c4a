// Scans into pixels. Each row is one line of colours, copied to its height: for a canvas without a GPU that is several
// times faster than a rectangle for every bar.

import { Shade, type Scan } from "./fold";
import { LEVELS, type ColourTable } from "../scene/palette";

export class Raster {
    image: ImageData | undefined;
    private pixels = new Uint32Array(0);
    private line = new Uint32Array(0);
    width = 0;
    height = 0;

    resize(width: number, height: number): void {
        if (width === this.width && height === this.height) return;
        this.width = width;
        this.height = height;
        this.image = new ImageData(width, height);
        this.pixels = new Uint32Array(this.image.data.buffer);
        this.line = new Uint32Array(width);
    }

    /** A strip of one colour over the whole width. */
    strip(y: number, height: number, colour: number): void {
        const from = Math.max(0, y) * this.width;
        const to = Math.min(this.height, y + height) * this.width;
        if (to > from) this.pixels.fill(colour, from, to);
    }

    /** Lines y .. y + height of the image show the scan; `striped` is 0 or 1. */
    row(scan: Scan, y: number, height: number, striped: 0 | 1, colours: ColourTable): void {
        const special = colourLine(scan, this.line, striped, colours);
        const top = Math.max(0, y);
        const bottom = Math.min(this.height, y + height);
        for (let at = top; at < bottom; at++) {
            const offset = at * this.width;
            // From the line above, once there is one: that is a copy within one array, the quickest there is.
            if (at === top || special) this.pixels.set(this.line, offset);
            else this.pixels.copyWithin(offset, offset - this.width, offset);
            if (special) hatch(scan, this.pixels, offset, at, colours);
        }
    }
}

/** Colours of one line; says whether any pixel is to be hatched. */
export function colourLine(scan: Scan, line: Uint32Array, striped: 0 | 1, colours: ColourTable): boolean {
    const full = colours.full[striped];
    const wait = colours.wait[striped];
    const ground = colours.background[striped];
    let special = false;
    for (let x = 0; x < scan.width; x++) {
        const kind = scan.kind[x]!;
        if (kind === 0) {
            line[x] = scan.shade[x]! & Shade.Outside ? colours.outside[striped] : ground;
            continue;
        }
        const shade = scan.shade[x]!;
        const at = kind * LEVELS + ((scan.cover[x]! * (LEVELS - 1)) | 0);
        line[x] = shade & Shade.Edge ? colours.edge : shade & Shade.Wait ? wait[at]! : full[at]!;
        if (shade & (Shade.Lost | Shade.NotRecorded)) special = true;
    }
    return special;
}

function hatch(scan: Scan, pixels: Uint32Array, offset: number, y: number, colours: ColourTable): void {
    for (let x = 0; x < scan.width; x++) {
        const shade = scan.shade[x]!;
        if (!(shade & (Shade.Lost | Shade.NotRecorded))) continue;
        if (((x + y) & 7) < 3) pixels[offset + x] = shade & Shade.Lost ? colours.lost : colours.notRecorded;
        else pixels[offset + x] = colours.background[0];
    }
}
