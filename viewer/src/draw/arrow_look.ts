// arrow_look.ts - how the kinds of arrows differ, apart from their colours: by dashes and heads, no two alike.
import type { Interaction } from "../types.ts";

export type Head = "full" | "open" | "double";
export interface ArrowLook { dash: readonly number[]; head: Head }

const LONG = [7, 3], DOTS = [1.5, 2.5], MIXED = [7, 3, 1.5, 3];

export const ARROW_LOOKS: Record<Interaction, ArrowLook> = {
    "handoff-lock": { dash: [], head: "full" },
    "last-owner-seen": { dash: MIXED, head: "open" },
    "unpark": { dash: [], head: "open" },
    "starts-thread": { dash: [], head: "double" },
    "notify": { dash: LONG, head: "full" },
    "notify-all": { dash: LONG, head: "double" },
    "semaphore": { dash: LONG, head: "open" },
    "interrupt": { dash: DOTS, head: "full" },
    "dead-and-notify-joined": { dash: DOTS, head: "open" },
    "submit": { dash: MIXED, head: "full" },
};

type Point = [x: number, y: number];

/** The triangles of a head with its tip at x, y, that points along the unit vector ux, uy. */
export function headOf(x: number, y: number, ux: number, uy: number, size: number, head: Head): [tip: Point, left: Point, right: Point][] {
    const at = (back: number): [Point, Point, Point] => {
        const tx = x - ux * back, ty = y - uy * back;
        return [[tx, ty], [tx - ux * size - uy * size * 0.5, ty - uy * size + ux * size * 0.5], [tx - ux * size + uy * size * 0.5, ty - uy * size - ux * size * 0.5]];
    };
    return head === "double" ? [at(0), at(size)] : [at(0)];
}
