// legend.tsx - what each colour, texture and arrow means; each kind of arrow with its own switch, each
// state with its share of what is visible.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ARROW_LOOKS, headOf } from "../draw/arrow_look.ts";
import type { MarkKind } from "../draw/marks.ts";
import { DRAW_MARK } from "../draw/marks.ts";
import { drawThreadMark } from "../draw/thread_marks.ts";
import type { MarkLook } from "../draw/thread_marks.ts";
import { LOOK, palette } from "../draw/palette.ts";
import { count, duration, percent, rate } from "../format.ts";
import * as state from "../state.ts";
import { ROW } from "../rows.ts";
import { isDark } from "../theme.ts";
import type { Look } from "../draw/palette.ts";
import type { Interaction, Meta, ReportThread } from "../types.ts";
import { INTERACTIONS } from "../types.ts";
import { watch } from "../under_way.ts";
import { arrowsLeftOut, lanes, threadMarks } from "../stage.ts";
import { allocSource } from "./hover_text.ts";
import "./legend.css";

const STATES: [Look, string, string][] = [
    ["running", "running", "with --time: on a processor; else also ready to run, or in native code that is not recorded"],
    ["io", "input or output", "reading, writing, connecting, or an event loop in its select: recorded, or seen by looks"],
    ["ready", "ready", "waiting for a processor (recorded with --time)"],
    ["stopped", "stopped", "by the JVM, for a collection or another safepoint"],
    ["off", "off the processor", "cause unknown, such as a page fault or a lock in native code (recorded with --time)"],
    ["blocked", "blocked", "waiting for a monitor that another thread owns"],
    ["reacquiring", "reacquiring", "notified in Object.wait, waiting to get the monitor back"],
    ["waiting", "waiting", "in Object.wait"],
    ["locked", "parked, blocked", "in LockSupport.park for a lock, a permit, a slot or an answer that another thread has or provides"],
    ["parked", "parked, idle", "in LockSupport.park for work, as a pool thread without a task"],
    ["joining", "joining", "in Thread.join: waiting for another thread to end"],
    ["sleeping", "sleeping", "in Thread.sleep"],
    ["unknown", "unknown", "events are missing, or it is one of the JVM's own threads, which wait in native code"],
    ["deadlocked", "deadlocked", "in a cycle of threads that wait for each other"],
    ["gc", "collector pause, safepoint", "all threads that run Java are stopped"],
    ["held", "held (locks)", "a thread owned the lock"],
    ["queue", "queue (locks)", "its height is its length; below it, threads in Object.wait or parked"],
];

const ARROWS: Record<Interaction, string> = {
    "starts-thread": "a thread starts another one",
    "handoff-lock": "a thread releases a lock, and a waiter gets it",
    "last-owner-seen": "a waiter gets a lock; the arrow starts at the last owner seen, but another thread may have owned the lock in between (the event group holds records each release)",
    "interrupt": "a thread interrupts another one",
    "notify": "notify() wakes a thread",
    "notify-all": "notifyAll() wakes threads; ×n: n threads",
    "dead-and-notify-joined": "a thread ends, and a thread that joined it continues",
    "unpark": "a thread unparks another one",
    "semaphore": "a thread releases a permit, and a waiter gets it",
    "submit": "a thread submits a task to the thread that runs it",
};

/** What the columns of the lanes are worth: the highest one that is in sight. */
function Lanes() {
    const m = state.meta.value, l = lanes.value;
    return !m?.allocations?.n ? null : (
        <section aria-label="lanes">
            <h3>Lanes <small>below the bars of threads</small></h3>
            <table>
                <tbody>
                    <tr data-lane="alloc">
                        <td><svg width="24" height="14" aria-hidden="true"><path d="M0 14v-4h6v4zM6 14v-9h6v9zM12 14v-14h6v14zM18 14v-6h6v6z" fill={palette(isDark.value).alloc} /></svg></td>
                        <th scope="row">allocation</th>
                        <td class="number">{!state.allocOn.value ? "off" : l?.most ? rate(l.most, (l.to - l.from) / l.n) : ""}</td>
                        <td class="meaning">allocation rate of the thread, {allocSource()}; the highest column is the rate shown here, and a quarter of that rate is half as high</td>
                    </tr>
                </tbody>
            </table>
        </section>
    );
}

/** A square of a state's pattern. */
export function Swatch({ look }: { look: Look }) {
    return <canvas class="swatch" width={24} height={14} aria-hidden="true" ref={(c) => {
        if (!c)
            return;
        const image = new ImageData(24, 14);
        const out = new Uint32Array(image.data.buffer);
        const pattern = palette(isDark.value).pattern[LOOK[look]];
        for (let k = 0; k < out.length; k++)
            out[k] = pattern[((Math.floor(k / 24) & 7) << 3) | (k % 24 & 7)];
        c.getContext("2d")!.putImageData(image, 0, 0);
    }} />;
}

/** Of a thread's parks those in which others held it up. */
function lockedOf(t: ReportThread): number {
    return t.held_up_ns - t.blocked_ns - t.reacquired_ns;
}

const KEYS: Partial<Record<Look, (t: ReportThread) => number>> = {
    running: (t) => t.running_ns, io: (t) => t.io_ns, ready: (t) => t.ready_ns, stopped: (t) => t.stopped_ns, off: (t) => t.off_ns, blocked: (t) => t.blocked_ns, reacquiring: (t) => t.reacquired_ns, waiting: (t) => t.waited_ns,
    parked: (t) => t.parked_ns - lockedOf(t), locked: lockedOf, joining: (t) => t.joined_ns, sleeping: (t) => t.slept_ns, unknown: (t) => t.unknown_ns,
};

/** Time in each state, over the threads that are shown, in the range that is shown or marked. */
const sums = signal<Partial<Record<Look, number>> | null>(null);

function watchSums(): () => void {
    return watch(150, () => {
        const s = state.source.value, of = state.selection.value, m = state.meta.value;
        return s && m && !m.phase ? () => s.report(["threads"], of) : null;
    }, (r) => {
        sums.value = Object.fromEntries(Object.entries(KEYS).map(([look, get]) => [look, (r.threads ?? []).reduce((n, t) => n + get!(t), 0)]));
    });
}

const THREAD_MARKS: [MarkLook, string, string][] = [
    ["call", "call of a tracked method", "as long as the call; a cross at its end: the call failed"],
    ["call-moment", "call, entry only", "the method's end is not recorded"],
    ["notify", "notify without a waiter", "no thread was waiting"],
    ["notify-all", "notifyAll without a waiter", "no thread was waiting"],
];

const MARKS: [MarkKind, string, string][] = [
    ["end", "end of a thread", "the end was recorded"],
    ["time-up", "timed out", "an Object.wait timed out; short ones have no box"],
];

function ThreadMarkKey({ look }: { look: MarkLook }) {
    return <canvas class="swatch" width={24} height={10} aria-hidden="true" ref={(c) => {
        const g = c?.getContext("2d");
        g?.clearRect(0, 0, 24, 10);
        if (g)
            drawThreadMark(g, look, look === "call" ? 4 : 12, 20, 2, palette(isDark.value));
    }} />;
}

function MarkKey({ kind }: { kind: MarkKind }) {
    return <canvas class="swatch" width={24} height={ROW} aria-hidden="true" ref={(c) => {
        const g = c?.getContext("2d");
        g?.clearRect(0, 0, 24, ROW);
        if (g)
            DRAW_MARK[kind](g, 14, 0, palette(isDark.value));
    }} />;
}

function ArrowKey({ how, colour }: { how: Interaction; colour: string }) {
    const look = ARROW_LOOKS[how];
    const head = headOf(29, 6, 1, 0, 7, look.head).map((p) => `M${p[1].join(" ")}L${p[0].join(" ")}L${p[2].join(" ")}${look.head === "open" ? "" : "z"}`).join("");
    return (
        <svg width="30" height="12" aria-hidden="true">
            <path d={`M1 6H${look.head === "open" ? 28 : 24}`} stroke={colour} stroke-width="1.5" stroke-dasharray={look.dash.join(" ") || "none"} />
            <path d={head} fill={look.head === "open" ? "none" : colour} stroke={look.head === "open" ? colour : "none"} stroke-width="1.5" />
        </svg>
    );
}

/** What of a critical path rests on owners that were only the last ones seen. */
function restsOn(p: NonNullable<Meta["path"]>): string {
    const hands = p.handoffs_last_owner_seen;
    return !hands ? "" : `; ${count(hands)} of ${count(p.handoffs)} hand-offs on the path are from the last owner seen, and ${percent(p.last_owner_seen_ns, p.to - p.from)} of the path is in those owners`;
}

export function Legend() {
    useEffect(watchSums, []);
    const m = state.meta.value;
    const all = sums.value ? Object.values(sums.value).reduce((a, b) => a + (b ?? 0), 0) : 0;
    const colours = palette(isDark.value).arrows;
    return (
        <div class="legend" data-view="legend">
            <section aria-label="states">
                <h3>States <small>share of {state.marked.value ? "the marked range" : "what is visible"}</small></h3>
                <table>
                    <tbody>
                        {STATES.map(([look, name, text]) => (
                            <tr key={look} data-state={look}>
                                <td><Swatch look={look} /></td>
                                <th scope="row">{name}</th>
                                <td class="number" data-ns={sums.value?.[look]}>{sums.value && look in sums.value ? percent(sums.value[look] ?? 0, all) : ""}</td>
                                <td class="number">{sums.value && look in sums.value ? duration(sums.value[look] ?? 0) : ""}</td>
                                <td class="meaning">{text}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </section>
            <section aria-label="arrows">
                <h3>Arrows <small>from the thread that acts to the thread that continues</small></h3>
                <table>
                    <tbody>
                        {INTERACTIONS.map((how) => (
                            <tr key={how} data-arrow={how}>
                                <td><input type="checkbox" id={`arrow-${how}`} data-test={`arrow-${how}`} checked={state.arrowKinds.value.has(how)} onChange={() => flip(how)} /></td>
                                <td><ArrowKey how={how} colour={colours[how]} /></td>
                                <th scope="row"><label for={`arrow-${how}`}>{how}</label></th>
                                <td class="number" data-count={m?.arrows[how]?.count ?? 0}>{count(m?.arrows[how]?.count ?? 0)}</td>
                                <td class="meaning">{ARROWS[how]}</td>
                            </tr>
                        ))}
                        <tr data-arrow="path">
                            <td><input type="checkbox" id="arrow-path" data-test="arrow-path" checked={state.pathOn.value} disabled={!m?.path} onChange={() => { state.pathOn.value = !state.pathOn.value; }} /></td>
                            <td><svg width="30" height="12" aria-hidden="true"><path d="M1 6h28" stroke="var(--fg)" stroke-width="3" /></svg></td>
                            <th scope="row"><label for="arrow-path">critical path</label></th>
                            <td />
                            <td class="meaning">{m?.path ? `broken where the path waits or changes threads${restsOn(m.path)}` : "the program's end was not recorded, so no path can lead to it"}</td>
                        </tr>
                    </tbody>
                </table>
                {arrowsLeftOut.value > 0 && <p class="note">{count(arrowsLeftOut.value)} visible arrows are left out: zoom in, or hide kinds.</p>}
                {m?.path && <details><summary>Limits of the critical path</summary><ul>{m.path.limits.map((l) => <li key={l}>{l}</li>)}</ul></details>}
            </section>
            <section aria-label="marks">
                <h3>Marks <small>on the bars of threads</small></h3>
                <table>
                    <tbody>
                        {MARKS.map(([kind, name, text]) => (
                            <tr key={kind} data-mark={kind}>
                                <td><MarkKey kind={kind} /></td>
                                <th scope="row">{name}</th>
                                <td class="meaning">{text}</td>
                            </tr>
                        ))}
                        {THREAD_MARKS.map(([look, name, text]) => (
                            <tr key={look} data-mark={look}>
                                <td><ThreadMarkKey look={look} /></td>
                                <th scope="row">{name}</th>
                                <td class="meaning">{text}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
                {threadMarks.value && threadMarks.value.n > threadMarks.value.marks.length && <p class="note" data-test="marks-left-out">{count(threadMarks.value.n)} calls and notifies are here: zoom in to see them.</p>}
            </section>
            <Lanes />
        </div>
    );
}

export function flip(how: Interaction): void {
    const next = new Set(state.arrowKinds.value);
    if (!next.delete(how))
        next.add(how);
    state.arrowKinds.value = next;
}
