// ask.ts - answers about the heap as a view has them: old ones kept while a newer one comes, outdated ones dropped,
// what is not known yet asked again when it is.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { Early, get } from "./source.ts";
import { has, overview } from "./state.ts";
import type { Finding, Stage } from "./types.ts";

export interface Answer<T> {
    value: T | null;
    busy: boolean;
    error: string | null;
    /** It can be asked for when more of the dump has been read. */
    early: boolean;
}

/** Questions under way. */
export const pending = signal(0);

const NONE = { value: null, busy: false, error: null, early: false };

async function counted<T>(path: string, signal?: AbortSignal): Promise<T> {
    pending.value++;
    try {
        return await get<T>(path, signal);
    } finally {
        pending.value--;
    }
}

/** The answer at a path (null: there is nothing to ask) from a stage on.  `keep`: the old one stays until there is
 * the new one; `again`: ask once more when this changes. */
export function useHeap<T>(path: string | null, from: Stage, keep = true, again = ""): Answer<T> {
    const [answer, setAnswer] = useState<Answer<T>>(NONE);
    const ready = has(from);
    useEffect(() => {
        if (path === null || !ready) {
            setAnswer({ ...NONE, early: path !== null });
            return;
        }
        const stop = new AbortController();
        setAnswer((a) => ({ value: keep ? a.value : null, busy: true, error: null, early: false }));
        counted<T>(path, stop.signal).then(
            (value) => !stop.signal.aborted && setAnswer({ ...NONE, value }),
            (e: unknown) => !stop.signal.aborted && setAnswer(e instanceof Early ? { ...NONE, early: true } : { ...NONE, error: e instanceof Error ? e.message : String(e) }));
        return () => stop.abort();
    }, [path, ready, again]);
    return answer;
}

/** The path of what is found beside the stages, once it can be asked for: what is found without being asked for only then. */
export function foundPath(of: Finding, path: string): { path: string | null; again: string } {
    const now = overview.value?.found[of];
    const known = now === "found" || now === "never";
    return { path: known || of === "strings" || of === "collections" ? path : null, again: known ? now : "" };
}

/** The answer of this name, when it has been found. */
export function useFound<T>(of: Finding): Answer<T> {
    const { path, again } = foundPath(of, `/${of}`);
    const answer = useHeap<T>(path, "counted", true, again);
    return path === null ? { ...answer, early: true } : answer;
}

export interface Pages<T, R> extends Answer<T> {
    rows: R[];
    more: () => void;
}

/** The same of a list that comes in pages: rows of all pages yet, `more` asks for the next one. */
export function usePages<T, R>(path: string | null, from: Stage, rowsOf: (part: T) => R[]): Pages<T, R> {
    const first = useHeap<T>(path, from, false);
    const [rest, setRest] = useState<{ of: T | null; rows: R[]; busy: boolean; error: string | null }>({ of: null, rows: [], busy: false, error: null });
    const mine = first.value !== null && rest.of === first.value;
    const rows = first.value ? (mine ? [...rowsOf(first.value), ...rest.rows] : rowsOf(first.value)) : [];
    const busy = mine && rest.busy;
    const more = (): void => {
        const of = first.value;
        if (path === null || of === null || busy)
            return;
        const before = mine ? rest.rows : [];
        setRest({ of, rows: before, busy: true, error: null });
        counted<T>(`${path}&offset=${rows.length}`).then(
            (part) => setRest((r) => (r.of === of ? { of, rows: [...before, ...rowsOf(part)], busy: false, error: null } : r)),
            (e: unknown) => setRest((r) => (r.of === of ? { of, rows: before, busy: false, error: e instanceof Error ? e.message : String(e) } : r)));
    };
    return { ...first, rows, busy: first.busy || busy, error: first.error ?? (mine ? rest.error : null), more };
}
