// Rank × peer: what was sent to whom, and what its steps waited for.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { NONE } from "../data/layout";
import type { Session } from "../state/session";
import { Across, Down, rankTicks } from "./axes";
import { heatColour, heatGradient } from "./heat";
import { groupOfRank, matrixOf, networkCells, pairCells, type Cell, type Of } from "./pairs";
import { bytes, count, duration } from "./words";

const NETWORK: [Of, string][] = [
    ["bytes", "bytes"],
    ["messages", "messages"],
    ["net_ns", "network time"],
    ["credit_ns", "time waiting for the peer's credit"],
    ["gpu_ns", "time waiting for the local GPU"],
];
const PAIRS: [Of, string][] = [
    ["bytes", "bytes"],
    ["messages", "operations"],
    ["net_ns", "transfer time"],
];
/** Pixels of the picture in each direction, at most. */
const MOST = 512;
/** CSS: of the picture with its axis; and labels of an axis, at most. */
const WIDTH = "440px";
const LABELS = 16;

const words = (of: Of, value: number): string =>
    of === "bytes" ? bytes(value) : of === "messages" ? count(value) : duration(value);

export function Matrix({ session }: { session: Session }) {
    const { trace } = session;
    const network = useMemo(() => networkCells(trace), [trace]);
    const pairs = useMemo(() => pairCells(trace), [trace]);
    const [from, setFrom] = useState<"network" | "pairs">(network.length > 0 ? "network" : "pairs");
    const [of, setOf] = useState<Of>("bytes");
    const [under, setUnder] = useState<Cell>();
    const canvas = useRef<HTMLCanvasElement>(null);
    const cells = from === "network" ? network : pairs;
    const size = cells.reduce((most, cell) => Math.max(most, cell.rank + 1, cell.peer + 1), 0);
    const most = cells.reduce((max, cell) => Math.max(max, cell[of]), 0);
    useEffect(() => {
        if (!canvas.current || size === 0) return;
        const pixels = Math.min(size, MOST);
        const grid = matrixOf(cells, of, size, pixels);
        canvas.current.width = canvas.current.height = pixels;
        const image = new ImageData(pixels, pixels);
        grid.forEach((value, i) =>
            image.data.set(
                Number.isNaN(value) ? [128, 128, 128, 28] : [...heatColour(most > 0 ? value / most : 0), 255],
                i * 4,
            ),
        );
        canvas.current.getContext("2d")!.putImageData(image, 0, 0);
    }, [of, cells]);
    if (network.length + pairs.length === 0)
        return (
            <p class="hint">
                Neither network steps nor sends and receives were recorded: who exchanged what with whom is not known.
            </p>
        );
    const cellAt = (event: MouseEvent): Cell | undefined => {
        const { clientWidth, clientHeight } = canvas.current!;
        const peer = Math.floor((event.offsetX / clientWidth) * size);
        const rank = Math.floor((event.offsetY / clientHeight) * size);
        return cells.find((cell) => cell.rank === rank && cell.peer === peer);
    };
    const go = (cell: Cell): void =>
        session.showOnly([cell.rank, cell.peer].map((r) => groupOfRank(trace, r)).filter((g) => g !== NONE));
    const choices = from === "network" ? NETWORK : PAIRS;
    const top = [...cells].sort((a, b) => b[of] - a[of]).slice(0, 12);
    return (
        <div class="heat">
            <p class="tools">
                <select
                    aria-label="where the matrix comes from"
                    value={from}
                    onChange={(e) => (setFrom(e.currentTarget.value as "network" | "pairs"), setOf("bytes"))}
                >
                    {network.length > 0 ? <option value="network">network steps</option> : null}
                    {pairs.length > 0 ? <option value="pairs">sends and receives</option> : null}
                </select>
                <select
                    aria-label="what the matrix shows"
                    value={of}
                    onChange={(e) => setOf(e.currentTarget.value as Of)}
                >
                    {choices.map(([value, label]) => (
                        <option key={value} value={value}>
                            {label}
                        </option>
                    ))}
                </select>
            </p>
            <p class="hint">{count(size)} ranks; a click shows only the two.</p>
            <div class="grid" style={{ maxWidth: WIDTH }}>
                <Down title="from rank" ticks={rankTicks(size, LABELS)} />
                <canvas
                    ref={canvas}
                    class="square"
                    role="img"
                    aria-label="matrix of ranks and peers; the largest are in the table below"
                    onMouseMove={(e) => setUnder(cellAt(e))}
                    onMouseLeave={() => setUnder(undefined)}
                    onClick={(e) => {
                        const cell = cellAt(e);
                        if (cell) go(cell);
                    }}
                />
                <span />
                <Across title="to rank" ticks={rankTicks(size, LABELS)} />
            </div>
            <div class="scale" style={{ maxWidth: WIDTH }}>
                <span>0</span>
                <i style={{ background: heatGradient() }} />
                <span>{words(of, most)}</span>
            </div>
            <p aria-live="polite">
                {under ? `rank ${under.rank} to ${under.peer}: ${words(of, under[of])}` : "\u00a0"}
            </p>
            <table class="numbers">
                <thead>
                    <tr>
                        <th>rank and peer</th>
                        <th>{choices.find(([value]) => value === of)?.[1]}</th>
                        <th>messages</th>
                    </tr>
                </thead>
                <tbody>
                    {top.map((cell) => (
                        <tr key={`${cell.rank} ${cell.peer}`}>
                            <td>
                                <button class="link" onClick={() => go(cell)}>
                                    {cell.rank} → {cell.peer}
                                </button>
                            </td>
                            <td>{words(of, cell[of])}</td>
                            <td>{count(cell.messages)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}
