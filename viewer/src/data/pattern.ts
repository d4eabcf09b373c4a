// What is looked for in names: a text, in any case; or between slashes a regular expression, "/^(all|reduce)/".

export interface Pattern {
    test: (text: string) => boolean;
    /** Why it is none: a regular expression that cannot be read; "": it can. It finds nothing then. */
    error: string;
}

/** A link may come from anyone: longer expressions are refused. */
const MOST = 300;

export const isExpression = (text: string): boolean => text.length > 1 && text.startsWith("/") && text.endsWith("/");

/** Words, and expressions between slashes as a whole, with the spaces in them. */
export function wordsOf(text: string): string[] {
    return text.match(/(?:^|(?<=\s))\/.+?\/(?=\s|$)|\S+/g) ?? [];
}

export function patternOf(text: string): Pattern {
    if (!isExpression(text)) {
        const small = text.toLowerCase();
        return { test: (name) => name.toLowerCase().includes(small), error: "" };
    }
    if (text.length > MOST) return { test: () => false, error: "the regular expression is too long" };
    try {
        const expression = new RegExp(text.slice(1, -1), "iu");
        return { test: (name) => expression.test(name), error: "" };
    } catch (error) {
        return { test: () => false, error: error instanceof Error ? error.message : String(error) };
    }
}
