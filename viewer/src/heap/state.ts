// state.ts - what of a heap dump is looked at; the address has it, too (address.ts).
import { batch, computed, signal } from "@preact/signals";
import { STAGES } from "./types.ts";
import type { Overview, Stage } from "./types.ts";

export { theme } from "../state.ts";

export const TABS = ["suspects", "classes", "tree", "icicle", "strings", "collections", "threads", "diff"] as const;
export type Tab = (typeof TABS)[number];

export const overview = signal<Overview | null>(null);
/** Why nothing new can be asked. */
export const gone = signal<string | null>(null);
export const dialog = signal<"help" | null>(null);

export const tab = signal<Tab>("suspects");
export const chosenClass = signal<number | null>(null);
export const chosenThread = signal<number | null>(null);
/** In the inspector. */
export const object = signal<number | null>(null);
/** What tree and icicle begin with; null: everything. */
export const zoomed = signal<number | null>(null);

/** What has been found of the dump. */
export const stage = computed<Stage>(() => overview.value?.stage ?? "reading");

export function has(wanted: Stage): boolean {
    return STAGES.indexOf(stage.value) >= STAGES.indexOf(wanted);
}

/** Whether the dump tells what keeps what alive: only a whole one does. */
export const knowsKeepers = computed<boolean>(() => !overview.value?.partial);

/** Before a number of what was read: of a dump that is not whole there may be more. */
export const atLeast = computed<string>(() => (knowsKeepers.value ? "" : "at least "));

/** Those that there is something for: growth needs an earlier dump. */
export const tabs = computed<readonly Tab[]>(() => TABS.filter((t) => t !== "diff" || overview.value?.found.diff !== undefined));

export function choose(number: number): void {
    object.value = number;
}

/** The instances of a class, in the list of classes. */
export function chooseClass(number: number): void {
    batch(() => {
        tab.value = "classes";
        chosenClass.value = number;
    });
}

/** What an object keeps alive, to scale or as rows. */
export function zoom(number: number | null, as: "icicle" | "tree" = "icicle"): void {
    batch(() => {
        tab.value = as;
        zoomed.value = number;
        if (number !== null)
            object.value = number;
    });
}
