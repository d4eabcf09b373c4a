// Why the job hangs, as `ringscope hang` says it: the verdict in red, each cause with its ranks to click on, the
// evidence, what to do, and where the program was.

import { NONE } from "../data/layout";
import type { Culprit } from "../data/meta";
import { groupOfRank, hangs } from "../scene/opening";
import type { Session } from "../state/session";

export function Verdict({ session }: { session: Session }) {
    const { bundle } = session.trace;
    const hang = bundle.meta.hang;
    if (!hang || !hangs(bundle)) return null;
    const culprits = hang.culprits ?? [];
    const words = culprits.map((culprit) => `${culprit.evidence ?? ""} ${culprit.advice ?? ""}`);
    // What the causes do not say themselves: what weakens them, or a verdict that names no rank.
    const further = (hang.conclusion ?? []).filter((line) => !words.some((text) => has(text, line)));
    return (
        <section class="verdict" role="alert" aria-label="verdict">
            <h2 dir="auto">
                <span class="name">{hang.verdict}</span> {hang.headline}
            </h2>
            {culprits.map((culprit, i) => (
                <Cause key={i} session={session} culprit={culprit} index={i} alone={culprits.length === 1} />
            ))}
            {further.map((line, i) => (
                <p key={i} dir="auto">
                    {line}
                </p>
            ))}
        </section>
    );
}

/** Whether a line of the conclusion is of a cause: it begins with its evidence. */
const has = (text: string, line: string): boolean => text.trim() !== "" && text.trim().startsWith(line.slice(0, 40));

function Cause(props: { session: Session; culprit: Culprit; index: number; alone: boolean }) {
    const { session, culprit, index, alone } = props;
    const { bundle } = session.trace;
    return (
        <div class="cause">
            {alone ? null : (
                <h3 dir="auto">
                    {index + 1}. {culprit.headline}
                </h3>
            )}
            <p class="who">
                {culprit.suspected ? "suspected: " : ""}
                {culprit.ranks.map((rank, i) => {
                    const marked = (bundle.meta.marks ?? []).filter((mark) => mark.culprit === index);
                    const group = rank === null ? (marked[i]?.group ?? NONE) : groupOfRank(bundle, rank);
                    return (
                        <button
                            key={i}
                            disabled={group === NONE}
                            title={group === NONE ? "nothing of this rank was recorded" : "go to its row"}
                            onClick={() => session.showRow(NONE, group)}
                        >
                            rank {rank ?? "?"}
                        </button>
                    );
                })}
            </p>
            {culprit.evidence ? <p dir="auto">{culprit.evidence}</p> : null}
            {culprit.advice ? <Advice text={culprit.advice} /> : null}
            {culprit.frames.length > 0 ? (
                <ol class="frames" aria-label="where the program was">
                    {culprit.frames.map((frame, i) => (
                        <li key={i} dir="auto">
                            {frame}
                        </li>
                    ))}
                </ol>
            ) : null}
        </div>
    );
}

/** What to do stands out; what restricts it does not. */
function Advice({ text }: { text: string }) {
    const cut = text.indexOf(". ") + 1;
    return (
        <p dir="auto">
            <b>{cut > 0 ? text.slice(0, cut) : text}</b>
            {cut > 0 ? text.slice(cut) : ""}
        </p>
    );
}
