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
    number("held_up_ns", "Held up for", "It held threads up for so long in all: at a monitor or a lock, for a permit, a slot or an answer", true),
    number("held_up_count", "Held up", "So many times"),
    number("blocked_ns", "Block time", "Threads were blocked on it for so long in all"),
    number("blocked_count", "Blocks", "So many times"),
    number("longest_queue", "Longest queue", "So many threads at once, in the whole recording"),
    number("waited_ns", "Wait time", "In Object.wait"),
    number("waited_count", "Waits", "So many times"),
    number("reacquired_ns", "Retake time", "Taking the monitor again after a notify"),
    number("parked_ns", "Park time", "Parked for it"),
    number("parked_count", "Parks", "So many times"),
    number("holds", "Holds", "Recorded with the group holds only"),
    number("held_ns", "Held", "Recorded with the group holds only"),
    number("held_max_ns", "Longest hold", "Recorded with the group holds only"),
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
