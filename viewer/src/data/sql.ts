// Queries in SQL: `ringscope serve` answers them (POST sql), a page from disk cannot.

/** A value, as the server wrote it: no digit of a number is lost. null: NULL. */
export type Cell = { text: string; number: boolean } | null;

export interface Rows {
    columns: string[];
    rows: Cell[][];
    more: boolean; // the server has left rows out
}

/** A table or view, with what it is; the columns of a view are not listed. */
export interface Table {
    name: string;
    comment: string;
    columns: { name: string; comment: string }[];
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[^\s",:{}]+/g;

/** Rows as JSON Lines: flat objects, whose members keep their order (JSON.parse would put a column "1" first). */
export function readRows(lines: string, more: boolean): Rows {
    const all = lines.split("\n").filter((line) => line !== "");
    const rows = all.map((line) => line.match(TOKENS) ?? []);
    return {
        columns: (rows[0] ?? []).filter((_, i) => i % 2 === 0).map((name) => JSON.parse(name) as string),
        rows: rows.map((row) => row.filter((_, i) => i % 2 === 1).map(cellOf)),
        more,
    };
}

function cellOf(token: string): Cell {
    if (token === "null") return null;
    return token.startsWith('"') ? { text: JSON.parse(token) as string, number: false } : { text: token, number: true };
}

/** What `ringscope sql --schema --json` prints. */
export function readTables(lines: string): Table[] {
    const tables: Table[] = [];
    for (const line of lines.split("\n")) {
        if (line === "") continue;
        const { kind, table, column, comment } = JSON.parse(line) as Record<string, string | null>;
        if (kind === "column") tables[tables.length - 1]?.columns.push({ name: column ?? "", comment: comment ?? "" });
        else tables.push({ name: table ?? "", comment: comment ?? "", columns: [] });
    }
    return tables;
}

/** The tables of this server; null: it has no SQL. */
export async function fetchTables(url: string): Promise<Table[] | null> {
    try {
        const answer = await fetch(url);
        const tables = answer.ok ? readTables(await answer.text()) : [];
        return tables.length > 0 ? tables : null;
    } catch {
        return null;
    }
}

/** The rows of a query. Throws what the server says is wrong with it. */
export async function fetchRows(url: string, sql: string): Promise<Rows> {
    const answer = await fetch(url, { method: "POST", headers: { "Content-Type": "text/plain" }, body: sql });
    const text = await answer.text();
    if (!answer.ok) throw new Error(text.trim() || `the server answered ${answer.status}`);
    return readRows(text, answer.headers.get("Ringscope-More-Rows") !== null);
}
