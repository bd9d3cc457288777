// details.tsx - all that is known of what is chosen: a wait, a run, a lock at a moment.
//
// goCause and goEffect are the keys [ and ]: along the arrows, back to who ended a wait, and on to what
// its thread ended next.
import type { ComponentChildren } from "preact";
import { bytes, count, duration, hex, moment, place, rate, simple } from "../format.ts";
import { chosenAt, meta, threadName } from "../state.ts";
import type { Effect, Link, LockAt, MarkDetail, Run, Wait, WaitRef } from "../types.ts";
import { isLock, isMark, isWait, known, settled } from "./details_state.ts";
import { ACTS, Headline, flagTexts } from "./details_words.tsx";
import { useAnswer } from "./ask.ts";
import { IO_DOING, allocSource } from "./hover_text.ts";
import { LockLink, ThreadLink, goMoment, goWait, mark, showLock } from "./links.tsx";
import { Stack } from "./stack.tsx";
import "./details.css";

export async function goCause(): Promise<void> {
    const d = await settled();
    if (d && isWait(d))
        followCause(d);
}

export async function goEffect(): Promise<void> {
    const d = await settled();
    if (d && !isLock(d) && !isMark(d) && d.effects.length > 0)
        followEffect(d.effects[0]);
}

function followCause(w: Wait): void {
    if (!w.cause)
        return;
    if (w.cause.index !== null)
        goWait({ thread: w.cause.thread, index: w.cause.index }, w.cause.time, w.cause.time);
    else
        goMoment(w.cause.thread, w.cause.time);
}

function followEffect(e: Effect): void {
    if (e.index !== null)
        goWait({ thread: e.thread, index: e.index }, e.time, e.time);
    else
        goMoment(e.thread, e.time);
}

// --- the view -------------------------------------------------------------------------------------------

export function Details() {
    const k = known.value;
    const d = k?.detail ?? null;
    return (
        <section class={`details${k?.busy ? " busy" : ""}`} data-view="details" aria-label="Details" aria-live="polite" aria-busy={k?.busy ?? false}>
            {k?.error && <p role="alert" class="scope-error" data-test="details-error">{k.error}</p>}
            {!k ? <p class="dim">Click a wait in the timeline, or move to a row with the arrow keys and press Enter.</p>
                : !d ? (k.busy ? <p class="dim">Looking …</p> : null)
                : isLock(d) ? <LockMoment d={d} /> : isMark(d) ? <OneMark m={d} /> : isWait(d) ? <OneWait w={d} /> : <OneRun r={d} />}
        </section>
    );
}

/** States in which somebody else has what the thread wants. */
const OWNED: ReadonlySet<string> = new Set(["blocked", "parked", "reacquiring"]);

function OneWait({ w }: { w: Wait }) {
    const flags = flagTexts(w);
    return (
        <>
            <Headline w={w} />
            <Times from={w.start} to={w.end} />
            <Identity thread={w.thread} lock={w.lock} />
            <Allocated thread={w.thread} from={w.start} to={w.end} />
            {flags.length > 0 && <p class="dim" data-test="details-flags">Note: {flags.join("; ")}.</p>}
            <div class="details-buttons">
                <Act name="cause" text="Show cause" keys="[" off={!w.cause} act={() => followCause(w)} />
                <Act name="effects" text={w.n_effects > 1 ? `Show effects (${count(w.n_effects)})` : "Show effects"} keys="]" off={w.effects.length === 0} act={() => followEffect(w.effects[0])} />
                <Neighbours before={w.before} after={w.after} time={w.start} until={w.end} />
                {w.lock && <Act name="lock" text="Select this lock" act={() => showLock(w.lock!.id, w.lock!.class)} />}
                <Act name="mark" text="Mark this range" act={() => mark(w.start, w.end)} />
            </div>
            <div class="details-columns">
                <div>
                    {w.chain.length > 0 && <Chain links={w.chain} />}
                    <Effects d={w} />
                </div>
                <Stack name="details-stack" title="Where it waited" frames={w.stack} none="No stack was recorded." />
                {(w.owner_stack.length > 0 || OWNED.has(w.state)) && <Stack name="details-owner-stack" title="What the owner executed" frames={w.owner_stack} note={w.owner_stack_note} />}
                {w.ended_by && <Stack name="details-waker-stack" title={`Where ${threadName(w.ended_by.thread)} ${ACTS[w.ended_by.how] ?? "ended it"}`} frames={w.ended_by.stack} note={w.ended_by.note} />}
            </div>
        </>
    );
}

function OneRun({ r }: { r: Run }) {
    const io = r.io;
    return (
        <>
            <h3 data-test="details-headline"><ThreadLink thread={r.thread} /> {io ? `was ${IO_DOING[io.what]}${io.peer ? ` (${io.peer})` : ""} for ${duration(io.end - io.start)}` : r.state === "running" ? `ran for ${duration(r.end - r.start)}: no wait is recorded here` : "was not alive then"}
                {!io && r.started_by && <>; it was started by <ThreadLink thread={r.started_by.thread} time={r.started_by.time} /></>}.</h3>
            <Times from={io?.start ?? r.start} to={io?.end ?? r.end} />
            <Identity thread={r.thread} />
            <Allocated thread={r.thread} from={io?.start ?? r.start} to={io?.end ?? r.end} />
            <div class="details-buttons">
                <Act name="effects" text={r.n_effects > 1 ? `Show effects (${count(r.n_effects)})` : "Show effects"} keys="]" off={r.effects.length === 0} act={() => followEffect(r.effects[0])} />
                <Neighbours before={r.before} after={r.after} time={r.start} until={r.end} />
                <Act name="mark" text="Mark this range" act={() => mark(io?.start ?? r.start, io?.end ?? r.end)} />
            </div>
            <div class="details-columns">
                <Effects d={r} />
                {io && <Stack name="details-stack" title="Where it called" frames={io.stack} note={io.recorded ? null : "Not recorded: seen by looks."} none="No stack was recorded." />}
                {r.started_by && <Stack name="details-start-stack" title={`Where ${threadName(r.started_by.thread)} started it`} frames={r.started_by.stack} />}
            </div>
        </>
    );
}

function OneMark({ m }: { m: MarkDetail }) {
    const timed = m.to > m.from;
    return (
        <>
            <h3 data-test="details-headline">
                <ThreadLink thread={m.thread} /> called {m.call ? `${simple(m.call.class)}.${m.call.method}` : m.what === "notify" ? "notify" : "notifyAll"}
                {m.lock && <> {m.call ? "of" : "on"} <LockLink id={m.lock.id} name={m.lock.class} /></>}
                {m.call ? timed && <>, for {duration(m.to - m.from)}</> : <>; no thread was waiting</>}
                {m.flags.includes("failed") && <>; the call failed</>}{m.flags.includes("open") && <>; it had not ended when the recording did</>}.
            </h3>
            <Times from={m.from} to={m.to} />
            <Identity thread={m.thread} lock={m.lock} />
            {timed && <p data-test="details-in-waits" data-ns={m.in_waits_ns}>{m.in_waits_ns === 0 ? "No wait is recorded in it." : `${duration(m.in_waits_ns)} of it was in recorded waits.`}</p>}
            {m.flags.includes("unknown") && <p class="dim" data-test="details-flags">Note: its start or end is missing, so its duration is unknown.</p>}
            <div class="details-buttons">
                {m.lock && <Act name="lock" text="Select this lock" act={() => showLock(m.lock!.id, m.lock!.class)} />}
                {timed && <Act name="mark" text="Mark this range" act={() => mark(m.from, m.to)} />}
            </div>
            <div class="details-columns"><Stack name="details-stack" title="Where it was called" frames={m.stack} none="No stack was recorded." /></div>
        </>
    );
}

function LockMoment({ d }: { d: LockAt }) {
    const time = chosenAt.value?.time ?? 0;
    return (
        <>
            <h3 data-test="details-headline"><LockLink id={d.lock} name={d.class} /> at {moment(time, 1)}: {d.owner
                ? <>{d.owner_sure ? "held" : "seen to be held"} by <ThreadLink thread={d.owner} time={time} /></> : "owner unknown, perhaps free"}.</h3>
            <div class="details-buttons"><Act name="lock" text="Select this lock" act={() => showLock(d.lock, d.class)} /></div>
            <People title="In its queue" threads={d.queue} time={time} name="details-queue" />
            <People title="Waiting on it" threads={d.waiters} time={time} name="details-waiters" />
        </>
    );
}

/** What a thread allocated in a time: the lane of the timeline in words. */
function Allocated({ thread, from, to }: { thread: number; from: number; to: number }) {
    const m = meta.value;
    const asks = !!m?.allocations?.n && m.packed !== "tiles" && to > from;
    const a = Math.floor(from), b = Math.ceil(to);
    const answer = useAnswer(asks ? `${thread} ${a} ${b}` : null, (s) => s.rates({ from: a, to: b, threads: [thread] }, 1));
    const n = answer.value?.bytes[0] ?? 0;
    return !asks || !answer.value ? null
        : <p data-test="details-allocated" data-bytes={n}>{n === 0 ? `Allocated in this time: nothing, ${allocSource()}.` : `Allocated in this time: ${bytes(n)}, ${rate(n, to - from)}, ${allocSource()}.`}</p>;
}

// --- parts ------------------------------------------------------------------------------------------------

/** What tells a thread and a lock from others of their name, in this recording and in text formats. */
function Identity({ thread, lock }: { thread: number; lock?: { hash: number | null } | null }) {
    const t = meta.value!.threads, hash = t.hash?.[thread];
    const parts = [t.java_tid[thread] ? `Thread.getId() ${t.java_tid[thread]}` : "", hash ? `the thread's hash ${hex(hash)}` : "", lock?.hash ? `the lock's hash ${hex(lock.hash)}` : ""].filter(Boolean);
    return parts.length ? <p class="dim" data-test="details-identity">{parts.join(", ")}</p> : null;
}

function Times({ from, to }: { from: number; to: number }) {
    return <p class="details-times" data-test="details-times" data-from={from} data-to={to}>{moment(from)} to {moment(to)}, {duration(to - from)}</p>;
}

function Act(p: { name: string; text: string; keys?: string; off?: boolean; act: () => void; children?: ComponentChildren }) {
    return <button type="button" data-test={`details-${p.name}`} disabled={p.off ?? false} aria-keyshortcuts={p.keys} onClick={p.act}>{p.text}{p.keys && <kbd>{p.keys}</kbd>}</button>;
}

function Neighbours({ before, after, time, until }: { before: WaitRef | null; after: WaitRef | null; time: number; until: number }) {
    return (
        <>
            <Act name="previous" text="Previous wait of this thread" off={!before} act={() => goWait(before!, time, time)} />
            <Act name="next" text="Next wait of this thread" off={!after} act={() => goWait(after!, until, until)} />
        </>
    );
}

/** The thread that it waited for, and the one that this thread waited for in that time. */
function Chain({ links }: { links: Link[] }) {
    return (
        <section aria-label="Wait chain" data-test="details-chain">
            <h4>Why: the wait chain</h4>
            <ol class="chain">{links.map((l, depth) => (
                <li key={depth} style={{ marginLeft: `${Math.min(depth, 12) * 16}px` }}>
                    <ChainText l={l} />
                    {l.lock > 0 && <> (<LockLink id={l.lock} name={l.class} />)</>}
                    {l.at && <span class="dim"> at {place(l.at)}</span>}
                </li>))}</ol>
        </section>
    );
}

/** The link's sentence; the name that it begins with leads to the wait, or to the moment. */
function ChainText({ l }: { l: Link }) {
    const name = threadName(l.thread), begins = l.thread > 0 && l.text.startsWith(name);
    const label = begins ? name + (/^#\d+/.exec(l.text.slice(name.length))?.[0] ?? "") : name;
    if (!l.thread)
        return <span>{l.text}</span>;
    const go = () => (l.index !== null ? goWait({ thread: l.thread, index: l.index }, l.from, l.to) : goMoment(l.thread, l.from));
    return <><button type="button" class="link" data-test="chain-link" onClick={go}>{label}</button>{begins ? l.text.slice(label.length) : ` ${l.text}`}</>;
}

function Effects({ d }: { d: Wait | Run }) {
    if (d.effects.length === 0)
        return null;
    return (
        <section aria-label="Effects" data-test="details-effects-list">
            <h4>What {threadName(d.thread)} ended {isWait(d) ? "before its next wait" : "then"}</h4>
            <ul>{d.effects.map((e, i) => (
                <li key={i}>
                    <button type="button" class="link" onClick={() => followEffect(e)}>{threadName(e.thread)}</button> <span class="dim">{e.how} at {moment(e.time)}</span>
                </li>))}</ul>
            {d.n_effects > d.effects.length && <p class="dim">{count(d.n_effects - d.effects.length)} more.</p>}
        </section>
    );
}

function People({ title, threads, time, name }: { title: string; threads: number[]; time: number; name: string }) {
    return (
        <section data-test={name} aria-label={title}>
            <h4>{title}: {threads.length ? count(threads.length) : "none"}</h4>
            <ul>{threads.map((t) => <li key={t}><ThreadLink thread={t} time={time} /></li>)}</ul>
        </section>
    );
}
