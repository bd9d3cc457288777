// trace_page.tsx - what the pages of a trace do when they have their source: read the address, draw, keep up with
// what comes.
import { App, Reading } from "./app.tsx";
import { fail, put } from "./page.tsx";
import { problem } from "./problem.ts";
import { ROW, rows, watchLocks } from "./rows.ts";
import type { Source } from "./source.ts";
import * as state from "./state.ts";
import { watchKeys } from "./keys.ts";
import type { Meta } from "./types.ts";
import { readAddress, watchAddress } from "./url.ts";
import { arrowsDrawn, frameTimes, lanes, marksDrawn, pending, threadMarks } from "./stage.ts";

/** The trace is there, for the first time. */
function first(meta: Meta): void {
    state.meta.value = meta;
    state.fitPanel((rows.value.length + 2) * ROW);
    readAddress();
    if (meta.live && !location.hash.includes("v="))
        state.following.value = true;
    document.title = `${meta.name} – Orca`;
    watchAddress();
    watchLocks(problem);
    watchKeys();
    put(<App />);
}

/** A newer generation of it: the view stays where it is, or follows the end. */
function renewed(meta: Meta): void {
    const before = state.meta.value;
    if (meta.phase) {
        if (!before)
            put(<Reading meta={meta} />);
        return;
    }
    if (!before)
        return first(meta);
    const v = state.view.value;
    const whole = v.to - v.from >= (before.to - before.from) * 0.99;
    state.meta.value = meta;
    if (before.partial && !meta.partial)
        readAddress();
    else if (whole)
        state.showAll();
    else if (state.following.value)
        state.show({ from: meta.to - (v.to - v.from), to: meta.to });
}

export async function open(source: Source): Promise<void> {
    state.source.value = source;
    source.watch(renewed, (why) => {
        if (state.meta.value)
            state.gone.value = why;
        else
            fail(why);
    });
    renewed(await source.meta());
}

/** What tests and benchmarks ask for; nothing of the page uses it. */
Object.assign(window, { orca: { arrowsDrawn, frameTimes, lanes: () => lanes.value, marksDrawn, threadMarks: () => threadMarks.value, pending: () => pending.value, state } });
