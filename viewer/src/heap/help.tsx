// help.tsx - "?": the keys, and what the words mean.
import { HelpDialog } from "../views/help_dialog.tsx";
import { KEYS } from "./keys.ts";
import * as state from "./state.ts";

export function Help() {
    return (
        <HelpDialog keys={KEYS} open={state.dialog.value === "help"} onClose={() => { state.dialog.value = null; }}>
            <p>In tables and in the icicle the arrow keys move, Enter chooses or zooms. The back button leads to the object before.</p>
            <h2>Words</h2>
            <p>Shallow: what an object itself takes in the heap. Retained: what would go with it, as only it keeps that alive. An object keeps another one alive, directly,
                when each way from the roots to that one leads through it, and through no other one behind it. Weak, soft and phantom references keep nothing alive.</p>
        </HelpDialog>
    );
}
