// inline_samples.ts - the samples of a pack: of any threads, and of locks' owners while threads waited for them.
import type { BySample } from "../types.ts";
import type { Columns } from "./inline_bytes.ts";
import { damaged } from "./inline_bytes.ts";
import { lower, upper } from "./inline_model.ts";
import type { Cut, Model } from "./inline_model.ts";
import { eachPart } from "./inline_stats.ts";

/** Those of thread t and kind k (0 cpu, 1 wall): from first[k * threads + t] up to the next one; by time. */
export interface Samples { n: number; first: Uint32Array; time: Float64Array; weight: Float64Array; stack: Uint32Array; error: Uint8Array }
/** Stretches in which a lock was wanted and its owner is known; those of a lock behind each other. */
export interface Owned { n: number; from: Float64Array; to: Float64Array; lock: Uint32Array; owner: Uint32Array }

export function readSamples(c: Columns, threads: number): Samples {
    const n = c.head(), first = new Uint32Array(2 * threads + 1);
    const s: Samples = { n, first, time: new Float64Array(n), weight: new Float64Array(n), stack: new Uint32Array(n), error: new Uint8Array(0) };
    if (n === 0)
        return s;
    [c.u32(threads), c.u32(threads)].forEach((counts, kind) => counts.forEach((k, t) => (first[kind * threads + t + 1] = k)));
    for (let i = 0; i < 2 * threads; i++)
        first[i + 1] += first[i];
    if (first[2 * threads] !== n)
        throw damaged(`it names ${n} samples`);
    const time = c.numbers(n), weight = c.numbers(n), stack = c.numbers(n);
    for (let i = 0; i < 2 * threads; i++)
        for (let k = first[i], at = 0; k < first[i + 1]; k++) {
            s.time[k] = at += time.signed();
            s.weight[k] = weight.next();
            s.stack[k] = stack.next();
        }
    return { ...s, error: c.u8(n) };
}

export function readOwned(c: Columns): Owned {
    const n = c.head(), o = { n, from: new Float64Array(n), to: new Float64Array(n), lock: new Uint32Array(0), owner: new Uint32Array(0) };
    if (n === 0)
        return o;
    const from = c.numbers(n), length = c.numbers(n);
    for (let k = 0, at = 0; k < n; k++) {
        o.from[k] = at += from.signed();
        o.to[k] = at + length.next();
    }
    return { ...o, lock: c.u32(n), owner: c.u32(n) };
}

type Visit = (k: number) => void;

function eachIn(m: Model, kind: number, thread: number, from: number, to: number, visit: Visit): void {
    const s = m.pack.samples, i = kind * m.threads + thread;
    for (let k = lower(s.time, from, s.first[i], s.first[i + 1]); k < s.first[i + 1] && s.time[k] < to; k++)
        visit(k);
}

/** Calls for each sample of a selection, once for each lock of an owner; what is known of the owners. */
export function eachSample(m: Model, c: Cut, by: BySample, visit: Visit): { wanted: number; known: number } {
    const kind = by.endsWith("cpu") ? 0 : 1;
    if (by.startsWith("owner"))
        return eachOfOwners(m, c, kind, visit);
    for (let t = 0; t < m.threads; t++)
        if (!c.threads || c.threads[t])
            eachIn(m, kind, t, c.from, c.to, visit);
    return { wanted: 0, known: 0 };
}

// --- owners ---------------------------------------------------------------------------------------------

interface Wanted { from: Float64Array; to: Float64Array }

/** When selected threads were in the queue of each lock. */
function wantedOf(m: Model, c: Cut): Map<number, Wanted> {
    const x = m.pack.contexts, all = new Map<number, [number, number][]>();
    eachPart(m, c, (p) => {
        const lock = x.lock[p.context];
        const queued = m.heldUp(p.context, p.state);
        if (!queued || !lock || p.start >= p.end)
            return;
        const list = all.get(lock) ?? [];
        list.push([p.start, p.end]);
        all.set(lock, list);
    });
    return new Map([...all].map(([lock, list]) => [lock, merged(list)]));
}

function merged(list: [number, number][]): Wanted {
    const out: [number, number][] = [];
    for (const [from, to] of list.sort((a, b) => a[0] - b[0])) {
        const last = out[out.length - 1];
        if (last && from <= last[1])
            last[1] = Math.max(last[1], to);
        else
            out.push([from, to]);
    }
    return { from: Float64Array.from(out, (s) => s[0]), to: Float64Array.from(out, (s) => s[1]) };
}

function eachOfOwners(m: Model, c: Cut, kind: number, visit: Visit): { wanted: number; known: number } {
    const o = m.pack.owned, wanted = wantedOf(m, c);
    const sum = { wanted: 0, known: 0 };
    for (const w of wanted.values())
        for (let i = 0; i < w.from.length; i++)
            sum.wanted += w.to[i] - w.from[i];
    const until = new Map<number, number>();
    for (let k = 0; k < o.n; k++) {
        const w = wanted.get(o.lock[k]);
        for (let i = w ? upper(w.to, o.from[k], 0, w.to.length) : 0; w && i < w.from.length && w.from[i] < o.to[k]; i++) {
            const from = Math.max(w.from[i], o.from[k]), to = Math.min(w.to[i], o.to[k]);
            eachIn(m, kind, o.owner[k], from, to, visit);
            sum.known += Math.max(to - Math.max(from, until.get(o.lock[k]) ?? -Infinity), 0);
            until.set(o.lock[k], Math.max(until.get(o.lock[k]) ?? -Infinity, to));
        }
    }
    return sum;
}
