// Queries in SQL, where `ringscope serve` answers them.

import type { Cell, Rows, Table } from "../data/sql";
import { EXAMPLES, type Queries } from "../state/queries";
import type { Session } from "../state/session";
import { count } from "./words";

export function Sql({ session }: { session: Session }) {
    const queries = session.queries.value;
    if (!queries) return null;
    const running = queries.running.value;
    return (
        <div class="sql">
            <textarea
                rows={6}
                spellcheck={false}
                aria-label="query in SQL"
                value={queries.text.value}
                onInput={(e) => (queries.text.value = e.currentTarget.value)}
                onKeyDown={(e) => {
                    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) void queries.run();
                }}
            />
            <p>
                <button class="run" disabled={running} onClick={() => void queries.run()}>
                    Run
                </button>{" "}
                <span class="hint">Ctrl+Enter. A query only reads.</span>
            </p>
            <p class="hint">
                {EXAMPLES.map((example) => (
                    <button key={example.text} class="link" onClick={() => (queries.text.value = example.sql)}>
                        {example.text}
                    </button>
                ))}
            </p>
            <div aria-live="polite">
                {running ? <p class="hint">running; the first query also reads the run…</p> : null}
                {queries.error.value ? <pre class="mistake">{queries.error.value}</pre> : null}
                {queries.rows.value ? <p class="hint">{rowsText(queries.rows.value)}</p> : null}
            </div>
            {queries.rows.value ? <Result rows={queries.rows.value} /> : null}
            <Tables queries={queries} />
        </div>
    );
}

export function rowsText({ rows, more }: Rows): string {
    if (more) return `the first ${count(rows.length)} rows; there are more`;
    return rows.length === 0 ? "no rows" : `${count(rows.length)} ${rows.length === 1 ? "row" : "rows"}`;
}

function Result({ rows: { columns, rows } }: { rows: Rows }) {
    return (
        <div class="result">
            <table>
                <thead>
                    <tr>
                        {columns.map((name, i) => (
                            <th key={i}>{name}</th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {rows.map((row, i) => (
                        <tr key={i}>
                            {row.map((cell, k) => (
                                <Value key={k} cell={cell} />
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

function Value({ cell }: { cell: Cell }) {
    if (!cell) return <td class="null">null</td>;
    return cell.number ? <td class="number">{cell.text}</td> : <td dir="auto">{cell.text}</td>;
}

function Tables({ queries }: { queries: Queries }) {
    return (
        <>
            <h3>
                tables and views <small>docs/sql.md describes them</small>
            </h3>
            {queries.tables.map((table) => (
                <TableEntry key={table.name} table={table} queries={queries} />
            ))}
        </>
    );
}

function TableEntry({ table, queries }: { table: Table; queries: Queries }) {
    return (
        <details>
            <summary>
                <b>{table.name}</b> <span class="hint">{table.comment}</span>
            </summary>
            <p>
                <button class="link" onClick={() => (queries.text.value = `SELECT * FROM ${table.name} LIMIT 100`)}>
                    SELECT * FROM {table.name} LIMIT 100
                </button>
            </p>
            <ul>
                {table.columns.map((column) => (
                    <li key={column.name}>
                        {column.name} <span class="hint">{column.comment}</span>
                    </li>
                ))}
            </ul>
        </details>
    );
}
