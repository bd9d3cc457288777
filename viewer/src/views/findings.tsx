// findings.tsx - the first thing to read: what is missing, what stands out, who is deadlocked, and what
// was recorded.
import { useEffect } from "preact/hooks";
import { count, duration, line, moment, percent, plural, simple } from "../format.ts";
import { isJdk } from "../jdk.ts";
import { askedFinding, evidence, meta, showEvidence, threadOfId } from "../state.ts";
import { PATH_KINDS } from "../types.ts";
import type { Deadlock, Finding, Meta, StuckThread } from "../types.ts";
import { LockById, LockLink, ThreadLink, goMoment } from "./links.tsx";
import { missing } from "./missing.ts";
import "./findings.css";

export function Findings() {
    const m = meta.value;
    if (!m)
        return <section class="findings" data-view="findings" aria-busy="true"><p class="dim">Reading …</p></section>;
    return (
        <section class="findings" data-view="findings" aria-label="Findings">
            <Missing m={m} />
            {m.deadlocks.map((d, i) => <DeadlockCard key={i} d={d} />)}
            {m.deadlocks.length === 0 && m.stuck.length > 0 && <Stuck threads={m.stuck} />}
            {m.pending ? <p class="dim" role="status" data-test="findings-pending">Looking for findings …</p>
                : m.findings.length > 0 ? <Ranked findings={m.findings} /> : <NothingFound m={m} />}
            <Summary m={m} />
        </section>
    );
}

function Missing({ m }: { m: Meta }) {
    const all = missing(m);
    return all.length === 0 ? null : (
        <div class="missing" role="note" aria-label="What is missing" data-test="missing">
            <h3>Incomplete data</h3>
            <ul>{all.map((text) => <li key={text}>{text}</li>)}</ul>
            {m.problems.length > 0 && (
                <details>
                    <summary>{plural(m.problems.length, "place")} in the file</summary>
                    <ul>{m.problems.map((p, i) => <li key={i}>at {p.offset}: {p.text}</li>)}</ul>
                </details>)}
        </div>
    );
}

// --- findings -------------------------------------------------------------------------------------------

function Ranked({ findings }: { findings: Finding[] }) {
    const list = findings.filter((f) => f.rule !== "events-lost"); // stands above them, and has no number
    const asked = askedFinding.value;
    useEffect(() => {
        const f = asked > 0 ? list[asked - 1] : undefined;
        if (!f)
            return;
        askedFinding.value = 0;
        showEvidence(evidenceOf(f));
        document.querySelector(`[data-test=finding-${asked}]`)?.scrollIntoView({ block: "nearest" });
    }, [asked]);
    return (
        <div>
            <h3>{plural(list.length, "finding")}</h3>
            <ol class="ranked">{list.map((f, i) => <One key={i} f={f} rank={i + 1} />)}</ol>
        </div>
    );
}

const evidenceOf = (f: Finding) => ({ from: f.from, to: f.to, threads: f.threads.map(threadOfId).filter((t) => t > 0), locks: f.locks });

function One({ f, rank }: { f: Finding; rank: number }) {
    const e = evidenceOf(f), { threads } = e;
    const shown = evidence.value?.from === f.from && evidence.value.to === f.to && evidence.value.threads.join() === threads.join();
    return (
        <li class={`finding ${f.severity}${shown ? " shown" : ""}`} data-test={`finding-${rank}`} data-rule={f.rule} data-severity={f.severity}>
            <Mark severity={f.severity} />
            <div>
                <button type="button" class="finding-text" data-test="finding-show" aria-pressed={shown} title="Show it in the timeline" onClick={() => showEvidence(e)}>
                    <span class="finding-title"><span class="finding-first">{f.card.title}</span>{f.card.share && <span class="finding-share">{f.card.share}</span>}</span>
                    {f.card.lines.map((l, i) => <CardLine key={i} {...l} />)}
                </button>
                <div class="finding-links">
                    <span class="dim">{f.rule}{f.to > f.from ? `, ${moment(f.from, (f.to - f.from) / 100)} to ${moment(f.to, (f.to - f.from) / 100)}` : ""}</span>
                    {threads.map((t) => <ThreadLink key={t} thread={t} />)}
                    {f.locks.map((l) => <LockById key={l} id={l} />)}
                </div>
            </div>
        </li>
    );
}

/** Behind its label, if it has one. */
function CardLine({ label, text }: Finding["card"]["lines"][number]) {
    return label === "" ? <span class="finding-more">{text}</span>
        : <span class="finding-more labelled"><span class="finding-label">{label}</span><span>{text}</span></span>;
}

/** By shape and by colour, and by a word for who sees neither. */
const MARKS: Record<Finding["severity"], { path: string; sign: string; word: string }> = {
    problem: { path: "M6 1h8l5 5v8l-5 5H6l-5-5V6z", sign: "M9 5h2v6H9zM9 13h2v2H9z", word: "Problem" },
    warning: { path: "M10 1.5 19 18H1z", sign: "M9.2 7h1.6v5H9.2zM9.2 13.5h1.6V15H9.2z", word: "Warning" },
    info: { path: "M10 1a9 9 0 1 0 0 18 9 9 0 0 0 0-18z", sign: "M9 8h2v7H9zM9 5h2v2H9z", word: "Note" },
};

function Mark({ severity }: { severity: Finding["severity"] }) {
    const mark = MARKS[severity] ?? MARKS.info;
    return (
        <svg class="mark" width="20" height="20" viewBox="0 0 20 20" role="img" aria-label={mark.word}>
            <title>{mark.word}</title>
            <path class="mark-shape" d={mark.path} /><path class="mark-sign" d={mark.sign} />
        </svg>
    );
}

/** What the rules go through; docs/concepts/findings.md has them all. */
const LOOKED_AT = "deadlocks, lock order, lost signals, contended locks and convoys, locks held while waiting or in input and output, " +
    "wasted wake-ups, full pools, sleeps and lone threads on the critical path";

function NothingFound({ m }: { m: Meta }) {
    return (
        <div class="nothing-found" data-test="no-findings">
            <h3>No findings</h3>
            <p>Looked at {plural(m.waits, "wait")} of {plural(m.threads.id.length - 1, "thread")} for {plural(Math.max(m.locks - 1, 0), "lock")} in {duration(m.to - m.from)}: {LOOKED_AT}.</p>
        </div>
    );
}

// --- deadlocks ------------------------------------------------------------------------------------------

function DeadlockCard({ d }: { d: Deadlock }) {
    const threads = d.members.map((s) => threadOfId(s.thread));
    const last = Math.min(...d.members.map((s) => s.since));
    return (
        <div class="deadlock" role="alert" data-test="deadlock">
            <h3><Mark severity="problem" />{d.sure ? "Deadlock" : "Likely deadlock"} of {count(d.members.length)} threads, since {moment(d.formed, 1e6)}</h3>
            <ol>{d.members.map((s) => <Member key={s.thread} s={s} formed={d.formed} />)}</ol>
            {d.behind.length > 0 && <p>Behind them: {d.behind.map((s) => <span key={s.thread}><ThreadLink thread={threadOfId(s.thread)} time={s.since + 1} /> </span>)}</p>}
            <button type="button" data-test="deadlock-show"
                onClick={() => showEvidence({ from: last, to: Math.max(meta.value?.to ?? 0, last), threads, locks: d.members.map((s) => s.lock) })}>Show in the timeline</button>
        </div>
    );
}

function Member({ s, formed }: { s: StuckThread; formed: number }) {
    const top = s.stack.find((f) => !isJdk(f.class)) ?? s.stack[0];
    return (
        <li data-test="deadlock-member">
            <button type="button" class="link member" onClick={() => goMoment(threadOfId(s.thread), Math.max(s.since, formed) + 1)}>{s.name || `#${s.thread}`}</button> is {s.state}
            {s.lock ? <> on <LockLink id={s.lock} name={s.class} /></> : null}
            {s.on !== null ? <>, waiting for <ThreadLink thread={threadOfId(s.on)} /></> : null}
            , since {moment(s.since, 1e6)}
            {top && <span class="dim">, at {simple(top.class)}.{top.method} {line(top)}</span>}
        </li>
    );
}

function Stuck({ threads }: { threads: StuckThread[] }) {
    return (
        <div class="deadlock" role="alert" data-test="stuck">
            <h3><Mark severity="problem" />Every thread of the program waits without a time limit</h3>
            <ol>{threads.map((s) => <Member key={s.thread} s={s} formed={s.since} />)}</ol>
        </div>
    );
}

// --- the recording ----------------------------------------------------------------------------------------

const PATH_WORDS: Record<string, string> = { run: "running", handoff: "hand-off", timed: "waiting for a timer", wait: "waiting, cause unknown", gc: "garbage collection",
    unknown: "unknown", io: "in input or output", ready: "waiting for a processor", stopped: "stopped by the JVM", off: "off the processor, cause unknown" };

function Summary({ m }: { m: Meta }) {
    const r = m.recording;
    const rows: [string, string][] = [
        ["Program", r.program || "unknown"], ["JVM", [r.jvm_name, r.jvm_version].filter(Boolean).join(" ") || "unknown"],
        ["Host, process", [r.host, r.pid ? String(r.pid) : ""].filter(Boolean).join(", ") || "unknown"],
        ["Began", r.start_unix_ns ? new Date(r.start_unix_ns / 1e6).toLocaleString() : "unknown"],
        ["Length", duration(m.to - m.from)],
        ["Recorded", `${plural(r.events, "event")}, ${plural(m.waits, "wait")}, ${plural(m.threads.id.length - 1, "thread")}, ${plural(Math.max(m.locks - 1, 0), "lock")}`],
        ["Garbage collection", r.gc_count ? `${plural(r.gc_count, "pause")}, ${duration(r.gc_ns)}; longest ${duration(r.gc_max_ns)}` : "no pauses"],
    ];
    return (
        <div data-test="summary">
            <h3>The recording</h3>
            <dl>{rows.map(([what, text]) => <div key={what}><dt>{what}</dt><dd>{text}</dd></div>)}</dl>
            {m.path ? <PathSummary path={m.path} /> : <p class="dim">No critical path: the program's end was not recorded, or the program was stopped from outside.</p>}
        </div>
    );
}

function PathSummary({ path }: { path: NonNullable<Meta["path"]> }) {
    const length = path.to - path.from;
    return (
        <div data-test="path-summary">
            <h4>Critical path to the end of <ThreadLink thread={path.thread} /></h4>
            <ul class="path-kinds">{PATH_KINDS.filter((k) => path.kinds[k] > 0).map((k) => (
                <li key={k} data-ns={path.kinds[k]}>{PATH_WORDS[k]} {duration(path.kinds[k])} ({percent(path.kinds[k], length)})</li>))}</ul>
            <details><summary>Limits</summary><ul>{path.limits.map((l) => <li key={l}>{l}</li>)}</ul></details>
        </div>
    );
}
