// format.ts - numbers and names as the user reads them; the same words as `orca report`.
import type { Place } from "./types.ts";

const UNITS: [number, string][] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]];

/** A duration with three digits at most: "1.23 s", "45.6 ms", "789 ns". */
export function duration(ns: number): string {
    const a = Math.abs(ns);
    const s = Math.floor((a + 5e7) / 1e9); // 59.95 s would be 60.0 s
    if (s >= 60) {
        const text = s >= 3600 ? `${Math.floor(s / 3600)} h ${two(Math.floor(s / 60) % 60)} m` : `${Math.floor(s / 60)} m ${two(s % 60)} s`;
        return ns < 0 ? `-${text}` : text;
    }
    for (const [unit, name] of UNITS)
        if (a >= unit * 0.9995)
            return `${digits(ns / unit)} ${name}`;
    return `${Math.round(ns)} ns`;
}

function two(n: number): string {
    return String(n).padStart(2, "0");
}

function digits(x: number): string {
    const a = Math.abs(x);
    return a >= 99.95 ? x.toFixed(0) : a >= 9.995 ? x.toFixed(1) : x.toFixed(2);
}

/** A moment, as precise as a step of `step` ns needs: "1.234567 s". */
export function moment(ns: number, step = 1): string {
    const decimals = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(Math.max(step, 1)) - 1e-9)));
    return `${(ns / 1e9).toFixed(decimals)} s`;
}

export function count(n: number): string {
    return Math.round(n).toLocaleString("en-US");
}

export function percent(part: number, whole: number): string {
    if (!(whole > 0))
        return "–";
    const p = (100 * part) / whole;
    return p > 0 && p < 0.1 ? "<0.1 %" : p < 10 ? `${p.toFixed(1)} %` : `${p.toFixed(0)} %`;
}

/** Of 1024, as `orca report` has it: "812 B", "3.9 MB". */
export function bytes(n: number): string {
    let k = 0;
    for (; n >= 1023.5 && k < 6; k++)
        n /= 1024;
    return `${n.toFixed(k && n < 9.95 ? 1 : 0)} ${["B", "kB", "MB", "GB", "TB", "PB", "EB"][k]}`;
}

/** n bytes in ns: "3.9 MB/s". */
export function rate(n: number, ns: number): string {
    return ns > 0 ? `${bytes(n / (ns / 1e9))}/s` : "–";
}

/** The class name behind the last dot; of a class that the JVM made up without the address in it. */
export function simple(name: string | null): string {
    if (name === null)
        return "unknown class";
    const known = name.replace(/[./]0x[0-9a-f]+$/, "");
    return known.slice(known.lastIndexOf(".") + 1);
}

/** "1 wait", "2 waits" */
export function plural(n: number, what: string): string {
    return `${count(n)} ${what}${n === 1 ? "" : "s"}`;
}

/** "OrderBook.java:88", "OrderBook.java", "native", "". */
export function line(p: Place): string {
    return p.line !== null && p.file ? `${p.file}:${p.line}` : p.file || "";
}

/** "orderbook.OrderBook.best (OrderBook.java:50)" */
export function place(p: Place | null): string {
    if (!p)
        return "unknown";
    const l = line(p);
    return `${p.class ? `${p.class}.` : ""}${p.method}${l ? ` (${l})` : ""}`;
}

/** An identity hash as text formats and `orca events` have it: 7852E922. */
export function hex(hash: number): string {
    return hash.toString(16).toUpperCase().padStart(8, "0");
}
