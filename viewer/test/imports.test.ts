// Who imports whom: no circles, not even of types alone, and between folders only what the table of README.md allows.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

type Imports = Map<string, string[]>;

const ROOT = join(__dirname, "..");

/** Files that others are written in: `import ... from "./x"`, `export ... from "./x"`, `import("./x")`. */
function importsOf(file: string, text: string): string[] {
    const found = [...text.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) =>
        join(dirname(file), match[1]!),
    );
    return found.flatMap((path) => [`${path}.ts`, `${path}.tsx`].filter((name) => existsSync(join(ROOT, name))));
}

/** All files that import each other in a circle: "a.ts > b.ts > a.ts". */
function circles(imports: Imports): string[] {
    const done = new Set<string>();
    const found: string[] = [];
    const visit = (file: string, path: string[]): void => {
        const at = path.indexOf(file);
        if (at >= 0) found.push([...path.slice(at), file].join(" > "));
        if (at >= 0 || done.has(file)) return;
        for (const next of imports.get(file) ?? []) visit(next, [...path, file]);
        done.add(file);
    };
    for (const file of imports.keys()) visit(file, []);
    return found;
}

const folderOf = (file: string): string =>
    file
        .split("/")
        .slice(0, file.startsWith("src/") ? 2 : 1)
        .join("/");

/** "a/x.ts imports b/y.ts", where the folder a may not. A folder that `rules` does not know may do nothing. */
function trespasses(imports: Imports, rules: Map<string, string[]>): string[] {
    return [...imports].flatMap(([file, list]) =>
        list
            .filter((other) => {
                const [from, to] = [folderOf(file), folderOf(other)];
                return from !== to && !rules.get(from)?.some((name) => to === name || to.startsWith(`${name}/`));
            })
            .map((other) => `${file} imports ${other}`),
    );
}

/** The table of folders: | `src/x` | what it is | `src/a`, `src/b` | */
function rulesOf(readme: string): Map<string, string[]> {
    const rows = [...readme.matchAll(/^\| `([^`]+)` \|.*\| ([^|]+) \|$/gm)];
    return new Map(rows.map((row) => [row[1]!, [...row[2]!.matchAll(/`([^`]+)`/g)].map((name) => name[1]!)]));
}

describe("the check of imports", () => {
    const made: Imports = new Map([
        ["src/a/x.ts", ["src/b/y.ts"]],
        ["src/b/y.ts", ["src/a/z.ts"]],
        ["src/a/z.ts", ["src/a/x.ts"]],
        ["test/t.ts", ["src/a/x.ts", "src/a/z.ts"]],
    ]);
    it("sees circles, imports of all kinds, and folders that may not", () => {
        expect(circles(made)).toEqual(["src/a/x.ts > src/b/y.ts > src/a/z.ts > src/a/x.ts"]);
        const rules = rulesOf(
            "| folder | is | may import |\n|---|---|---|\n| `src/a` | x | `src/b` |\n| `test` | | `src` |\n",
        );
        expect(trespasses(made, rules)).toEqual(["src/b/y.ts imports src/a/z.ts"]);
        const text = 'import "./fold";\nexport type { A } from "./view";\nconst b = import("../panels/app");\n';
        expect(importsOf("src/timeline/x.ts", text)).toEqual(["src/timeline/fold.ts", "src/panels/app.tsx"]);
    });
});

describe("imports", () => {
    const folders = ["src", "dev", "browser", "test"];
    const imports: Imports = new Map();
    for (const folder of folders)
        for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }))
            if (/\.tsx?$/.test(name)) {
                const file = relative(ROOT, join(ROOT, folder, name));
                imports.set(file, importsOf(file, readFileSync(join(ROOT, file), "utf8")));
            }
    it("go in no circle", () => {
        expect(imports.size).toBeGreaterThan(80);
        expect(circles(imports)).toEqual([]);
    });
    it("keep to the table of folders in README.md", () => {
        const rules = rulesOf(readFileSync(join(ROOT, "README.md"), "utf8"));
        const all = new Set([...imports.keys()].map(folderOf).filter((folder) => !folder.includes(".")));
        expect([...rules.keys()].sort()).toEqual([...all].sort());
        // src/main.tsx starts the page and may import all of it.
        rules.set("src/main.tsx", ["src"]);
        expect(trespasses(imports, rules)).toEqual([]);
    });
});
