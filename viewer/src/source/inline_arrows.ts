// inline_arrows.ts - tiles of interactions and of the critical path, and the minimap, from the pack.
import { BUCKETS, NO_INTERACTION, PATH_KINDS } from "../types.ts";
import type { Arrows, Bundles, ExactArrows, Overview, PathTile } from "../types.ts";
import { upper } from "./inline_model.ts";
import type { Model } from "./inline_model.ts";
import type { Segments } from "./inline_pack.ts";
import { share } from "./inline_tile.ts";
import type { Frame } from "./inline_tile.ts";

export const ARROWS_MAX = 2048;
export const PATH_MAX = 4096;
const SLOTS = 64;
const NO_WAIT = 0xffffffff;

// --- arrows ---------------------------------------------------------------------------------------------

/** Calls for every arrow from one thread to another whose effect lies in the frame: a wait, or (wait -1) an act that ended none. */
function each(m: Model, f: Frame, visit: (thread: number, wait: number, act: number) => void): void {
    const w = m.pack.waits, a = m.pack.acts;
    for (let t = 1; t < m.threads; t++) {
        const last = w.first[t + 1];
        for (let k = m.firstNear(t, f.from); k < last && w.start[k] < f.to; k++)
            if (w.waker[k] && w.waker[k] !== t && w.how[k] !== NO_INTERACTION && w.end[k] >= f.from && w.end[k] < f.to)
                visit(t, k, -1);
    }
    for (let i = 0; i < a.n; i++)
        if (a.to_time[i] >= f.from && a.to_time[i] < f.to && a.from[i] !== a.to[i])
            visit(a.to[i], -1, i);
}

export function arrowsOf(m: Model, f: Frame): Arrows {
    let n = 0;
    each(m, f, () => n++);
    return n <= ARROWS_MAX ? exact(m, f, n) : bundles(m, f);
}

function exact(m: Model, f: Frame, n: number): ExactArrows {
    const w = m.pack.waits, a = m.pack.acts;
    const found: { to: number; wait: number; act: number; time: number }[] = [];
    each(m, f, (to, wait, act) => found.push({ to, wait, act, time: wait >= 0 ? w.end[wait] : a.to_time[act] }));
    found.sort((x, y) => x.time - y.time);
    const pick = (ofWait: (k: number) => number, ofAct: (i: number) => number) => found.map((x) => (x.wait >= 0 ? ofWait(x.wait) : ofAct(x.act)));
    return {
        kind: "exact", n, left_out: 0,
        from_time: Float64Array.from(pick((k) => (Number.isNaN(w.wake[k]) ? w.end[k] : w.wake[k]), (i) => a.from_time[i])),
        to_time: Float64Array.from(found, (x) => x.time), from: Uint32Array.from(pick((k) => w.waker[k], (i) => a.from[i])),
        to: Uint32Array.from(found, (x) => x.to), index: Uint32Array.from(found, (x) => (x.wait >= 0 ? x.wait - w.first[x.to] : NO_WAIT)),
        how: Uint8Array.from(pick((k) => w.how[k], (i) => a.how[i])),
    };
}

interface Bundle { from: number; to: number; how: number; slot: number; count: number; wait_ns: number }

function bundles(m: Model, f: Frame): Bundles {
    const w = m.pack.waits, a = m.pack.acts;
    const known = new Map<number, Bundle>();
    const width = (f.to - f.from) / SLOTS;
    each(m, f, (to, wait, act) => {
        const from = wait >= 0 ? w.waker[wait] : a.from[act], how = wait >= 0 ? w.how[wait] : a.how[act];
        const time = wait >= 0 ? w.end[wait] : a.to_time[act];
        const slot = Math.min(Math.floor((time - f.from) / width), SLOTS - 1);
        const key = ((from * m.threads + to) * SLOTS + slot) * 16 + how;
        let b = known.get(key);
        if (!b)
            known.set(key, (b = { from, to, how, slot, count: 0, wait_ns: 0 }));
        b.count++;
        b.wait_ns += wait >= 0 ? w.end[wait] - w.start[wait] : a.to_time[act] - a.from_time[act];
    });
    const all = [...known.values()].sort((x, y) => y.wait_ns - x.wait_ns || y.count - x.count);
    const kept = all.slice(0, ARROWS_MAX);
    return {
        kind: "bundles", n: kept.length, left_out: all.slice(ARROWS_MAX).reduce((sum, b) => sum + b.count, 0),
        wait_ns: Float64Array.from(kept, (b) => b.wait_ns), from: Uint32Array.from(kept, (b) => b.from), to: Uint32Array.from(kept, (b) => b.to),
        count: Uint32Array.from(kept, (b) => b.count), slot: Uint32Array.from(kept, (b) => b.slot), how: Uint8Array.from(kept, (b) => b.how),
    };
}

// --- critical path ----------------------------------------------------------------------------------------

/** The segments tile the path's time, so that both their ends only grow. */
export function pathOf(p: Segments, f: Frame): PathTile {
    const first = upper(p.to, f.from, 0, p.n);
    let last = first;
    while (last < p.n && p.from[last] < f.to && last - first <= PATH_MAX)
        last++;
    if (last - first <= PATH_MAX)
        return {
            kind: "exact", n: last - first, from: p.from.subarray(first, last), to: p.to.subarray(first, last), thread: p.thread.subarray(first, last),
            lock: p.lock.subarray(first, last), stack: p.stack.subarray(first, last), segment: p.kind.subarray(first, last), state: p.state.subarray(first, last),
        };
    return buckets(p, f, first);
}

/** The main thread of each bucket, from segments of which the first `first` are over before it. */
export function buckets(p: Segments, f: Frame, first: number): PathTile {
    const out = { kind: "buckets" as const, thread: new Uint32Array(BUCKETS), segment: new Uint8Array(BUCKETS), share: new Uint8Array(BUCKETS) };
    let k = first;
    for (let b = 0; b < BUCKETS; b++) {
        const from = f.from + b * f.bucket, to = from + f.bucket;
        const threads = new Map<number, number>(), kinds = new Map<number, number>(); // kinds: thread * 8 + kind
        while (k < p.n && p.to[k] <= from)
            k++;
        for (let i = k; i < p.n && p.from[i] < to; i++) {
            const ns = Math.min(p.to[i], to) - Math.max(p.from[i], from);
            threads.set(p.thread[i], (threads.get(p.thread[i]) ?? 0) + ns);
            kinds.set(p.thread[i] * 8 + p.kind[i], (kinds.get(p.thread[i] * 8 + p.kind[i]) ?? 0) + ns);
        }
        const [thread, ns] = most(threads);
        out.thread[b] = thread;
        out.segment[b] = most(new Map([...kinds].filter(([key]) => Math.floor(key / 8) === thread)))[0] % 8;
        out.share[b] = share(ns / f.bucket);
    }
    return out;
}

function most(sums: Map<number, number>): [number, number] {
    let best: [number, number] = [0, 0];
    for (const [key, ns] of sums)
        if (ns > best[1])
            best = [key, ns];
    return best;
}

// --- minimap ----------------------------------------------------------------------------------------------

/** The overview with n parts instead of those that it has. */
export function resample(o: Overview, n: number): Overview {
    const path: Record<string, number[]> = {};
    for (const kind of PATH_KINDS)
        path[kind] = parts(o.path[kind] ?? [], n);
    return { from: o.from, to: o.to, n, running: parts(o.running, n), held_up: parts(o.held_up, n), path };
}

function parts(values: readonly number[], n: number): number[] {
    const out = new Array<number>(n).fill(0);
    const step = values.length / n;
    for (let i = 0; i < n && step > 0; i++) {
        const from = i * step, to = from + step;
        let sum = 0;
        for (let k = Math.floor(from); k < to && k < values.length; k++)
            sum += values[k] * (Math.min(to, k + 1) - Math.max(from, k));
        out[i] = sum / step;
    }
    return out;
}
