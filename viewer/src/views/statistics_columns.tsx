// statistics_columns.tsx - the columns of the statistics: which key of the report each one shows.
import { count, duration, line, place, simple } from "../format.ts";
import { threadOfId } from "../state.ts";
import type { Place, ReportRow, ReportThread } from "../types.ts";
import { Histogram, log2Scale } from "./histogram.tsx";
import type { Log2 } from "./histogram.tsx";
import type { Column } from "./rows.ts";

/** Nothing is 0, of whatever unit. */
export function amount(write: (n: number) => string, n: number | null | undefined): string {
    return n ? write(n) : "0";
}

/** Column of a number that the row has under a key. */
export function numberColumn<R extends object>(key: keyof R & string, title: string, hint: string, bar = false): Column<R> {
    const ns = key.endsWith("_ns");
    return {
        id: key, title, hint, right: true, bar, width: ns ? 78 : Math.max(56, 12 + title.length * 7.5), data: ns ? "ns" : "count",
        value: (row) => row[key] as number,
        text: (row) => amount(ns ? duration : count, row[key] as number),
    };
}

/** Kinds of waits under the names that the report's keys begin with, and what a user calls them. */
export const KINDS = {
    held_up: { noun: "Blocked", verb: "blocked", what: "for a monitor, lock, permit, slot or answer that another thread has or provides, reacquiring included" },
    blocked: { noun: "Monitor blocks", verb: "blocked", what: "for a monitor that another thread owned" },
    waited: { noun: "Waits", verb: "waited", what: "in Object.wait, up to the notify" },
    parked: { noun: "Parks", verb: "parked", what: "in LockSupport.park" },
    joined: { noun: "Joins", verb: "joined", what: "in Thread.join" },
    slept: { noun: "Sleeps", verb: "slept", what: "in Thread.sleep" },
    reacquiring: { noun: "Reacquires", verb: "reacquiring", what: "the monitor, at the end of Object.wait" },
} as const;
export type Kind = keyof typeof KINDS;

const log2 = (row: ReportRow, key: string) => (row[key] ?? []) as unknown as Log2;

/** Count, total, least, average, greatest, percentiles and distribution of one kind. */
export function kindColumns(kind: Kind, short: boolean): Column<ReportRow>[] {
    const { noun, verb, what } = KINDS[kind];
    const name = short ? "" : `${verb} `;
    const one = (suffix: string, title: string, hint: string, bar = false) =>
        numberColumn<ReportRow>(`${kind}_${suffix}`, title, `${hint}: ${what}`, bar);
    const columns: Column<ReportRow>[] = [
        one("count", short ? "Count" : noun, "Number of times"),
        one("ns", short ? "Total" : kind === "held_up" ? "Blocked for" : `${noun.slice(0, -1)} time`, "Total time", true),
        one("min_ns", `${name}min`, "Shortest"),
        one("avg_ns", `${name}avg`, "Average"),
        one("max_ns", `${name}max`, "Longest"),
        one("p50_ns", `${name}p50`, "Median"),
        one("p90_ns", `${name}p90`, "90th percentile"),
        one("p99_ns", `${name}p99`, "99th percentile"),
        {
            id: `${kind}_log2`, title: short ? "Distribution" : `${name}distribution`, hint: `Number of waits by duration, in powers of two: ${what}`, width: 112,
            value: (row) => (row[`${kind}_p50_ns`] as number) ?? null,
            cell: (row, scale) => <Histogram list={log2(row, `${kind}_log2`)} scale={scale} />,
            over: (rows) => log2Scale(rows.map((row) => log2(row, `${kind}_log2`))),
        },
    ];
    return columns.map((c) => ({ ...c, width: Math.max(c.width, 18 + c.title.length * 7.6) }));
}

export const className = (row: ReportRow) => row.class as string | null;

export const CLASS: Column<ReportRow> = {
    id: "class", title: "Class", hint: "Class of the monitor, or blocker of the park", width: 150, grow: true,
    value: (row) => className(row) ?? "unknown class",
    text: (row) => simple(className(row)),
    cell: (row) => <span title={className(row) ?? "unknown class"}>{simple(className(row))}</span>,
};

const at = (row: ReportRow) => row.at as unknown as Place | null;

/** The place in the program, with its file and line. */
export function callerColumn(title: string): Column<ReportRow> {
    return {
        id: "at", title, hint: "The innermost method outside the JDK", width: 200, grow: true,
        value: (row) => { const p = at(row); return p ? `${p.class}.${p.method}` : "unknown"; },
        cell: (row) => <Caller row={row} />,
    };
}

const LINE: Column<ReportRow> = {
    id: "line", title: "Line", hint: "File and line", width: 170, value: (row) => { const p = at(row); return p ? line(p) : null; },
};

function Caller({ row }: { row: ReportRow }) {
    const p = at(row);
    if (!p)
        return <span>unknown: no stack</span>;
    return <span title={`${place(p)}\n${place(row.innermost as unknown as Place | null)}`}>{simple(p.class)}.{p.method}</span>;
}

export function callerColumns(kind: Kind, withClass: boolean): Column<ReportRow>[] {
    return [
        callerColumn("Caller"), LINE, ...(withClass ? [{ ...CLASS, width: 110, grow: false }] : []), ...kindColumns(kind, true),
        ...(kind === "held_up" ? [numberColumn<ReportRow>("reacquiring_ns", "Reacquiring", "Part of the total: reacquiring the monitor at the end of Object.wait", true)] : []),
        numberColumn<ReportRow>(`${kind}_objects`, "Objects", "Number of monitor objects"),
        numberColumn<ReportRow>(`${kind}_threads`, "Threads", "Number of threads"),
    ];
}

/** What waits weigh that each name one owner or one place (src/analyze/weigh.h). */
const shareColumn = (hint: string): Column<ReportRow> => ({
    id: "share_permille", title: "Share", hint: `${hint}, weighed by time: one wait weighs at most 5 %; fewer than 20 waits weigh the same`, right: true, bar: true, width: 62,
    value: (row) => row.share_permille as number | null, text: (row) => (row.share_permille === null ? "" : `${((row.share_permille as number) / 10).toFixed(1)} %`),
});

export const OWNER_SITES: Column<ReportRow>[] = [callerColumn("What the owner executed"), LINE, { ...CLASS, width: 110, grow: false }, shareColumn("Share of the waits on this class with a stack of the owner"), ...kindColumns("blocked", true)];

/** Counts and totals of all kinds first, so that they are seen together; then how each one is spread. */
const sums = (...kinds: Kind[]) => kinds.flatMap((k) => kindColumns(k, false).slice(0, 2));
const spread = (...kinds: Kind[]) => kinds.flatMap((k) => kindColumns(k, false).slice(2));

export const CLASSES: Column<ReportRow>[] = [
    CLASS, numberColumn<ReportRow>("objects", "Objects", "Number of objects that threads blocked on or waited in"),
    ...sums("held_up", "blocked", "reacquiring", "waited", "parked"), ...spread("held_up", "waited", "parked"),
    numberColumn<ReportRow>("timed_out", "Timed out", "Object.wait that timed out"),
];

const timesOf = (prefix: string, noun: string, verb: string, what: string): Column<ReportThread>[] => [
    numberColumn<ReportThread>(`${prefix}_count` as keyof ReportThread & string, noun, `Number of times ${what}`),
    numberColumn<ReportThread>(`${prefix}_ns` as keyof ReportThread & string, verb, `Time ${what}`, true),
];

export const THREADS: Column<ReportThread>[] = [
    { id: "id", title: "Id", hint: "Orca's number of the thread", right: true, width: 48, value: (row) => row.id },
    { id: "name", title: "Thread", width: 140, grow: true, value: (row) => row.name || `#${row.id}` },
    { id: "group", title: "Group", hint: "Thread group", width: 80, value: (row) => row.group },
    ...timesOf("held_up", "Blocked", "Blocked for", KINDS.held_up.what),
    ...timesOf("blocked", "Monitor blocks", "Monitor block time", KINDS.blocked.what),
    ...timesOf("waited", "Waits", "Waited", KINDS.waited.what),
    ...timesOf("parked", "Parks", "Parked", KINDS.parked.what),
    ...timesOf("joined", "Joins", "Joined", KINDS.joined.what),
    ...timesOf("slept", "Sleeps", "Slept", KINDS.slept.what),
    ...timesOf("reacquired", "Reacquires", "Reacquire time", KINDS.reacquiring.what),
    numberColumn<ReportThread>("io_ns", "I/O", "In input or output: recorded, or seen by looks", true),
    numberColumn<ReportThread>("ready_ns", "Ready", "Waiting for a processor (--time)", true),
    numberColumn<ReportThread>("stopped_ns", "Stopped", "Stopped by the JVM, for a collection or another safepoint", true),
    numberColumn<ReportThread>("off_ns", "Off CPU", "Off the processor, cause unknown (--time)", true),
    numberColumn<ReportThread>("running_ns", "Running", "Lifetime minus all other columns", true),
];

/** Who held it, and who waited for whom: the thread under `who`, its name under `who_name`. */
export function personColumn(who: string, title: string, hint: string): Column<ReportRow> {
    return { id: who, title, hint, width: 140, grow: true, value: (row) => (row[`${who}_name`] as string | null) ?? "unknown" };
}

export const OWNERS: Column<ReportRow>[] = [
    personColumn("owner", "Owner", "Owner at the moment when another thread began to wait"), { ...CLASS, width: 120 },
    shareColumn("Share of the waits on this class with a known owner"), numberColumn<ReportRow>("held_up_count", "Count", "Number of times that another thread waited for this owner"),
    numberColumn<ReportRow>("held_up_ns", "Total", "Total time of these waits", true),
    numberColumn<ReportRow>("held_up_max_ns", "Max", "Longest of these waits"),
];

/** Index of the thread under a key of a row; 0: unknown. */
export function threadAt(row: ReportRow, key: string): number {
    return threadOfId(row[key] as number | null);
}
