// ask.ts - a question to the server of `orca view`, and the news that it sends by itself.
//
// No cookie goes along: the key is all that counts, and whatever other servers on 127.0.0.1 have left in the
// cookie jar stays there.
import { SourceError } from "../source.ts";
import { credentials } from "./key.ts";

export async function wrong(response: Response): Promise<string> {
    const body = (await response.json().catch(() => null)) as { error?: string } | null;
    return body?.error ?? `the server answered ${response.status}`;
}

/** Nobody has answered. */
class Silence extends SourceError {}

/** A connection that the browser has opened ahead may have been turned out before its first request (the server does so where
 *  somebody floods it), and then the browser does not take another one by itself.  Only what changes nothing is asked again. */
const TRIES = 3;
async function patiently(path: string, init: RequestInit): Promise<Response> {
    for (let left = init.method && init.method !== "GET" ? 1 : TRIES; ; left--)
        try {
            return await fetch(path, init);
        } catch (e) {
            if (left <= 1 || init.signal?.aborted)
                throw e;
        }
}

/** The answer to a path; `init` as of fetch. */
export async function ask(path: string, init: RequestInit & { headers?: Record<string, string> } = {}): Promise<Response> {
    try {
        const headers = { ...init.headers, ...(await credentials()) };
        return await patiently(path, { ...init, credentials: "omit", headers });
    } catch (e) {
        if (init.signal?.aborted || e instanceof SourceError) // the token was refused
            throw e;
        throw new Silence("the server does not answer: if orca view has ended, run it again");
    }
}

const GONE = "The server has stopped answering: the page keeps what it shows, but cannot load more. Run orca view again.";
const PAUSE_MS = 1000;

type Hear = Record<string, (data: string) => void>;

/** One event, as its lines are. */
function tell(lines: string, hear: Hear): void {
    let name = "message";
    const data: string[] = [];
    for (const line of lines.split("\n"))
        if (line.startsWith("event: "))
            name = line.slice(7);
        else if (line.startsWith("data: "))
            data.push(line.slice(6));
    if (data.length)
        hear[name]?.(data.join("\n"));
}

/** Server-sent events, until they end.  (An EventSource could not say the key.) */
async function read(body: ReadableStream<Uint8Array>, hear: Hear): Promise<void> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let text = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
        text += decoder.decode(part.value, { stream: true });
        const events = text.split("\n\n");
        text = events.pop()!;
        for (const lines of events)
            tell(lines, hear);
    }
}

/** Hear the server's news, by the names of the events.  A connection that ends is made again; when
 * that cannot be, `gone` gets the reason, once.  The result ends it. */
export function listen(hear: Hear, gone: (why: string) => void): () => void {
    const end = new AbortController();
    const once = async (): Promise<void> => {
        const response = await ask("/api/live", { signal: end.signal });
        if (!response.ok)
            throw new SourceError(await wrong(response));
        await read(response.body!, hear).catch(() => undefined); // as if it had ended
    };
    const follow = async (): Promise<void> => {
        while (!end.signal.aborted) {
            await once();
            await new Promise((done) => setTimeout(done, PAUSE_MS));
        }
    };
    follow().catch((e: unknown) => {
        if (!end.signal.aborted)
            gone(e instanceof SourceError && !(e instanceof Silence) ? e.message : GONE);
    });
    return () => end.abort();
}
