// axis.ts - where the marks of time stand: steps of 1, 2, 5 times a power of ten.
export interface Tick { time: number; x: number; label: string }

export function step(ns: number, atLeast: number): number {
    const wanted = ns * atLeast;
    const power = 10 ** Math.floor(Math.log10(Math.max(wanted, 1)));
    return [1, 2, 5, 10].map((k) => k * power).find((s) => s >= wanted) ?? 10 * power;
}

/** Marks at least 90 pixels apart; the label says no more digits than the step has. */
export function ticks(from: number, to: number, width: number): Tick[] {
    const ns = (to - from) / width;
    const s = Math.max(1, step(ns, ns < 1e4 ? 130 : 90));
    const out: Tick[] = [];
    for (let k = Math.ceil(from / s); k * s <= to && out.length < 200; k++)
        out.push({ time: k * s, x: (k * s - from) / ns, label: label(k * s, s) });
    return out;
}

/** "1.25 s"; below a millisecond what is beyond it stands apart: "1.250 s + 340 µs". */
function label(time: number, s: number): string {
    if (s >= 1e6)
        return `${(time / 1e9).toFixed(s >= 1e9 ? 0 : s >= 1e8 ? 1 : s >= 1e7 ? 2 : 3)} s`;
    const ms = Math.floor(time / 1e6) * 1e6;
    const rest = time - ms;
    const more = s >= 1e3 ? `${Math.round(rest / 1e3)} µs` : `${(rest / 1e3).toFixed(3)} µs`;
    return `${(ms / 1e9).toFixed(3)} s + ${more}`;
}
