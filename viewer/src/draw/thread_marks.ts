// thread_marks.ts - what a thread did that no wait and no arrow shows, along the upper edge of its row: calls of tracked
// methods as lines as long as they took, calls of which only the entry is recorded as points, notifies that woke nobody
// as rings.
import type { Palette } from "./palette.ts";
import type { ThreadMark } from "../types.ts";

/** Css pixels of a row that they stand in. */
export const MARKS_HIGH = 6;
const NEAR = 5;

export type MarkLook = "call" | "failed-call" | "call-moment" | "notify" | "notify-all";

export function lookOf(m: ThreadMark): MarkLook {
    if (m.what !== "call")
        return m.what;
    return m.flags.includes("failed") ? "failed-call" : m.flags.includes("moment") || m.flags.includes("unknown") ? "call-moment" : "call";
}

/** From x0 to x1, css pixels, of a row whose upper edge is y. */
export function drawThreadMark(g: CanvasRenderingContext2D, look: MarkLook, x0: number, x1: number, y: number, p: Palette): void {
    g.fillStyle = g.strokeStyle = p.text;
    g.lineWidth = 1;
    if (look === "notify" || look === "notify-all") {
        for (const r of look === "notify" ? [2.5] : [1, 3]) {
            g.beginPath();
            g.arc(x0, y + 3, r, 0, 2 * Math.PI);
            g.stroke();
        }
    } else if (look === "call-moment") {
        g.beginPath();
        g.moveTo(x0 - 3, y);
        g.lineTo(x0 + 3, y);
        g.lineTo(x0, y + 5);
        g.fill();
    } else {
        const width = Math.max(1, x1 - x0);
        g.fillRect(x0, y, width, 2);
        g.fillRect(x0, y, 1, 5);
        g.fillRect(x0 + width - 1, y, 1, 5);
        g.fillStyle = p.pathEdge;
        if (width > 3)
            g.fillRect(x0 + 1, y + 2, width - 2, 1);
        if (look === "failed-call") {
            g.beginPath();
            for (const [a, b] of [[-3, 3], [3, -3]]) {
                g.moveTo(x0 + width + a, y);
                g.lineTo(x0 + width + b, y + 6);
            }
            g.stroke();
        }
    }
}

/** Of a thread's marks the one that a place is on: of several the shortest. */
export function threadMarkAt(marks: readonly ThreadMark[], thread: number, time: number, ns: number): ThreadMark | null {
    let best: ThreadMark | null = null;
    for (const m of marks)
        if (m.thread === thread && time >= m.from - NEAR * ns && time <= m.to + NEAR * ns && (!best || m.to - m.from < best.to - best.from))
            best = m;
    return best;
}
