// inline_pack.ts - the pack of a page (docs/reference/view-protocol.md, Pack) as typed arrays: no object per wait.
import type { LockRow, Meta, Overview, Place, Report } from "../types.ts";
import { NO_INTERACTION, STATES } from "../types.ts";
import { Columns, damaged, json } from "./inline_bytes.ts";
import type { Numbers, Sections } from "./inline_bytes.ts";
import { readAllocs } from "./inline_allocs.ts";
import type { Allocs } from "./inline_allocs.ts";
import { readMarks, readStarts, readStill } from "./inline_marks.ts";
import type { PackedMarks, Starts, Still } from "./inline_marks.ts";
import { readOwned, readSamples } from "./inline_samples.ts";
import type { Owned, Samples } from "./inline_samples.ts";

export const NONE = 0xffffffff;

/** Waits of all threads behind each other: those of thread t from first[t] up to first[t + 1]. */
export interface Waits {
    n: number;
    first: Uint32Array;
    start: Float64Array; end: Float64Array;
    /** NaN: nobody is known to have woken it. */
    wake: Float64Array;
    context: Uint32Array; waker: Uint32Array; how: Uint8Array; flags: Uint8Array;
}

export interface Contexts {
    n: number; lock: Uint32Array; other: Uint32Array; stack: Uint32Array; owner_stack: Uint32Array; site: Uint32Array; owner_site: Uint32Array;
    state: Uint8Array; flags: Uint8Array; held_up: Uint8Array;
}
export interface Locks { n: number; group: Uint32Array; hash: Uint32Array }
export interface Sites {
    n: number; group: Uint32Array; stack: Uint32Array; top_method: Uint32Array; top_line: Int32Array; app_method: Uint32Array; app_line: Int32Array;
}
export interface Stacks { n: number; first: Uint32Array; cut: Uint8Array; method: Uint32Array; line: Int32Array }
export type Method = [string, string, string, string, number];
export interface Names { classes: (string | null)[]; methods: Method[]; errors: string[]; objects?: string[]; calls?: [string, string, string][] }
export interface Acts { n: number; from_time: Float64Array; to_time: Float64Array; from: Uint32Array; to: Uint32Array; how: Uint8Array }
export interface Wakes { n: number; thread: Uint32Array; index: Uint32Array; stack: Uint32Array }
/** Who gave a monitor back that an Object.wait took again: `wait` among all waits. */
export interface Regains { n: number; wait: Uint32Array; owner: Uint32Array; how: Uint8Array; wake: Float64Array; stack: Uint32Array }
export interface Holds { n: number; from: Float64Array; to: Float64Array; thread: Uint32Array; lock: Uint32Array; mode: Uint8Array }
export interface Segments { n: number; from: Float64Array; to: Float64Array; thread: Uint32Array; lock: Uint32Array; stack: Uint32Array; kind: Uint8Array; state: Uint8Array }

/** Meta with what only a page's has. */
export interface PackMeta extends Meta { report: Report; lock_rows: LockRow[]; overview: Overview }

/** All that a page of packed "exact" knows. */
export interface Pack {
    meta: PackMeta; waits: Waits; contexts: Contexts; locks: Locks; sites: Sites; stacks: Stacks; names: Names; acts: Acts; wakes: Wakes; regains: Regains; holds: Holds; path: Segments;
    samples: Samples; owned: Owned; allocs: Allocs; marks: PackedMarks; starts: Starts; still: Still;
    /** How each frame of the stacks was executed; empty: no samples. */
    executed: Uint8Array;
}

export function readMeta(all: Sections): PackMeta {
    const m = json(all, "meta") as PackMeta;
    if (!m || typeof m !== "object" || !Array.isArray(m.threads?.id) || !m.report || !m.overview || !Array.isArray(m.lock_rows))
        throw damaged("its meta lacks what it must have");
    checkThreads(m);
    return m;
}

/** Rows are made from these without looking. */
function checkThreads(m: PackMeta): void {
    const t = m.threads, n = t.id.length;
    for (const column of [t.name, t.group, t.pool, t.from, t.to, t.waits])
        if (!Array.isArray(column) || column.length !== n)
            throw damaged("its threads lack what they must have");
    for (const [of, set] of [[t.group, m.groups], [t.pool, m.pools]] as const)
        if (!Array.isArray(set?.name) || !of.every((k) => k >= 0 && k < set.name.length))
            throw damaged("its threads are of groups that there are not");
    if (![...t.from, ...t.to].every((v) => typeof v === "number"))
        throw damaged("lifetimes of threads are not times");
}

const EMPTY = new Uint8Array(16);

export function readPack(all: Sections, meta: PackMeta): Pack {
    const of = (name: string) => new Columns(all.get(name) ?? EMPTY, name);
    const contexts = readContexts(of("contexts")), waits = readWaits(all, meta, contexts.flags);
    const pack = {
        meta, waits, contexts, locks: readLocks(of("locks")), sites: readSites(of("sites")),
        stacks: readStacks(of("stacks")), names: json(all, "names") as Names, acts: readActs(of("acts")), wakes: readWakes(of("wakes"), waits),
        regains: readRegains(of("regains"), waits), holds: readHolds(of("holds")), path: readPath(all.get("path") ?? EMPTY),
        samples: readSamples(of("samples"), meta.threads.id.length), owned: readOwned(of("owned")), executed: readExecuted(of("executed")),
        allocs: readAllocs(of("allocs"), meta.threads.id.length), marks: readMarks(of("marks")), starts: readStarts(of("starts")),
        still: readStill(of("still")),
    };
    check(pack);
    return pack;
}

// --- columns ------------------------------------------------------------------------------------------

function readContexts(c: Columns): Contexts {
    const n = c.head();
    return {
        n, lock: c.u32(n), other: c.u32(n), stack: c.u32(n), owner_stack: c.u32(n), site: c.u32(n), owner_site: c.u32(n), state: c.u8(n), flags: c.u8(n),
        held_up: c.u8(n),
    };
}

function readLocks(c: Columns): Locks {
    const n = c.head();
    return { n, group: c.u32(n), hash: c.u32(n) };
}

function readSites(c: Columns): Sites {
    const n = c.head();
    return { n, group: c.u32(n), stack: c.u32(n), top_method: c.u32(n), top_line: c.i32(n), app_method: c.u32(n), app_line: c.i32(n) };
}

function readStacks(c: Columns): Stacks {
    const n = c.head();
    if (n === 0)
        return { n, first: new Uint32Array(1), cut: new Uint8Array(0), method: new Uint32Array(0), line: new Int32Array(0) };
    const first = c.u32(n + 1), cut = c.u8(n);
    for (let i = 0; i < n; i++)
        if (first[i] > first[i + 1])
            throw damaged("its stacks overlap");
    return { n, first, cut, method: c.u32(first[n]), line: c.i32(first[n]) };
}

function readActs(c: Columns): Acts {
    const n = c.head();
    return { n, from_time: c.f64(n), to_time: c.f64(n), from: c.u32(n), to: c.u32(n), how: c.u8(n) };
}

function readWakes(c: Columns, w: Waits): Wakes {
    const n = c.head(), place = c.numbers(n), stack = c.numbers(n);
    if (n > w.n)
        throw damaged(`it names ${n} wakes`);
    const out = { n, thread: new Uint32Array(n), index: new Uint32Array(n), stack: new Uint32Array(n) };
    for (let k = 0, wait = 0, thread = 0; k < n; k++) {
        wait += place.next();
        if (wait >= w.n)
            throw damaged(`wait ${wait} of ${w.n}`);
        while (w.first[thread + 1] <= wait)
            thread++;
        out.thread[k] = thread;
        out.index[k] = wait - w.first[thread];
        out.stack[k] = stack.next();
    }
    return out;
}

function readRegains(c: Columns, w: Waits): Regains {
    const n = c.head(), place = c.numbers(n), owner = c.numbers(n), how = c.numbers(n), wake = c.numbers(n), stack = c.numbers(n);
    if (n > w.n)
        throw damaged(`it names ${n} regains`);
    const out = { n, wait: new Uint32Array(n), owner: new Uint32Array(n), how: new Uint8Array(n), wake: new Float64Array(n), stack: new Uint32Array(n) };
    for (let k = 0, wait = 0; k < n; k++) {
        wait += place.next();
        if (wait >= w.n)
            throw damaged(`wait ${wait} of ${w.n}`);
        out.wait[k] = wait;
        out.owner[k] = owner.next();
        const h = how.next();
        out.how[k] = h ? h - 1 : NO_INTERACTION;
        out.wake[k] = w.end[wait] - wake.signed();
        out.stack[k] = stack.next();
    }
    return out;
}

function readHolds(c: Columns): Holds {
    const n = c.head(), begin = c.numbers(n), length = c.numbers(n), thread = c.u32(n), lock = c.u32(n), mode = c.u8(n);
    const from = new Float64Array(n), to = new Float64Array(n);
    for (let k = 0, time = 0; k < n; k++) {
        from[k] = time += begin.signed();
        to[k] = time + length.next();
    }
    return { n, from, to, thread, lock, mode };
}

function readExecuted(c: Columns): Uint8Array {
    return c.u8(c.head());
}

function readPath(bytes: Uint8Array<ArrayBuffer>): Segments {
    const c = new Columns(bytes, "path");
    const n = c.u32(4)[2];
    return { n, from: c.f64(n), to: c.f64(n), thread: c.u32(n), lock: c.u32(n), stack: c.u32(n), kind: c.u8(n), state: c.u8(n) };
}

// --- waits --------------------------------------------------------------------------------------------

function readWaits(all: Sections, meta: PackMeta, flags: Uint8Array): Waits {
    const bytes = all.get("waits");
    if (!bytes)
        throw damaged("its waits are missing");
    const c = new Columns(bytes, "waits"), n = c.head(), count = c.u32(meta.threads.id.length);
    if (n > bytes.length || count.reduce((sum, k) => sum + k, 0) !== n)
        throw damaged(`it names ${n} waits`);
    const first = new Uint32Array(count.length + 1);
    for (let t = 0; t < count.length; t++)
        first[t + 1] = first[t] + count[t];
    const w = {
        n, first, start: new Float64Array(n), end: new Float64Array(n), wake: new Float64Array(n), context: new Uint32Array(n), waker: new Uint32Array(n),
        how: new Uint8Array(n), flags: new Uint8Array(n),
    };
    readTimes(w, c.numbers(n), c.numbers(n), meta.threads.from);
    readContextsOf(w, c.numbers(n), flags);
    readWakers(w, c.numbers(n), c);
    return w;
}

function readTimes(w: Waits, gap: Numbers, length: Numbers, from: readonly number[]): void {
    for (let t = 0; t + 1 < w.first.length; t++) {
        let time = from[t];
        for (let k = w.first[t]; k < w.first[t + 1]; k++) {
            w.start[k] = time += gap.signed();
            w.end[k] = time += length.next();
        }
    }
}

function readContextsOf(w: Waits, context: Numbers, flags: Uint8Array): void {
    for (let k = 0; k < w.n; k++) {
        const c = context.next();
        w.context[k] = c;
        w.flags[k] = flags[c];
    }
}

function readWakers(w: Waits, waker: Numbers, c: Columns): void {
    let woken = 0;
    for (let k = 0; k < w.n; k++) {
        w.waker[k] = waker.next();
        woken += Number(w.waker[k] !== 0);
    }
    const how = c.numbers(woken), wake = c.numbers(woken);
    for (let k = 0; k < w.n; k++) {
        if (w.waker[k]) {
            const h = how.next();
            w.how[k] = h ? h - 1 : NO_INTERACTION;
            w.wake[k] = w.end[k] - wake.signed();
        } else {
            w.how[k] = NO_INTERACTION;
            w.wake[k] = NaN;
        }
    }
}

// --- what refers to what --------------------------------------------------------------------------------

function below(values: Uint32Array, limit: number, what: string, none = false): void {
    for (let i = 0; i < values.length; i++)
        if (values[i] >= limit && !(none && values[i] === NONE))
            throw damaged(`${what} ${values[i]} of ${limit}`);
}

function check(p: Pack): void {
    const threads = p.meta.threads.id.length, methods = p.names?.methods?.length, classes = p.names?.classes?.length;
    if (methods === undefined || classes === undefined)
        throw damaged("its names are missing");
    const c = p.contexts, s = p.sites;
    below(p.waits.context, Math.max(c.n, 1), "context");
    below(p.waits.waker, threads, "waker");
    for (const [values, limit, what, none] of [
        [c.lock, p.locks.n, "lock"], [c.other, threads, "thread"], [c.stack, p.stacks.n, "stack"], [c.owner_stack, p.stacks.n, "stack"],
        [c.site.subarray(1), s.n, "site", true], [c.owner_site.subarray(1), s.n, "site", true], [p.locks.group, classes, "class"], [s.group, classes, "class"],
        [s.stack, p.stacks.n, "stack"], [s.top_method, methods, "method"], [s.app_method, methods, "method"], [p.stacks.method, methods, "method"],
        [p.acts.from, threads, "thread"], [p.acts.to, threads, "thread"], [p.wakes.thread, threads, "thread"], [p.wakes.stack, p.stacks.n, "stack"], [p.regains.owner, threads, "thread"], [p.regains.stack, p.stacks.n, "stack"],
        [p.holds.thread, threads, "thread"], [p.holds.lock, p.locks.n, "lock"], [p.path.thread, threads, "thread"],
        [p.allocs.stack, p.stacks.n, "stack"], [p.allocs.class, p.names.objects?.length ?? 0, "class"], ...p.allocs.lists.map((l) => [l.context, p.allocs.n, "allocation"]),
        [p.marks.thread, threads, "thread"], [p.marks.lock, p.locks.n, "lock"], [p.marks.stack, p.stacks.n, "stack"], [p.starts.stack, p.stacks.n, "stack"], [p.still.thread, threads, "thread"], [p.still.stack, p.stacks.n, "stack"],
        [p.samples.stack, p.stacks.n, "stack"], [p.owned.owner, threads, "thread"], [p.owned.lock, p.locks.n, "lock"],
    ] as [Uint32Array, number, string, boolean?][])
        below(values, Math.max(limit, 1), what, none ?? false);
    for (let i = 0; i < c.n; i++)
        if (c.state[i] >= STATES.length)
            throw damaged(`state ${c.state[i]}`);
}

// --- names ----------------------------------------------------------------------------------------------

export function placeOf(names: Names, method: number, line: number): Place | null {
    const m = names.methods[method];
    return method && m ? { class: m[0], method: m[1], signature: m[2], file: m[3], line: line >= 0 ? line : null } : null;
}

export function stackOf(p: Pack, stack: number): Place[] {
    const all: Place[] = [];
    if (stack < p.stacks.n)
        for (let i = p.stacks.first[stack]; i < p.stacks.first[stack + 1]; i++)
            all.push(placeOf(p.names, p.stacks.method[i], p.stacks.line[i]) ?? { class: "unknown", method: "unknown", file: "", line: null });
    return all;
}

/** Group of a lock's class; 0: unknown. */
export function groupOf(p: Pack, lock: number): number {
    return lock < p.locks.n ? p.locks.group[lock] : 0;
}

export function classOf(p: Pack, lock: number): string | null {
    return p.names.classes[groupOf(p, lock)] ?? null;
}
