// help.tsx - "?": every key, and what the mouse does.
import { KEYS } from "../keys.ts";
import * as state from "../state.ts";
import { HelpDialog } from "./help_dialog.tsx";

const MOUSE: [string, string][] = [
    ["drag", "mark a range: tables, shares and flame graph show only it"],
    ["click", "a wait: what it was, and why"],
    ["double click", "zoom to a wait"],
    ["wheel", "rows up and down"],
    ["Ctrl + wheel", "zoom at the mouse"],
    ["Shift + wheel", "earlier, later"],
];

export function Help() {
    return (
        <HelpDialog keys={KEYS} open={state.dialog.value === "help"} onClose={() => { if (state.dialog.value === "help") state.dialog.value = null; }}>
            <h2>Mouse</h2>
            <dl>{MOUSE.map(([n, text]) => <div key={n}><dt><kbd>{n}</kbd></dt><dd>{text}</dd></div>)}</dl>
            <p>A bar shows the share of each pixel's time in each state: half red is blocked half of the time, at every zoom.
                The JVM does not report contention that spinning wins, below about 10 µs. "Unknown" means that the recording does not have it.</p>
        </HelpDialog>
    );
}
