// help.tsx - "?": every key, and what the mouse does.
import { useEffect, useRef } from "preact/hooks";
import { KEYS } from "../keys.ts";
import * as state from "../state.ts";
import "./help.css";

const NAMES: Record<string, string> = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc", Enter: "Enter", PageUp: "Page Up", PageDown: "Page Down" };
const MOUSE: [string, string][] = [
    ["drag", "mark a range: tables, shares and flame graph are of it"],
    ["click", "a wait: what it was, and why"],
    ["double click", "zoom to a wait"],
    ["wheel", "rows up and down"],
    ["Ctrl + wheel", "zoom at the mouse"],
    ["Shift + wheel", "earlier, later"],
];

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
        <dialog class="help" ref={dialog} data-view="help" aria-label="help" onClose={() => { if (state.dialog.value === "help") state.dialog.value = null; }}>
            <h2>Keys</h2>
            <dl>{KEYS.map((k) => <div key={k.keys[0]}><dt>{k.keys.map((n) => <kbd key={n}>{NAMES[n] ?? n.toUpperCase()}</kbd>)}</dt><dd>{k.text}</dd></div>)}</dl>
            <h2>Mouse</h2>
            <dl>{MOUSE.map(([n, text]) => <div key={n}><dt><kbd>{n}</kbd></dt><dd>{text}</dd></div>)}</dl>
            <p>A bar shows the share of each pixel's time in each state: half red is blocked half of the time, at every zoom.
                Contention shorter than about 10 µs that spinning wins is not reported by the JVM. What is not known is called unknown.</p>
            <form method="dialog"><button data-test="help-close">Close</button></form>
        </dialog>
    );
}
