// ask.ts - answers of the source as a view has them: asked for a little later, old ones kept until then,
// outdated ones dropped.
import { useEffect, useRef, useState } from "preact/hooks";
import { gone, meta, source } from "../state.ts";
import type { Source } from "../source.ts";
import { later } from "../under_way.ts";

export interface Answer<T> {
    value: T | null;
    /** A newer one is being made. */
    busy: boolean;
    error: string | null;
}

const DELAY_MS = 120;

/** The answer to a question, which `key` tells apart from others; null: there is nothing to ask. */
export function useAnswer<T>(key: string | null, ask: (s: Source) => Promise<T>): Answer<T> {
    const [answer, setAnswer] = useState<Answer<T>>({ value: null, busy: key !== null, error: null });
    const asked = useRef(0);
    const s = source.value, gen = meta.value?.gen ?? 0;
    useEffect(() => {
        const mine = ++asked.current;
        if (key === null || !s) {
            setAnswer({ value: null, busy: false, error: null });
            return;
        }
        setAnswer((a) => ({ ...a, busy: true }));
        const current = () => mine === asked.current;
        const forget = later(DELAY_MS, () => run(s, ask).then((value) => current() && setAnswer({ value, busy: false, error: null })),
            (e) => current() && setAnswer({ value: null, busy: false, error: messageOf(e) }));
        return () => {
            forget();
            asked.current++;
        };
    }, [key, s, gen]);
    return answer;
}

async function run<T>(s: Source, ask: (s: Source) => Promise<T>): Promise<T> {
    return ask(s);
}

function messageOf(e: unknown): string {
    return gone.value ?? (e instanceof Error ? e.message : String(e));
}
