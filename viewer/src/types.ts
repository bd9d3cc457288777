// types.ts - the answers of the view protocol (docs/reference/view-protocol.md) as the viewer has them.
//
// Times are ns after the recording began.  A thread is its index into Meta.threads unless a name says
// `id`, which is the trace's own number of it, as in `orca report --json`.

export const WAITS = ["blocked", "waiting", "parked", "joining", "sleeping", "reacquiring"] as const;
/** By number; the last is not a wait: what the thread did is unknown. */
export const STATES = [...WAITS, "unknown"] as const;
export type StateName = (typeof STATES)[number];

export const FLAG = { open: 1, unknown: 2, timedOut: 4, reacquired: 8, timed: 16, interrupted: 32, heldUp: 64, limitUnknown: 128 } as const;

export const INTERACTIONS = [
    "starts-thread", "handoff-lock", "interrupt", "notify", "notify-all", "dead-and-notify-joined", "unpark", "semaphore", "submit",
    "last-owner-seen",
] as const;
export type Interaction = (typeof INTERACTIONS)[number];
/** By number: a monitor was handed on, by its owner or by the last owner that was seen. */
export const HANDOFF = INTERACTIONS.indexOf("handoff-lock"), LAST_OWNER = INTERACTIONS.indexOf("last-owner-seen");
export const isHandoff = (how: number): boolean => how === HANDOFF || how === LAST_OWNER;
export const NO_INTERACTION = 255;

export const PATH_KINDS = ["run", "handoff", "timed", "wait", "gc", "unknown", "io", "ready", "stopped", "off"] as const;

export const THREAD = {
    daemon: 1, virtual: 2, native: 4, program: 8, started: 16, ended: 32, incomplete: 64, gone: 128,
} as const;

/** A row's name: "t12", "p3", "g0", "l77". */
export type RowId = string;

// --- meta --------------------------------------------------------------------------------------

export interface Threads {
    id: number[]; name: string[]; group: number[]; pool: number[]; java_tid: number[]; hash?: number[]; flags: number[];
    from: number[]; to: number[]; called: (number | null)[]; starter: number[]; waits: number[];
    blocked_ns: number[]; waited_ns: number[]; parked_ns: number[]; joined_ns: number[]; slept_ns: number[];
    reacquired_ns: number[]; unknown_ns: number[]; running_ns: number[];
}

export interface Finding {
    rule: string; severity: "info" | "warning" | "problem"; text: string; card: Card; impact_ns: number;
    from: number; to: number; threads: number[]; locks: number[]; stacks: number[]; // ids of the trace
}

/** As it is to be read; label null: the line goes on with the one before. */
export interface Card { title: string; share: string; lines: { label: string | null; text: string }[] }

export interface Place { class: string; method: string; signature?: string; file: string; line: number | null }

export interface StuckThread {
    thread: number; name: string; state: string; lock: number; class: string | null; on: number | null;
    on_name: string | null; since: number; stack: Place[]; owner_stack: Place[]; // thread, on: ids
}
export interface Deadlock { formed: number; sure: boolean; members: StuckThread[]; behind: StuckThread[] }

export interface Recording {
    program: string; jvm_name: string; jvm_version: string; host: string; pid: number; state: string;
    start_unix_ns: number; from: number; to: number; windowed: boolean; events: number; damaged: number;
    gc_count: number; gc_ns: number; gc_max_ns: number;
    unwritten?: { from: number; to: number; lost: number }[];
}

/** A pause: from, to, collector, cause, bytes of the heap before, in use, committed; null and 0: not known. */
export type GcPause = [number, number, (string | null)?, (string | null)?, number?, number?, number?];

export interface Meta {
    schema: string; gen: number; name: string;
    phase: null | { text: string; done: number; total: number };
    live: null | { pid: number; since_unix_ns: number };
    /** Only the beginning has been read yet, of a recording up to there. */
    partial?: null | { to: number };
    /** The findings are still being looked for. */
    pending?: boolean;
    from: number; to: number;
    recording: Recording;
    losses: { cause: string; count: number; meaning: string }[];
    problems: { offset: number; damage: boolean; text: string }[];
    findings: Finding[]; deadlocks: Deadlock[]; stuck: StuckThread[];
    path: null | { thread: number; from: number; to: number; kinds: Record<string, number>; limits: string[];
        handoffs: number; handoffs_last_owner_seen: number; last_owner_seen_ns: number };
    gc: GcPause[];
    /** From, to, operation: all threads were stopped, for no collection. */
    stops?: [number, number, string][];
    locks: number; waits: number; calls?: number;
    samples?: { cpu: number; wall: number };
    /** live: what is freed is known. */
    /** `sampled`: sums are estimates, of samples. */
    allocations?: { n: number; live: boolean; sampled: boolean };
    arrows: Record<string, { count: number; alone: number }>;
    threads: Threads;
    pools: { name: string[]; threads: number[] };
    groups: { name: string[]; threads: number[] };
    /** What input and output go to, by id. */
    peers: [number, string][];
    /** Of a page that `orca html` made: what the pack holds. */
    packed?: "exact" | "tiles"; said?: string;
}

// --- tiles -------------------------------------------------------------------------------------

export const BUCKETS = 512;

export interface ExactThread {
    kind: "exact"; n: number;
    start: Float64Array; end: Float64Array; wake: Float64Array;
    index: Uint32Array; context: Uint32Array; waker: Uint32Array;
    state: Uint8Array; flags: Uint8Array; how: Uint8Array;
    io: Calls;
}
/** Why a thread did not run, in no wait: input and output, and what else is known; peer: in meta, 0: not known; what: index into IO_KINDS. */
export interface Calls { n: number; from: Float64Array; to: Float64Array; peer: Uint32Array; what: Uint8Array }
/** Input and output, the first one found by looks: of what kind it is is not recorded. The last three are none: waiting for a processor, stopped
 * by the JVM, off the processor for a cause that is not recorded. */
export const IO_KINDS = ["?", "input", "output", "connect", "accept", "select", "sync", "open", "lock", "lookup", "process", "ready", "stopped", "off"] as const;
/** What tables and pictures tell apart; haltOf: of an index into IO_KINDS. */
export const HALTS = ["io", "ready", "stopped", "off"] as const;
export const haltOf = (what: number): number => Math.max(0, what - IO_KINDS.length + HALTS.length);
/** Bytes of a cell of a thread or group. */
export const CELL = 14;
/** 512 cells of CELL bytes: shares of the states 0..5, of having lived, number of waits, shares of parks in which others block the thread, of unknown states, of HALTS. */
export interface Cells { kind: "cells"; cells: Uint8Array }
export interface ExactLock {
    kind: "lock"; n: number; m: number;
    start: Float64Array; end: Float64Array; from: Float64Array; to: Float64Array;
    thread: Uint32Array; index: Uint32Array; owner: Uint32Array;
    state: Uint8Array; flags: Uint8Array; sure: Uint8Array;
}
/** 512 cells of 8 bytes: held, queued, average and greatest queue, waited on, most waiters, 0, number of waits. */
export interface LockCells { kind: "lockcells"; cells: Uint8Array }
export interface Nothing { kind: "nothing" }
export type TileRow = ExactThread | Cells | ExactLock | LockCells | Nothing;

export interface ExactArrows {
    kind: "exact"; n: number; left_out: number;
    from_time: Float64Array; to_time: Float64Array; from: Uint32Array; to: Uint32Array; index: Uint32Array; how: Uint8Array;
}
export interface Bundles {
    kind: "bundles"; n: number; left_out: number;
    wait_ns: Float64Array; from: Uint32Array; to: Uint32Array; count: Uint32Array; slot: Uint32Array; how: Uint8Array;
}
export type Arrows = ExactArrows | Bundles;

export interface ExactPath {
    kind: "exact"; n: number;
    from: Float64Array; to: Float64Array; thread: Uint32Array; lock: Uint32Array; stack: Uint32Array;
    segment: Uint8Array; state: Uint8Array; // segment: index into PATH_KINDS
}
export interface PathBuckets { kind: "buckets"; thread: Uint32Array; segment: Uint8Array; share: Uint8Array }
export type PathTile = ExactPath | PathBuckets;

export interface Overview {
    from: number; to: number; n: number; running: number[]; held_up: number[]; path: Record<string, number[]>;
}

// --- JSON answers ------------------------------------------------------------------------------

/** What part of the recording a question is about; threads: indices. */
export interface Selection { from?: number; to?: number; threads?: number[]; class?: string; lock?: number }

/** `orca report --json`; docs/reference/json.md. */
export interface Times {
    [key: string]: unknown;
}
export interface ReportThread {
    id: number; name: string; group: string; held_up_count: number; held_up_ns: number; blocked_count: number; blocked_ns: number; waited_count: number;
    waited_ns: number; parked_count: number; parked_ns: number; joined_count: number; joined_ns: number;
    slept_count: number; slept_ns: number; reacquired_count: number; reacquired_ns: number; unknown_ns: number; io_ns: number; ready_ns: number; stopped_ns: number; off_ns: number; io_looks: number; running_ns: number; life_ns: number;
}
export type ReportRow = Record<string, number | string | null | Place | [number, number][]>;
export interface Report {
    threads?: ReportThread[]; locks?: ReportRow[]; sites?: ReportRow[]; owners?: ReportRow[]; owner_sites?: ReportRow[];
    pairs?: ReportRow[]; findings?: Finding[]; queues?: ReportRow[]; [key: string]: unknown;
}

export interface LockRow {
    id: number; class: string | null; hash: number | null;
    held_up_count: number; held_up_ns: number; blocked_count: number; blocked_ns: number; waited_count: number; waited_ns: number; parked_count: number; parked_ns: number;
    joined_count: number; joined_ns: number; reacquired_count: number; reacquired_ns: number;
    longest_queue: number; holds: number; held_ns: number; held_max_ns: number;
}
export interface Context {
    id: number; state: StateName; lock: number; class: string | null; other: number; stack: number; at: Place | null; owner_stack: number;
}

export interface WaitRef { thread: number; index: number }
export interface Link { thread: number; index: number | null; state: string; from: number; to: number; lock: number; class: string | null; at: Place | null; text: string }
export interface Effect { thread: number; index: number | null; time: number; how: Interaction }
export interface Wait {
    thread: number; index: number; state: StateName; start: number; end: number; flags: string[]; timed_out: boolean;
    lock: null | { id: number; class: string | null; hash: number | null };
    other: number; stack: Place[]; owner_stack: Place[]; owner_stack_note: string | null;
    ended_by: null | { thread: number; time: number; how: Interaction; stack: Place[]; note: string | null };
    before: WaitRef | null; after: WaitRef | null;
    chain: Link[];
    cause: null | { thread: number; time: number; index: number | null };
    effects: Effect[]; n_effects: number;
}
export interface Run {
    thread: number; state: "running" | "not alive"; start: number; end: number;
    before: WaitRef | null; after: WaitRef | null; started_by: null | { thread: number; time: number; stack: Place[] }; effects: Effect[]; n_effects: number;
    /** In no wait, and not running then; recorded: else found by looks. */
    io: null | { what: (typeof IO_KINDS)[number]; start: number; end: number; peer: string | null; recorded: boolean; stack: Place[] };
}
/** What a thread did that no wait and no arrow shows: a call of a tracked method, a notify that woke nobody. */
export const MARKS = ["call", "notify", "notify-all"] as const;
export const CALLED = ["failed", "open", "unknown", "moment"] as const;
/** index: with the thread its name. */
export interface ThreadMark { thread: number; index: number; what: (typeof MARKS)[number]; from: number; to: number; flags: (typeof CALLED)[number][]; call: string | null }
/** More than there is room for: none of them. */
export interface Marks { n: number; marks: ThreadMark[] }
export interface MarkDetail extends Omit<ThreadMark, "call"> {
    call: null | { class: string; method: string };
    lock: null | { id: number; class: string | null; hash: number | null };
    in_waits_ns: number; stack: Place[];
}

export interface LockAt { lock: number; class: string | null; owner: number; owner_sure: boolean; queue: number[]; waiters: number[] }

/** Bytes that threads allocated: n of each in turn, which divide the time evenly. */
export interface Rates { from: number; to: number; n: number; threads: number[]; bytes: number[] }

/** Of waits, of samples, or of allocations. */
export type ByWait = "waiter" | "owner" | "waker";
export type BySample = "cpu" | "wall" | "owner-cpu" | "owner-wall";
export type ByAlloc = "alloc" | "live";
export type By = ByWait | BySample | ByAlloc;
export const BYS: readonly By[] = ["waiter", "owner", "waker", "cpu", "wall", "owner-cpu", "owner-wall", "alloc", "live"];
export const isAlloc = (by: By): by is ByAlloc => BYS.indexOf(by) > 6;
export const isSampled = (by: By): by is BySample => BYS.indexOf(by) > 2 && !isAlloc(by);
/** How a sample's frame was executed. */
export const EXECUTED = ["unknown", "interpreted", "C1", "C2", "inlined", "native method", "stub", "native code", "kernel"];
export interface FlameFrame { class: string; method: string; file: string; line: number | null; jdk: boolean; executed?: number }
export interface Flame {
    /** Of what `ns` are. */
    unit: "ns" | "bytes"; by: By; total_ns: number; total_count: number;
    frames: FlameFrame[]; parent: number[]; frame: number[]; ns: number[]; count: number[]; why: string[];
    /** Of samples: those without a stack; of owners: how long locks were wanted, and their owners known. */
    /** Of estimated allocations: samples. */
    samples?: number;
    failed_count?: number; failed_ns?: number; wanted_ns?: number; owner_known_ns?: number;
    /** Of waits by their owners: those that are not in it, because nobody asked what the owner executed. */
    not_asked_count?: number; not_asked_ns?: number;
}

export interface Found {
    threads: number[];
    classes: { class: string; objects: number; held_up_ns: number; locks: number[] }[];
    methods: { class: string; method: string; sites: number; held_up_ns: number; wait: WaitRef | null }[];
}

// --- start page --------------------------------------------------------------------------------

export interface Jvm {
    pid: number; name: string; java: string; uptime_s: number; state: string;
    recording: null | { file: string; since_s: number; events: number; lost: number; bytes: number };
    can_attach: boolean; why: string;
}
export interface Start {
    jvms: Jvm[];
    recent: { id: number; kind: "trace" | "heap"; path: string; bytes: number; modified_unix_s: number; program: string; seconds: number }[];
    groups: { name: string; summary: string; default: boolean }[];
    defaults: Record<string, string | number>;
}
