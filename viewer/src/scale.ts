// scale.ts - text is larger on a page that is very wide: a large screen without a scale of its own.
import { computed, effect, signal } from "@preact/signals";

const query = matchMedia("(min-width: 2600px)");
const wide = signal(query.matches);
query.addEventListener("change", (e) => { wide.value = e.matches; });

/** What all sizes of text are multiplied with. */
export const scale = computed(() => (wide.value ? 1.2 : 1));

export function watchScale(): void {
    effect(() => document.documentElement.style.setProperty("--scale", String(scale.value)));
}
