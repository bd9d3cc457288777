// brute.ts - the same answers the slow way: a loop over all waits for each question.
import { FLAG } from "../src/types.ts";
import type { Selection } from "../src/types.ts";
import type { TestPack } from "./pack.ts";

/** A wait, or its part in one state, cut to the selection. */
export interface BrutePart { thread: number; index: number; context: number; state: number; start: number; end: number; unknown: boolean }

export function parts(p: TestPack, s: Selection): BrutePart[] {
    const from = s.from ?? -Infinity, to = s.to ?? Infinity, out: BrutePart[] = [];
    p.threads.forEach((t, i) => {
        if (s.threads && !s.threads.includes(i + 1))
            return;
        t.waits.forEach((w, index) => {
            const c = p.contexts[w.context - 1];
            if (s.lock && c.lock !== s.lock)
                return;
            const notified = c.state === 1 && (w.how === "notify" || w.how === "notifyAll");
            const until = notified ? Math.max(w.start, Math.min(w.wake!, w.end)) : w.end;
            const halves: [number, number, number][] = [[c.state, w.start, until]];
            if (until < w.end)
                halves.push([5, until, w.end]);
            for (const [state, a, b] of halves) {
                const inside = a === b ? a >= from && a < to : b > from && a < to;
                if (inside)
                    out.push({ thread: i + 1, index, context: w.context, state, start: a === b ? a : Math.max(a, from), end: a === b ? b : Math.min(b, to), unknown: ((c.flags ?? 0) & FLAG.unknown) !== 0 });
            }
        });
    });
    return out;
}

export function percentile(values: number[], permille: number): number {
    const sorted = [...values].sort((a, b) => a - b);
    return sorted.length ? sorted[Math.max(1, Math.ceil((sorted.length * permille) / 1000)) - 1] : 0;
}

export const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
