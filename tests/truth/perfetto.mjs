// perfetto.mjs - reads the Perfetto trace that "orca export --to perfetto" writes (docs/reference/export-formats.md): threads, and on them
// slices {category, name, start, end, args} and moments {category, name, time, args, flows, flowEnds}.
//
// Only what that format uses of Perfetto's messages; times are BigInt, ns.
import {inflateSync} from 'node:zlib';
import {fields, one, text} from './protobuf.mjs';

function* packets(b) {
    for (const [n, packet] of fields(b)) {
        if (n !== 1) continue;
        const packed = one(packet, 50);
        if (packed) yield* packets(inflateSync(packed));
        else yield packet;
    }
}

// Interned texts by kind (category, name, argument's name, argument's text) and number.
class Texts {
    kinds = {1: new Map(), 2: new Map(), 3: new Map(), 29: new Map()};

    learn(interned) {
        for (const [kind, entry] of fields(interned))
            this.kinds[kind]?.set(one(entry, 1), text(one(entry, 2)));
    }

    get(kind, iid) { return this.kinds[kind].get(iid); }
}

function readEvent(b, texts, time) {
    const e = {time, args: {}, flows: [], flowEnds: []};
    for (const [n, v] of fields(b)) {
        if (n === 3) e.category = texts.get(1, v);
        else if (n === 10) e.name = texts.get(2, v);
        else if (n === 9) e.type = Number(v);
        else if (n === 11) e.track = v;
        else if (n === 47) e.flows.push(v);
        else if (n === 48) e.flowEnds.push(v);
        else if (n === 4) {
            let name, value;
            for (const [k, x] of fields(v))
                if (k === 1) name = texts.get(3, x);
                else value = k === 17 ? texts.get(29, x) : k === 2 ? x !== 0n : Number(x);
            e.args[name] = value;
        }
    }
    return e;
}

const BEGIN = 1, END = 2, MOMENT = 3;

// {slices, moments}, each with the name of its thread.
export function readPerfetto(file) {
    const texts = new Texts(), threads = new Map(), open = new Map(), slices = [], moments = [];
    for (const p of packets(file)) {
        const interned = one(p, 12), track = one(p, 60), event = one(p, 11);
        if (interned) texts.learn(interned);
        const thread = track && one(track, 4);
        if (thread) threads.set(one(track, 1), text(one(thread, 5)));
        if (!event) continue;
        const e = readEvent(event, texts, one(p, 8));
        if (!threads.has(e.track)) continue;
        e.thread = threads.get(e.track);
        if (e.type === MOMENT) moments.push(e);
        else if (e.type === BEGIN) open.set(e.track, e);
        else if (e.type === END && open.has(e.track)) {
            const begun = open.get(e.track);
            slices.push({...begun, ns: Number(e.time - begun.time), end: e.time});
            open.delete(e.track);
        }
    }
    return {slices, moments, threads: [...threads.values()]};
}
