// crumbs.tsx - from the roots down to what a picture, or a tree, begins with.
import { bytes, count, simple } from "../format.ts";
import * as state from "./state.ts";
import type { Icicle } from "./types.ts";

export function Crumbs({ of, test, as }: { of: Icicle; test: string; as: "icicle" | "tree" }) {
    return (
        <nav class="flame-crumbs" aria-label="Kept alive by" data-test={test}>
            <button type="button" class="link" aria-current={of.object === null ? "location" : undefined} onClick={() => { state.zoomed.value = null; }}>roots</button>
            {of.up_left_out > 0 && <span class="dim">› {count(of.up_left_out)} more ›</span>}
            {[...of.up].reverse().map((u) => (
                <button key={u.object} type="button" class="link" title={`${u.name}, keeps ${bytes(u.retained)}`} onClick={() => state.zoom(u.object, as)}>{simple(u.name)}</button>))}
            {of.object !== null && <button type="button" class="link" aria-current="location" title={of.nodes[0][4] ?? ""} onClick={() => state.choose(of.object!)}>{simple(of.nodes[0][4])}</button>}
        </nav>
    );
}
