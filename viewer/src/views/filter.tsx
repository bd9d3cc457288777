// filter.tsx - the dialog that chooses the threads to show.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { count, duration } from "../format.ts";
import { dialog, filter, meta } from "../state.ts";
import { THREAD } from "../types.ts";
import type { Meta } from "../types.ts";
import type { Column, Key } from "./rows.ts";
import { amount } from "./statistics_columns.tsx";
import { Table } from "./table.tsx";
import "./filter.css";

interface Row { thread: number; id: number; name: string; group: string; waits: number; blocked: number; waited: number; parked: number; running: number; program: boolean }

export function rowsOf(m: Meta): Row[] {
    const t = m.threads;
    return t.id.slice(1).map((id, k) => {
        const i = k + 1;
        return {
            thread: i, id, name: t.name[i] || `#${id}`, group: m.groups.name[t.group[i]] ?? "", waits: t.waits[i], blocked: t.blocked_ns[i],
            waited: t.waited_ns[i], parked: t.parked_ns[i], running: t.running_ns[i], program: (t.flags[i] & THREAD.program) !== 0,
        };
    });
}

const time = (id: "blocked" | "waited" | "parked" | "running", title: string): Column<Row> =>
    ({ id, title, width: 84, right: true, bar: true, data: "ns", value: (row) => row[id], text: (row) => amount(duration, row[id]) });

const COLUMNS: Column<Row>[] = [
    { id: "id", title: "Id", width: 52, right: true, value: (row) => row.id },
    { id: "name", title: "Thread", width: 180, grow: true, value: (row) => row.name },
    { id: "group", title: "Group", width: 110, value: (row) => row.group },
    { id: "waits", title: "Waits", width: 70, right: true, data: "count", value: (row) => row.waits, text: (row) => count(row.waits) },
    time("blocked", "Blocked"), time("waited", "Waited"), time("parked", "Parked"), time("running", "Running"),
];

/** What the buttons choose. */
const CHOICES: { name: string; text: string; pick: (rows: readonly Row[], old: ReadonlySet<Key>) => Iterable<Key> }[] = [
    { name: "all", text: "All", pick: (rows) => rows.map((r) => r.thread) },
    { name: "none", text: "None", pick: () => [] },
    { name: "invert", text: "Invert", pick: (rows, old) => rows.map((r) => r.thread).filter((t) => !old.has(t)) },
    { name: "waits", text: "Only threads with waits", pick: (rows) => rows.filter((r) => r.waits > 0).map((r) => r.thread) },
    { name: "program", text: "Only the program's threads", pick: (rows) => rows.filter((r) => r.program).map((r) => r.thread) },
];

/** Shown while state.dialog is "filter". */
export function FilterDialog() {
    return dialog.value === "filter" && meta.value ? <Open m={meta.value} /> : null;
}

function Open({ m }: { m: Meta }) {
    const box = useRef<HTMLDialogElement>(null);
    const rows = useMemo(() => rowsOf(m), [m.threads]);
    const chosen = useSignal<ReadonlySet<Key>>(new Set(filter.peek() ?? rows.map((r) => r.thread)));
    useModal(box);
    const close = () => { dialog.value = null; };
    const apply = () => {
        const picked = rows.filter((r) => chosen.value.has(r.thread)).map((r) => r.thread);
        filter.value = picked.length === rows.length ? null : new Set(picked);
        close();
    };
    return (
        <dialog ref={box} class="filter" aria-label="Threads to show" data-view="filter" onCancel={(e) => { e.preventDefault(); close(); }} onKeyDown={(e) => e.key !== "Escape" && e.stopPropagation()}>
            <div class="filter-body">
                <div class="filter-choices" role="group" aria-label="Choose">
                    {CHOICES.map((c) => <button key={c.name} type="button" data-test={`filter-${c.name}`} onClick={() => (chosen.value = new Set(c.pick(rows, chosen.value)))}>{c.text}</button>)}
                    <span class="dim">A click chooses one, Ctrl adds, Shift a range.</span>
                </div>
                <div class="filter-table">
                    <Table<Row> name="filter-threads" label="Threads to show" rows={rows} columns={COLUMNS} keyOf={(row) => row.thread} multi search selected={chosen.value}
                        order={{ id: "id", down: false }} onSelect={(keys) => (chosen.value = keys)} onOpen={apply} />
                </div>
                <div class="filter-end">
                    <span role="status">{chosen.value.size === 0 ? "Choose at least one thread." : `${count(chosen.value.size)} of ${count(rows.length)} threads`}</span>
                    <button type="button" data-test="filter-cancel" onClick={close}>Cancel</button>
                    <button type="button" class="primary" data-test="filter-apply" disabled={chosen.value.size === 0} onClick={apply}>Show them</button>
                </div>
            </div>
        </dialog>
    );
}

/** Open as a modal; the focus goes back to where it was. */
export function useModal(box: { current: HTMLDialogElement | null }): void {
    useEffect(() => {
        const before = document.activeElement;
        const d = box.current;
        d?.showModal();
        return () => {
            d?.close();
            if (before instanceof HTMLElement)
                before.focus();
        };
    }, []);
}
