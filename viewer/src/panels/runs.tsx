// Two runs above each other: what the comparison says, and the step at which they are aligned. And of one run: the
// command that draws it above the run without what the conclusion names.

import type { Session } from "../state/session";
import { duration } from "./words";

export function Comparison({ session }: { session: Session }) {
    const { meta } = session.trace.bundle;
    const { runs } = session;
    if (runs.list.length < 2) return null;
    const by = session.shifts.value[1] ?? 0;
    return (
        <section class="comparison">
            {(meta.comparison ?? []).map((sentence, i) => (
                <p key={i} class="conclusion" dir="auto">
                    {sentence}
                </p>
            ))}
            <p class="hint" dir="auto">
                Above: {runs.list[0]!.title}. Below: {runs.list[1]!.title}.
            </p>
            {runs.steps.length > 0 ? (
                <p class="tools">
                    <label>
                        aligned at{" "}
                        <select
                            aria-label="where the two runs are aligned"
                            value={String(session.alignedAt.value ?? "")}
                            onChange={(e) => {
                                const { value } = e.currentTarget;
                                session.alignAt(value === "" ? null : Number(value));
                            }}
                        >
                            <option value="">their begin</option>
                            {runs.steps.map((step) => (
                                <option key={step} value={String(step)}>
                                    step {step}
                                </option>
                            ))}
                        </select>
                    </label>
                    <span class="hint">
                        {by === 0
                            ? ""
                            : `the lower run is drawn ${duration(Math.abs(by))} ${by > 0 ? "later" : "earlier"}`}
                    </span>
                </p>
            ) : null}
        </section>
    );
}

/** The conclusion of the second run; that of the first is the page's. */
export function OtherConclusion({ session }: { session: Session }) {
    const { meta } = session.trace.bundle;
    const sentences = meta.reports?.[1]?.conclusion ?? [];
    if (sentences.length === 0) return null;
    return (
        <>
            <h3 dir="auto">conclusion of the lower run: {session.runs.list[1]?.title}</h3>
            {sentences.map((sentence, i) => (
                <p key={i} dir="auto">
                    {sentence}
                </p>
            ))}
        </>
    );
}

/** "whatif --take-out 'rank 3'" of a sentence that names it; "": none. */
export function replayOf(sentence: string): string {
    return /`ringscope (whatif --take-out (?:'[^'`]+'|[a-z]+))`/.exec(sentence)?.[1] ?? "";
}

/** Below a sentence that says what a cure would save. */
export function ReplayHint({ session, sentence }: { session: Session; sentence: string }) {
    const replay = session.runs.list.length > 0 ? "" : replayOf(sentence);
    if (replay === "") return null;
    const command = `ringscope ${replay} -o replay.html IN...`;
    return (
        <p class="hint replay">
            drawn beside this run: <code>{command}</code>{" "}
            <button class="link" onClick={() => void session.copy(command)}>
                copy
            </button>
        </p>
    );
}
