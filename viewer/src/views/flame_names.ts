// flame_names.ts - what the frames of a flame graph are called, and their colours.
import { bytes, duration, place, simple } from "../format.ts";
import { isAlloc, isSampled } from "../types.ts";
import type { Flame } from "../types.ts";
import { JDK, ROOT } from "./flame_layout.ts";

export class Names {
    private readonly flame: Flame;
    private readonly methods = new Map<string, number>();

    /** What is counted. */
    readonly what: string;
    readonly amount: (n: number) => string;

    constructor(flame: Flame) {
        this.flame = flame;
        this.what = what(flame);
        this.amount = written(flame);
    }

    /** In a box. */
    short(frame: number): string {
        const f = this.flame.frames[frame];
        return f ? (f.class ? simple(f.class) + (f.method && `.${f.method}`) : f.method) : this.special(frame);
    }

    /** In a tooltip and to a screen reader. */
    full(frame: number): string {
        const f = this.flame.frames[frame];
        return f ? (f.method ? place(f) : f.class) : this.special(frame);
    }

    private special(frame: number): string {
        return frame === ROOT ? "all" : frame === JDK ? "JDK" : `[${this.flame.why[-1 - frame] ?? "unknown"}]`;
    }

    /** The same number for all frames of one method. */
    method(frame: number): number {
        const f = this.flame.frames[frame];
        if (!f)
            return frame;
        const name = this.methodName(frame);
        let n = this.methods.get(name);
        if (n === undefined)
            this.methods.set(name, (n = frame));
        return n;
    }

    /** Of a method's own name, without file and line. */
    methodName(frame: number): string {
        const f = this.flame.frames[frame];
        return f ? (f.class && f.method ? `${f.class}.` : f.class) + f.method : this.special(frame);
    }

    matches(frame: number, words: string): boolean {
        return words !== "" && this.full(frame).toLowerCase().includes(words);
    }

    /** Hue by package, so that what belongs together looks alike, a little lighter or darker by
     * class; everything but methods, and the JDK, is grey. */
    colour(frame: number, dark: boolean): string {
        const f = this.flame.frames[frame];
        const light = dark ? 30 : 82;
        if (!f)
            return `hsl(0 0% ${dark ? 24 : 88}%)`;
        if (f.executed)
            return executedColour(f.executed, f.jdk, dark);
        if (f.jdk)
            return `hsl(220 8% ${light}%)`;
        return classColour(f.class, dark);
    }
}

export function classColour(name: string, dark: boolean): string {
    return `hsl(${(hash(packageOf(name)) % 24) * 15} 38% ${(dark ? 30 : 82) + (hash(simple(name)) % 5) * 2 - 4}%)`;
}

/** Interpreted yellow, compiled green, inlined cyan, native violet and red, the kernel orange; the JDK's paler. */
const HUES = [0, 52, 95, 135, 175, 260, 300, 0, 28];

export function executedColour(executed: number, jdk: boolean, dark: boolean): string {
    return `hsl(${HUES[executed] ?? 0} ${jdk ? 24 : 48}% ${dark ? 30 : 80}%)`;
}

/** What is counted. */
export const what = (flame: Flame) => (isAlloc(flame.by) ? "object" : isSampled(flame.by) ? "sample" : "wait");

/** How its amounts are written. */
export const written = (flame: Flame) => (flame.unit === "bytes" ? bytes : duration);

function packageOf(name: string): string {
    const known = name.replace(/[./]0x[0-9a-f]+$/, "");
    return known.slice(0, Math.max(known.lastIndexOf("."), 0));
}

/** FNV-1a. */
function hash(name: string): number {
    let h = 0x811c9dc5;
    for (let i = 0; i < name.length; i++)
        h = Math.imul(h ^ name.charCodeAt(i), 0x01000193) >>> 0;
    return h;
}
