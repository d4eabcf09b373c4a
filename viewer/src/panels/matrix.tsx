// Rank × peer: what was sent to whom, and what its steps waited for.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { NetworkRow } from "../data/meta";
import type { Session } from "../state/session";
import { heatColour } from "./heat";
import { bytes, count, duration } from "./words";

type Of = "bytes" | "net_ns" | "credit_ns" | "gpu_ns" | "messages";

const CHOICES: [Of, string][] = [
    ["bytes", "bytes"],
    ["messages", "messages"],
    ["net_ns", "time in the network"],
    ["credit_ns", "time waiting for the peer's credit"],
    ["gpu_ns", "time waiting for the own GPU"],
];

const words = (of: Of, value: number): string =>
    of === "bytes" ? bytes(value) : of === "messages" ? count(value) : duration(value);

export function Matrix({ session }: { session: Session }) {
    const rows = session.trace.bundle.meta.report.network ?? [];
    const [of, setOf] = useState<Of>("bytes");
    const [under, setUnder] = useState<NetworkRow>();
    const canvas = useRef<HTMLCanvasElement>(null);
    const known = useMemo(
        () => rows.filter((row) => row.rank !== null && row.peer !== null && row.rank >= 0 && row.peer >= 0),
        [rows],
    );
    const size = known.reduce((most, row) => Math.max(most, row.rank! + 1, row.peer! + 1), 0);
    useEffect(() => {
        if (canvas.current && size > 0) draw(canvas.current, known, of, size);
    }, [of, known]);
    if (size === 0) return <p class="hint">No network step was recorded.</p>;
    const move = (event: MouseEvent): void => {
        const { clientWidth, clientHeight } = canvas.current!;
        const peer = Math.floor((event.offsetX / clientWidth) * size);
        const rank = Math.floor((event.offsetY / clientHeight) * size);
        setUnder(known.find((row) => row.rank === rank && row.peer === peer));
    };
    return (
        <div class="heat">
            <p>
                <select
                    aria-label="what the matrix shows"
                    value={of}
                    onChange={(e) => setOf(e.currentTarget.value as Of)}
                >
                    {CHOICES.map(([value, label]) => (
                        <option key={value} value={value}>
                            {label}
                        </option>
                    ))}
                </select>
            </p>
            <p class="hint">ranks down, peers across</p>
            <canvas
                ref={canvas}
                class="square"
                onMouseMove={move}
                onMouseLeave={() => setUnder(undefined)}
                aria-label="matrix of ranks and peers"
            />
            <p>{under ? `rank ${under.rank} and ${under.peer}: ${words(of, under[of])}` : "\u00a0"}</p>
        </div>
    );
}

function draw(canvas: HTMLCanvasElement, rows: NetworkRow[], of: Of, size: number): void {
    canvas.width = size;
    canvas.height = size;
    const context = canvas.getContext("2d")!;
    const image = context.createImageData(size, size);
    const most = rows.reduce((max, row) => Math.max(max, row[of]), 0);
    for (let i = 3; i < image.data.length; i += 4) image.data[i] = 24;
    for (const row of rows)
        image.data.set([...heatColour(most > 0 ? row[of] / most : 0), 255], (row.rank! * size + row.peer!) * 4);
    context.putImageData(image, 0, 0);
}
