// help.tsx - "?": the keys, and what the words mean.
import { useEffect, useRef } from "preact/hooks";
import { KEYS } from "./keys.ts";
import * as state from "./state.ts";
import "../views/help.css";

export function Help() {
    const dialog = useRef<HTMLDialogElement>(null);
    const open = state.dialog.value === "help";
    useEffect(() => {
        if (open && !dialog.current!.open)
            dialog.current!.showModal();
        else if (!open && dialog.current!.open)
            dialog.current!.close();
    }, [open]);
    return (
        <dialog class="help" ref={dialog} data-view="help" aria-label="help" onClose={() => { state.dialog.value = null; }}>
            <h2>Keys</h2>
            <dl>{KEYS.map((k) => <div key={k.keys[0]}><dt>{k.keys.map((n) => <kbd key={n}>{n === "Escape" ? "Esc" : n.toUpperCase()}</kbd>)}</dt><dd>{k.text}</dd></div>)}</dl>
            <p>In tables and in the icicle the arrow keys move, Enter chooses or zooms. The back button leads to the object before.</p>
            <h2>Words</h2>
            <p>Shallow: what an object itself takes in the heap. Retained: what would go with it, as only it keeps that alive. An object keeps another one alive, directly,
                when each way from the roots to that one leads through it, and through no other one behind it. Weak, soft and phantom references keep nothing alive.</p>
            <form method="dialog"><button data-test="help-close">Close</button></form>
        </dialog>
    );
}
