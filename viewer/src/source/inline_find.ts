// inline_find.ts - the lists of a pack that are asked for by name: locks one by one, contexts, the search.
import { FLAG, STATES } from "../types.ts";
import type { Context, Found, LockRow } from "../types.ts";
import { LockHistory } from "./inline_lock.ts";
import { touches } from "./inline_model.ts";
import type { Cut, Model } from "./inline_model.ts";
import { NONE, classOf, placeOf } from "./inline_pack.ts";
import { eachPart } from "./inline_stats.ts";

const FOUND_MAX = 50;
const LOCKS_OF_CLASS = 5;

// --- locks ------------------------------------------------------------------------------------------------

type Counted = "blocked" | "waited" | "parked" | "joined" | "reacquired";
const KEYS: (Counted | null)[] = ["blocked", "waited", "parked", "joined", null, "reacquired"];

interface Row { row: LockRow; other: number }

function newRow(m: Model, id: number): Row {
    return {
        other: 0, row: {
            id, class: classOf(m.pack, id), hash: m.pack.locks.hash[id] || null, held_up_count: 0, held_up_ns: 0, blocked_count: 0, blocked_ns: 0, waited_count: 0, waited_ns: 0, parked_count: 0,
            parked_ns: 0, joined_count: 0, joined_ns: 0, reacquired_count: 0, reacquired_ns: 0, longest_queue: 0, holds: 0, held_ns: 0, held_max_ns: 0,
        },
    };
}

export function locksOf(m: Model, cut: Cut, top: number): { n: number; locks: LockRow[] } {
    const rows = new Map<number, Row>(), c = m.pack.contexts;
    const rowOf = (lock: number) => {
        let r = rows.get(lock);
        if (!r)
            rows.set(lock, (r = newRow(m, lock)));
        return r;
    };
    eachPart(m, cut, (p) => {
        const lock = c.lock[p.context], key = KEYS[p.state];
        if (!lock || !key)
            return;
        const r = rowOf(lock), ns = p.flags & FLAG.unknown ? 0 : p.end - p.start;
        r.row[`${key}_count`]++;
        r.row[`${key}_ns`] += ns;
        if (!m.heldUp(p.context, p.state)) {
            r.other += ns;
            return;
        }
        r.row.held_up_count++;
        r.row.held_up_ns += ns;
    });
    addHolds(m, cut, rowOf);
    const sorted = [...rows.values()].sort((a, b) => b.row.held_up_ns - a.row.held_up_ns || b.other - a.other || a.row.id - b.row.id).slice(0, top).map((r) => r.row);
    for (const row of sorted)
        row.longest_queue = new LockHistory(m, row.id).longestQueue(cut.from, cut.to, cut.threads);
    return { n: rows.size, locks: sorted };
}

const SHARED = 2;

function addHolds(m: Model, cut: Cut, rowOf: (lock: number) => Row): void {
    const h = m.pack.holds;
    for (let i = 0; i < h.n; i++) {
        if (h.mode[i] === SHARED || (cut.threads && !cut.threads[h.thread[i]]) || !touches(cut, h.from[i], h.to[i]))
            continue;
        const row = rowOf(h.lock[i]).row, ns = Math.min(h.to[i], cut.to) - Math.max(h.from[i], cut.from);
        row.holds++;
        row.held_ns += ns;
        row.held_max_ns = Math.max(row.held_max_ns, ns);
    }
}

// --- contexts ---------------------------------------------------------------------------------------------

export function contextsOf(m: Model, ids: readonly number[]): Context[] {
    const c = m.pack.contexts, s = m.pack.sites;
    return ids.filter((id) => id > 0 && id < c.n).map((id) => {
        const site = c.site[id];
        return {
            id, state: STATES[c.state[id]], lock: c.lock[id], class: c.lock[id] ? classOf(m.pack, c.lock[id]) : null, other: c.other[id], stack: c.stack[id],
            at: site < s.n ? placeOf(m.pack.names, s.app_method[site], s.app_line[site]) : null, owner_stack: c.owner_stack[id],
        };
    });
}

// --- search -----------------------------------------------------------------------------------------------

export function threadsNamed(names: readonly string[], q: string): number[] {
    const all = [];
    for (let i = 1; i < names.length && all.length < FOUND_MAX; i++)
        if (names[i].toLowerCase().includes(q))
            all.push(i);
    return all;
}

export function searchOf(m: Model, text: string): Found {
    const q = text.trim().toLowerCase();
    if (!q)
        return { threads: [], classes: [], methods: [] };
    return { threads: threadsNamed(m.pack.meta.threads.name, q), classes: classesNamed(m, q), methods: methodsNamed(m, q) };
}

function classesNamed(m: Model, q: string): Found["classes"] {
    const { names, locks } = m.pack;
    const rows = m.pack.meta.lock_rows;
    return names.classes.flatMap((name, group) => {
        if (!name?.toLowerCase().includes(q))
            return [];
        let objects = 0;
        for (let id = 1; id < locks.n; id++)
            objects += locks.group[id] === group ? 1 : 0;
        const of = rows.filter((r) => r.class === name);
        return [{ class: name, objects, held_up_ns: of.reduce((sum, r) => sum + r.held_up_ns, 0), locks: of.slice(0, LOCKS_OF_CLASS).map((r) => r.id) }];
    }).sort((a, b) => isCalled(b, q) - isCalled(a, q) || b.held_up_ns - a.held_up_ns).slice(0, FOUND_MAX);
}

/** What is called so itself comes before what only has it in its name, as files and packages do. */
const isCalled = (c: { class: string }, q: string): number => Number(c.class.toLowerCase() === q);

interface Hit { class: string; method: string; sites: Set<number>; held_up_ns: number }

function methodsNamed(m: Model, q: string): Found["methods"] {
    const s = m.pack.sites, hits = new Map<string, Hit>(), of = new Array<Hit | undefined>(s.n);
    for (let i = 0; i < s.n; i++) {
        const method = m.pack.names.methods[s.app_method[i]];
        const name = method ? `${method[0]}.${method[1]}` : "";
        if (!method || !name.toLowerCase().includes(q))
            continue;
        let hit = hits.get(name);
        if (!hit)
            hits.set(name, (hit = { class: method[0], method: method[1], sites: new Set(), held_up_ns: 0 }));
        hit.sites.add(i);
        of[i] = hit;
    }
    const longest = longestWaits(m, of);
    return [...hits.values()].sort((a, b) => b.held_up_ns - a.held_up_ns).slice(0, FOUND_MAX).map((h) => {
        const k = longest.get(h);
        const thread = k === undefined ? 0 : m.threadOf(k);
        return { class: h.class, method: h.method, sites: h.sites.size, held_up_ns: h.held_up_ns, wait: k === undefined ? null : { thread, index: k - m.pack.waits.first[thread] } };
    });
}

/** Of each hit its longest wait; the time that it was blocked is added up on the way. */
function longestWaits(m: Model, of: (Hit | undefined)[]): Map<Hit, number> {
    const w = m.pack.waits, c = m.pack.contexts, best = new Map<Hit, number>();
    if (!of.some(Boolean))
        return best;
    for (let k = 0; k < w.n; k++) {
        const site = c.site[w.context[k]], hit = site === NONE ? undefined : of[site];
        if (!hit)
            continue;
        const ns = w.end[k] - w.start[k], old = best.get(hit);
        if (m.heldUp(w.context[k], c.state[w.context[k]]))
            hit.held_up_ns += ns;
        else
            hit.held_up_ns += w.end[k] - m.until(k); // after the notify
        if (old === undefined || ns > w.end[old] - w.start[old])
            best.set(hit, k);
    }
    return best;
}
