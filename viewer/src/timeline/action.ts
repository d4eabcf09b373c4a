// One action: the table of all is actions.ts.

import type { Session } from "../state/session";
import type { Where } from "./commands";

export interface Action {
    id: string;
    /** As KeyboardEvent.code, so that WASD lies together on every keyboard; or as key where the sign is meant ("?"). */
    keys: string[];
    shown: string; // how the keys are written in the help sheet
    group: "move" | "choose" | "show";
    text: string;
    /** In the menu of the right mouse button too: on a bar, a row's name, or anywhere in time; its words there. */
    menu?: { on: "bar" | "row" | "time"; text: string };
    run: (session: Session, where: Where) => void;
}

/** As the tables of a group have it. */
export type Entry = Omit<Action, "group">;
