// path.ts - the critical path over the rows: solid where its thread runs, broken where it waits or changes threads.
import type { PathTile } from "../types.ts";
import { BUCKETS } from "../types.ts";
import { tileWidth } from "../source/tile.ts";
import type { Palette } from "./palette.ts";

/** A stretch of the path in one row; css pixels. */
export interface Stretch { x0: number; x1: number; y: number; runs: boolean; thread: number }

interface TilePath { level: number; i: number; path: PathTile }

export interface PathSight { x(time: number): number; width: number; y(thread: number): number }

const RUN = 0;
const JOINTS_MAX = 500;

function push(out: Stretch[], x0: number, x1: number, y: number, runs: boolean, thread: number): void {
    const last = out[out.length - 1];
    if (last && last.thread === thread && last.runs === runs && x0 - last.x1 < 0.75)
        last.x1 = Math.max(last.x1, x1);
    else
        out.push({ x0, x1, y, runs, thread });
}

export function stretches(s: PathSight, tiles: readonly TilePath[]): Stretch[] {
    const out: Stretch[] = [];
    for (const t of tiles) {
        const width = tileWidth(t.level);
        const from = t.i * width;
        const p = t.path;
        if (p.kind === "exact") {
            for (let k = 0; k < p.n; k++) {
                const a = Math.max(p.from[k], from);
                const b = Math.min(p.to[k], from + width);
                if (b >= a)
                    push(out, s.x(a), s.x(b), s.y(p.thread[k]), p.segment[k] === RUN, p.thread[k]);
            }
            continue;
        }
        for (let k = 0; k < BUCKETS; k++)
            if (p.share[k])
                push(out, s.x(from + (k / BUCKETS) * width), s.x(from + ((k + 1) / BUCKETS) * width), s.y(p.thread[k]), p.segment[k] === RUN, p.thread[k]);
    }
    return out.filter((r) => r.x1 >= -10 && r.x0 <= s.width + 10);
}

/** From the middle of one row to that of the next; where a row is not shown the line breaks. */
function trace(g: CanvasRenderingContext2D, list: readonly Stretch[], want: (s: Stretch) => boolean, joints: boolean): void {
    g.beginPath();
    let before: Stretch | null = null;
    for (const s of list) {
        const shown = s.y === s.y;
        if (joints && before && shown && before.y === before.y && before.y !== s.y) {
            g.moveTo(s.x0, before.y);
            g.lineTo(s.x0, s.y);
        }
        if (shown && want(s)) {
            g.moveTo(s.x0, s.y);
            g.lineTo(Math.max(s.x1, s.x0 + 0.5), s.y);
        }
        before = s;
    }
    g.stroke();
}

export function drawPath(g: CanvasRenderingContext2D, list: readonly Stretch[], p: Palette): void {
    // Many joints would be a haze: where the path runs says enough.
    const joints = list.length > JOINTS_MAX ? 0 : Math.min(1, 120 / Math.max(1, list.length));
    g.save();
    g.lineCap = "butt";
    for (const [colour, extra] of [[p.pathEdge, 2], [p.path, 0]] as const) {
        g.strokeStyle = colour;
        g.globalAlpha = 1;
        g.lineWidth = 3 + extra;
        trace(g, list, (s) => s.runs, false);
        if (joints) {
            g.lineWidth = 1 + extra * 0.75;
            g.globalAlpha = extra ? joints / 2 : joints;
            trace(g, list, () => false, true);
        }
        g.globalAlpha = 1;
        g.lineWidth = 1.5 + extra;
        if (!extra)
            g.setLineDash([3, 3]);
        trace(g, list, (s) => !s.runs, false);
        g.setLineDash([]);
    }
    g.restore();
}
