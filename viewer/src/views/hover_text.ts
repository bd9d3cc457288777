// hover_text.ts - what the mouse is on, in words.
import type { Arrow } from "../draw/arrows.ts";
import { bytes, count, duration, moment, percent, place, rate } from "../format.ts";
import { meta, threadName } from "../state.ts";
import type { Cells, Context, ExactLock, ExactThread, GcPause, ThreadMark } from "../types.ts";
import { CELL, FLAG, HALTS, haltOf, INTERACTIONS, IO_KINDS, LAST_OWNER, NO_INTERACTION, WAITS } from "../types.ts";
import { queues, waitedUntil } from "../draw/columns.ts";
import { tileWidth } from "../source/tile.ts";

/** A state as a sentence begins with it. */
const DOING = ["blocked", "in Object.wait", "parked", "joining", "sleeping", "reacquiring the monitor", "in an unknown state"];

/** By IO_KINDS. */
export const IO_DOING: Record<(typeof IO_KINDS)[number], string> = {
    "?": "in input or output", input: "waiting for input", output: "waiting to write", connect: "connecting", accept: "waiting for a connection",
    select: "waiting until one of its connections is ready", sync: "waiting until the data is on disk", open: "opening a file",
    lock: "waiting for the lock on a file", lookup: "looking up the address of a host", process: "waiting for the end of a child process",
    ready: "ready, waiting for a processor", stopped: "stopped by the JVM", off: "off the processor, cause unknown,",
};

/** By HALTS. */
const HALT_WORDS = ["in input or output", "ready, waiting for a processor", "stopped by the JVM", "off the processor, cause unknown"];

/** Why the thread of a row did not run at a time, in no wait; null: it ran. */
export function describeHalt(row: ExactThread, time: number): { lines: string[]; look: string } | null {
    const io = row.io;
    const k = io.to.findIndex((to) => to > time);
    if (k < 0 || io.from[k] > time)
        return null;
    const what = IO_KINDS[io.what[k]], peer = meta.value?.peers.find(([id]) => id === io.peer[k]);
    const stop = what === "stopped" ? stopAt(time) : [];
    return {
        lines: [`${IO_DOING[what]} for ${duration(io.to[k] - io.from[k])}`, ...(peer ? [peer[1]] : []), ...stop, ...(what === "?" ? ["seen by looks at its stack"] : [])],
        look: HALTS[haltOf(io.what[k])],
    };
}

export function describe(row: ExactThread, k: number, c: Context | undefined): string[] {
    const lines = [`${row.flags[k] & FLAG.heldUp && WAITS[row.state[k]] === "parked" ? "blocked, " : ""}${DOING[row.state[k]]} for ${duration(row.end[k] - row.start[k])}${row.flags[k] & FLAG.open ? ", still at the end of the recording" : ""}`];
    const until = waitedUntil(row, k);
    if (until < row.end[k])
        lines.push(`notified after ${duration(until - row.start[k])}, then reacquiring the monitor for ${duration(row.end[k] - until)}`);
    if (c?.class)
        lines.push(`${c.class}#${c.lock}`);
    if (c?.at)
        lines.push(`at ${place(c.at)}`);
    if (c?.other)
        lines.push(`${c.state === "joining" ? "of" : "owner"} ${threadName(c.other)}`);
    else if (c && c.state === "blocked")
        lines.push("owner unknown");
    if (row.flags[k] & FLAG.timedOut)
        lines.push("timed out");
    if (row.how[k] === LAST_OWNER)
        lines.push(`last owner seen: ${threadName(row.waker[k])}`);
    else if (row.waker[k])
        lines.push(`ended by ${threadName(row.waker[k])}${row.how[k] === NO_INTERACTION ? "" : ` (${INTERACTIONS[row.how[k]]})`}`);
    lines.push(`from ${moment(row.start[k], (row.end[k] - row.start[k]) / 100)}`);
    return lines;
}

export function describeCells(row: Cells, time: number, level: number): string[] {
    const width = tileWidth(level);
    const k = Math.floor((time / width - Math.floor(time / width)) * 512);
    const at = k * CELL, locked = row.cells[at + 8];
    const lived = row.cells[at + 6];
    if (!lived)
        return ["not alive"];
    let waits = 0;
    const parts: [number, string][] = [];
    if (locked)
        parts.push([locked, "parked, blocked"]);
    const unknown = row.cells[at + 9];
    if (unknown)
        parts.push([unknown, "unknown"]);
    waits += unknown;
    HALT_WORDS.forEach((words, h) => {
        const share = row.cells[at + 10 + h];
        waits += share;
        if (share)
            parts.push([share, words]);
    });
    for (let s = 0; s < WAITS.length; s++) {
        const share = row.cells[at + s] - (WAITS[s] === "parked" ? locked : 0);
        waits += row.cells[at + s];
        if (share)
            parts.push([share, WAITS[s]]);
    }
    if (lived > waits)
        parts.push([lived - waits, "running"]);
    parts.sort((a, b) => b[0] - a[0]);
    const n = row.cells[at + 7];
    return [
        `${duration(2 ** level)} from ${moment(time, 2 ** level)}, ${n === 255 ? "255 or more" : count(n)} waits`,
        ...parts.map(([share, name]) => `${percent(share, 255)} ${name}`),
        "zoom in to see them one by one",
    ];
}

/** Who has to do with a lock at a moment. */
export function peopleOf(row: ExactLock, time: number): { owner: number; sure: boolean; queue: number[]; waiters: number[] } {
    const out = { owner: 0, sure: false, queue: [] as number[], waiters: [] as number[] };
    for (let k = 0; k < row.n; k++)
        if (row.start[k] <= time && time < row.end[k])
            (queues(row, k) ? out.queue : out.waiters).push(row.thread[k]);
    for (let k = 0; k < row.m; k++)
        if (row.from[k] <= time && time < row.to[k]) {
            out.owner = row.owner[k];
            out.sure = row.sure[k] === 1;
        }
    return out;
}

export function describeLock(row: ExactLock, time: number): string[] {
    const names = (list: number[]): string => list.length > 6 ? `${list.slice(0, 6).map(threadName).join(", ")} and ${list.length - 6} more` : list.map(threadName).join(", ");
    const { owner, sure, queue, waiters } = peopleOf(row, time);
    const lines = [owner ? `held by ${threadName(owner)}${sure ? "" : ", according to its waiters"}` : "owner unknown"];
    lines.push(queue.length ? `${queue.length} queue: ${names(queue)}` : "no queue");
    if (waiters.length)
        lines.push(`${waiters.length} wait: ${names(waiters)}`);
    return lines;
}

/** A pause of the collector: how long, whose, why, and what it did to the heap. */
export function describePause([from, to, collector, cause, before, used, committed]: GcPause): string[] {
    const lines = [`collector pause, ${duration(to - from)}`];
    if (collector || cause)
        lines.push([collector, cause].filter((w) => w).join(": "));
    if (used)
        lines.push(`heap ${before ? `${bytes(before)} before, ` : ""}${bytes(used)} after${committed ? ` of ${bytes(committed)}` : ""}`);
    return lines;
}

/** What the JVM stopped all threads for at a time. */
function stopAt(time: number): string[] {
    const at = ([from, to]: [number, number, ...unknown[]]) => from <= time && time < to, m = meta.value!;
    const stop = m.stops?.find(at), pause = m.gc.find(at);
    return stop ? [`safepoint: ${stop[2]}`] : pause ? [`collector pause${pause[3] ? `: ${pause[3]}` : ""}`] : [];
}

export function describeRun(thread: number, time: number): { lines: string[]; look: string } {
    const t = meta.value!.threads;
    const pause = meta.value!.gc.find(([a, b]) => a <= time && time < b);
    if (time < t.from[thread])
        return { lines: ["not started yet"], look: "dead" };
    if (time >= t.to[thread])
        return { lines: ["ended"], look: "dead" };
    return { lines: ["running, or in native code that is not recorded", ...(pause ? [`stopped by the collector for ${duration(pause[1] - pause[0])}${pause[3] ? ` (${pause[3]})` : ""}`] : [])], look: "running" };
}

/** What the rates of allocation are made of. */
export function allocSource(): string {
    return meta.value?.allocations?.sampled ? "estimated from samples" : "every object counted";
}

/** What a thread allocated in a part of its lane. */
export function describeLane(thread: number, at: { from: number; to: number; bytes: number }): string[] {
    const long = at.to - at.from;
    return at.bytes === 0 ? [`${threadName(thread)} allocated nothing`, `in ${duration(long)} from ${moment(at.from, long / 100)}, ${allocSource()}`]
        : [`${threadName(thread)} allocated ${rate(at.bytes, long)}`, `${bytes(at.bytes)} in ${duration(long)} from ${moment(at.from, long / 100)}, ${allocSource()}`];
}

export function describeMark(m: ThreadMark): string[] {
    const head = m.call ?? (m.what === "notify" ? "notify without a waiter" : "notifyAll without a waiter");
    const long = m.to - m.from;
    return [
        `called ${head}${long ? ` for ${duration(long)}` : ""}`,
        ...(m.flags.includes("failed") ? ["the call failed"] : []), ...(m.flags.includes("unknown") ? ["its start or end was not recorded"] : []),
        `${long ? "from" : "at"} ${moment(m.from, Math.max(long / 100, 1))}`,
    ];
}

export function describeArrow(a: Arrow): string[] {
    const how = INTERACTIONS[a.how];
    return a.count > 1
        ? [`${count(a.count)} × ${how}`, `from ${threadName(a.from)} to ${threadName(a.to)}`, "zoom in to see them one by one"]
        : [how, `from ${threadName(a.from)} to ${threadName(a.to)}`, ...(a.fan > 1 ? [`one of ${a.fan} threads woken at once`] : [])];
}
