// problem.ts - what went wrong, for the user to read: a line that stays until it is dismissed.
import { signal } from "@preact/signals";

export const problems = signal<readonly string[]>([]);

export function problem(e: unknown): void {
    const text = e instanceof Error ? e.message : String(e);
    if (!problems.value.includes(text))
        problems.value = [...problems.value.slice(-3), text];
}

export function dismiss(text: string): void {
    problems.value = problems.value.filter((p) => p !== text);
}
