// contexts.ts - what waits are about (class, owner, place), fetched in batches as they come into sight.
import { signal } from "@preact/signals";
import { source } from "./state.ts";
import type { Context } from "./types.ts";
import { later } from "./under_way.ts";

/** Grows when some have arrived. */
export const contextsArrived = signal(0);

const known = new Map<number, Context>();
let wanted = new Set<number>();
let asked = false;
let generation = 0;

const AT_ONCE = 200;
const KEPT = 100_000;

export function forgetContexts(): void {
    generation++;
    known.clear();
    wanted.clear();
}

/** What is known of one; asks for it otherwise. */
export function context(id: number): Context | undefined {
    const c = known.get(id);
    if (!c && id)
        want(id);
    return c;
}

function want(id: number): void {
    wanted.add(id);
    if (asked)
        return;
    asked = true;
    later(30, fetchWanted, () => { /* names are an extra: the picture stands without them, and they are asked for again when needed */ });
}

async function fetchWanted(): Promise<void> {
    const ids = [...wanted].slice(0, AT_ONCE);
    const mine = generation;
    wanted = new Set([...wanted].slice(AT_ONCE));
    try {
        const answer = (await source.value?.contexts(ids)) ?? [];
        if (mine === generation) {
            if (known.size > KEPT)
                known.clear();
            for (const c of answer)
                known.set(c.id, c);
            contextsArrived.value++;
        }
    } finally {
        asked = false;
        if (wanted.size)
            want([...wanted][0]);
    }
}
