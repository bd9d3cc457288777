// source.ts - what is asked of the server about its heap dump, and news of how far it has been read.
import { SourceError } from "../source.ts";
import { ask } from "../source/http.ts";
import type { Overview } from "./types.ts";

/** The dump of this page: several may be open. */
const HERE = `/api/h${Number(new URLSearchParams(location.search).get("dump") ?? 1)}`;

/** It is not known yet, and may be asked again when the overview says more. */
export class Early extends SourceError {}

/** The answer at a path under that of the dump. */
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
    const response = await ask(`${HERE}${path}`, signal);
    const body = (await response.json().catch(() => null)) as (T & { error?: string }) | null;
    if (response.headers.has("Retry-After"))
        throw new Early(body?.error ?? "this is not known yet");
    if (!response.ok || body === null)
        throw new SourceError(body?.error ?? `the server answered ${response.status}`);
    return body;
}

export function overview(): Promise<Overview> {
    return get("");
}

const PAUSE_MS = 1000;

/** `changed` is called with each news, until all is read. */
export function watchOverview(changed: (now: Overview) => void, gone: (why: string) => void): void {
    const events = new EventSource("/api/live");
    let busy = false;
    let again = false;
    const look = async (): Promise<void> => {
        again = busy;
        if (busy)
            return;
        busy = true;
        await overview().then(changed, (e: unknown) => gone(e instanceof Error ? e.message : String(e)));
        busy = false;
        if (again)
            void look();
    };
    events.addEventListener("heap", () => void look());
    let asking = false;
    events.onerror = async () => {
        // A broken connection is made again by itself, unless nobody is there any more.
        if (asking)
            return;
        asking = true;
        await new Promise((done) => setTimeout(done, PAUSE_MS));
        const there = events.readyState !== EventSource.CLOSED && (await ask(HERE).then((r) => r.ok, () => false));
        asking = false;
        if (there)
            return;
        events.close();
        gone("The server does not answer any more: what is shown stays, but nothing new can be asked. Run orca view again.");
    };
}
