// inline_bytes.ts - from the text in the page to the pack's sections, and columns out of them.
//
// Nothing in a pack is believed: every length is checked against the bytes that there are before
// anything is allocated by it.
import { SourceError } from "../source.ts";

const MAGIC = 0x314b504f; // "OPK1"
const VERSION = 2;
const SECTIONS_MAX = 64;
const HEAD = 16;
const ENTRY = 32;
/** An unpacked pack beyond this is refused rather than filling the memory. */
const BYTES_MAX = 2 ** 31;

export function damaged(what: string): SourceError {
    return new SourceError(`The data in this page is damaged (${what}): make the page again with orca html.`);
}

function fromBase64(text: string): Uint8Array {
    const decode = (Uint8Array as unknown as { fromBase64?: (s: string) => Uint8Array }).fromBase64;
    try {
        if (decode)
            return decode.call(Uint8Array, text);
        const binary = atob(text.trim());
        const bytes = new Uint8Array(binary.length);
        for (let i = 0; i < binary.length; i++)
            bytes[i] = binary.charCodeAt(i);
        return bytes;
    } catch {
        throw damaged("it is not base64");
    }
}

async function gunzip(packed: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    const parts: Uint8Array[] = [];
    let n = 0;
    try {
        const reader = new Blob([packed as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
        for (let next = await reader.read(); !next.done; next = await reader.read()) {
            parts.push(next.value as Uint8Array);
            n += next.value.length;
            if (n > BYTES_MAX)
                break;
        }
    } catch {
        throw damaged("it cannot be unpacked");
    }
    if (n > BYTES_MAX)
        throw damaged("it is larger than 2 GB");
    const all = new Uint8Array(n);
    let at = 0;
    for (const part of parts) {
        all.set(part, at);
        at += part.length;
    }
    return all;
}

/** The sections of a pack by name; each begins at a multiple of 8 of one buffer. */
export type Sections = Map<string, Uint8Array<ArrayBuffer>>;

export async function unpack(text: string): Promise<Sections> {
    return sections(await gunzip(fromBase64(text)));
}

export function sections(bytes: Uint8Array<ArrayBuffer>): Sections {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < HEAD || view.getUint32(0, true) !== MAGIC)
        throw damaged("not a pack of Orca");
    if (view.getUint32(4, true) !== VERSION)
        throw new SourceError(`The data in this page is of version ${view.getUint32(4, true)}, the page needs version ${VERSION}: make the page again with one version of orca.`);
    const n = view.getUint32(8, true);
    if (n > SECTIONS_MAX || HEAD + n * ENTRY > bytes.length)
        throw damaged(`it names ${n} sections`);
    const all: Sections = new Map();
    for (let i = 0; i < n; i++)
        add(all, bytes, view, HEAD + i * ENTRY);
    return all;
}

function add(all: Sections, bytes: Uint8Array<ArrayBuffer>, view: DataView, at: number): void {
    const name = new TextDecoder().decode(bytes.subarray(at, at + 16)).replace(/\0.*$/s, "");
    const offset = Number(view.getBigUint64(at + 16, true)), length = Number(view.getBigUint64(at + 24, true));
    if (offset % 8 || offset > bytes.length || length > bytes.length - offset)
        throw damaged(`section ${name} lies outside of it`);
    all.set(name, bytes.subarray(offset, offset + length));
}

/** A section's JSON. */
export function json(all: Sections, name: string): unknown {
    const bytes = all.get(name);
    if (!bytes)
        throw damaged(`section ${name} is missing`);
    try {
        return JSON.parse(new TextDecoder().decode(bytes));
    } catch {
        throw damaged(`section ${name} is not JSON`);
    }
}

/** Columns of a section, each at a multiple of 8 bytes from its beginning. */
export class Columns {
    private at = 0;
    private readonly bytes: Uint8Array<ArrayBuffer>;
    private readonly name: string;

    constructor(bytes: Uint8Array<ArrayBuffer>, name: string) {
        this.bytes = bytes;
        this.name = name;
    }

    private take(n: number, size: number): number {
        const at = this.at;
        if (n > (this.bytes.length - at) / size || n < 0)
            throw damaged(`section ${this.name} is cut: it names ${n} entries`);
        this.at = Math.min(Math.ceil((at + n * size) / 8) * 8, this.bytes.length);
        return this.bytes.byteOffset + at;
    }

    /** n, and the zero behind it. */
    head(): number {
        return new Uint32Array(this.bytes.buffer, this.take(2, 4), 2)[0];
    }

    u8(n: number): Uint8Array {
        return new Uint8Array(this.bytes.buffer, this.take(n, 1), n);
    }

    u32(n: number): Uint32Array {
        return new Uint32Array(this.bytes.buffer, this.take(n, 4), n);
    }

    i32(n: number): Int32Array {
        return new Int32Array(this.bytes.buffer, this.take(n, 4), n);
    }

    f64(n: number): Float64Array {
        return new Float64Array(this.bytes.buffer, this.take(n, 8), n);
    }

    /** n numbers, byte by byte. */
    numbers(n: number): Numbers {
        const [bytes, others] = new Uint32Array(this.bytes.buffer, this.take(2, 4), 2);
        if (bytes > 7)
            throw damaged(`section ${this.name} has numbers of ${bytes} bytes`);
        const place = this.u32(others), value = this.f64(others);
        return new Numbers(Array.from({ length: bytes }, () => this.u8(n)), n, place, value);
    }

    /** What is left. */
    rest(): Uint8Array<ArrayBuffer> {
        return this.bytes.subarray(this.at);
    }
}

/** Read from the first to the last. */
export class Numbers {
    private at = 0;
    private other = 0;
    private next_other: number;
    private readonly low: Uint8Array;
    private readonly middle: Uint8Array;
    private readonly high: Uint8Array;
    private readonly more: Uint8Array[];

    constructor(planes: Uint8Array[], n: number, private readonly place: Uint32Array, private readonly value: Float64Array) {
        const none = planes.length < 3 ? new Uint8Array(n) : planes[0];
        [this.low, this.middle, this.high] = [planes[0] ?? none, planes[1] ?? none, planes[2] ?? none];
        this.more = planes.slice(3);
        this.next_other = place.length ? place[0] : -1;
        if (!value.every((v) => v >= 0 && v <= Number.MAX_SAFE_INTEGER))
            throw damaged("a number of its waits is none");
    }

    next(): number {
        const k = this.at++;
        if (k === this.next_other) {
            const v = this.value[this.other++];
            this.next_other = this.other < this.place.length ? this.place[this.other] : -1;
            return v;
        }
        let v = this.low[k] | (this.middle[k] << 8) | (this.high[k] << 16);
        for (let p = 0; p < this.more.length; p++)
            v += this.more[p][k] * 2 ** (24 + 8 * p);
        return v;
    }

    signed(): number {
        const v = this.next();
        return v < 2 ** 31 ? (v >>> 1) ^ -(v & 1) : v % 2 ? -(v + 1) / 2 : v / 2;
    }
}
