// protobuf.mjs - the wire format of Protocol Buffers, as far as Perfetto's traces and pprof's profiles use it.

// Each field of a message: [number, value]; value is a BigInt or a Buffer.
export function* fields(b) {
    let at = 0;
    const varint = () => {
        let v = 0n;
        for (let shift = 0n; ; shift += 7n) {
            const byte = b[at++];
            v |= BigInt(byte & 0x7f) << shift;
            if (byte < 0x80) return v;
        }
    };
    while (at < b.length) {
        const key = Number(varint());
        if ((key & 7) === 0) yield [key >> 3, varint()];
        else if ((key & 7) === 1) { yield [key >> 3, b.readBigUInt64LE(at)]; at += 8; }
        else if ((key & 7) === 2) {
            const n = Number(varint());
            yield [key >> 3, b.subarray(at, at + n)];
            at += n;
        } else throw new Error(`wire type ${key & 7}`);
    }
}

export const one = (b, number) => { for (const [n, v] of fields(b)) if (n === number) return v; return undefined; };
export const all = (b, number) => [...fields(b)].filter(([n]) => n === number).map(([, v]) => v);
export const text = (b) => (b === undefined ? undefined : b.toString('utf8'));
