// theme.ts - dark or light: what the user chose, else what the system says.
import { computed, effect, signal } from "@preact/signals";
import { theme } from "./state.ts";

const query = matchMedia("(prefers-color-scheme: dark)");
const system = signal(query.matches);
query.addEventListener("change", (e) => { system.value = e.matches; });

export const isDark = computed(() => (theme.value === "auto" ? system.value : theme.value === "dark"));

export function watchTheme(): void {
    effect(() => {
        document.documentElement.dataset.theme = isDark.value ? "dark" : "light";
    });
}
