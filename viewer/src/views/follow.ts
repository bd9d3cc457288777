// follow.ts - the timeline keeps up with what is chosen elsewhere: it brings the row that the keyboard is on
// into sight.  The wait and its chain are boxed by details_state.ts, which knows them.
import { effect } from "@preact/signals";
import { rowOfThread, rows, unfold } from "../rows.ts";
import * as state from "../state.ts";
import { revealRow } from "../stage.ts";

export function watchFollowing(): () => void {
    let before: string | null = null;
    return effect(() => {
        const id = state.focusRow.value;
        const list = rows.value;
        if (id === before || !id)
            return;
        const thread = id[0] === "t" ? Number(id.slice(1)) : 0;
        const k = list.findIndex((r) => r.id === id && !r.pinned);
        if (k >= 0) {
            before = id;
            requestAnimationFrame(() => revealRow(k));
        } else if (thread && rowOfThread.value.has(thread)) {
            unfold(thread);
        }
    });
}
