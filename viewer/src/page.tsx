// page.tsx - what every page does: run, and say why where it cannot.
import { render } from "preact";
import { watchScale } from "./scale.ts";
import { watchTheme } from "./theme.ts";

const root = document.getElementById("app")!;

/** Show something instead of what was there: what the page said before its script ran goes as well. */
export function put(what: preact.VNode): void {
    root.querySelector(".loading")?.remove();
    render(what, root);
}

export function fail(why: string): void {
    render(null, root);
    root.textContent = why;
    root.className = "failed";
}

/** Run a page; what stops it before there is anything to see is its text. */
export function begin(page: () => Promise<void>): void {
    watchTheme();
    watchScale();
    page().catch((e: unknown) => {
        fail(e instanceof Error ? e.message : String(e));
    });
}
