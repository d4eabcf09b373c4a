// The window of time that is shown. Pure arithmetic: the same for mouse, keys and addresses.

export interface View {
    t0: number; // ns
    t1: number;
}

/** 20 ns over a screen: shorter than any clock resolution. */
export const LEAST_NS = 20;
/** How far beyond the data one may go, as a share of the window. */
const MARGIN = 0.1;

export function clampView(view: View, span: number): View {
    const width = Math.min(Math.max(view.t1 - view.t0, LEAST_NS), span * (1 + 2 * MARGIN));
    const beyond = width * MARGIN;
    const middle = (view.t0 + view.t1) / 2;
    const t0 = Math.min(Math.max(middle - width / 2, -beyond), Math.max(span + beyond - width, -beyond));
    return { t0, t1: t0 + width };
}

/** Zooms so that what is at `at` (ns) stays where it is. A factor below 1 shows less time. */
export function zoomAbout(view: View, at: number, factor: number, span: number): View {
    const width = Math.min(Math.max((view.t1 - view.t0) * factor, LEAST_NS), span * (1 + 2 * MARGIN));
    const share = (at - view.t0) / (view.t1 - view.t0);
    return clampView({ t0: at - share * width, t1: at + (1 - share) * width }, span);
}

export function panBy(view: View, ns: number, span: number): View {
    return clampView({ t0: view.t0 + ns, t1: view.t1 + ns }, span);
}

/** A window around something, with room to see where it lies. */
export function fitView(start: number, end: number, span: number, room = 0.25): View {
    const width = Math.max(end - start, LEAST_NS);
    return clampView({ t0: start - width * room, t1: end + width * room }, span);
}

/** Part of the way from one view to another, for movements that the eye can follow. */
export function between(from: View, to: View, share: number): View {
    return { t0: from.t0 + (to.t0 - from.t0) * share, t1: from.t1 + (to.t1 - from.t1) * share };
}

/** The views one came from: Backspace goes back. Steps that follow each other quickly are one. */
export class History {
    private readonly past: View[] = [];
    private last = -Infinity;

    /** `same`: a further part of a movement that was noted, as of one drag, however long it takes. */
    note(view: View, now: number, same = false): void {
        if (!same && now - this.last > 600) {
            this.past.push({ ...view });
            if (this.past.length > 100) this.past.shift();
        }
        this.last = now;
    }

    back(): View | undefined {
        this.last = -Infinity;
        return this.past.pop();
    }
}
