// statistics.tsx - the "Monitor statistics" of TPTP 4.5's thread profiling: threads, then the classes that they
// waited for, then where in the program, and who held it.
//
// Each table is of what is selected in those before it, and all are of state.selection.  The numbers
// are those of `orca report --json`, which the cells carry as data-ns and data-count.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { count, simple } from "../format.ts";
import type { Source } from "../source.ts";
import { hover, meta, selection, tableClasses, tableThreads, threadName, threadOfId } from "../state.ts";
import type { Report, ReportRow, ReportThread, Selection } from "../types.ts";
import { useAnswer } from "./ask.ts";
import type { Answer } from "./ask.ts";
import { Choice } from "./choice.tsx";
import { Scope } from "./scope.tsx";
import { CLASSES, KINDS, OWNERS, OWNER_SITES, THREADS, callerColumns, className, threadAt } from "./statistics_columns.tsx";
import type { Kind } from "./statistics_columns.tsx";
import { Table } from "./table.tsx";
import type { Key } from "./rows.ts";
import "./statistics.css";

/** In tableClasses, the locks whose class is not known. */
export const UNKNOWN_CLASS = "?";

const TOP = 5000;
const NO_ROWS: never[] = [];

type Part = "callers" | "others" | "owners";
const PARTS: { value: Part; text: string; hint: string }[] = [
    { value: "callers", text: "Blocked and waiting", hint: "Where threads were blocked, and where they were in Object.wait" },
    { value: "others", text: "Parks, joins, sleeps", hint: "Where threads parked, joined, slept, reacquired a monitor" },
    { value: "owners", text: "Who held it", hint: "Which threads owned the locks that others waited for, and what they executed" },
];
type Other = "parked" | "joined" | "slept" | "reacquiring";
const OTHERS = (["parked", "joined", "slept", "reacquiring"] as const).map((value) => ({ value, text: KINDS[value].noun, hint: KINDS[value].what }));

// --- what is asked ------------------------------------------------------------------------------------

/** The selection with the threads that are selected in the table, as far as the filter has them. */
function narrowed(s: Selection, threads: ReadonlySet<number>): Selection {
    if (threads.size === 0)
        return s;
    const both = [...threads].filter((t) => !s.threads || s.threads.includes(t)).sort((a, b) => a - b);
    const all = s.threads?.length ?? (meta.value?.threads.id.length ?? 1) - 1;
    return both.length && both.length < all ? { ...s, threads: both } : s;
}

const NO_CLASSES: ReadonlySet<string> = new Set();

/** Of the selected classes, all of them where none is: the rows of each, behind each other. */
function useReport(sections: string[], s: Selection, classes = NO_CLASSES): Answer<Report> {
    const names = [...classes];
    return useAnswer(JSON.stringify([sections, s, names]), async (source) => {
        const all = await Promise.all(names.length ? names.map((name) => ofClass(source, sections, s, name)) : [source.report(sections, s, TOP)]);
        return all.length === 1 ? all[0] : Object.fromEntries(ROWS.map((key) => [key, all.flatMap((r) => (r[key] as ReportRow[] | undefined) ?? [])]));
    });
}

const ROWS = ["sites", "owners", "owner_sites"];

/** Those of an unknown class have no name to ask by. */
async function ofClass(source: Source, sections: string[], s: Selection, name: string): Promise<Report> {
    if (name !== UNKNOWN_CLASS)
        return source.report(sections, { ...s, class: name }, TOP);
    const all = await source.report(sections, s, TOP);
    return Object.fromEntries(ROWS.map((key) => [key, ((all[key] as ReportRow[] | undefined) ?? []).filter((row) => row.class === null)]));
}

/** "Order", "2 classes" */
function classesText(names: ReadonlySet<string>): string {
    const [one] = names;
    return names.size > 1 ? `${count(names.size)} classes` : simple(one === UNKNOWN_CLASS ? null : one);
}

const withAny = (rows: readonly ReportRow[], kind: Kind) => rows.filter((row) => (row[`${kind}_count`] as number) > 0);
const siteKey = (row: ReportRow) => `${row.class}|${row.stack}`;

// --- the view -----------------------------------------------------------------------------------------

export function Statistics() {
    const part = useSignal<Part>("callers");
    const other = useSignal<Other>("parked");
    const s = selection.value;
    const chosen = narrowed(s, tableThreads.value);
    const noMonitor = part.value === "others" && (other.value === "joined" || other.value === "slept");
    const names = noMonitor ? NO_CLASSES : tableClasses.value;
    const threads = useReport(["threads"], s);
    const classes = useReport(["monitors"], chosen);
    const sites = useReport([part.value === "owners" ? "owners" : "sites"], chosen, names);
    const busy = threads.busy || classes.busy || sites.busy;
    return (
        <section class="statistics" data-view="statistics" aria-label="Monitor statistics">
            <Scope busy={busy} error={threads.error ?? classes.error ?? sites.error}>
                <Chosen />
            </Scope>
            <div class="statistics-tables">
                <Threads answer={threads} />
                <Classes answer={classes} />
                <div class="statistics-callers">
                    <div class="statistics-parts">
                        <Choice name="statistics-part" label="Which places" options={PARTS} value={part.value} onChange={(v) => (part.value = v)} />
                        {part.value === "others" &&
                            <Choice name="statistics-other" label="Which kind of wait" options={OTHERS} value={other.value} onChange={(v) => (other.value = v)} />}
                        {noMonitor && tableClasses.value.size > 0 && <span class="dim">Joins and sleeps have no class.</span>}
                    </div>
                    <div class="statistics-pair">
                        {part.value === "callers" && <Callers kind="held_up" answer={sites} names={names} />}
                        {part.value === "callers" && <Callers kind="waited" answer={sites} names={names} />}
                        {part.value === "others" && <Callers kind={other.value} answer={sites} names={names} />}
                        {part.value === "owners" && <Owners answer={sites} />}
                    </div>
                </div>
            </div>
        </section>
    );
}

/** What is selected in the tables, in words, and how to give it up. */
function Chosen() {
    const threads = tableThreads.value, names = tableClasses.value;
    if (threads.size === 0 && names.size === 0)
        return null;
    const who = threads.size === 1 ? threadName([...threads][0]) : `${count(threads.size)} threads`;
    const words = [threads.size ? who : "", names.size ? `on ${classesText(names)}` : ""].filter(Boolean);
    const clear = () => {
        tableThreads.value = new Set();
        tableClasses.value = NO_CLASSES;
    };
    return <span data-test="statistics-chosen">Selected: {words.join(" ")} <button type="button" data-test="statistics-clear" onClick={clear}>Clear</button></span>;
}

// --- the tables ---------------------------------------------------------------------------------------

function Threads({ answer }: { answer: Answer<Report> }) {
    const rows = answer.value?.threads ?? NO_ROWS;
    const over = rows.length >= TOP && (meta.value?.threads.id.length ?? 0) > TOP;
    const lit = hover.value?.thread;
    return (
        <Table<ReportThread> name="statistics-threads" label={over ? `Threads (the first ${count(TOP)})` : "Threads"} rows={rows} columns={THREADS}
            keyOf={(row) => threadOfId(row.id)} multi search selected={tableThreads.value} busy={answer.busy} failed={answer.error !== null}
            order={{ id: "held_up_ns", down: true }} empty="No thread was alive in this range."
            onSelect={(keys: Set<Key>) => (tableThreads.value = new Set([...keys].map(Number)))}
            onHover={(row) => (hover.value = row && { thread: threadOfId(row.id) })} lit={(row) => lit !== undefined && threadOfId(row.id) === lit} />
    );
}

const classKey = (row: ReportRow) => className(row) ?? UNKNOWN_CLASS;

function Classes({ answer }: { answer: Answer<Report> }) {
    const lit = hover.value?.class;
    return (
        <Table<ReportRow> name="statistics-classes" label="Classes" rows={answer.value?.locks ?? NO_ROWS} columns={CLASSES} keyOf={classKey}
            multi search selected={tableClasses.value} busy={answer.busy} failed={answer.error !== null} empty="No thread blocked, waited or parked."
            onSelect={(keys: Set<Key>) => (tableClasses.value = new Set([...keys].map(String)))}
            onHover={(row) => (hover.value = row && row.class !== null ? { class: className(row)! } : null)}
            lit={(row) => lit !== undefined && row.class === lit} />
    );
}

const COLUMNS = Object.fromEntries((Object.keys(KINDS) as Kind[]).map((k) => [k, [callerColumns(k, true), callerColumns(k, false)]])) as
    Record<Kind, ReturnType<typeof callerColumns>[]>;

function Callers({ kind, answer, names }: { kind: Kind; answer: Answer<Report>; names: ReadonlySet<string> }) {
    const rows = useMemo(() => withAny(answer.value?.sites ?? NO_ROWS, kind), [answer.value, kind]);
    return (
        <Table<ReportRow> key={kind} name={`statistics-${kind}`} label={`${KINDS[kind].noun} by caller${names.size ? ` on ${classesText(names)}` : ""}`}
            rows={rows} columns={COLUMNS[kind][names.size === 1 ? 1 : 0]} keyOf={siteKey} order={{ id: `${kind}_ns`, down: true }} search busy={answer.busy} failed={answer.error !== null}
            empty={`No thread ${kind === "reacquiring" ? "reacquired a monitor" : KINDS[kind].verb} here.`}
            onHover={(row) => (hover.value = row && row.class !== null ? { class: className(row)! } : null)} />
    );
}

function Owners({ answer }: { answer: Answer<Report> }) {
    const owners = answer.value?.owners ?? NO_ROWS, places = answer.value?.owner_sites ?? NO_ROWS;
    const lit = hover.value?.thread;
    return (
        <>
            <Table<ReportRow> name="statistics-owners" label="Who held it" rows={owners} columns={OWNERS} keyOf={(row) => `${row.class}|${row.owner}`}
                order={{ id: "held_up_ns", down: true }} search busy={answer.busy} failed={answer.error !== null} empty="No thread waited for an owner."
                onHover={(row) => (hover.value = row && row.owner !== null ? { thread: threadAt(row, "owner") } : null)}
                lit={(row) => lit !== undefined && row.owner !== null && threadAt(row, "owner") === lit} />
            <Table<ReportRow> name="statistics-owner-sites" label="What owners executed" rows={places} columns={OWNER_SITES} keyOf={siteKey}
                order={{ id: "share_permille", down: true }} search busy={answer.busy} failed={answer.error !== null}
                empty="No owner's stack was recorded (ownerstacks=all records each)." />
        </>
    );
}
