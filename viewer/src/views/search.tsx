// search.tsx - "/": threads, classes, methods by a part of their names; Enter goes there.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { duration, plural } from "../format.ts";
import { problem } from "../problem.ts";
import * as state from "../state.ts";
import type { Found } from "../types.ts";
import { later } from "../under_way.ts";
import { showThread } from "./links.tsx";
import "./search.css";

const text = signal("");
const found = signal<Found | null>(null);
const at = signal(0);

interface Hit { label: string; note: string; kind: string; go(): void }

export function goClass(name: string): void {
    state.tableClasses.value = new Set([name]);
    state.lockClass.value = name;
    state.mode.value = "locks";
    state.tab.value = "statistics";
}

function hits(f: Found | null): Hit[] {
    if (!f)
        return [];
    return [
        ...f.threads.map((t) => ({ label: state.threadName(t), note: "", kind: "thread", go: () => showThread(t) })),
        ...f.classes.map((c) => ({ label: c.class, note: `${plural(c.objects, "lock")}, ${duration(c.held_up_ns)} blocked`, kind: "class", go: () => goClass(c.class) })),
        ...f.methods.map((m) => ({
            label: `${m.class}.${m.method}`, note: `${plural(m.sites, "call site")}, ${duration(m.held_up_ns)} blocked`, kind: "method",
            go: () => {
                if (m.wait) {
                    state.choose({ wait: m.wait });
                    showThread(m.wait.thread);
                }
            },
        })),
    ];
}

let forget = (): void => {};
let asked = 0;

function ask(q: string): void {
    text.value = q;
    at.value = 0;
    forget();
    const mine = ++asked;
    forget = later(120, async () => {
        const f = q.trim() ? await state.source.value?.search(q.trim()) ?? null : null;
        if (mine === asked)
            found.value = f;
    }, problem);
}

export function Search() {
    const dialog = useRef<HTMLDialogElement>(null);
    const open = state.dialog.value === "search";
    useEffect(() => {
        if (open && !dialog.current!.open) {
            dialog.current!.showModal();
            dialog.current!.querySelector("input")!.select();
        } else if (!open && dialog.current!.open) {
            dialog.current!.close();
            dialog.current!.querySelector("input")!.blur(); // else it takes the next key
        }
    }, [open]);
    const list = hits(found.value);
    const go = (h: Hit | undefined): void => {
        if (!h)
            return;
        state.dialog.value = null;
        h.go();
    };
    const onKey = (e: KeyboardEvent): void => {
        if (e.key === "ArrowDown" || e.key === "ArrowUp") {
            e.preventDefault();
            at.value = Math.min(Math.max(0, at.value + (e.key === "ArrowDown" ? 1 : -1)), Math.max(0, list.length - 1));
        } else if (e.key === "Escape") {
            // The field would take it to empty itself.
            e.preventDefault();
            state.dialog.value = null;
        } else if (e.key === "Enter") {
            e.preventDefault();
            go(list[at.value]);
        }
    };
    return (
        <dialog class="search" ref={dialog} data-view="search" aria-label="search threads, classes and methods" onClose={() => { if (state.dialog.value === "search") state.dialog.value = null; }}>
            <input type="search" list={undefined} placeholder="thread, class or method" aria-label="search" data-test="search-text" value={text.value} role="combobox" aria-expanded={list.length > 0} aria-controls="search-hits"
                onInput={(e) => ask((e.currentTarget as HTMLInputElement).value)} onKeyDown={onKey} />
            <ul id="search-hits" role="listbox" aria-label="found">
                {list.map((h, k) => (
                    <li key={`${h.kind} ${h.label} ${k}`} role="option" aria-selected={k === at.value} class={k === at.value ? "at" : ""} data-kind={h.kind} onClick={() => go(h)}>
                        <span class="kind">{h.kind}</span><span class="label">{h.label}</span><span class="note">{h.note}</span>
                    </li>
                ))}
            </ul>
            {text.value.trim() && found.value && list.length === 0 && <p>Nothing has “{text.value}” in its name.</p>}
        </dialog>
    );
}
