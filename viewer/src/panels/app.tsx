// The page: a bar with the kinds of rows, the timeline, and a panel beside it.

import { useEffect, useRef } from "preact/hooks";
import type { PanelId, Session } from "../state/session";
import { Timeline } from "../timeline/timeline";
import { Communicators } from "./comms";
import { Details } from "./details";
import { HeatMap } from "./heatmap";
import { Help } from "./help";
import { Matrix } from "./matrix";
import { Operations } from "./operations";
import { ReportPanel } from "./report";
import { Search } from "./search";
import { Tooltip } from "./tooltip";

const PANELS: { id: PanelId; label: string; view: (props: { session: Session }) => preact.ComponentChild }[] = [
    { id: "report", label: "conclusion", view: ReportPanel },
    { id: "details", label: "details", view: Details },
    { id: "operations", label: "operations", view: Operations },
    { id: "heat", label: "heat map", view: HeatMap },
    { id: "matrix", label: "matrix", view: Matrix },
    { id: "comms", label: "communicators", view: Communicators },
    { id: "search", label: "search", view: Search },
];

export function App({ session, onTimeline }: { session: Session; onTimeline: (timeline: Timeline) => void }) {
    const host = useRef<HTMLDivElement>(null);
    useEffect(() => onTimeline(new Timeline(session, host.current!)), []);
    const theme = session.theme.value;
    return (
        <div class={theme.dark ? "page dark" : "page"}>
            <Bar session={session} />
            <main>
                <div class="timeline" ref={host} />
                <Panel session={session} />
            </main>
            <Tooltip session={session} />
            <Help session={session} />
            {session.error.value ? (
                <div class="error" role="alert">
                    {session.error.value} <button onClick={() => (session.error.value = "")}>close</button>
                </div>
            ) : null}
        </div>
    );
}

function Bar({ session }: { session: Session }) {
    const { meta } = session.trace.bundle;
    return (
        <header>
            <b>ringscope</b>
            <span class="title">{meta.title}</span>
            <fieldset aria-label="kinds of rows">
                {meta.rows.map((row, i) => (
                    <label key={row.id}>
                        <input
                            type="checkbox"
                            checked={session.rowsOn.value[i]}
                            onChange={() => session.toggleRow(i)}
                        />{" "}
                        {row.label}
                    </label>
                ))}
            </fieldset>
            <label>
                <input
                    type="checkbox"
                    checked={session.allRelations.value}
                    onChange={(e) => (session.allRelations.value = e.currentTarget.checked)}
                />{" "}
                all relations
            </label>
            <button onClick={() => (session.themeChoice.value = session.theme.value.dark ? "light" : "dark")}>
                {session.theme.value.dark ? "light" : "dark"}
            </button>
            <button onClick={() => (session.help.value = true)} aria-label="help">
                ?
            </button>
        </header>
    );
}

function Panel({ session }: { session: Session }) {
    const chosen = PANELS.find((panel) => panel.id === session.panel.value);
    const View = chosen?.view;
    return (
        <aside class={chosen ? "" : "closed"}>
            <nav role="tablist">
                {PANELS.map((panel) => (
                    <button
                        key={panel.id}
                        role="tab"
                        id={`tab-${panel.id}`}
                        aria-selected={panel.id === chosen?.id}
                        onClick={() => (session.panel.value = panel.id === chosen?.id ? null : panel.id)}
                    >
                        {panel.label}
                    </button>
                ))}
            </nav>
            {View ? (
                <div class="panel" role="tabpanel">
                    <View session={session} />
                </div>
            ) : null}
        </aside>
    );
}
