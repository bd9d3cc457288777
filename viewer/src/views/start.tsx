// start.tsx - the page of `orca view` without a file: JVMs to attach to, recordings that run, recent traces and heap dumps.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { bytes, count, duration, plural } from "../format.ts";
import { attach, heapAddress, open, save, start, stop, traceAddress, watchStart } from "../source/start.ts";
import type { Jvm, Start } from "../types.ts";
import { AttachDialog } from "./start_attach.tsx";
import "./scope.css";
import "./start.css";

const LOOK_MS = 3000;

export const go = (trace: number) => location.assign(traceAddress(trace));

const text = (e: unknown) => (e instanceof Error ? e.message : String(e));

export function StartPage() {
    const data = useSignal<Start | null>(null);
    const error = useSignal<string | null>(null);
    const said = useSignal<string | null>(null);
    const attaching = useSignal<Jvm | null>(null);
    const look = () => start().then(
        (s) => { data.value = s; error.value = null; },
        (e: unknown) => { error.value = text(e); });
    useEffect(() => {
        void look();
        const timer = setInterval(() => void look(), LOOK_MS);
        const end = watchStart(() => void look());
        return () => {
            clearInterval(timer);
            end();
        };
    }, []);
    /** An act of the user: an error is shown, then the lists are updated. */
    const run = async (act: () => Promise<string | void>) => {
        said.value = null;
        try {
            said.value = (await act()) ?? null;
            await look();
        } catch (e) {
            error.value = text(e);
        }
    };
    const s = data.value;
    return (
        <main class="start" data-view="start">
            <h1>Orca</h1>
            <p class="start-said" role="status" data-test="start-said">{said.value ?? ""}</p>
            {error.value && <p role="alert" class="scope-error" data-test="start-error">{error.value}</p>}
            {!s ? <p class="dim">Looking for JVMs …</p> : (
                <>
                    <Jvms jvms={s.jvms} onAttach={(j) => (attaching.value = j)} run={run} />
                    <Recent s={s} run={run} />
                </>)}
            {s && attaching.value && <AttachDialog jvm={attaching.value} start={s} onClose={() => (attaching.value = null)} />}
        </main>
    );
}

type Run = (act: () => Promise<string | void>) => Promise<void>;

// --- JVMs -----------------------------------------------------------------------------------------------

function Jvms({ jvms, onAttach, run }: { jvms: Jvm[]; onAttach: (j: Jvm) => void; run: Run }) {
    return (
        <section aria-labelledby="start-jvms">
            <h2 id="start-jvms">Running JVMs</h2>
            {jvms.length === 0 ? <p class="dim" data-test="start-no-jvms">No JVM of yours runs on this machine. Start one with orca record -- java ...</p> : (
                <table data-test="start-jvms">
                    <thead><tr><th class="right">Process</th><th>Program</th><th>Java</th><th class="right">Up</th><th>Recording</th><th><span class="hidden">What to do</span></th></tr></thead>
                    <tbody>{jvms.map((j) => <JvmRow key={j.pid} j={j} onAttach={onAttach} run={run} />)}</tbody>
                </table>)}
        </section>
    );
}

function JvmRow({ j, onAttach, run }: { j: Jvm; onAttach: (j: Jvm) => void; run: Run }) {
    const r = j.recording;
    return (
        <tr data-test={`jvm-${j.pid}`}>
            <td class="right">{j.pid}</td>
            <td class="start-name" title={j.name}>{j.name || "unknown"}</td>
            <td>{j.java}</td>
            <td class="right">{duration(j.uptime_s * 1e9)}</td>
            <td>{r ? <span title={r.file}>{duration(r.since_s * 1e9)}, {plural(r.events, "event")}, {bytes(r.bytes)}{r.lost > 0 ? <b class="scope-error">, {count(r.lost)} lost</b> : ""}</span>
                : j.state === "stopped" ? "stopped" : "–"}</td>
            <td class="start-acts">
                {r ? <Recorded j={j} run={run} />
                    : <button type="button" class="primary" data-test={`attach-${j.pid}`} disabled={!j.can_attach} title={j.can_attach ? "" : j.why} onClick={() => onAttach(j)}>Record …</button>}
                {!r && !j.can_attach && <span class="dim">{j.why}</span>}
            </td>
        </tr>
    );
}

function Recorded({ j, run }: { j: Jvm; run: Run }) {
    const to = useSignal<string | null>(null);
    const joined = () => attach({ pid: j.pid });
    const saved = async (e: Event) => {
        e.preventDefault();
        const path = to.value!;
        await run(async () => {
            const file = (await save((await joined()).trace, path)).file;
            to.value = null;
            return `Saved as ${file}.`;
        });
    };
    if (to.value !== null)
        return (
            <form onSubmit={saved} class="start-save">
                <input aria-label="File to save the recording as" placeholder="app.otrace" required value={to.value} data-test={`save-to-${j.pid}`} onInput={(e) => (to.value = e.currentTarget.value)} />
                <button type="submit" data-test={`save-do-${j.pid}`}>Save</button>
                <button type="button" onClick={() => (to.value = null)}>Cancel</button>
            </form>
        );
    return (
        <>
            <button type="button" class="primary" data-test={`watch-${j.pid}`} onClick={() => run(async () => go((await joined()).trace))}>Watch</button>
            <button type="button" data-test={`save-${j.pid}`} onClick={() => (to.value = "")}>Save as …</button>
            <button type="button" data-test={`stop-${j.pid}`} onClick={() => run(async () => `Stopped: ${(await stop(j.pid)).file}.`)}>Stop</button>
        </>
    );
}

// --- recent files ---------------------------------------------------------------------------------------

async function show(id: number): Promise<void> {
    const { trace, heap } = await open(id);
    location.assign(heap !== undefined ? heapAddress(heap) : traceAddress(trace!));
}

function Recent({ s, run }: { s: Start; run: Run }) {
    return (
        <section aria-labelledby="start-recent">
            <h2 id="start-recent">Recent traces and heap dumps</h2>
            {s.recent.length === 0 ? <p class="dim">None yet.</p> : (
                <table data-test="start-recent">
                    <thead><tr><th>File</th><th>Program</th><th class="right">Length</th><th class="right">Size</th><th>Written</th></tr></thead>
                    <tbody>{s.recent.map((t) => (
                        <tr key={t.id}>
                            <td class="start-name"><button type="button" class="link" data-test={`recent-${t.id}`} title={t.path} onClick={() => run(() => show(t.id))}>{t.path}</button></td>
                            <td class="start-name" title={t.program}>{t.kind === "heap" ? <span class="dim">heap dump</span> : t.program}</td>
                            <td class="right">{t.seconds ? duration(t.seconds * 1e9) : "–"}</td>
                            <td class="right">{bytes(t.bytes)}</td>
                            <td>{new Date(t.modified_unix_s * 1000).toLocaleString()}</td>
                        </tr>))}</tbody>
                </table>)}
        </section>
    );
}
