// source.ts - what is asked of the server about its heap dump, and news of how far it has been read.
import { SourceError } from "../source.ts";
import { ask, listen } from "../source/ask.ts";
import type { Overview } from "./types.ts";

/** The dump of this page: several may be open. */
const HERE = `/api/h${Number(new URLSearchParams(location.search).get("dump") ?? 1)}`;

/** It is not known yet, and may be asked again when the overview says more. */
export class Early extends SourceError {}

/** The answer at a path under that of the dump. */
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
    const response = await ask(`${HERE}${path}`, { signal });
    const body = (await response.json().catch(() => null)) as (T & { error?: string }) | null;
    if (response.headers.has("Retry-After"))
        throw new Early(body?.error ?? "not read yet");
    if (!response.ok || body === null)
        throw new SourceError(body?.error ?? `the server answered ${response.status}`);
    return body;
}

export function overview(): Promise<Overview> {
    return get("");
}

/** `changed` is called with each news, until all is read. */
export function watchOverview(changed: (now: Overview) => void, gone: (why: string) => void): void {
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
    listen({ heap: () => void look() }, gone);
}
