// key.ts - the secret that lets this page ask (docs/reference/view-protocol.md, "Who may ask").
//
// It is in this page's memory and in the storage of its origin, which other servers on 127.0.0.1 have no part in: a
// cookie would be sent to all of them.  It comes with the page itself, where a form has brought a token, or
// for the token in the address, which is taken out of there before anything else.
import { SourceError } from "../source.ts";

const NAME = "orca-key";
const HEADER = "Orca-Key";

let remembered: string | null = null;

/** What another window was given may be newer: it is looked at each time. */
function kept(): string | null {
    try {
        return localStorage.getItem(NAME) ?? remembered;
    } catch {
        return remembered;
    }
}

function keep(key: string): void {
    remembered = key;
    try {
        localStorage.setItem(NAME, key);
    } catch {
        // Without storage it is this page's only.
    }
}

function given(): boolean {
    const key = document.querySelector<HTMLMetaElement>("meta[name=orca-key]")?.content;
    if (!key)
        return false;
    keep(key);
    history.replaceState(null, "", `/${location.hash}`);
    return true;
}

/** The token of the address, which is removed from there. */
function takeToken(): string | null {
    const q = new URLSearchParams(location.search);
    const token = q.get("token");
    if (token === null)
        return null;
    q.delete("token");
    history.replaceState(null, "", `${location.pathname}${q.size ? `?${q}` : ""}${location.hash}`);
    return token;
}

async function change(token: string): Promise<void> {
    const response = await fetch("/api/enter", { method: "POST", credentials: "omit", body: new URLSearchParams({ token }) });
    const said = (await response.json().catch(() => null)) as { key?: string; error?: string } | null;
    if (said?.key)
        keep(said.key);
    // A link that was opened twice: who has the key needs it no more.
    else if (kept() === null)
        throw new SourceError(said?.error ?? `the server answered ${response.status}`);
}

async function enter(): Promise<void> {
    const token = given() ? null : takeToken();
    if (token !== null)
        await change(token);
}

let entered: Promise<void> | null = null;

/** What each question carries. */
export async function credentials(): Promise<Record<string, string>> {
    await (entered ??= enter());
    const key = kept();
    return key === null ? {} : { [HEADER]: key };
}
