// The page: a bar with the kinds of rows, the whole run in a strip, the timeline, and a panel beside it.

import { useEffect, useRef } from "preact/hooks";
import type { PanelId, Session } from "../state/session";
import { Timeline } from "../timeline/timeline";
import { Header } from "./bar";
import { Communicators } from "./comms";
import { CounterTracks } from "./counters";
import { Details } from "./details";
import { Finder } from "./finder";
import { HeatMap } from "./heatmap";
import { Help } from "./help";
import { Legend } from "./legend";
import { Matrix } from "./matrix";
import { ContextMenu } from "./menu";
import { Minimap } from "./minimap";
import { Notes } from "./notes";
import { Operations } from "./operations";
import { ReportPanel } from "./report";
import { Search } from "./search";
import { FlagTooltip, RowTooltip, Tooltip } from "./tooltip";

const PANELS: { id: PanelId; label: string; view: (props: { session: Session }) => preact.ComponentChild }[] = [
    { id: "report", label: "conclusion", view: ReportPanel },
    { id: "details", label: "details", view: Details },
    { id: "operations", label: "operations", view: Operations },
    { id: "heat", label: "heat map", view: HeatMap },
    { id: "matrix", label: "matrix", view: Matrix },
    { id: "comms", label: "comms", view: Communicators },
    { id: "search", label: "search", view: Search },
    { id: "notes", label: "notes", view: Notes },
    { id: "legend", label: "legend", view: Legend },
];

/** The panel may be as narrow and as wide as that, in CSS pixels. */
const NARROW = 300;
const WIDE_SHARE = 0.7;

export function App({ session, onTimeline }: { session: Session; onTimeline: (timeline: Timeline) => void }) {
    const host = useRef<HTMLDivElement>(null);
    useEffect(() => onTimeline(new Timeline(session, host.current!)), []);
    const theme = session.theme.value;
    return (
        <div class={theme.dark ? "page dark" : "page"}>
            <Header session={session} />
            <main>
                <div class="left">
                    <Minimap session={session} />
                    <CounterTracks session={session} />
                    <div class="timeline" ref={host} />
                </div>
                <Panel session={session} />
            </main>
            <Tooltip session={session} />
            <RowTooltip session={session} />
            <FlagTooltip session={session} />
            <ContextMenu session={session} />
            <Finder session={session} />
            <Help session={session} />
            <Message session={session} />
            {session.error.value ? (
                <div class="error" role="alert">
                    {session.error.value} <button onClick={() => (session.error.value = "")}>close</button>
                </div>
            ) : null}
        </div>
    );
}

/** Short status message, "copied": disappears after a moment. */
function Message({ session }: { session: Session }) {
    const message = session.message.value;
    useEffect(() => {
        if (message === "") return undefined;
        const timer = setTimeout(() => (session.message.value = ""), 2500);
        return () => clearTimeout(timer);
    }, [message]);
    return (
        <div class={message ? "message" : "message none"} role="status">
            {message}
        </div>
    );
}

function Panel({ session }: { session: Session }) {
    const chosen = PANELS.find((panel) => panel.id === session.panel.value);
    const View = chosen?.view;
    const aside = useRef<HTMLElement>(null);
    const tabs = (event: KeyboardEvent): void => {
        const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (step === 0) return;
        const at = PANELS.findIndex((panel) => panel.id === chosen?.id);
        const next = PANELS[(at + step + PANELS.length) % PANELS.length]!;
        session.panel.value = next.id;
        document.getElementById(`tab-${next.id}`)?.focus();
        event.preventDefault();
        event.stopPropagation();
    };
    return (
        <aside class={chosen ? "" : "closed"} ref={aside}>
            {chosen ? <Splitter aside={aside} /> : null}
            <nav role="tablist" aria-label="panels" onKeyDown={tabs}>
                {PANELS.map((panel) => (
                    <button
                        key={panel.id}
                        role="tab"
                        id={`tab-${panel.id}`}
                        aria-selected={panel.id === chosen?.id}
                        aria-controls="panel"
                        tabIndex={panel.id === (chosen?.id ?? PANELS[0]!.id) ? 0 : -1}
                        onClick={() => (session.panel.value = panel.id === chosen?.id ? null : panel.id)}
                    >
                        {panel.label}
                    </button>
                ))}
            </nav>
            {View ? (
                <div class="panel" id="panel" role="tabpanel" tabIndex={-1} aria-labelledby={`tab-${chosen.id}`}>
                    <View session={session} />
                </div>
            ) : null}
        </aside>
    );
}

/** Between timeline and panel: to be dragged, or moved with the arrow keys. */
function Splitter({ aside }: { aside: { current: HTMLElement | null } }) {
    const resize = (width: number): void => {
        const most = window.innerWidth * WIDE_SHARE;
        if (aside.current) aside.current.style.width = `${Math.min(most, Math.max(NARROW, width))}px`;
    };
    const key = (event: KeyboardEvent): void => {
        const step = event.key === "ArrowLeft" ? 30 : event.key === "ArrowRight" ? -30 : 0;
        if (step === 0 || !aside.current) return;
        resize(aside.current.offsetWidth + step);
        event.preventDefault();
        event.stopPropagation();
    };
    return (
        <div
            class="splitter"
            role="separator"
            aria-orientation="vertical"
            aria-label="width of the panel"
            tabIndex={0}
            onKeyDown={key}
            onPointerDown={(e) => e.currentTarget.setPointerCapture(e.pointerId)}
            onPointerMove={(e) => e.currentTarget.hasPointerCapture(e.pointerId) && resize(innerWidth - e.clientX)}
        />
    );
}
