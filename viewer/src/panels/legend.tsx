// What is drawn how: colours of the kinds, shades, signs and lines. The swatches are made as the timeline draws.

import type { Session } from "../state/session";
import { css, kindColours, mix, OUTSIDE_STRENGTH, rgb, WAIT_STRENGTH, type Theme } from "../scene/palette";
import { IDLE, OUTSIDE } from "../timeline/outside";

/** Kinds of one row that are listed; a job may have a hundred functions. */
const MOST = 40;

export function Legend({ session }: { session: Session }) {
    const { meta } = session.trace.bundle;
    const theme = session.theme.value;
    const colours = kindColours(meta.kinds, theme);
    return (
        <div class="legend">
            <h3>shading and symbols</h3>
            <Signs theme={theme} />
            <h3>lines</h3>
            <Lines theme={theme} />
            {session.kindsThere.map((row) => {
                const kinds = meta.kinds.map((kind, i) => ({ kind, i })).filter(({ kind }) => kind.row === row);
                if (kinds.length === 0) return null;
                return (
                    <section key={row}>
                        <h3>{meta.rows[row]!.label}</h3>
                        <ul>
                            {kinds.slice(0, MOST).map(({ kind, i }) => (
                                <li key={i} title={kind.explain}>
                                    <i class="swatch" style={{ background: css(colours[i]!) }} />
                                    <button
                                        class="link"
                                        dir="auto"
                                        title="highlight bars with this name; again: all"
                                        aria-pressed={session.sameName.value === kind.label}
                                        onClick={() => session.toggleName(kind.label)}
                                    >
                                        {kind.label}
                                    </button>
                                </li>
                            ))}
                        </ul>
                    </section>
                );
            })}
        </div>
    );
}

function Signs({ theme }: { theme: Theme }) {
    const base = rgb(theme.dark ? "#3b96d0" : "#0072b2");
    const full = css(base);
    const pale = css(mix(rgb(theme.background), base, WAIT_STRENGTH));
    const hatched = (colour: string): string =>
        `repeating-linear-gradient(135deg, ${colour} 0 2px, ${theme.background} 2px 5px)`;
    const signs: [string, string][] = [
        [`linear-gradient(90deg, ${pale} 55%, ${full} 55%)`, "pale: waiting for the last rank; then: transfer"],
        [`linear-gradient(90deg, ${full} 45%, ${theme.background})`, "fading: only bounds of the end are known"],
        [
            `repeating-linear-gradient(90deg, ${theme.background} 0 3px, transparent 3px 6px) ` +
                `0 0 / 40% 100% no-repeat, ${full}`,
            "stepped edge: start unknown",
        ],
        [hatched("#d0021b"), "hatched red: callbacks were lost"],
        [hatched("#8a8f98"), "hatched grey: not recorded"],
        [
            css(mix(rgb(theme.background), rgb(theme.grid), OUTSIDE_STRENGTH)),
            `light grey between operations: ${OUTSIDE[0]}; where the GPU's kernels were recorded: ${IDLE[0]}`,
        ],
        [
            `linear-gradient(90deg, ${pale}, ${full}, ${pale})`,
            "paler: many short bars that cover the pixel only in part",
        ],
    ];
    return (
        <ul>
            {signs.map(([background, text]) => (
                <li key={text}>
                    <i class="swatch wide" style={{ background }} /> {text}
                </li>
            ))}
            <li>
                <svg class="swatch wide" viewBox="0 0 40 12" aria-hidden="true">
                    <rect width="40" height="12" fill={full} />
                    <path d="M0 0h8L0 9z" fill={theme.sameOp} />
                </svg>{" "}
                corner: last rank to arrive, beyond the clock error
            </li>
            <li>
                <svg class="swatch wide" viewBox="0 0 40 12" aria-hidden="true">
                    <rect x="1" y="1" width="38" height="10" fill="none" stroke={theme.sameOp} stroke-width="1.5" />
                </svg>{" "}
                red frame: a rank that is to blame for a hang, from its last sign on
            </li>
            <li>
                <svg class="swatch wide" viewBox="0 0 40 12" aria-hidden="true">
                    <rect width="40" height="12" fill={full} />
                    <path d="M12 1v10M26 1v10" stroke={theme.onBar} />
                </svg>{" "}
                lines in a network step: where its states begin
            </li>
            <li>
                <svg class="swatch wide" viewBox="0 0 40 12" aria-hidden="true">
                    <path d="M4 0v12M24 0v12" stroke={theme.sameOp} />
                    <path d="M4 1l8 4l-8 4z" fill={theme.sameOp} />
                    <path d="M24 1l8 4l-8 4z" fill="none" stroke={theme.sameOp} />
                </svg>{" "}
                flag: a communicator is created; hollow: destroyed
            </li>
        </ul>
    );
}

function Lines({ theme }: { theme: Theme }) {
    return (
        <ul>
            <li>
                <svg class="swatch wide" viewBox="0 0 40 12" aria-hidden="true">
                    <path d="M2 2L38 10" stroke={theme.sameOp} stroke-width="2" />
                </svg>{" "}
                the same operation on all ranks: through the starts, and fainter through the ends
            </li>
            <li>
                <svg class="swatch wide" viewBox="0 0 40 12" aria-hidden="true">
                    <path d="M2 2L38 10" stroke={theme.relation} stroke-width="1.5" stroke-dasharray="2 3" />
                </svg>{" "}
                from a child to its parent; from what was launched to its launch
            </li>
            <li>
                <svg class="swatch wide" viewBox="0 0 40 12" aria-hidden="true">
                    <path d="M2 6H32" stroke={theme.arrow} stroke-width="2" />
                    <path d="M38 6l-9 -4v8z" fill={theme.arrow} />
                </svg>{" "}
                from a send to its receive; dashed: to the latest that it can have been received
            </li>
            <li>
                <svg class="swatch wide" viewBox="0 0 40 12" aria-hidden="true">
                    <path d="M2 6H30" stroke={theme.relation} stroke-dasharray="2 3" />
                    <circle cx="33" cy="6" r="4" fill={theme.background} stroke={theme.relation} stroke-width="1.5" />
                </svg>{" "}
                hollow dot: the other end is folded away or hidden; it is below this row
            </li>
        </ul>
    );
}
