// Queries in SQL: what the server answers, as the panel shows it.

import { describe, expect, it } from "vitest";
import { readRows, readTables } from "../src/data/sql";
import { rowsText } from "../src/panels/sql";
import { EXAMPLES } from "../src/state/queries";
import { DATA, program, run } from "./program";

const texts = (lines: string) => readRows(lines, false).rows.map((row) => row.map((cell) => cell?.text ?? null));

describe("rows of a query", () => {
    it("keep the order of their columns, and every digit", () => {
        const lines = '{"2":9223372036854775807,"1":-0.1,"__proto__":1e300}\n{"2":1,"1":null,"__proto__":null}\n';
        expect(readRows(lines, false).columns).toEqual(["2", "1", "__proto__"]);
        expect(texts(lines)).toEqual([
            ["9223372036854775807", "-0.1", "1e300"],
            ["1", null, null],
        ]);
    });
    it("contain any text", () => {
        const all = ['a"b', "{x: [1,2]}", "<b>\u0000\\", "null", "12", "", 'é,":\n'];
        const line = JSON.stringify(Object.fromEntries(all.map((text, i) => [`c"${i}:`, text])));
        expect(texts(line)).toEqual([all]);
        expect(readRows(line, false).columns[0]).toBe('c"0:');
        expect(readRows(line, false).rows[0]!.every((cell) => cell && !cell.number)).toBe(true);
    });
    it("are counted, and it is said when there are more", () => {
        expect(rowsText(readRows("", false))).toBe("no rows");
        expect(rowsText(readRows('{"a":1}\n', false))).toBe("1 row");
        expect(rowsText(readRows('{"a":1}\n{"a":2}\n', true))).toBe("the first 2 rows; there are more");
    });
});

describe.runIf(program)("with the program", () => {
    it("tables are those that it lists", () => {
        const tables = readTables(run(["sql", "--schema", "--json"]));
        expect(tables.find((table) => table.name === "operations")!.columns.map((c) => c.name)).toContain("func");
        expect(tables.some((table) => table.name === "v_stragglers")).toBe(true);
    });
    it("every example is a query", () => {
        for (const { sql } of EXAMPLES)
            expect(() => readRows(run(["sql", "--json", `${DATA}/h200-mix`, sql]), false)).not.toThrow();
    });
});
