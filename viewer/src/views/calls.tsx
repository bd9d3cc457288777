// calls.tsx - the calls of tracked methods, by method and by caller, of the whole recording.
import { useSignal } from "@preact/signals";
import { count, place, simple } from "../format.ts";
import type { Place, ReportRow } from "../types.ts";
import { useAnswer } from "./ask.ts";
import type { Column, Key } from "./rows.ts";
import { numberColumn } from "./statistics_columns.tsx";
import { Table } from "./table.tsx";
import "./calls.css";

const TOP = 5000;
const NONE: never[] = [];

const methodOf = (row: ReportRow): string => `${row.class}.${row.method}`;

const METHOD: Column<ReportRow> = { id: "method", title: "Method", width: 220, grow: true, value: methodOf, text: (row) => `${simple(row.class as string)}.${row.method}` };
const NUMBERS: Column<ReportRow>[] = [
    numberColumn<ReportRow>("called_count", "Calls", "How often it was called"),
    numberColumn<ReportRow>("failed_count", "Failed", "Calls that threw an exception, or returned false for \"not acquired\""),
    numberColumn<ReportRow>("called_ns", "Total", "Total time of the calls; none where only the entry is recorded", true),
    numberColumn<ReportRow>("in_waits_ns", "In waits", "Part of the time, in recorded waits", true),
    numberColumn<ReportRow>("called_avg_ns", "Average", "Of the calls with a known duration"),
    numberColumn<ReportRow>("called_p99_ns", "99 %", "99th percentile"),
    numberColumn<ReportRow>("called_max_ns", "Max", "Longest call"),
    numberColumn<ReportRow>("called_unknown", "No time", "Calls without a recorded start or end"),
];
const CALLER: Column<ReportRow> = { id: "at", title: "Called from", width: 260, grow: true, value: (row) => (row.at ? place(row.at as Place) : "unknown") };
const METHODS = [METHOD, ...NUMBERS];
const CALLERS = [CALLER, METHOD, ...NUMBERS];

export function Calls() {
    const chosen = useSignal<string | null>(null);
    const answer = useAnswer("calls", (s) => s.report(["calls"], {}, TOP));
    const methods = (answer.value?.calls as ReportRow[] | undefined) ?? NONE;
    const callers = (answer.value?.call_sites as ReportRow[] | undefined) ?? NONE;
    const shown = chosen.value === null ? callers : callers.filter((row) => methodOf(row) === chosen.value);
    return (
        <div data-view="calls" class="panelview calls" aria-busy={answer.busy}>
            <div class="scope">
                <span>The whole recording, {methods.length === 1 ? "1 tracked method" : `${count(methods.length)} tracked methods`}</span>
                {answer.error && <span class="scope-error" role="alert">{answer.error}</span>}
            </div>
            <div class="calls-pair">
                <Table<ReportRow> name="calls-methods" label="Calls" rows={methods} columns={METHODS} keyOf={methodOf} search busy={answer.busy} failed={answer.error !== null}
                    selected={new Set(chosen.value === null ? [] : [chosen.value])} empty="No calls of tracked methods were recorded."
                    onSelect={(keys: Set<Key>) => { chosen.value = keys.size ? String([...keys][0]) : null; }} />
                <Table<ReportRow> name="calls-callers" label={chosen.value === null ? "Callers" : `Callers of ${chosen.value}`} rows={shown} columns={CALLERS}
                    keyOf={(row) => `${methodOf(row)}|${row.stack}`} search busy={answer.busy} failed={answer.error !== null} empty="Callers unknown." />
            </div>
        </div>
    );
}
