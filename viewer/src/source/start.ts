// start.ts - what the start page asks the server: JVMs, recent traces, and to attach, stop, save, open.
import { SourceError } from "../source.ts";
import type { Start } from "../types.ts";
import { ask, listen } from "./ask.ts";

/** A refusal; `field`: which of what was sent is wrong. */
export class Refused extends SourceError {
    readonly field: string | null;

    constructor(message: string, field: string | null) {
        super(message);
        this.field = field;
    }
}

export interface Attach {
    pid: number; events?: string[]; include?: string; exclude?: string; methods?: string; depth?: number; seconds?: number; output?: string; ownerstacks?: string;
}

async function answerOf<T>(response: Response): Promise<T> {
    const body = (await response.json().catch(() => null)) as (T & { error?: string; field?: string }) | null;
    if (!response.ok || body === null)
        throw new Refused(body?.error ?? `the server answered ${response.status}`, body?.field ?? null);
    return body;
}

export async function start(): Promise<Start> {
    return answerOf<Start>(await ask("/api/start"));
}

async function post<T>(path: string, body: unknown): Promise<T> {
    return answerOf<T>(await ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }));
}

export const attach = (what: Attach) => post<{ trace: number; file: string }>("/api/attach", what);
export const stop = (pid: number) => post<{ file: string }>("/api/stop", { pid });
export const save = (trace: number, to: string) => post<{ file: string }>("/api/save", { trace, to });
/** A file of the list; one of both. */
export const open = (id: number) => post<{ trace?: number; heap?: number }>("/api/open", { id });

/** Calls whenever the list of JVMs has changed, while the server is there. */
export function watchStart(changed: () => void): () => void {
    return listen({ start: changed }, () => undefined);
}

/** The address of a trace that the server has open. */
export function traceAddress(trace: number): string {
    return `/?trace=${trace}`;
}

/** The address of a heap dump that the server has open. */
export function heapAddress(dump: number): string {
    return `/heap?dump=${dump}`;
}

/** The address of the start page. */
export const START = "/start";
