// stack.tsx - a stack, innermost frame first; frames of the JDK fold away, all can be copied.
import { useSignal } from "@preact/signals";
import { line, place } from "../format.ts";
import { isJdk } from "../jdk.ts";
import type { Place } from "../types.ts";

/** none: shown instead of frames; note: shown beneath them. */
interface StackProps { title: string; frames: readonly Place[]; none?: string | null; note?: string | null; name: string }

export function Stack({ title, frames, none, note, name }: StackProps) {
    const open = useSignal(false);
    const folds = runs(frames).filter((r) => r.jdk && r.frames.length > 1).length > 0;
    return (
        <section class="stack" data-test={name} aria-label={title}>
            <h4>
                {title}
                {folds && <button type="button" aria-pressed={open.value} data-test={`${name}-jdk`} onClick={() => (open.value = !open.value)}>{open.value ? "Fold JDK" : "Unfold JDK"}</button>}
                {frames.length > 0 && <Copy text={frames.map((f) => `\tat ${place(f)}`).join("\n")} name={`${name}-copy`} />}
            </h4>
            {frames.length === 0 ? <p class="dim">{none ?? note ?? "Not recorded."}</p> : <ol>{runs(frames).map((r) => <Run key={r.at} run={r} open={open.value} />)}</ol>}
            {frames.length > 0 && note && <p class="dim">{note}</p>}
        </section>
    );
}

interface RunOf { at: number; jdk: boolean; frames: Place[] }

function runs(frames: readonly Place[]): RunOf[] {
    const all: RunOf[] = [];
    frames.forEach((f, at) => {
        const jdk = isJdk(f.class);
        const last = all[all.length - 1];
        if (last && last.jdk === jdk)
            last.frames.push(f);
        else
            all.push({ at, jdk, frames: [f] });
    });
    return all;
}

/** The innermost frame of a run of the JDK stays: it says what was called. */
function Run({ run, open }: { run: RunOf; open: boolean }) {
    const fold = run.jdk && !open && run.frames.length > 1;
    const shown = fold ? run.frames.slice(-1) : run.frames;
    return (
        <>
            {fold && <li class="dim">{run.frames.length - 1} more of the JDK</li>}
            {shown.map((f, i) => (
                <li key={i} class={run.jdk ? "dim" : ""} title={place(f)}>{f.class}.<b>{f.method}</b> <span class="dim">{line(f)}</span></li>))}
        </>
    );
}

function Copy({ text, name }: { text: string; name: string }) {
    const said = useSignal("Copy");
    const copy = () => {
        const done = (ok: boolean) => {
            said.value = ok ? "Copied" : "Not allowed";
            setTimeout(() => (said.value = "Copy"), 1500);
        };
        toClipboard(text).then(() => done(true), () => done(false));
    };
    return <button type="button" data-test={name} onClick={copy}>{said.value}</button>;
}

/** A page from a disk has no navigator.clipboard everywhere. */
async function toClipboard(text: string): Promise<void> {
    if (navigator.clipboard)
        return navigator.clipboard.writeText(text);
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const ok = document.execCommand("copy");
    area.remove();
    if (!ok)
        throw new Error("copying is not allowed");
}
