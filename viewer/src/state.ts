// state.ts - what the user looks at, as signals; url.ts writes it into the address and reads it back.
//
// Views read signals and call the functions here; nothing else changes them.
import { batch, computed, signal } from "@preact/signals";
import type { Source } from "./source.ts";
import type { Interaction, Meta, RowId, Selection, StateName, By, WaitRef } from "./types.ts";
import { INTERACTIONS } from "./types.ts";

export interface Range { from: number; to: number }
export type Grouping = "group" | "pool" | "flat";
export type Mode = "threads" | "locks";
export const TABS = ["findings", "details", "statistics", "flame", "locks", "legend", "calls"] as const;
export type Tab = (typeof TABS)[number];

// --- the trace -----------------------------------------------------------------------------------

export const source = signal<Source | null>(null);
export const meta = signal<Meta | null>(null);
/** Why nothing more will come: the server or the trace is gone. */
export const gone = signal<string | null>(null);

/** What can be done to a recording that goes on; null: nothing, the trace is in the page.  `stop` null: it is not offered. */
export interface Recorder { save(to: string): Promise<{ file: string }>; stop: ((pid: number) => Promise<{ file: string }>) | null }
export const recorder = signal<Recorder | null>(null);

// --- the view (all of it is in the URL) ------------------------------------------------------------

/** The visible time. */
export const view = signal<Range>({ from: 0, to: 1 });
/** Follow a live recording: the view's end stays at its end. */
export const following = signal(false);
/** The range chosen by dragging; null: none. */
export const marked = signal<Range | null>(null);
export const mode = signal<Mode>("threads");
export const grouping = signal<Grouping>("group");
/** Groups and pools that are folded, or unfolded where they are folded by themselves (many threads): rows "g1", "p3". */
export const toggled = signal<ReadonlySet<RowId>>(new Set());
export const pinned = signal<readonly RowId[]>([]);
/** Threads to show; null: all. */
export const filter = signal<ReadonlySet<number> | null>(null);
/** Classes that the lock rows are of; null: all. */
export const lockClass = signal<string | null>(null);
export const arrowKinds = signal<ReadonlySet<Interaction>>(new Set(INTERACTIONS));
export const arrowsOn = signal(true);
export const pathOn = signal(true);
/** The lanes of what threads allocate. */
export const allocOn = signal(true);
/** The wait whose details are shown, or the moment of a row that does not wait. */
export const chosen = signal<WaitRef | null>(null);
export const chosenAt = signal<{ row: RowId; time: number } | null>(null);
/** Or what a thread did there: marks. */
export const chosenMark = signal<WaitRef | null>(null);
export const tab = signal<Tab>("findings");
/** Rows of tables that are selected: threads (indices), classes. */
export const tableThreads = signal<ReadonlySet<number>>(new Set());
export const tableClasses = signal<ReadonlySet<string>>(new Set());
export const flameStates = signal<readonly StateName[] | null>(null);
export const flameBy = signal<By>("waiter");
export const myCode = signal(false);
/** Parts of less than this share of the flame graph are left out, in thousandths. */
export const noise = signal(0);
export const scroll = signal(0);
/** The panel's height until the user changes it: fitPanel. */
export const panelByItself = signal(320);
export const panelHeight = signal(320);
export const theme = signal<"auto" | "dark" | "light">("auto");

// --- not in the URL ------------------------------------------------------------------------------

/** What the mouse or the focus is on, in timeline or tables alike; the other one lights it up. */
export const hover = signal<{ thread?: number; lock?: number; class?: string; wait?: WaitRef; also?: readonly number[] } | null>(null);

/** Whether what the mouse is on has to do with a thread: it is its row, or owns, or waits for what is there. */
export function isLit(thread: number): boolean {
    const h = hover.value;
    return thread > 0 && h !== null && (h.thread === thread || (h.also?.includes(thread) ?? false));
}
export const dialog = signal<"filter" | "help" | "search" | null>(null);
/** The tabs that there is something for. */
export const tabs = computed<readonly Tab[]>(() => TABS.filter((t) => t !== "calls" || (meta.value?.calls ?? 0) > 0));
/** The row that the keyboard is on. */
export const focusRow = signal<RowId | null>(null);

// --- computed --------------------------------------------------------------------------------------

/** The time that tables, findings' evidence and flame graph are of: the marked range, else what is visible. */
export const statsRange = computed<Range>(() => marked.value ?? view.value);

/** The same with the threads of the filter, as questions have it. */
export const selection = computed<Selection>(() => {
    const m = meta.value;
    const r = statsRange.value;
    const s: Selection = {};
    if (m && (r.from > m.from || r.to < m.to)) {
        s.from = Math.max(Math.floor(r.from), m.from);
        s.to = Math.min(Math.ceil(r.to), m.to);
        if (s.to <= s.from)
            s.to = s.from + 1;
    }
    if (filter.value)
        s.threads = [...filter.value].sort((a, b) => a - b);
    return s;
});

// --- changes -----------------------------------------------------------------------------------------

/** Toolbar, minimap, axis, splitter, css pixels. */
const ABOVE_ROWS = 134;
/** Shortest visible time, ns. */
export const SHORTEST = 50;

/** Make a range visible; it is kept within the recording and a tenth around it. */
export function show(r: Range): void {
    const m = meta.value;
    if (!m)
        return;
    const whole = Math.max(m.to - m.from, 1);
    const length = Math.min(Math.max(r.to - r.from, SHORTEST), whole * 1.2);
    let from = (r.from + r.to) / 2 - length / 2;
    from = Math.min(Math.max(from, m.from - whole * 0.1), m.to + whole * 0.1 - length);
    view.value = { from, to: from + length };
}

export function showAll(): void {
    const m = meta.value;
    if (m)
        show(padded({ from: m.from, to: m.to }, 0.01));
}

/** Follow the end of a live recording from now on, or no more. */
export function follow(): void {
    const m = meta.value;
    const v = view.value;
    following.value = !following.value;
    if (m && following.value && v.to - v.from < m.to - m.from)
        show({ from: m.to - (v.to - v.from), to: m.to });
}

/** What that number of pixels of rows leave over, within reason. */
export function fitPanel(rows: number): void {
    const page = window.innerHeight;
    const rest = page - ABOVE_ROWS - rows;
    panelByItself.value = Math.round(Math.min(Math.max(rest, 320, page * 0.36), Math.max(320, page * 0.6)));
    panelHeight.value = panelByItself.value;
}

/** A range with a part of its length on either side. */
export function padded(r: Range, part: number): Range {
    const pad = (r.to - r.from) * part;
    return { from: r.from - pad, to: r.to + pad };
}

/** At most one thing is chosen at a time. */
export function chooseOnly(what: { wait?: WaitRef; at?: { row: RowId; time: number }; mark?: WaitRef }): void {
    batch(() => {
        chosen.value = what.wait ?? null;
        chosenAt.value = what.at ?? null;
        chosenMark.value = what.mark ?? null;
    });
}

/** Choose something and show its details. */
export function choose(what: Parameters<typeof chooseOnly>[0]): void {
    batch(() => {
        chooseOnly(what);
        tab.value = "details";
    });
}

/** The index of a thread from its id in the trace; 0: there is none. */
export function threadOfId(id: number | null | undefined): number {
    const m = meta.value;
    if (!m || id === null || id === undefined)
        return 0;
    return m.threads.id[id] === id ? id : Math.max(m.threads.id.indexOf(id), 0);
}

export function threadName(thread: number): string {
    return thread ? (meta.value?.threads.name[thread] ?? "") || `#${thread}` : "unknown";
}

/** The number of the finding that the address asks for, until it is shown; 0: none. */
export const askedFinding = signal(0);

/** Zoom to what a finding is about, with its threads in view. */
export interface Evidence { from: number; to: number; threads: number[]; locks: number[] }
export const evidence = signal<Evidence | null>(null);
export function showEvidence(e: Evidence): void {
    batch(() => {
        evidence.value = e;
        if (e.to > e.from) {
            marked.value = { from: e.from, to: e.to };
            show(padded(e, 0.1));
        }
    });
}
