// keys.ts - the keyboard of a heap's page: one table, of which the help is made, too.
import * as state from "./state.ts";
import type { Tab } from "./state.ts";

interface Key { keys: string[]; text: string; run(): void }

const focus = (test: string): void => document.querySelector<HTMLElement>(`[data-test="${test}"]`)?.focus();

const TEXTS: Record<Tab, string> = {
    suspects: "leak suspects", classes: "classes, and the biggest instances of one", tree: "what keeps objects alive, as a tree", icicle: "the same as an icicle",
    strings: "strings of equal value", collections: "empty and oversized collections", threads: "threads, and what their frames hold", diff: "what has grown since the earlier dump",
};

export const KEYS: Key[] = [
    ...state.TABS.map((t, k) => ({ keys: [String(k + 1)], text: TEXTS[t], run: () => { if (state.tabs.value.includes(t)) state.tab.value = t; } })),
    { keys: ["/"], text: "filter the classes", run: () => { state.tab.value = "classes"; setTimeout(() => focus("classes-filter")); } },
    { keys: ["o"], text: "find an object by its id", run: () => focus("find-id") },
    { keys: ["i"], text: "to the object in view", run: () => focus("inspector") },
    { keys: ["?"], text: "this help", run: () => { state.dialog.value = "help"; } },
    { keys: ["Escape"], text: "close; in the icicle: zoom out", run: () => { state.dialog.value = null; } },
];

const table = new Map(KEYS.flatMap((k) => k.keys.map((name) => [name, k] as const)));

export function watchKeys(): void {
    document.addEventListener("keydown", (e) => {
        if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || /^(INPUT|TEXTAREA|SELECT)$/.test((e.target as HTMLElement).tagName))
            return;
        if (state.dialog.value && e.key !== "Escape")
            return;
        const k = table.get(e.key);
        if (!k)
            return;
        e.preventDefault();
        k.run();
    });
}
