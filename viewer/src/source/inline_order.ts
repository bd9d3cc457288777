// inline_order.ts - order of numbers that come in runs which ascend already: one run per thread.

/** The indices of `keys` in ascending order of them; what is equal stays in its order.  Natural merge sort: O(n log runs). */
export function orderOf(keys: Float64Array): Uint32Array {
    let list: Uint32Array = new Uint32Array(keys.length), other: Uint32Array = new Uint32Array(keys.length);
    for (let i = 0; i < list.length; i++)
        list[i] = i;
    let runs = runsOf(keys);
    while (runs.length > 2) {
        runs = mergePairs(keys, list, other, runs);
        [list, other] = [other, list];
    }
    return list;
}

/** Where each ascending run begins, and the end. */
function runsOf(keys: Float64Array): number[] {
    const runs = [0];
    for (let i = 1; i < keys.length; i++)
        if (keys[i] < keys[i - 1])
            runs.push(i);
    runs.push(keys.length);
    return runs;
}

function mergePairs(keys: Float64Array, from: Uint32Array, to: Uint32Array, runs: number[]): number[] {
    const next = [0];
    for (let r = 0; r + 1 < runs.length; r += 2) {
        const end = runs[Math.min(r + 2, runs.length - 1)];
        merge(keys, from, to, runs[r], runs[r + 1], end);
        next.push(end);
    }
    return next;
}

function merge(keys: Float64Array, from: Uint32Array, to: Uint32Array, a: number, middle: number, end: number): void {
    let b = middle, at = a;
    while (a < middle && b < end)
        to[at++] = keys[from[b]] < keys[from[a]] ? from[b++] : from[a++];
    while (a < middle)
        to[at++] = from[a++];
    while (b < end)
        to[at++] = from[b++];
}

/** A walk over the beginnings and ends of stretches in the order of time; at one time ends come first. */
export function eachStep(from: Float64Array, to: Float64Array, visit: (time: number, stretch: number, begins: boolean) => void): void {
    const begins = orderOf(from), ends = orderOf(to);
    let a = 0, b = 0;
    while (b < ends.length)
        if (a < begins.length && from[begins[a]] < to[ends[b]])
            visit(from[begins[a]], begins[a++], true);
        else
            visit(to[ends[b]], ends[b++], false);
}
