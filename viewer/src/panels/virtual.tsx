// A table of any length: only the rows that are seen are in the document.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export const LINE = 22; // CSS pixels
/** Browsers lose precision beyond about 16 M pixels: the scroll of longer tables is scaled. */
const MOST_PIXELS = 8_000_000;

interface Props {
    rows: number;
    label: string; // for those who cannot see it
    row: (index: number) => ComponentChildren;
    chosen: number;
    onChoose: (index: number) => void;
}

export function VirtualRows({ rows, label, row, chosen, onChoose }: Props) {
    const box = useRef<HTMLDivElement>(null);
    const [top, setTop] = useState(0);
    const [height, setHeight] = useState(400);
    useLayoutEffect(() => {
        const element = box.current!;
        const observer = new ResizeObserver(() => setHeight(element.clientHeight));
        observer.observe(element);
        return () => observer.disconnect();
    }, []);
    const full = rows * LINE;
    const pixels = Math.min(full, MOST_PIXELS);
    const seen = Math.ceil(height / LINE) + 1;
    const share = pixels > height ? Math.min(1, top / (pixels - height)) : 0;
    const first = Math.floor(share * Math.max(0, rows - seen + 1));
    const indexes = Array.from({ length: Math.min(seen, rows - first) }, (_, i) => first + i);
    // What is chosen is seen, wherever it was chosen.
    useLayoutEffect(() => {
        if (chosen < 0 || (chosen >= first && chosen < first + seen - 2) || rows <= seen) return;
        box.current!.scrollTop = Math.max(0, ((chosen - seen / 2) / (rows - seen + 1)) * (pixels - height));
    }, [chosen]);
    const key = (event: KeyboardEvent): void => {
        const steps: Record<string, number> = {
            ArrowDown: 1,
            ArrowUp: -1,
            PageDown: seen - 2,
            PageUp: 2 - seen,
            Home: -rows,
            End: rows,
        };
        const step = steps[event.key];
        if (step === undefined || rows === 0) return;
        event.preventDefault();
        event.stopPropagation();
        onChoose(Math.min(rows - 1, Math.max(0, chosen + step)));
    };
    return (
        <div
            class="virtual"
            ref={box}
            tabIndex={0}
            role="grid"
            aria-label={label}
            aria-rowcount={rows}
            onScroll={() => setTop(box.current!.scrollTop)}
            onKeyDown={key}
        >
            <div style={{ height: `${pixels}px`, position: "relative" }}>
                <div style={{ position: "absolute", top: `${top}px`, left: 0, right: 0 }}>
                    {indexes.map((index) => (
                        <div
                            key={index}
                            role="row"
                            aria-rowindex={index + 1}
                            aria-selected={index === chosen}
                            class={index === chosen ? "line chosen" : "line"}
                            style={{ height: `${LINE}px` }}
                            onClick={() => onChoose(index)}
                        >
                            {row(index)}
                        </div>
                    ))}
                </div>
            </div>
        </div>
    );
}
