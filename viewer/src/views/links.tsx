// links.tsx - threads, locks and waits as links into the timeline, and the jumps behind them.
import { batch, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { moment, simple } from "../format.ts";
import { choose, filter, focusRow, hover, marked, mode, padded, show, source, tableClasses, threadName, view } from "../state.ts";
import type { Source } from "../source.ts";
import type { WaitRef } from "../types.ts";
import { goLock } from "./locks.tsx";

// --- jumps ----------------------------------------------------------------------------------------------

/** Put the keyboard's row on a thread, which the filter then must have; the timeline brings it into sight. */
export function showThread(thread: number): void {
    batch(() => {
        mode.value = "threads";
        if (filter.value && !filter.value.has(thread))
            filter.value = new Set([...filter.value, thread]);
        focusRow.value = `t${thread}`;
    });
}

export function showLock(id: number, name: string | null): void {
    batch(() => {
        tableClasses.value = new Set(name === null ? [] : [name]);
        goLock(id, name);
    });
}

/** See a moment without losing where one is: the view moves only when the moment is outside. */
export function showTime(from: number, to: number): void {
    const v = view.value;
    if (from >= v.from && to <= v.to && (to - from) * 200 >= v.to - v.from)
        return;
    if (to > from)
        show(padded({ from, to }, 1));
    else
        show({ from: from - (v.to - v.from) / 2, to: from + (v.to - v.from) / 2 });
}

/** Choose a wait, on its row, with its time in view. */
export function goWait(w: WaitRef, from: number, to: number): void {
    batch(() => {
        showThread(w.thread);
        choose({ wait: w });
        showTime(from, to);
    });
}

/** What a thread did at a moment. */
export function goMoment(thread: number, time: number): void {
    batch(() => {
        showThread(thread);
        choose({ at: { row: `t${thread}`, time } });
        showTime(time, time);
    });
}

export function mark(from: number, to: number): void {
    batch(() => {
        marked.value = { from, to: Math.max(to, from + 1) };
        show(padded({ from, to }, 0.1));
    });
}

// --- links ----------------------------------------------------------------------------------------------

export function ThreadLink({ thread, time }: { thread: number; time?: number }) {
    if (!thread)
        return <span>an unknown thread</span>;
    const lit = hover.value?.thread === thread;
    return (
        <button type="button" class={`link${lit ? " lit" : ""}`} data-test="thread-link" data-thread={thread}
            title={time === undefined ? "Show this thread" : `Show this thread at ${moment(time, 1e3)}`}
            onClick={() => (time === undefined ? showThread(thread) : goMoment(thread, time))} {...hovers({ thread })}>{threadName(thread)}</button>
    );
}

export function LockLink({ id, name }: { id: number; name: string | null }) {
    return (
        <button type="button" class="link" data-test="lock-link" data-lock={id} title={`Show this lock${name ? `, of ${name}` : ""}`}
            onClick={() => showLock(id, name)} {...hovers({ lock: id })}>{simple(name)} <span class="dim">#{id}</span></button>
    );
}

function hovers(what: { thread?: number; lock?: number }) {
    const on = () => { hover.value = what; };
    const off = () => { hover.value = null; };
    return { onMouseEnter: on, onMouseLeave: off, onFocus: on, onBlur: off };
}

// --- classes of locks that are known by id only ------------------------------------------------------------

const classes = signal<ReadonlyMap<number, string | null>>(new Map());
const asked = new Set<number>();
let wanted: number[] = [];

/** Of all that were wanted in one go. */
async function findClasses(s: Source): Promise<void> {
    const ids = wanted;
    wanted = [];
    const rows = await s.locks({}, ids.length, ids).catch(() => null);
    const more = new Map(classes.value);
    for (const l of rows?.locks ?? [])
        more.set(l.id, l.class);
    classes.value = more;
}

function wantClass(s: Source, id: number): void {
    asked.add(id);
    if (wanted.push(id) === 1)
        queueMicrotask(() => void findClasses(s));
}

/** The link of a lock of which only the id is at hand. */
export function LockById({ id }: { id: number }) {
    const known = classes.value.get(id);
    useEffect(() => {
        if (asked.has(id) || !source.value)
            return;
        wantClass(source.value, id);
    }, [id, source.value]);
    return <LockLink id={id} name={known ?? null} />;
}
