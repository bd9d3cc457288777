// lane.ts - how fast a thread allocates: a thin line of columns below its bar.
import type { Rates } from "../types.ts";

/** Css pixels. */
export const LANE = 4;

/** What is drawn: a list by thread, and the most of all that there is in one part. */
export interface Lanes { from: number; to: number; n: number; most: number; of: ReadonlyMap<number, readonly number[]> }

export function lanesOf(r: Rates): Lanes {
    const of = new Map(r.threads.map((t, k) => [t, r.bytes.slice(k * r.n, (k + 1) * r.n)]));
    return { from: r.from, to: r.to, n: r.n, most: r.bytes.reduce((a, b) => Math.max(a, b), 0), of };
}

/** What a thread allocated in the part that a time lies in; null: not known. */
export function laneAt(lanes: Lanes, thread: number, time: number): { from: number; to: number; bytes: number } | null {
    const part = (lanes.to - lanes.from) / lanes.n, k = Math.floor((time - lanes.from) / part);
    if (!(k >= 0 && k < lanes.n))
        return null;
    return { from: lanes.from + k * part, to: lanes.from + (k + 1) * part, bytes: lanes.of.get(thread)?.[k] ?? 0 };
}

/** `x`: where a time is.  What is not nothing is seen; the rest is in proportion to the root, so that little is, too. */
export function drawLane(g: CanvasRenderingContext2D, lanes: Lanes, thread: number, y: number, x: (time: number) => number, width: number, ratio: number): void {
    const whole = (css: number) => Math.round(css * ratio) / ratio; // what is painted twice must not become darker at its edges
    const v = lanes.of.get(thread), part = (lanes.to - lanes.from) / lanes.n;
    for (let k = 0; v && k < lanes.n; k++) {
        const a = whole(x(lanes.from + k * part)), b = whole(x(lanes.from + (k + 1) * part));
        if (!v[k] || b < 0 || a > width)
            continue;
        const high = Math.max(1, whole(LANE * Math.sqrt(v[k] / lanes.most)));
        g.fillRect(a, y - high, Math.max(b - a, 1 / ratio), high);
    }
}
