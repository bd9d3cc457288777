// pprof.mjs - reads the profile that "orca export --to pprof" writes (docs/reference/export-formats.md): samples {labels, innermost}, the
// name of the innermost frame.
import {gunzipSync} from 'node:zlib';
import {all, fields, one, text} from './protobuf.mjs';

// Repeated numbers come packed or one by one.
function first(sample, number) {
    const v = one(sample, number);
    if (!Buffer.isBuffer(v)) return v;
    let value = 0n, shift = 0n;
    for (const byte of v) {
        value |= BigInt(byte & 0x7f) << shift;
        if (byte < 0x80) break;
        shift += 7n;
    }
    return value;
}

export function readPprof(file) {
    const b = gunzipSync(file);
    const strings = all(b, 6).map(text), functions = new Map(), locations = new Map();
    for (const [n, v] of fields(b)) {
        if (n === 5) functions.set(one(v, 1), strings[Number(one(v, 2) ?? 0)]);
        if (n === 4) locations.set(one(v, 1), one(one(v, 4), 1));
    }
    return all(b, 2).map((s) => ({
        labels: Object.fromEntries(all(s, 3).map((l) => [strings[Number(one(l, 1) ?? 0)], strings[Number(one(l, 2) ?? 0)]])),
        innermost: functions.get(locations.get(first(s, 1))),
    }));
}
