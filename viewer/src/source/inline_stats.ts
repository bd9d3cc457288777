// inline_stats.ts - sums of the waits of a selection by thread, context, site: src/analyze/stats.c, but that
// every percentile is exact.
//
// A wait that lies in the range with a part counts, with the time of that part.  An Object.wait whose
// notify is known is two: waiting up to it, then reacquiring.  Of a wait of which one end is missing the
// count is known, not the time.
import { FLAG, HALTS, haltOf, STATES } from "../types.ts";
import { REACQUIRING, UNKNOWN, touches } from "./inline_model.ts";
import type { Cut, Model } from "./inline_model.ts";
import { NONE } from "./inline_pack.ts";

/** Beside the states: all waits in which others held the thread up, whatever the state. */
export const HELD_UP = STATES.length;
export const N = STATES.length + 1;

/** Sums by some key and the state: entry key * N + state. */
export class Sums {
    readonly count: Float64Array; readonly unknown: Float64Array; readonly open: Float64Array; readonly ns: Float64Array;
    readonly min: Float64Array; readonly max: Float64Array; readonly threads: Float64Array; readonly objects: Float64Array;
    private readonly last: Int32Array;

    constructor(keys: number) {
        const column = (fill = 0) => new Float64Array(keys * N).fill(fill);
        this.count = column();
        this.unknown = column();
        this.open = column();
        this.ns = column();
        this.min = column(Infinity);
        this.max = column();
        this.threads = column();
        this.objects = column();
        this.last = new Int32Array(keys * N).fill(-1);
    }

    add(at: number, thread: number, ns: number, flags: number): void {
        this.count[at]++;
        if (this.last[at] !== thread) {
            this.last[at] = thread;
            this.threads[at]++;
        }
        if (flags & FLAG.unknown) {
            this.unknown[at]++;
            return;
        }
        this.open[at] += flags & FLAG.open;
        this.ns[at] += ns;
        if (ns < this.min[at])
            this.min[at] = ns;
        if (ns > this.max[at])
            this.max[at] = ns;
    }
}

/** Durations that grow in number, with the key of each. */
export class Durations {
    n = 0;
    ns = new Float64Array(1024);
    key = new Uint32Array(1024);

    push(key: number, ns: number): void {
        if (this.n === this.ns.length) {
            const wide = new Float64Array(this.n * 2), keys = new Uint32Array(this.n * 2);
            wide.set(this.ns);
            keys.set(this.key);
            this.ns = wide;
            this.key = keys;
        }
        this.ns[this.n] = ns;
        this.key[this.n++] = key;
    }

    /** Those of each key behind each other. */
    byKey(keys: number): { first: Uint32Array; ns: Float64Array } {
        const first = new Uint32Array(keys + 1), ns = new Float64Array(this.n);
        for (let i = 0; i < this.n; i++)
            first[this.key[i] + 1]++;
        for (let k = 0; k < keys; k++)
            first[k + 1] += first[k];
        const at = first.slice();
        for (let i = 0; i < this.n; i++)
            ns[at[this.key[i]]++] = this.ns[i];
        return { first, ns };
    }
}

export interface Stats {
    cut: Cut;
    threads: Sums;
    /** By thread. */
    life: Float64Array; reacquired: Float64Array; halted: Float64Array; ioLooks: Float64Array;
    groups: Sums; sites: Sums; owners: Sums; // owners: by site, all in state 0
    /** By class group. */
    timedOut: Float64Array; groupReacquired: Float64Array; objects: Float64Array;
    siteTimes: Durations; ownerTimes: Durations;
    /** By class group: of the owners that were asked, by site. */
    asked: Map<number, Weigh>;
}

/** A wait, or the part of one that is in one state, uncut. */
export interface Part { thread: number; wait: number; context: number; state: number; start: number; end: number; flags: number }

/** Calls for each part of the selection's waits, cut to it; also for stretches that are not waits,
 * if they are wanted. */
export function eachPart(m: Model, c: Cut, visit: (p: Part) => void, reacquired?: (thread: number, context: number) => void, unknown?: (thread: number, ns: number) => void): void {
    const w = m.pack.waits, x = m.pack.contexts;
    const p: Part = { thread: 0, wait: 0, context: 0, state: 0, start: 0, end: 0, flags: 0 };
    const part = (start: number, end: number) => {
        if (!touches(c, start, end))
            return;
        p.start = Math.max(start, start === end ? start : c.from);
        p.end = start === end ? end : Math.min(end, c.to);
        visit(p);
    };
    for (let t = 0; t < m.threads; t++) {
        if (c.threads && !c.threads[t])
            continue;
        for (let k = m.firstNear(t, c.from), last = w.first[t + 1]; k < last && w.start[k] <= c.to; k++) {
            const context = w.context[k], flags = x.flags[context];
            if (c.lock && x.lock[context] !== c.lock)
                continue;
            if (x.state[context] === UNKNOWN) {
                if (touches(c, w.start[k], w.end[k]))
                    unknown?.(t, Math.min(w.end[k], c.to) - Math.max(w.start[k], c.from));
                continue;
            }
            if (flags & FLAG.reacquired) {
                if (touches(c, w.start[k], w.end[k]))
                    reacquired?.(t, context);
                continue;
            }
            const until = m.until(k), again = until < w.end[k];
            p.thread = t;
            p.wait = k;
            p.context = context;
            p.state = x.state[context];
            p.flags = again ? flags & ~FLAG.open : flags;
            part(w.start[k], until);
            if (again) {
                p.state = REACQUIRING;
                p.flags = flags;
                part(until, w.end[k]);
            }
        }
    }
}

/** With `times`, what percentiles and distributions are made of, too. */
export function makeStats(m: Model, c: Cut, times: boolean): Stats {
    const p = m.pack, sites = p.sites.n, groups = p.names.classes.length;
    const s: Stats = {
        cut: c, threads: new Sums(m.threads), life: new Float64Array(m.threads), reacquired: new Float64Array(m.threads),
        halted: new Float64Array(m.threads * HALTS.length), ioLooks: new Float64Array(m.threads), groups: new Sums(groups),
        sites: new Sums(sites), owners: new Sums(sites), timedOut: new Float64Array(groups), groupReacquired: new Float64Array(groups),
        objects: new Float64Array(groups), siteTimes: new Durations(), ownerTimes: new Durations(), asked: new Map(),
    };
    const counted = new Uint8Array(p.contexts.n * N);
    eachPart(m, c, (x) => addPart(m, s, x, counted, times), (t, context) => {
        s.reacquired[t]++;
        s.groupReacquired[p.locks.group[p.contexts.lock[context]] ?? 0]++;
    }, (t, ns) => s.threads.add(t * N + UNKNOWN, t, ns, 0));
    for (let t = 0; t < m.threads; t++)
        if (!c.threads || c.threads[t])
            s.life[t] = Math.max(0, Math.min(p.meta.threads.to[t], c.to) - Math.max(p.meta.threads.from[t], c.from));
    addStill(m, s);
    countObjects(m, s, counted);
    return s;
}

function addStill(m: Model, s: Stats): void {
    const x = m.pack.still, c = s.cut;
    for (let k = 0; k < x.n; k++) {
        const t = x.thread[k], from = Math.max(x.from[k], c.from), to = Math.min(x.to[k], c.to);
        if (to <= from || (c.threads && !c.threads[t]))
            continue;
        s.halted[t * HALTS.length + haltOf(x.what[k])] += to - from;
        s.ioLooks[t] += x.looks[k];
    }
}

function addPart(m: Model, s: Stats, x: Part, counted: Uint8Array, times: boolean): void {
    const contexts = m.pack.contexts, ns = x.end - x.start;
    const site = contexts.site[x.context], owner = contexts.owner_site[x.context];
    const group = m.pack.locks.group[contexts.lock[x.context]] ?? 0;
    for (const column of m.heldUp(x.context, x.state) ? [x.state, HELD_UP] : [x.state]) {
        s.threads.add(x.thread * N + column, x.thread, ns, x.flags);
        if (!times)
            continue;
        s.groups.add(group * N + column, x.thread, ns, x.flags);
        counted[x.context * N + column] = 1;
        if (site === NONE)
            continue;
        s.sites.add(site * N + column, x.thread, ns, x.flags);
        if (!(x.flags & FLAG.unknown))
            s.siteTimes.push(site * N + column, ns);
    }
    if (!times)
        return;
    if (x.state === 1 && x.flags & FLAG.timedOut)
        s.timedOut[group]++;
    if (owner === NONE || x.flags & FLAG.unknown)
        return;
    s.owners.add(owner * N, x.thread, ns, x.flags);
    s.ownerTimes.push(owner * N, ns);
    let asked = s.asked.get(group);
    if (!asked)
        s.asked.set(group, (asked = new Weigh()));
    asked.add(owner, ns);
}

/** Different objects of each class and each site, by state; blocked on or waited in count once. */
function countObjects(m: Model, s: Stats, counted: Uint8Array): void {
    const c = m.pack.contexts, locks = m.pack.locks;
    const known = new Set<string>();
    const once = (name: string, add: () => void) => {
        if (!known.has(name)) {
            known.add(name);
            add();
        }
    };
    for (let at = 0; at < counted.length; at++) {
        const context = Math.floor(at / N), state = at % N, lock = c.lock[context];
        if (!counted[at] || !lock)
            continue;
        const group = locks.group[lock], site = c.site[context];
        once(`l ${lock} ${state}`, () => s.groups.objects[group * N + state]++);
        if (state <= 1)
            once(`o ${lock}`, () => s.objects[group]++);
        if (site !== NONE)
            once(`s ${site} ${lock} ${state}`, () => s.sites.objects[site * N + state]++);
    }
}

// --- weights ------------------------------------------------------------------------------------------------

const WEIGH_LEAST = 20;

/** What each key's waits weigh of 1000, and in ns: a wait weighs its time, but a twentieth of all at most; where no such bound exists, all the same (src/analyze/weigh.h). */
export class Weigh {
    private n = 0;
    private ns = 0;
    private longest: { key: number; ns: number }[] = [];

    add(key: number, ns: number): void {
        const last = this.longest[WEIGH_LEAST - 1];
        this.n++;
        this.ns += ns;
        if (last && ns <= last.ns)
            return;
        const at = this.longest.findIndex((w) => w.ns < ns);
        this.longest.splice(at < 0 ? this.longest.length : at, 0, { key, ns });
        this.longest.length = Math.min(this.longest.length, WEIGH_LEAST);
    }

    /** What a wait weighs at most; 0: each weighs the same. */
    private bound(): number {
        let rest = this.ns;
        for (let k = 0; k < WEIGH_LEAST; k++) {
            const most = Math.floor(rest / (WEIGH_LEAST - k)), ns = this.longest[k]?.ns ?? 0;
            if (ns <= most)
                return most;
            rest -= ns;
        }
        return 0;
    }

    of(key: number, count: number, ns: number): { ns: number; permille: number } {
        const most = this.bound();
        const excess = (is: (key: number) => boolean) => this.longest.reduce((sum, w) => sum + (w.ns > most && is(w.key) ? w.ns - most : 0), 0);
        const weight = most ? ns - excess((k) => k === key) : this.n ? count * Math.max(Math.floor(this.ns / this.n), 1) : 0;
        const all = most ? this.ns - excess(() => true) : this.n;
        return { ns: weight, permille: all > 0 ? Math.floor((1000 * (most ? weight : count)) / all) : 0 };
    }
}

// --- percentiles ------------------------------------------------------------------------------------------

/** The smallest of the ascending values that at least permille of 1000 do not exceed (nearest rank). */
export function percentile(sorted: Float64Array, permille: number): number {
    const n = sorted.length;
    return n === 0 ? 0 : sorted[Math.max(1, Math.floor(n / 1000) * permille + Math.ceil(((n % 1000) * permille) / 1000)) - 1];
}

/** [[from_ns, count], ...], those that have any. */
export function log2(sorted: Float64Array): [number, number][] {
    const out: [number, number][] = [];
    for (let at = 0, power = 1; at < sorted.length; power *= 2) {
        const from = at;
        while (at < sorted.length && sorted[at] < power * 2)
            at++;
        if (at > from)
            out.push([power === 1 ? 0 : power, at - from]);
    }
    return out;
}
