// details_state.ts - what is known of what is chosen, asked for whenever that changes, whether or not
// its details are shown: the timeline and the keys [ and ] need it too.
import { effect, signal, untracked } from "@preact/signals";
import { chosen, chosenAt, chosenMark, meta, source } from "../state.ts";
import type { Source } from "../source.ts";
import type { LockAt, MarkDetail, Run, Wait } from "../types.ts";
import { chain, chosenBox } from "../stage.ts";
import { counted } from "../under_way.ts";

export type Detail = Wait | Run | LockAt | MarkDetail;

export const isLock = (d: Detail): d is LockAt => "owner_sure" in d;
export const isMark = (d: Detail): d is MarkDetail => "in_waits_ns" in d;
export const isWait = (d: Detail): d is Wait => "chain" in d;

export interface Known { key: string; detail: Detail | null; busy: boolean; error: string | null }

/** null: nothing is chosen. */
export const known = signal<Known | null>(null);

let asked = 0;
let answer: Promise<void> = Promise.resolve();

/** What is chosen, once it is known. */
export async function settled(): Promise<Detail | null> {
    await answer;
    return known.value && !known.value.busy ? known.value.detail : null;
}

function chosenKey(): string | null {
    const w = chosen.value, at = chosenAt.value, did = chosenMark.value;
    return did ? `did ${did.thread} ${did.index}` : w ? `wait ${w.thread} ${w.index}` : at ? `at ${at.row} ${at.time}` : null;
}

function ask(s: Source): Promise<Detail> {
    const w = chosen.peek(), at = chosenAt.peek()!, did = chosenMark.peek();
    return did ? s.mark(did.thread, did.index) : w ? s.wait(w.thread, w.index) : s.at(at.row, Math.round(at.time));
}

async function look(key: string, s: Source): Promise<void> {
    const mine = ++asked;
    const old = known.value;
    known.value = { key, detail: old?.detail ?? null, busy: true, error: null };
    let next: Known;
    try {
        next = { key, detail: await counted(ask(s)), busy: false, error: null };
    } catch (e) {
        next = { key, detail: null, busy: false, error: e instanceof Error ? e.message : String(e) };
    }
    if (mine === asked) {
        known.value = next;
        light(next.detail);
    }
}

/** In the timeline: the wait and who it waited for. */
function light(d: Detail | null): void {
    chosenBox.value = !d || isLock(d) ? null : isMark(d) ? { thread: d.thread, from: d.from, to: d.to } : { thread: d.thread, from: d.start, to: d.end };
    chain.value = d && isWait(d) ? d.chain.map((l) => ({ thread: l.thread, from: l.from, to: l.to })) : [];
}

effect(() => {
    const key = chosenKey(), s = source.value;
    meta.value?.gen; // asked again of each generation
    untracked(() => {
        if (key && s) {
            answer = look(key, s);
            return;
        }
        asked++;
        known.value = null;
        light(null);
    });
});
