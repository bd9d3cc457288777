// address.ts - what is looked at as the address's fragment, and back: the back button leads to the object before.
import { batch, effect } from "@preact/signals";
import * as state from "./state.ts";

interface Field { name: string; write(): string | null; read(text: string | null): void }

const number = (text: string | null): number | null => (/^\d{1,10}$/.test(text ?? "") ? Number(text) : null);
const written = (n: number | null): string | null => (n === null ? null : String(n));
const one = <T extends string>(text: string | null, of: readonly T[]): T => of.find((o) => o === text) ?? of[0];

const FIELDS: Field[] = [
    { name: "tab", write: () => (state.tab.value === state.TABS[0] ? null : state.tab.value), read: (t) => { state.tab.value = one(t, state.TABS); } },
    { name: "class", write: () => written(state.chosenClass.value), read: (t) => { state.chosenClass.value = number(t); } },
    { name: "thread", write: () => written(state.chosenThread.value), read: (t) => { state.chosenThread.value = number(t); } },
    { name: "object", write: () => written(state.object.value), read: (t) => { state.object.value = number(t); } },
    { name: "zoom", write: () => written(state.zoomed.value), read: (t) => { state.zoomed.value = number(t); } },
    { name: "theme", write: () => (state.theme.value === "auto" ? null : state.theme.value), read: (t) => { state.theme.value = one(t, ["auto", "dark", "light"] as const); } },
];

function read(): void {
    const q = new URLSearchParams(location.hash.slice(1));
    batch(() => {
        for (const f of FIELDS)
            f.read(q.get(f.name));
    });
}

/** Make the page what the address says, and keep the address what the page is from now on. */
export function watchAddress(): void {
    read();
    effect(() => {
        const q = new URLSearchParams();
        for (const f of FIELDS) {
            const text = f.write();
            if (text !== null)
                q.set(f.name, text);
        }
        const hash = q.size ? `#${q}` : "";
        if (hash !== location.hash)
            history.pushState(null, "", `${location.pathname}${location.search}${hash}`);
    });
    addEventListener("popstate", read);
}
