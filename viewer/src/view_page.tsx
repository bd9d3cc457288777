// view_page.tsx - the page of `orca view`: a trace that the server has; without one the start page is gone to.
import { begin } from "./page.tsx";
import { open } from "./trace_page.tsx";
import { ask, wrong } from "./source/ask.ts";
import { HttpSource } from "./source/http.ts";
import { START, save, stop } from "./source/start.ts";
import { recorder } from "./state.ts";

interface ServerState { stop: boolean; traces: { trace: number; name: string }[]; start: boolean }

async function watch(trace: number, stops: boolean): Promise<void> {
    recorder.value = { save: (to) => save(trace, to), stop: stops ? stop : null };
    await open(new HttpSource(trace));
}

begin(async () => {
    const response = await ask("/api/state");
    if (!response.ok)
        throw new Error(await wrong(response));
    const server = (await response.json()) as ServerState;
    const wanted = new URLSearchParams(location.search).get("trace") ?? (server.start ? null : server.traces[0]?.trace);
    if (wanted === null || wanted === undefined)
        location.replace(START + location.hash);
    else
        await watch(Number(wanted), server.stop);
});
