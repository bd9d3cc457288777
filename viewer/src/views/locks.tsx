// locks.tsx - the locks one by one: how long they were waited for, how long their queue was; a row leads to
// its lane in the timeline.
import { count, duration, simple } from "../format.ts";
import * as state from "../state.ts";
import type { LockRow } from "../types.ts";
import { useAnswer } from "./ask.ts";
import type { Column } from "./rows.ts";
import { Scope } from "./scope.tsx";
import { amount } from "./statistics_columns.tsx";
import { Table } from "./table.tsx";

const MOST = 2000;

function number(key: keyof LockRow & string, title: string, hint: string, bar = false): Column<LockRow> {
    const ns = key.endsWith("_ns");
    return {
        id: key, title, hint, right: true, bar, width: Math.max(ns ? 84 : 64, 26 + Math.round(title.length * 7.2)), data: ns ? "ns" : "count",
        value: (l) => l[key] as number, text: (l) => amount(ns ? duration : count, l[key] as number),
    };
}

const COLUMNS: Column<LockRow>[] = [
    { id: "lock", title: "Lock", width: 170, grow: true, hint: "Class, and Orca's number of the object", value: (l) => `${simple(l.class)}#${l.id}` },
    { id: "class", title: "Class", width: 120, grow: true, value: (l) => l.class ?? "unknown class" },
    number("held_up_ns", "Blocked for", "Total time that threads waited for it: a monitor, lock, permit, slot or answer", true),
    number("held_up_count", "Blocked", "Number of these waits"),
    number("blocked_ns", "Monitor block time", "Total time that threads were blocked on the monitor"),
    number("blocked_count", "Monitor blocks", "Number of these waits"),
    number("longest_queue", "Longest queue", "Most threads at once, in the whole recording"),
    number("waited_ns", "Wait time", "In Object.wait"),
    number("waited_count", "Waits", "Number of Object.wait calls"),
    number("reacquired_ns", "Reacquire time", "Reacquiring the monitor at the end of Object.wait"),
    number("parked_ns", "Park time", "Parked for it"),
    number("parked_count", "Parks", "Number of parks"),
    number("holds", "Holds", "Needs the event group holds"),
    number("held_ns", "Held", "Needs the event group holds"),
    number("held_max_ns", "Longest hold", "Needs the event group holds"),
];

export function goLock(id: number, name: string | null): void {
    if (state.lockClass.value !== null && state.lockClass.value !== name)
        state.lockClass.value = null;
    state.mode.value = "locks";
    state.focusRow.value = `l${id}`;
}

export function Locks() {
    const of = state.selection.value;
    const ready = state.meta.value && !state.meta.value.phase;
    const answer = useAnswer(ready ? JSON.stringify(of) : null, (s) => s.locks(of, MOST));
    const rows = answer.value?.locks ?? [];
    const selected = new Set<number>(state.focusRow.value?.[0] === "l" ? [Number(state.focusRow.value.slice(1))] : []);
    return (
        <div data-view="locks" class="panelview">
            <Scope busy={answer.busy} error={answer.error}>
                {answer.value && answer.value.n > rows.length && <span>{count(rows.length)} of {count(answer.value.n)} locks</span>}
            </Scope>
            <Table name="locks" label="Locks" rows={rows} columns={COLUMNS} keyOf={(l) => l.id} order={{ id: "held_up_ns", down: true }} selected={selected} search
                onSelect={(keys) => { const id = [...keys][0]; const l = rows.find((x) => x.id === id); if (l) goLock(l.id, l.class); }}
                onHover={(l) => { state.hover.value = l ? { lock: l.id } : null; }} lit={(l) => state.hover.value?.lock === l.id}
                busy={answer.busy} failed={answer.error !== null} empty="No thread waited for a lock." />
        </div>
    );
}
