// start_attach.tsx - the dialog that begins a recording of a JVM.  What is left as it is, is not sent: then the
// agent's own default holds.
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Refused, attach } from "../source/start.ts";
import type { Attach } from "../source/start.ts";
import type { Jvm, Start } from "../types.ts";
import { useModal } from "./filter.tsx";
import { go } from "./start.tsx";

/** The fields with a line of their own. */
const FIELDS: { name: "include" | "exclude" | "methods" | "depth" | "seconds" | "output"; label: string; hint: string; number?: boolean }[] = [
    { name: "seconds", label: "For (seconds)", hint: "0: until you stop it", number: true },
    { name: "include", label: "Only locks of", hint: "Classes, joined by +: java.util.*+shop.Order" },
    { name: "exclude", label: "No locks of", hint: "Classes, joined by +" },
    { name: "methods", label: "Record calls of", hint: "A file of methods, or CLASS#METHOD joined by +" },
    { name: "depth", label: "Frames per stack, at most", hint: "0 to 1024", number: true },
    { name: "output", label: "File", hint: "%p is the process, %t the time" },
];
const OWNERS = ["auto", "all", "none"];

type Values = Record<string, string>;

function initial(s: Start): Values {
    const v: Values = {};
    for (const f of [...FIELDS.map((x) => x.name), "ownerstacks"])
        v[f] = s.defaults[f] === null || s.defaults[f] === undefined ? "" : String(s.defaults[f]);
    return v;
}

/** What differs from the defaults, as it is sent. */
export function question(pid: number, s: Start, values: Values, groups: ReadonlySet<string>): Attach {
    const before = initial(s);
    const changed = Object.entries(values).filter(([name, v]) => v.trim() !== "" && v !== before[name]);
    const numbers = new Set(FIELDS.filter((f) => f.number).map((f) => f.name as string));
    const fields = Object.fromEntries(changed.map(([name, v]) => [name, numbers.has(name) && !Number.isNaN(Number(v)) ? Number(v) : v]));
    const usual = s.groups.every((g) => g.default === groups.has(g.name));
    return { pid, ...fields, ...(usual ? {} : { events: s.groups.filter((g) => groups.has(g.name)).map((g) => g.name) }) };
}

export function AttachDialog({ jvm, start, onClose }: { jvm: Jvm; start: Start; onClose: () => void }) {
    const box = useRef<HTMLDialogElement>(null);
    const values = useSignal(initial(start));
    const groups = useSignal<ReadonlySet<string>>(new Set(start.groups.filter((g) => g.default).map((g) => g.name)));
    const wrong = useSignal<{ field: string | null; text: string } | null>(null);
    const busy = useSignal(false);
    useModal(box);
    const set = (name: string, v: string) => (values.value = { ...values.value, [name]: v });
    const toggle = (name: string) => {
        const next = new Set(groups.value);
        if (!next.delete(name))
            next.add(name);
        groups.value = next;
    };
    const submit = async (e: Event) => {
        e.preventDefault();
        busy.value = true;
        wrong.value = null;
        try {
            go((await attach(question(jvm.pid, start, values.value, groups.value))).trace);
        } catch (x) {
            wrong.value = { field: x instanceof Refused ? x.field : null, text: x instanceof Error ? x.message : String(x) };
            busy.value = false;
            box.current?.querySelector<HTMLElement>(`[data-test="attach-${wrong.value.field}"]`)?.focus();
        }
    };
    const isWrong = (name: string) => wrong.value?.field === name;
    return (
        <dialog ref={box} class="attach" aria-label={`Record ${jvm.name}`} data-view="attach" onCancel={(e) => { e.preventDefault(); onClose(); }}>
            <form onSubmit={submit}>
                <h2>Record {jvm.name || "JVM"} <span class="dim">{jvm.pid}</span></h2>
                <fieldset class={isWrong("events") ? "wrong" : ""}>
                    <legend>Events</legend>
                    <div class="attach-groups">{start.groups.map((g) => (
                        <label key={g.name} title={g.summary}>
                            <input type="checkbox" checked={groups.value.has(g.name)} data-test={`attach-group-${g.name}`} onChange={() => toggle(g.name)} /> <b>{g.name}</b> <span class="dim">{g.summary}</span>
                        </label>))}</div>
                </fieldset>
                <div class="attach-fields">
                    {FIELDS.map((f) => (
                        <label key={f.name} class={isWrong(f.name) ? "wrong" : ""}>
                            <span>{f.label}</span>
                            <input type="text" inputMode={f.number ? "decimal" : "text"} value={values.value[f.name]} placeholder={f.hint} title={f.hint}
                                aria-invalid={isWrong(f.name)} aria-describedby={isWrong(f.name) ? "attach-error" : undefined} data-test={`attach-${f.name}`} onInput={(e) => set(f.name, e.currentTarget.value)} />
                        </label>))}
                    <label class={isWrong("ownerstacks") ? "wrong" : ""}>
                        <span>Stacks of lock owners</span>
                        <select value={values.value.ownerstacks || OWNERS[0]} data-test="attach-ownerstacks" onChange={(e) => set("ownerstacks", e.currentTarget.value === OWNERS[0] ? "" : e.currentTarget.value)}>
                            {OWNERS.map((o) => <option key={o} value={o}>{o}</option>)}
                        </select>
                    </label>
                </div>
                {wrong.value && <p role="alert" class="scope-error" id="attach-error" data-test="attach-error">{wrong.value.text}</p>}
                <div class="filter-end">
                    <span role="status">{busy.value ? "Attaching …" : ""}</span>
                    <button type="button" data-test="attach-cancel" onClick={onClose}>Cancel</button>
                    <button type="submit" class="primary" data-test="attach-do" disabled={busy.value || groups.value.size === 0}>Record</button>
                </div>
            </form>
        </dialog>
    );
}
