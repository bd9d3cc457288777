// marks.ts - small signs on the bars of threads: where a thread ended, and where an Object.wait ended because its time
// was up.
import type { Palette } from "./palette.ts";
import { ROW } from "../rows.ts";

export type MarkKind = "end" | "time-up";
/** css pixels: where in time it stands, and the top of its row. */
export interface Mark { kind: MarkKind; x: number; y: number }

/** Shorter waits than this have no box at their end: it would hide them. */
export const BOX_FROM_PX = 14;
const BOX = 6;

function drawEnd(g: CanvasRenderingContext2D, x: number, y: number, p: Palette): void {
    g.fillStyle = p.pathEdge;
    g.fillRect(x - 5, y + 1, 8, ROW - 2);
    g.fillStyle = p.text;
    g.fillRect(x, y + 2, 2, ROW - 4);
    g.fillRect(x - 4, y + 2, 4, 2);
    g.fillRect(x - 4, y + ROW - 4, 4, 2);
}

function drawTimeUp(g: CanvasRenderingContext2D, x: number, y: number, p: Palette): void {
    g.fillStyle = p.text;
    g.fillRect(x - BOX, y + 4, BOX, ROW - 8);
    g.fillStyle = p.pathEdge;
    g.fillRect(x - BOX + 1, y + 5, BOX - 2, ROW - 10);
    g.fillStyle = p.text; // the hands of a clock
    g.fillRect(x - BOX / 2 - 0.5, y + 6, 1, ROW / 2 - 5);
    g.fillRect(x - BOX / 2 - 0.5, y + ROW / 2, 2, 1);
}

export const DRAW_MARK: Record<MarkKind, (g: CanvasRenderingContext2D, x: number, y: number, p: Palette) => void> = { "end": drawEnd, "time-up": drawTimeUp };

export function drawMarks(g: CanvasRenderingContext2D, marks: readonly Mark[], p: Palette): void {
    for (const m of marks)
        DRAW_MARK[m.kind](g, m.x, m.y, p);
}
