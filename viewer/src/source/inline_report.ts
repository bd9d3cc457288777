// inline_report.ts - the tables of a selection as `orca report --json` has them (docs/reference/json.md).
import { SourceError } from "../source.ts";
import { FLAG, HALTS } from "../types.ts";
import type { Report, ReportRow, ReportThread, Selection } from "../types.ts";
import { REACQUIRING, UNKNOWN, cutOf, touches } from "./inline_model.ts";
import type { Cut, Model } from "./inline_model.ts";
import { placeOf } from "./inline_pack.ts";
import { Durations, HELD_UP, N, Sums, Weigh, log2, makeStats, percentile } from "./inline_stats.ts";
import type { Stats } from "./inline_stats.ts";

/** The keys of report --json by the protocol's sections. */
export const SECTIONS: Record<string, string[]> = {
    findings: ["findings"], threads: ["threads", "open_waits"], monitors: ["locks"], sites: ["sites"], owners: ["owners", "owner_sites", "pairs"],
    interactions: ["interactions", "ends"], path: ["critical_path", "critical_path_segments"], deadlocks: ["deadlocks", "stuck"],
    orders: ["lock_orders", "lock_orders_suppressed"], queues: ["queues"], pools: ["pools", "pool_waits"], bottles: ["bottle_graph"], calls: ["calls", "call_sites"],
};
const ALWAYS = ["schema", "file", "recording", "losses", "problems"];

/** Of the whole recording, as it was packed. */
export function packedReport(whole: Report, wanted: string[], top?: number): Report {
    const out: Report = {};
    for (const key of [...ALWAYS, ...wanted.flatMap(keysOf)]) {
        const v = whole[key];
        out[key] = Array.isArray(v) && top ? v.slice(0, top) : v;
    }
    return out;
}

function keysOf(section: string): string[] {
    const keys = SECTIONS[section];
    if (!keys)
        throw new SourceError(`There is no section "${section}": there are ${Object.keys(SECTIONS).join(", ")}.`);
    return keys;
}

/** What of the whole recording is of one class, as far as the rows say their class. */
export function packedOfClass(whole: Report, wanted: string[], name: string, top?: number): Report | null {
    if (wanted.some((w) => !["monitors", "sites", "owners"].includes(w)))
        return null;
    const out = packedReport(whole, wanted);
    for (const key of ["locks", "sites", "owners", "owner_sites"])
        if (Array.isArray(out[key]))
            out[key] = (out[key] as ReportRow[]).filter((row) => row.class === name).slice(0, top);
    delete out.pairs; // they do not say their class
    return out;
}

export const isWhole = (s: Selection) => s.from === undefined && s.to === undefined && !s.threads && !s.class && !s.lock;

/** Of any selection.  Sections that are always of the whole recording are as they were packed. */
export function reportOf(m: Model, wanted: string[], s: Selection, top?: number): Report {
    const out = packedReport(m.pack.meta.report, wanted, top);
    const cut = cutOf(s, m.threads);
    const group = s.class === undefined ? -1 : m.pack.names.classes.indexOf(s.class);
    if (s.class !== undefined && group < 0)
        throw new SourceError(`No monitor is of class "${s.class}".`);
    const stats = statsOf(m, cut, s, wanted.some((w) => w !== "threads"));
    const first = <T>(rows: T[]) => (top ? rows.slice(0, top) : rows);
    if (wanted.includes("threads"))
        out.threads = first(group < 0 ? threadRows(m, stats) : (blames(m, cut, group, "waiter").map((b) => waiterRow(m, b)) as unknown as ReportThread[]));
    if (wanted.includes("monitors"))
        out.locks = first(classRows(m, stats, group));
    if (wanted.includes("sites"))
        out.sites = first(siteRows(m, stats, group));
    if (wanted.includes("owners"))
        Object.assign(out, {
            owners: first(blames(m, cut, group, "owner").map((b) => ownerRow(m, b))), owner_sites: first(ownerSiteRows(m, stats, group)),
            pairs: first(blames(m, cut, group, "pair").map((b) => pairRow(m, b))),
        });
    return out;
}

/** The tables of one selection are asked for one after the other: its sums are kept. */
let kept: { m: Model; key: string; stats: Stats } | null = null;

function statsOf(m: Model, cut: Cut, s: Selection, times: boolean): Stats {
    const key = JSON.stringify([s.from, s.to, s.threads, s.lock]);
    if (kept?.m === m && kept.key === key)
        return kept.stats;
    const stats = makeStats(m, cut, times);
    if (times)
        kept = { m, key, stats };
    return stats;
}

/** Most first by each of the numbers, in their order; what is equal stays as it is. */
function most<T>(rows: T[], ...by: ((row: T) => number)[]): T[] {
    return rows.sort((a, b) => {
        for (const f of by)
            if (f(a) !== f(b))
                return f(b) - f(a);
        return 0;
    });
}

// --- threads --------------------------------------------------------------------------------------------

const THREAD_KEYS = ["blocked", "waited", "parked", "joined", "slept", "reacquired", "unknown", "held_up"];

function threadRows(m: Model, s: Stats): ReportThread[] {
    const t = m.pack.meta.threads;
    const packed = new Map((m.pack.meta.report.threads ?? []).map((row) => [row.id, row]));
    const rows: ReportThread[] = [];
    for (let i = 1; i < m.threads; i++) {
        if (s.cut.threads && !s.cut.threads[i])
            continue;
        const known = packed.get(t.id[i]);
        if (!known && t.waits[i] === 0)
            continue; // a hole in the ids
        const row: Record<string, unknown> = { id: t.id[i], name: t.name[i], group: m.pack.meta.groups.name[t.group[i]] ?? "", ...known, life_ns: s.life[i] };
        let running = s.life[i], unknown = 0, open = 0;
        HALTS.forEach((name, h) => {
            const ns = s.halted[i * HALTS.length + h];
            row[`${name}_ns`] = ns;
            running -= Math.min(running, ns);
        });
        for (let k = 0; k < N; k++) {
            const at = i * N + k;
            row[k === UNKNOWN ? "unknown_stretches" : `${THREAD_KEYS[k]}_count`] = s.threads.count[at];
            row[`${THREAD_KEYS[k]}_ns`] = s.threads.ns[at];
            if (k === HELD_UP)
                continue; // in its state already
            running -= Math.min(running, s.threads.ns[at]);
            unknown += s.threads.unknown[at];
            open += s.threads.open[at];
        }
        rows.push({ ...row, io_looks: s.ioLooks[i], running_ns: running, open, unknown, reacquired: s.reacquired[i] } as unknown as ReportThread);
    }
    return most(rows, (r) => r.held_up_ns, (r) => r.held_up_count, (r) => r.waited_ns);
}

// --- classes, sites --------------------------------------------------------------------------------------

type Kind = [name: string, state: number];
const CLASS_KINDS: Kind[] = [["held_up", HELD_UP], ["blocked", 0], ["waited", 1], ["parked", 2], ["reacquiring", 5]];
const SITE_KINDS: Kind[] = [["held_up", HELD_UP], ["blocked", 0], ["waited", 1], ["parked", 2], ["joined", 3], ["slept", 4], ["reacquiring", 5]];

function put(row: ReportRow, name: string, s: Sums, at: number, times: Float64Array): void {
    const known = s.count[at] - s.unknown[at];
    const sorted = times.sort();
    Object.assign(row, {
        [`${name}_count`]: s.count[at], [`${name}_unknown`]: s.unknown[at], [`${name}_open`]: s.open[at], [`${name}_objects`]: s.objects[at],
        [`${name}_threads`]: s.threads[at], [`${name}_ns`]: s.ns[at], [`${name}_min_ns`]: known > 0 ? s.min[at] : 0,
        [`${name}_avg_ns`]: known > 0 ? Math.floor(s.ns[at] / known) : 0, [`${name}_p50_ns`]: percentile(sorted, 500),
        [`${name}_p90_ns`]: percentile(sorted, 900), [`${name}_p99_ns`]: percentile(sorted, 990), [`${name}_max_ns`]: s.max[at], [`${name}_log2`]: log2(sorted),
    });
}

function classRows(m: Model, s: Stats, only: number): ReportRow[] {
    const sites = m.pack.sites, all = new Durations();
    for (let i = 0; i < s.siteTimes.n; i++)
        all.push(sites.group[Math.floor(s.siteTimes.key[i] / N)] * N + (s.siteTimes.key[i] % N), s.siteTimes.ns[i]);
    const groups = m.pack.names.classes.length, times = all.byKey(groups * N);
    const rows: ReportRow[] = [];
    for (let g = 0; g < groups; g++) {
        const any = s.groups.count[g * N] + s.groups.count[g * N + 1] + s.groups.count[g * N + 2] + s.groupReacquired[g] > 0;
        if (only >= 0 ? g !== only : !any)
            continue;
        const row: ReportRow = { class: g ? m.pack.names.classes[g] : null, objects: s.objects[g] };
        for (const [name, state] of CLASS_KINDS)
            put(row, name, s.groups, g * N + state, times.ns.subarray(times.first[g * N + state], times.first[g * N + state + 1]));
        rows.push(Object.assign(row, { timed_out: s.timedOut[g], reacquired: s.groupReacquired[g] }));
    }
    return most(rows, num("held_up_ns"), num("held_up_count"), num("waited_ns"), num("parked_ns"));
}

const num = (key: string) => (row: ReportRow) => row[key] as number;

function siteRow(m: Model, site: number): ReportRow {
    const s = m.pack.sites, g = s.group[site];
    return {
        class: g ? m.pack.names.classes[g] : null, at: placeOf(m.pack.names, s.app_method[site], s.app_line[site]),
        innermost: placeOf(m.pack.names, s.top_method[site], s.top_line[site]), stack: s.stack[site],
    };
}

function siteRows(m: Model, s: Stats, only: number): ReportRow[] {
    const sites = m.pack.sites, times = s.siteTimes.byKey(sites.n * N), rows: ReportRow[] = [];
    for (let i = 0; i < sites.n; i++) {
        let any = 0;
        for (let k = 0; k < N; k++)
            any += s.sites.count[i * N + k];
        if (!any || (only >= 0 && sites.group[i] !== only))
            continue;
        const row = siteRow(m, i);
        for (const [name, state] of SITE_KINDS)
            put(row, name, s.sites, i * N + state, times.ns.subarray(times.first[i * N + state], times.first[i * N + state + 1]));
        rows.push(row);
    }
    return most(rows, ...SITE_KINDS.map(([name]) => num(`${name}_ns`)), (row) => -(row.stack as number));
}

function ownerSiteRows(m: Model, s: Stats, only: number): ReportRow[] {
    const sites = m.pack.sites, times = s.ownerTimes.byKey(sites.n * N), rows: ReportRow[] = [], weights = new Map<ReportRow, number>();
    for (let i = 0; i < sites.n; i++) {
        if (!s.owners.count[i * N] || (only >= 0 && sites.group[i] !== only))
            continue;
        const row = siteRow(m, i), w = s.asked.get(sites.group[i])?.of(i, s.owners.count[i * N], s.owners.ns[i * N]);
        weights.set(row, w?.ns ?? 0);
        row.share_permille = w?.permille ?? 0;
        put(row, "blocked", s.owners, i * N, times.ns.subarray(times.first[i * N], times.first[i * N + 1]));
        row.blocked_threads = 0; // the analyser counts them by waiting place only
        rows.push(row);
    }
    return most(rows, (row) => weights.get(row)!, num("blocked_ns"), (row) => -(row.stack as number));
}

// --- who waited for whom -----------------------------------------------------------------------------------

/** A blame's sums, by state; all that were blocked. */
const BLAMED: Record<number, number> = { 0: 0, 1: 1, 2: 2, [REACQUIRING]: 4 };
const BLAMED_HELD_UP = 3;
interface Blame { group: number; waiter: number; owner: number; permille: number; sums: { count: number; ns: number; max: number }[] }

/** Time of HELD_UP, blocked, waited and parked by class and owner, class and waiter, or waiter and owner (blames.c). */
function blames(m: Model, c: Cut, only: number, by: "owner" | "waiter" | "pair"): Blame[] {
    const w = m.pack.waits, x = m.pack.contexts, known = new Map<number, Blame>(), owned = new Map<number, Weigh>();
    for (let t = 0; t < m.threads; t++) {
        if (c.threads && !c.threads[t])
            continue;
        for (let k = m.firstNear(t, c.from), last = w.first[t + 1]; k < last && w.start[k] <= c.to; k++) {
            const at = w.context[k], lock = x.lock[at], until = m.until(k), group = m.pack.locks.group[lock] ?? 0, state = x.state[at];
            if (!(state in BLAMED) || x.flags[at] & FLAG.reacquired || (c.lock && lock !== c.lock) || (only >= 0 && group !== only))
                continue;
            const part = (start: number, end: number, state: number, owner: number) => {
                if (!touches(c, start, end))
                    return;
                const left = by === "pair" ? t : group, right = by === "waiter" ? t : owner;
                const key = left * m.threads + right;
                let b = known.get(key);
                if (!b)
                    known.set(key, (b = { group, waiter: t, owner, permille: 0, sums: [0, 1, 2, 3, 4].map(() => ({ count: 0, ns: 0, max: 0 })) }));
                const ns = start === end ? 0 : Math.min(end, c.to) - Math.max(start, c.from);
                for (const sum of m.heldUp(at, state) ? [b.sums[BLAMED[state]], b.sums[BLAMED_HELD_UP]] : [b.sums[BLAMED[state]]]) {
                    sum.count++;
                    sum.ns += ns;
                    sum.max = Math.max(sum.max, ns);
                }
                if (by === "owner" && owner && m.heldUp(at, state)) {
                    if (!owned.has(group))
                        owned.set(group, new Weigh());
                    owned.get(group)!.add(owner, ns);
                }
            };
            part(w.start[k], until, state, x.other[at]);
            if (until < w.end[k])
                part(until, w.end[k], REACQUIRING, w.waker[k]); // who notified owned it
        }
    }
    for (const b of known.values())
        b.permille = b.owner ? owned.get(b.group)?.of(b.owner, b.sums[BLAMED_HELD_UP].count, b.sums[BLAMED_HELD_UP].ns).permille ?? 0 : 0;
    const rows = [...known.values()].filter((b) => by === "waiter" ? b.sums[BLAMED_HELD_UP].count + b.sums[1].count > 0
        : b.sums[BLAMED_HELD_UP].count > 0 && (b.owner > 0 || b.sums[0].count + b.sums[4].count > 0));
    return most(rows, (b) => b.sums[BLAMED_HELD_UP].ns, (b) => b.sums[1].ns, (b) => b.sums[2].ns, (b) => -b.group, (b) => (by === "owner" ? 0 : -b.waiter), (b) => -b.owner);
}

function who(m: Model, key: string, thread: number): ReportRow {
    const t = m.pack.meta.threads;
    return { [key]: thread ? t.id[thread] : null, [key === "id" ? "name" : `${key}_name`]: thread ? t.name[thread] : null };
}

function times(b: Blame, name: string, state: number): ReportRow {
    return { [`${name}_count`]: b.sums[state].count, [`${name}_ns`]: b.sums[state].ns, [`${name}_max_ns`]: b.sums[state].max };
}

const ownerRow = (m: Model, b: Blame): ReportRow => ({ class: b.group ? m.pack.names.classes[b.group] : null, ...who(m, "owner", b.owner), share_permille: b.owner ? b.permille : null, ...times(b, "held_up", BLAMED_HELD_UP), ...times(b, "blocked", 0), ...times(b, "reacquiring", 4) });
const waiterRow = (m: Model, b: Blame): ReportRow => ({ ...who(m, "id", b.waiter), ...times(b, "held_up", BLAMED_HELD_UP), ...times(b, "blocked", 0), ...times(b, "waited", 1) });
const pairRow = (m: Model, b: Blame): ReportRow => ({ ...who(m, "waiter", b.waiter), ...who(m, "owner", b.owner), ...times(b, "held_up", BLAMED_HELD_UP), ...times(b, "blocked", 0), ...times(b, "reacquiring", 4) });
