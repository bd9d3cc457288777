// rows.ts - which rows there are, in which order: threads in their groups or pools or flat, or locks,
// with what is pinned on top.  Pure but for the list of locks, which is asked for when it is needed.
import { computed, effect, signal } from "@preact/signals";
import { filter, grouping, lockClass, meta, mode, pinned, source, toggled, marked } from "./state.ts";
import { simple } from "./format.ts";
import type { LockRow, Meta, RowId } from "./types.ts";
import { THREAD } from "./types.ts";
import { counted } from "./under_way.ts";

export interface Row {
    /** Unique among the rows: a pinned row is there twice. */
    key: string;
    id: RowId;
    label: string;
    /** What stands behind the label, subdued. */
    note: string;
    depth: number;
    thread: number; // of a thread's row, else 0
    lock: number;   // of a lock's, else 0
    folded: boolean | null; // null: cannot be folded
    pinned: boolean;
    /** Threads of a group or pool that are shown by it. */
    members: readonly number[];
    /** The bar would be of threads that the filter leaves out. */
    bare: boolean;
}

/** Groups of more threads than this are folded until the user unfolds them. */
export const FOLDED_BEYOND = 64;
export const ROW = 20; // css pixels

/** Locks, most blocked first; and how many there are. */
export const locks = signal<LockRow[]>([]);
export const lockCount = signal(0);
/** Threads that waited for a lock whose row is unfolded. */
export const lockThreads = signal<ReadonlyMap<number, readonly number[]>>(new Map());
const LOCKS_SHOWN = 500;

/** "worker-2" before "worker-10". */
const byName = new Intl.Collator("en", { numeric: true }).compare;

function isProgram(m: Meta, t: number): boolean {
    return (m.threads.flags[t] & THREAD.program) !== 0;
}

function threadRow(m: Meta, t: number, depth: number): Row {
    const flags = m.threads.flags[t];
    const note = [flags & THREAD.virtual ? "virtual" : "", flags & THREAD.daemon ? "daemon" : "", flags & THREAD.incomplete ? "incomplete" : ""]
        .filter(Boolean).join(", ");
    return {
        key: `t${t}`, id: `t${t}`, label: m.threads.name[t] || `#${m.threads.id[t]}`, note, depth, thread: t, lock: 0,
        folded: null, pinned: false, members: [], bare: false,
    };
}

/** The threads that are shown, the program's first. */
function shown(m: Meta, only: ReadonlySet<number> | null): number[] {
    const out: number[] = [];
    for (let t = 1; t < m.threads.name.length; t++)
        if (only ? only.has(t) : !(m.threads.flags[t] & THREAD.gone))
            out.push(t);
    return out.sort((a, b) => Number(isProgram(m, b)) - Number(isProgram(m, a)) || a - b);
}

function foldedByItself(m: Meta, members: readonly number[]): boolean {
    return members.length > FOLDED_BEYOND || !members.some((t) => isProgram(m, t));
}

export function grouped(m: Meta, only: ReadonlySet<number> | null, by: "group" | "pool", flip: ReadonlySet<RowId>): Row[] {
    const letter = by === "group" ? "g" : "p";
    const names = by === "group" ? m.groups.name : m.pools.name;
    const sizes = by === "group" ? m.groups.threads : m.pools.threads;
    const members = new Map<number, number[]>();
    for (const t of shown(m, only)) {
        const k = m.threads[by][t];
        const list = members.get(k);
        if (list)
            list.push(t);
        else
            members.set(k, [t]);
    }
    const rows: Row[] = [];
    for (const [k, list] of members) {
        const id = `${letter}${k}`;
        if (by === "pool" && list.length === 1) {
            rows.push(threadRow(m, list[0], 0));
            continue;
        }
        const folded = foldedByItself(m, list) !== flip.has(id);
        list.sort((a, b) => (by === "pool" ? byName(m.threads.name[a], m.threads.name[b]) : 0) || a - b);
        rows.push({
            key: id, id, label: names[k] || (by === "group" ? "(no group)" : "(no name)"),
            note: `${list.length.toLocaleString("en-US")}${list.length < sizes[k] ? ` of ${sizes[k].toLocaleString("en-US")}` : ""} thread${list.length === 1 ? "" : "s"}`,
            depth: 0, thread: 0, lock: 0, folded, pinned: false, members: list, bare: list.length < sizes[k],
        });
        if (!folded)
            for (const t of list)
                rows.push(threadRow(m, t, 1));
    }
    return rows;
}

function lockRows(m: Meta, list: readonly LockRow[], only: string | null, flip: ReadonlySet<RowId>, waiting: ReadonlyMap<number, readonly number[]>): Row[] {
    const rows: Row[] = [];
    for (const l of list) {
        if (only !== null && l.class !== only)
            continue;
        const id = `l${l.id}`;
        const open = flip.has(id);
        rows.push({
            key: id, id, label: `${simple(l.class)}#${l.id}`, note: l.class ?? "", depth: 0, thread: 0, lock: l.id, folded: !open,
            pinned: false, members: [], bare: false,
        });
        if (open)
            for (const t of waiting.get(l.id) ?? [])
                rows.push({ ...threadRow(m, t, 1), key: `${id}:t${t}` });
    }
    return rows;
}

/** Every row, the pinned ones first. */
export const rows = computed<Row[]>(() => {
    const m = meta.value;
    if (!m)
        return [];
    const all = mode.value === "locks" ? lockRows(m, locks.value, lockClass.value, toggled.value, lockThreads.value)
        : grouping.value === "flat" ? shown(m, filter.value).map((t) => threadRow(m, t, 0))
            : grouped(m, filter.value, grouping.value, toggled.value);
    const top: Row[] = [];
    for (const id of pinned.value) {
        const found = all.find((r) => r.id === id) ?? lone(m, id);
        if (found)
            top.push({ ...found, key: `pin:${id}`, depth: 0, pinned: true, folded: null });
    }
    return [...top, ...all];
});

/** A pinned row that is not among the others now: its group is folded, or the other view is shown. */
function lone(m: Meta, id: RowId): Row | null {
    const n = Number(id.slice(1));
    if (id[0] === "t" && n > 0 && n < m.threads.name.length)
        return threadRow(m, n, 0);
    const l = id[0] === "l" ? locks.value.find((x) => x.id === n) : undefined;
    return l ? lockRows(m, [l], null, new Set(), new Map())[0] : null;
}

/** Where a thread is drawn: its own row, else the folded one that it is in. */
export const rowOfThread = computed<ReadonlyMap<number, number>>(() => {
    const map = new Map<number, number>();
    rows.value.forEach((r, k) => {
        if (r.pinned)
            return;
        if (r.thread)
            map.set(r.thread, k);
        else if (r.folded && !r.bare)
            for (const t of r.members)
                map.set(t, k);
    });
    return map;
});

export function toggle(id: RowId): void {
    const next = new Set(toggled.value);
    if (!next.delete(id))
        next.add(id);
    toggled.value = next;
}

export function pin(id: RowId): void {
    pinned.value = pinned.value.includes(id) ? pinned.value.filter((p) => p !== id) : [...pinned.value, id];
}

/** Unfold what hides a thread. */
export function unfold(thread: number): void {
    const m = meta.value;
    if (!m || mode.value !== "threads" || grouping.value === "flat")
        return;
    const k = rowOfThread.value.get(thread);
    const r = k === undefined ? undefined : rows.value[k];
    if (r && !r.thread)
        toggle(r.id);
}

// --- locks are asked for when they are shown -----------------------------------------------------------

export function watchLocks(failed: (e: unknown) => void): void {
    let asked = 0;
    effect(() => {
        const s = source.value;
        const m = meta.value;
        const only = filter.value;
        const r = marked.value;
        if (!s || !m || m.phase || (mode.value !== "locks" && !pinned.value.some((p) => p[0] === "l")))
            return;
        const mine = ++asked;
        counted(s.locks({ ...(r ? { from: Math.floor(r.from), to: Math.ceil(r.to) } : {}), ...(only ? { threads: [...only].sort((a, b) => a - b) } : {}) }, LOCKS_SHOWN))
            .then((answer) => {
                if (mine === asked) {
                    locks.value = answer.locks;
                    lockCount.value = answer.n;
                }
            })
            .catch(failed);
    });
    effect(() => {
        const s = source.value;
        const m = meta.value;
        if (!s || !m || mode.value !== "locks")
            return;
        for (const id of toggled.value) {
            const lock = Number(id.slice(1));
            if (id[0] !== "l" || lockThreads.peek().has(lock))
                continue;
            counted(s.report(["threads"], { lock }, 64))
                .then((answer) => {
                    const ids = new Map(m.threads.id.map((x, k) => [x, k]));
                    const found = (answer.threads ?? [])
                        .filter((t) => t.blocked_count + t.waited_count + t.parked_count + t.reacquired_count + t.joined_count > 0)
                        .map((t) => ids.get(t.id) ?? 0)
                        .filter((t) => t > 0);
                    lockThreads.value = new Map(lockThreads.value).set(lock, found);
                })
                .catch(failed);
        }
    });
}
