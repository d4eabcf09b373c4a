// Marks on the time axis: moments or ranges to find again or to share. One of them is temporary (the next replaces it),
// the others are permanent. All are in the URL.

export interface Mark {
    t0: number; // ns
    t1: number; // as t0: a moment
    kept: boolean;
}

/** More could not be distinguished, and a URL has a maximum length. */
export const MOST_MARKS = 64;

/** Adds a mark; a temporary one replaces the one before, and the same moment is not marked twice. */
export function addMark(marks: Mark[], mark: Mark): Mark[] {
    const others = marks.filter((m) => (m.kept || mark.kept) && !(m.t0 === mark.t0 && m.t1 === mark.t1));
    return [...others, mark].sort((a, b) => a.t0 - b.t0).slice(-MOST_MARKS);
}

/** Removes the mark that is nearest to a moment. */
export function removeNearest(marks: Mark[], at: number): Mark[] {
    let nearest = -1;
    let least = Infinity;
    marks.forEach((mark, i) => {
        const distance = Math.max(mark.t0 - at, at - mark.t1, 0);
        if (distance < least) [nearest, least] = [i, distance];
    });
    return marks.filter((_, i) => i !== nearest);
}

/** "1200.5:1300:k,1500:1500": from, to, and whether it is kept. */
export function writeMarks(marks: Mark[]): string {
    return marks.map((m) => `${round(m.t0)}:${round(m.t1)}${m.kept ? ":k" : ""}`).join(",");
}

export function readMarks(text: string): Mark[] {
    const marks: Mark[] = [];
    for (const word of text.split(",").slice(0, MOST_MARKS)) {
        const match = /^(-?\d{1,18}(?:\.\d)?):(-?\d{1,18}(?:\.\d)?)(:k)?$/.exec(word);
        if (!match || Number(match[1]) > Number(match[2])) continue;
        marks.push({ t0: Number(match[1]), t1: Number(match[2]), kept: match[3] !== undefined });
    }
    return marks;
}

const round = (ns: number): string => String(Number(ns.toFixed(1)));
