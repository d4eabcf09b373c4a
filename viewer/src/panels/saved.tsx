// Filters that are kept: of this page, and a part of its URL, so that they survive a reload and can be sent.

import { patternOf, wordsOf } from "../data/pattern";
import type { Session } from "../state/session";

/** `text` is what is in the box beside it, `use` puts another there. */
export function SavedFilters(props: { session: Session; text: string; use: (text: string) => void }) {
    const { session, use } = props;
    const text = props.text.trim();
    const saved = session.saved.value;
    const wrong = wordsOf(text)
        .map((word) => patternOf(word).error)
        .find((error) => error !== "");
    return (
        <p class="tools saved">
            {wrong ? (
                <span class="wrong" role="alert">
                    {wrong}
                </span>
            ) : null}
            {text !== "" && !saved.includes(text) && !wrong ? (
                <button title="keep this filter: it is a part of the URL" onClick={() => session.save(text)}>
                    save
                </button>
            ) : null}
            {saved.map((filter) => (
                <span key={filter} class="chip">
                    <button class="link" aria-pressed={filter === text} dir="auto" onClick={() => use(filter)}>
                        {filter}
                    </button>
                    <button
                        class="link"
                        aria-label={`forget the filter ${filter}`}
                        onClick={() => session.forget(filter)}
                    >
                        ×
                    </button>
                </span>
            ))}
        </p>
    );
}
