// scope.tsx - the line that says what tables and graphs are of, and the way back to everything.
import { batch } from "@preact/signals";
import { count, moment } from "../format.ts";
import { filter, marked, meta, selection, showAll } from "../state.ts";
import "./scope.css";

/** "1.20 s to 2.40 s, 3 threads of 18" */
export function scopeText(): string {
    const m = meta.value;
    const s = selection.value;
    if (!m)
        return "";
    const n = m.threads.id.length - 1;
    const step = s.from === undefined || s.to === undefined ? 1e9 : (s.to - s.from) / 100;
    const range = s.from === undefined || s.to === undefined ? "The whole recording" : `${moment(s.from, step)} to ${moment(s.to, step)}`;
    return `${range}, ${s.threads ? `${count(s.threads.length)} threads of ${count(n)}` : n === 1 ? "1 thread" : `all ${count(n)} threads`}`;
}

export function whole(): void {
    batch(() => {
        marked.value = null;
        filter.value = null;
        showAll();
    });
}

/** With what a view has more to say, or to offer, behind it. */
export function Scope({ busy, error, children }: { busy: boolean; error: string | null; children?: preact.ComponentChildren }) {
    const s = selection.value;
    const part = s.from !== undefined || s.threads !== undefined;
    return (
        <div class="scope" data-test="scope">
            <span data-test="scope-text" title="Mark a range in the timeline, or zoom, to look at a part">{scopeText()}</span>
            {part && <button type="button" data-test="scope-whole" onClick={whole}>Whole recording</button>}
            {children}
            <span class="scope-busy" role="status" data-test="scope-busy">{busy ? "Computing …" : ""}</span>
            {error && <span class="scope-error" role="alert" data-test="scope-error">{error}</span>}
        </div>
    );
}
