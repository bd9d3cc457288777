// recording.tsx - of a trace that is still being recorded: save it, stop it; that it has ended.
import { useSignal } from "@preact/signals";
import { problem } from "../problem.ts";
import { recorder } from "../state.ts";
import type { Meta } from "../types.ts";

export function Recording({ m }: { m: Meta }) {
    const wasLive = useSignal(false);
    const to = useSignal<string | null>(null);
    const said = useSignal("");
    const busy = useSignal(false);
    const r = recorder.value;
    if (m.live && !wasLive.peek())
        wasLive.value = true;
    if (!r || !wasLive.value)
        return null;
    const run = async (act: () => Promise<string>): Promise<void> => {
        busy.value = true;
        said.value = "";
        try {
            said.value = await act();
        } catch (e) {
            problem(e);
        }
        busy.value = false;
    };
    const saved = (e: Event): void => {
        e.preventDefault();
        void run(async () => {
            const { file } = await r.save(to.value ?? "");
            to.value = null;
            return `Saved as ${file}`;
        });
    };
    const { live } = m;
    return (
        <span class="recording">
            {!live && <span class="ended" data-test="ended">recording ended</span>}
            {to.value === null ? <button class="switch" data-test="save" title="save the recording so far to a new file" onClick={() => { to.value = ""; }}>Save …</button> : (
                <form onSubmit={saved} onKeyDown={(e) => { if (e.key === "Escape") to.value = null; }}>
                    <input aria-label="file to save the recording as" placeholder="app.otrace" required value={to.value} data-test="save-to" ref={focusOnce}
                        onInput={(e) => { to.value = e.currentTarget.value; }} />
                    <button class="switch" type="submit" data-test="save-do" disabled={busy.value}>Save</button>
                    <button class="switch" type="button" data-test="save-cancel" onClick={() => { to.value = null; }}>Cancel</button>
                </form>)}
            {live && r.stop && <button class="switch" data-test="stop" title="end the recording; the program keeps running" disabled={busy.value}
                onClick={() => { const stop = r.stop!; void run(async () => `Stopped: ${(await stop(live.pid)).file}`); }}>Stop</button>}
            <span class="said" role="status" data-test="recording-said" title={said.value}>{said.value}</span>
        </span>
    );
}

/** When the field appears; not again whenever it is drawn. */
function focusOnce(field: HTMLInputElement | null): void {
    field?.focus();
}
