// threads.tsx - the threads of the dump: their stacks, and the objects that each frame holds.
import { count, plural } from "../format.ts";
import type { Column } from "../views/rows.ts";
import { Table } from "../views/table.tsx";
import { foundPath, useHeap, usePages } from "./ask.ts";
import { knownColumns, Missing, More, ObjectLink, retainedText } from "./links.tsx";
import * as state from "./state.ts";
import type { Held, Stack, ThreadRow, Threads as Data } from "./types.ts";

const COLUMNS: Column<ThreadRow>[] = [
    { id: "name", title: "Thread", width: 220, grow: true, value: (t) => t.name || "(no name)" },
    { id: "id", title: "Id", width: 130, value: (t) => t.id },
    { id: "frames", title: "Frames", width: 76, right: true, value: (t) => t.frames, text: (t) => count(t.frames) },
    { id: "held", title: "Objects held", hint: "Alive because of its frames: local variables, and JNI locals", width: 100, right: true, value: (t) => t.held, text: (t) => count(t.held) },
    { id: "retained", title: "Retained", hint: "Size that would be freed with the thread: the thread, its locals, and objects that only they keep alive", width: 96, right: true, bar: true, value: (t) => t.retained, text: (t) => retainedText(t.retained) },
];

export function Threads() {
    const { path } = foundPath("threads", "/threads?top=1000");
    const list = usePages<Data, ThreadRow>(path, "sized", (part) => part.threads);
    const chosen = state.chosenThread.value;
    return (
        <div class="heap-classes" data-view="threads">
            <section class="heap-instances first" aria-label="Threads">
                <Missing of={{ ...list, early: path === null }} what="Threads" />
                {list.value && (
                    <>
                        <Table name="threads" label="Threads" rows={list.rows} columns={knownColumns(COLUMNS)} keyOf={(t) => t.thread} search busy={list.busy} empty={state.knowsKeepers.value ? "The dump has no threads." : "The part of this dump that could be read has no threads."}
                            selected={new Set(chosen === null ? [] : [chosen])} onSelect={(keys) => { state.chosenThread.value = ([...keys][0] as number | undefined) ?? null; }} />
                        <More of={list} all={list.value.n} test="more-threads" />
                    </>)}
            </section>
            {chosen !== null && list.value && <One key={chosen} number={chosen} />}
        </div>
    );
}

function One({ number }: { number: number }) {
    const answer = useHeap<Stack>(`/thread?thread=${number}`, "sized");
    const of = answer.value;
    return (
        <section class="heap-detail" aria-label="Stack" data-test="stack" tabIndex={0}>
            <Missing of={answer} what="The stack" />
            {of && (
                <>
                    <h3>{of.object === null ? of.name : <button type="button" class="link" data-test="thread-object" onClick={() => state.choose(of.object!)}>{of.name || of.id}</button>}
                        <span class="dim"> {plural(of.frames, "frame")}{of.left_out > 0 ? `; ${count(of.left_out)} of them, further down, are left out` : ""}</span></h3>
                    {of.frames === 0 && <p class="dim">The dump has no stack of this thread.</p>}
                    <ol class="heap-stack">{of.stack.map((f) => <Frame key={f.depth} of={f} />)}</ol>
                    {of.no_frame.n > 0 && <><h3>Held by the thread, but by none of its frames</h3><ol class="heap-stack"><Frame of={of.no_frame} /></ol></>}
                </>)}
        </section>
    );
}

function Frame({ of }: { of: Held }) {
    return (
        <li data-depth={of.depth}>
            {of.frame !== null && <span>at {of.frame}</span>}
            {of.n > 0 && (
                <ul>
                    {of.holds.map((o, k) => <li key={k}>{o.kind !== "local variable" && <span class="dim">{o.kind} </span>}<ObjectLink of={o} /> <span class="dim">{retainedText(o.retained)}</span></li>)}
                    {of.n > of.holds.length && <li class="dim">{count(of.n - of.holds.length)} more</li>}
                </ul>)}
        </li>
    );
}
