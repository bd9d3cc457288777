// under_way.ts - how many questions are asked, or will be in a moment: for the mark of work, and for whoever waits
// until the picture is whole.  Whatever asks the source for something to be shown counts itself here, from when it
// knows that it will ask.
import { effect, signal } from "@preact/signals";
import { problem } from "./problem.ts";

export const underWay = signal(0);

/** One more is under way; the result ends it, once. */
function begin(): () => void {
    let ended = false;
    underWay.value = underWay.peek() + 1;
    return () => {
        if (ended)
            return;
        ended = true;
        underWay.value = underWay.peek() - 1;
    };
}

/** A question that is asked now. */
export function counted<T>(answer: Promise<T>): Promise<T> {
    return answer.finally(begin());
}

/** Ask a little later: `ask` runs after `ms`, unless the result is called before; `failed` hears why it could not. */
export function later(ms: number, ask: () => Promise<unknown>, failed: (e: unknown) => void): () => void {
    const done = begin();
    const timer = setTimeout(() => void ask().catch(failed).finally(done), ms);
    return () => {
        clearTimeout(timer);
        done();
    };
}

/** Ask again `ms` after what the question reads has last changed; null: there is nothing to ask.  An answer that another
    question has overtaken is dropped.  The result ends it. */
export function watch<T>(ms: number, question: () => (() => Promise<T>) | null, take: (answer: T) => void): () => void {
    let asked = 0;
    let forget = (): void => {};
    const stop = effect(() => {
        const ask = question(), mine = ++asked;
        forget();
        if (ask)
            forget = later(ms, () => ask().then((answer) => { if (mine === asked) take(answer); }), problem);
    });
    return () => {
        stop();
        forget();
        asked++;
    };
}
