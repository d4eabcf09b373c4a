// Every action, with its keys and a sentence: the keyboard is driven by this table and the help sheet is made from it,
// so neither can say something else than the other. Each group has a file of its own.

import type { Action, Entry } from "./action";
import { CHOOSE } from "./actions_choose";
import { MOVE } from "./actions_move";
import { SHOW } from "./actions_show";

export type { Action } from "./action";

const of = (group: Action["group"], entries: Entry[]): Action[] => entries.map((entry) => ({ ...entry, group }));

export const ACTIONS: Action[] = [...of("move", MOVE), ...of("choose", CHOOSE), ...of("show", SHOW)];

/** Mouse actions: listed in the help beside the keys, implemented in input.ts. */
export const MOUSE: { shown: string; text: string }[] = [
    { shown: "wheel", text: "scroll rows" },
    { shown: "Ctrl+wheel, pinch", text: "zoom at the cursor" },
    { shown: "Shift+wheel, Shift+drag", text: "pan in time" },
    { shown: "drag", text: "select a time range, with totals per rank and function" },
    { shown: "Ctrl+drag", text: "zoom to the range" },
    { shown: "drag on the ruler", text: "measure a duration; click there to clear it" },
    { shown: "drag on the overview strip", text: "move the visible window; drag its edges to resize it" },
    { shown: "click", text: "select; on a row name: expand or collapse" },
    { shown: "double click", text: "zoom to the bar" },
    { shown: "right click", text: "actions for a bar or a row" },
    { shown: "hover", text: "details of a bar or a row; bars with the same name are outlined" },
];

/** The entries of a menu, from the same table: of the bar, then of the row, then of the time. */
export function menuActions(menu: { bar: unknown; row: unknown }): Action[] {
    const of = (on: "bar" | "row" | "time"): Action[] => ACTIONS.filter((action) => action.menu?.on === on);
    return [...(menu.bar ? of("bar") : []), ...(menu.row ? of("row") : []), ...of("time")];
}

interface Key {
    code: string;
    key: string;
    shiftKey?: boolean;
    ctrlKey?: boolean;
    metaKey?: boolean;
}

/** With its modifiers first; an action that does not name Shift takes it as a variant of its own. */
export function actionFor(event: Key): Action | undefined {
    const by = (name: string): Action | undefined => ACTIONS.find((action) => action.keys.includes(name));
    if (event.ctrlKey || event.metaKey) return by(`Ctrl+${event.code}`);
    if (event.key === "?") return by("?");
    return (event.shiftKey ? by(`Shift+${event.code}`) : undefined) ?? by(event.code);
}
