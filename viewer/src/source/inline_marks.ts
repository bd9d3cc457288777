// inline_marks.ts - the marks of a pack: calls of tracked methods, notifies that woke nobody; and who started each thread.
import { SourceError } from "../source.ts";
import { CALLED, IO_KINDS, MARKS } from "../types.ts";
import type { MarkDetail, Marks, Run, ThreadMark } from "../types.ts";
import type { Columns } from "./inline_bytes.ts";
import { damaged } from "./inline_bytes.ts";
import { UNKNOWN, lower, upper } from "./inline_model.ts";
import type { Cut, Model } from "./inline_model.ts";
import { stackOf } from "./inline_pack.ts";
import { lockOf } from "./inline_wait.ts";

/** Latest beginning first. */
export interface PackedMarks {
    n: number; from: Float64Array; to: Float64Array; thread: Uint32Array; index: Uint32Array; lock: Uint32Array; stack: Uint32Array; call: Uint32Array;
    what: Uint8Array; flags: Uint8Array;
}
/** By thread: when its start was called, and where. */
export interface Starts { n: number; time: Float64Array; stack: Uint32Array }

const MOST = 2000;

export function readMarks(c: Columns): PackedMarks {
    const n = c.head();
    const m = { n, from: c.f64(n), to: c.f64(n), thread: c.u32(n), index: c.u32(n), lock: c.u32(n), stack: c.u32(n), call: c.u32(n), what: c.u8(n), flags: c.u8(n) };
    if (m.what.some((w) => w >= MARKS.length))
        throw damaged("it has marks of a kind that there is not");
    return m;
}

/** Threads in input or output, in no wait. */
export interface Still { n: number; from: Float64Array; to: Float64Array; looks: Uint32Array; peer: Uint32Array; stack: Uint32Array; what: Uint8Array; thread: Uint32Array }

export function readStill(c: Columns): Still {
    const n = c.head();
    const s = { n, from: c.f64(n), to: c.f64(n), looks: c.u32(n), peer: c.u32(n), stack: c.u32(n), what: c.u8(n), thread: c.u32(n) };
    if (s.what.some((w) => w >= IO_KINDS.length) || s.thread.some((t, k) => k > 0 && (t < s.thread[k - 1] || (t === s.thread[k - 1] && s.from[k] < s.to[k - 1]))))
        throw damaged("its input and output is of a kind that there is not, or out of order");
    return s;
}

/** [first, last) of the stretches of a thread that touch [from, to). */
export function stillOf(s: Still, thread: number, from: number, to: number): [number, number] {
    const first = lower(s.thread, thread, 0, s.n), last = upper(s.thread, thread, first, s.n);
    return [upper(s.to, from, first, last), lower(s.from, to, first, last)];
}

export function ioAt(m: Model, thread: number, time: number): Run["io"] {
    const s = m.pack.still, [k, end] = stillOf(s, thread, time, time + 1);
    return k >= end ? null : {
        what: IO_KINDS[s.what[k]], start: s.from[k], end: s.to[k], peer: m.pack.meta.peers.find(([id]) => id === s.peer[k])?.[1] ?? null,
        recorded: s.looks[k] === 0, stack: stackOf(m.pack, s.stack[k]),
    };
}

export function readStarts(c: Columns): Starts {
    const n = c.head();
    return { n, time: c.f64(n), stack: c.u32(n) };
}

function markAt(m: Model, k: number): ThreadMark {
    const p = m.pack.marks;
    return {
        thread: p.thread[k], index: p.index[k], what: MARKS[p.what[k]], from: p.from[k], to: p.to[k], flags: CALLED.filter((_, bit) => p.flags[k] >> bit & 1),
        call: p.what[k] === 0 ? m.pack.names.calls?.[p.call[k]]?.[2] ?? "?" : null,
    };
}

export function marksOf(m: Model, c: Cut): Marks {
    const p = m.pack.marks, found: number[] = [];
    for (let k = 0; k < p.n; k++)
        if (p.from[k] < c.to && p.to[k] >= c.from && (!c.threads || c.threads[p.thread[k]]))
            found.push(k);
    return { n: found.length, marks: found.length > MOST ? [] : found.reverse().map((k) => markAt(m, k)) };
}

function waitedIn(m: Model, thread: number, from: number, to: number): number {
    const w = m.pack.waits;
    let ns = 0;
    for (let k = Math.max(lower(w.start, from, w.first[thread], w.first[thread + 1]) - 1, w.first[thread]); k < w.first[thread + 1] && w.start[k] < to; k++)
        if (m.state(k) !== UNKNOWN)
            ns += Math.max(Math.min(w.end[k], to) - Math.max(w.start[k], from), 0);
    return ns;
}

export function markOf(m: Model, thread: number, index: number): MarkDetail {
    const p = m.pack.marks;
    for (let k = 0; k < p.n; k++) {
        if (p.thread[k] !== thread || p.index[k] !== index)
            continue;
        const call = p.what[k] === 0 ? m.pack.names.calls?.[p.call[k]] : undefined;
        return {
            ...markAt(m, k), call: call ? { class: call[0], method: call[1] } : null, lock: lockOf(m, p.lock[k]),
            in_waits_ns: waitedIn(m, thread, p.from[k], p.to[k]), stack: stackOf(m.pack, p.stack[k]),
        };
    }
    throw new SourceError(`Thread ${thread} has no mark ${index}.`);
}

/** Of a run that begins with the thread. */
export function startedBy(m: Model, thread: number, start: number): Run["started_by"] {
    const t = m.pack.meta.threads, s = m.pack.starts;
    if (!t.starter[thread] || t.from[thread] !== start || !(thread < s.n))
        return null;
    return { thread: t.starter[thread], time: s.time[thread], stack: stackOf(m.pack, s.stack[thread]) };
}
