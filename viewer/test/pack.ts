// pack.ts - makes packs (docs/reference/view-protocol.md, Pack) for the tests from waits written as objects.
import { gzipSync } from "node:zlib";
import { FLAG, INTERACTIONS } from "../src/types.ts";

export interface TestWait { start: number; end: number; context: number; waker?: number; how?: string; wake?: number }
export interface TestContext { state: number; lock?: number; other?: number; stack?: number; owner_stack?: number; site?: number; owner_site?: number; flags?: number; owned?: boolean }
export interface TestThread { name: string; from: number; to: number; waits: TestWait[]; group?: number; pool?: number }
export interface TestPack {
    threads: TestThread[]; // thread 1 on
    contexts: TestContext[]; // context 1 on
    locks: number[]; // class group of lock 1 on
    classes: string[]; // group 1 on
    sites: { group: number; stack: number; method: number; line: number }[];
    stacks: { method: number; line: number }[][]; // stack 1 on, innermost first
    methods: [string, string, string, string, number][]; // method 1 on
    acts?: { from_time: number; to_time: number; from: number; to: number; how: string }[];
    holds?: { from: number; to: number; thread: number; lock: number; mode?: number }[];
    wakes?: { thread: number; index: number; stack: number }[];
    regains?: { thread: number; index: number; owner: number; how: string; wake: number; stack: number }[];
    path?: { from: number; to: number; thread: number; kind?: number }[];
    from: number; to: number;
}

export const NONE = 0xffffffff;

// --- bytes ------------------------------------------------------------------------------------------------

const zigzag = (n: number) => (n < 0 ? -n * 2 - 1 : n * 2);

/** As columns of bytes; numbers that need more bytes than `bytes` stand apart. */
export function numbers(v: number[], bytes = 3): Uint8Array {
    const others = v.flatMap((x, i) => (x >= 256 ** bytes ? [i] : []));
    return join([
        new Uint8Array(new Uint32Array([bytes, others.length]).buffer), new Uint8Array(Uint32Array.from(others).buffer),
        new Uint8Array(Float64Array.from(others, (i) => v[i]).buffer),
        ...Array.from({ length: bytes }, (_, p) => Uint8Array.from(v, (x) => (x >= 256 ** bytes ? 0 : Math.floor(x / 256 ** p) % 256))),
    ]);
}

const pad = (n: number) => Math.ceil(n / 8) * 8;

function columns(n: number, ...cols: ArrayBufferView[]): Uint8Array {
    const parts = [new Uint8Array(new Uint32Array([n, 0]).buffer), ...cols.map((c) => new Uint8Array(c.buffer, c.byteOffset, c.byteLength))];
    return join(parts);
}

function join(parts: Uint8Array[]): Uint8Array {
    const out = new Uint8Array(parts.reduce((sum, p) => sum + pad(p.length), 0));
    let at = 0;
    for (const p of parts) {
        out.set(p, at);
        at += pad(p.length);
    }
    return out;
}

export function assemble(sections: Record<string, Uint8Array>): Uint8Array<ArrayBuffer> {
    const names = Object.keys(sections);
    const head = 16 + names.length * 32;
    const out = new Uint8Array(pad(head) + names.reduce((sum, n) => sum + pad(sections[n].length), 0));
    const view = new DataView(out.buffer);
    view.setUint32(0, 0x314b504f, true);
    view.setUint32(4, 2, true);
    view.setUint32(8, names.length, true);
    let at = pad(head);
    names.forEach((name, i) => {
        out.set(new TextEncoder().encode(name), 16 + i * 32);
        view.setBigUint64(32 + i * 32, BigInt(at), true);
        view.setBigUint64(40 + i * 32, BigInt(sections[name].length), true);
        out.set(sections[name], at);
        at += pad(sections[name].length);
    });
    return out;
}

export function base64(bytes: Uint8Array): string {
    return gzipSync(bytes).toString("base64");
}

// --- sections ---------------------------------------------------------------------------------------------

const text = (v: unknown) => new TextEncoder().encode(JSON.stringify(v));

function waits(p: TestPack): Uint8Array {
    const gap: number[] = [], length: number[] = [], woken: TestWait[] = [];
    const all = p.threads.flatMap((t) => t.waits);
    for (const t of p.threads) {
        let before = t.from;
        for (const w of t.waits) {
            gap.push(zigzag(w.start - before));
            length.push(w.end - w.start);
            before = w.end;
            if (w.waker)
                woken.push(w);
        }
    }
    return columns(all.length, Uint32Array.from([0, ...p.threads.map((t) => t.waits.length)]), numbers(gap, 1), numbers(length, 2), numbers(all.map((w) => w.context)),
        numbers(all.map((w) => w.waker ?? 0), 1), numbers(woken.map((w) => (w.how ? INTERACTIONS.indexOf(w.how as never) + 1 : 0)), 1), numbers(woken.map((w) => zigzag(w.end - (w.wake ?? w.end))), 5));
}

/** Of the waits of all threads behind each other. */
function placesOf(p: TestPack, of: { thread: number; index: number }[]): number[] {
    const places = of.map((w) => w.index + p.threads.slice(0, w.thread - 1).reduce((sum, t) => sum + t.waits.length, 0));
    return places.map((at, k) => at - (k ? places[k - 1] : 0));
}

export function meta(p: TestPack): Record<string, unknown> {
    const all = [{ name: "", from: 0, to: 0, waits: [] as TestWait[], group: 0, pool: 0 }, ...p.threads];
    const zero = all.map(() => 0);
    return {
        schema: "orca-view-1", gen: 1, name: "test.otrace", phase: null, live: null, from: p.from, to: p.to, packed: "exact",
        recording: { program: "Test", jvm_name: "", jvm_version: "", host: "", pid: 1, state: "closed", start_unix_ns: 0, from: p.from, to: p.to, windowed: false, events: 0, damaged: 0, gc_count: 0, gc_ns: 0, gc_max_ns: 0 },
        losses: [], problems: [], findings: [], deadlocks: [], stuck: [], path: null, gc: [], locks: p.locks.length, waits: all.reduce((sum, t) => sum + t.waits.length, 0), arrows: {},
        threads: {
            id: all.map((_, i) => i), name: all.map((t) => t.name), group: all.map((t) => t.group ?? 0), pool: all.map((t) => t.pool ?? 0), java_tid: zero, flags: zero.map(() => 8),
            from: all.map((t) => t.from), to: all.map((t) => t.to), called: all.map(() => null), starter: zero, waits: all.map((t) => t.waits.length),
            blocked_ns: zero, waited_ns: zero, parked_ns: zero, joined_ns: zero, slept_ns: zero, reacquired_ns: zero, running_ns: zero,
        },
        pools: { name: ["", "pool"], threads: [0, 0] }, groups: { name: ["", "main"], threads: [0, 0] },
        report: { schema: "orca-report-1", threads: [], locks: [], sites: [] }, lock_rows: [],
        overview: { from: p.from, to: p.to, n: 4, running: [1, 2, 3, 4], held_up: [0, 0, 1, 1], path: { run: [1, 1, 1, 1] } },
    };
}

export function sectionsOf(p: TestPack): Record<string, Uint8Array> {
    const c = [{ state: 0 } as TestContext, ...p.contexts], u32 = (f: (x: TestContext) => number) => Uint32Array.from(c, f);
    const locks = [0, ...p.locks], stacks = [[], ...p.stacks];
    const first = Uint32Array.from({ length: stacks.length + 1 }, (_, i) => stacks.slice(0, i).reduce((sum, s) => sum + s.length, 0));
    const frames = stacks.flat(), acts = p.acts ?? [], holds = p.holds ?? [], wakes = p.wakes ?? [], regains = p.regains ?? [], path = p.path ?? [];
    const f64 = <T>(v: T[], f: (x: T) => number) => Float64Array.from(v, f), ints = <T>(v: T[], f: (x: T) => number) => Uint32Array.from(v, f);
    return {
        meta: text(meta(p)), waits: waits(p),
        contexts: columns(c.length, u32((x) => x.lock ?? 0), u32((x) => x.other ?? 0), u32((x) => x.stack ?? 0), u32((x) => x.owner_stack ?? 0), u32((x) => x.site ?? 0),
            u32((x) => x.owner_site ?? NONE), Uint8Array.from(c, (x) => x.state), Uint8Array.from(c, (x) => x.flags ?? 0), Uint8Array.from(c, (x) => (x.owned ? 1 : 0))),
        locks: columns(locks.length, Uint32Array.from(locks), Uint32Array.from(locks, (_, i) => i * 17)),
        sites: columns(p.sites.length, ints(p.sites, (s) => s.group), ints(p.sites, (s) => s.stack), ints(p.sites, (s) => s.method), Int32Array.from(p.sites, (s) => s.line),
            ints(p.sites, (s) => s.method), Int32Array.from(p.sites, (s) => s.line)),
        stacks: columns(stacks.length, first, new Uint8Array(stacks.length), ints(frames, (f) => f.method), Int32Array.from(frames, (f) => f.line)),
        names: text({ classes: [null, ...p.classes], methods: [["", "", "", "", 0], ...p.methods] }),
        acts: columns(acts.length, f64(acts, (a) => a.from_time), f64(acts, (a) => a.to_time), ints(acts, (a) => a.from), ints(acts, (a) => a.to), Uint8Array.from(acts, (a) => INTERACTIONS.indexOf(a.how as never))),
        wakes: columns(wakes.length, numbers(placesOf(p, wakes)), numbers(wakes.map((w) => w.stack))),
        regains: columns(regains.length, numbers(placesOf(p, regains)), numbers(regains.map((r) => r.owner)), numbers(regains.map((r) => INTERACTIONS.indexOf(r.how as never) + 1)),
            numbers(regains.map((r) => zigzag(p.threads[r.thread - 1].waits[r.index].end - r.wake))), numbers(regains.map((r) => r.stack))),
        holds: columns(holds.length, numbers(holds.map((h, k) => zigzag(h.from - (k ? holds[k - 1].from : 0)))), numbers(holds.map((h) => h.to - h.from), 1), ints(holds, (h) => h.thread), ints(holds, (h) => h.lock), Uint8Array.from(holds, (h) => h.mode ?? 0)),
        path: join([new Uint8Array(new Uint32Array([0x3141504f, 0, path.length, 0]).buffer), ...[f64(path, (s) => s.from), f64(path, (s) => s.to), ints(path, (s) => s.thread), ints(path, () => 0), ints(path, () => 0),
            Uint8Array.from(path, (s) => s.kind ?? 0), Uint8Array.from(path, () => 6)].map((v) => new Uint8Array(v.buffer))]),
    };
}

export function packOf(p: TestPack): Uint8Array<ArrayBuffer> {
    return assemble(sectionsOf(p));
}

// --- a program that waits at random -------------------------------------------------------------------------

/** Numbers that look random and are the same each time (xorshift). */
export function random(seed: number): (below: number) => number {
    let x = seed | 1;
    return (below) => {
        x ^= x << 13;
        x ^= x >>> 17;
        x ^= x << 5;
        return (x >>> 0) % below;
    };
}

/** States as in the protocol; half of the waits in Object.wait are notified, one in eight parks is for an owned lock. */
export function randomPack(seed: number, threads: number, waitsEach: number): TestPack {
    const r = random(seed), to = 1000 + waitsEach * 2000;
    const contexts: TestContext[] = [];
    for (let i = 0; i < 40; i++) {
        const state = [0, 0, 0, 1, 1, 2, 3, 4][r(8)], site = r(8);
        const flags = (i % 13 === 0 ? FLAG.unknown : 0) | (state === 1 && r(3) === 0 ? FLAG.timedOut : 0);
        const lock = state <= 2 ? 1 + r(6) : 0;
        contexts.push({ state, lock, other: state === 0 || state === 3 ? 1 + r(threads) : 0, stack: 1 + site, site, owner_site: state === 0 && r(2) ? r(8) : NONE, owner_stack: state === 0 ? 1 + r(8) : 0, flags, owned: state === 2 && r(8) === 0 });
    }
    const all: TestThread[] = [];
    for (let t = 0; t < threads; t++) {
        const waits: TestWait[] = [];
        let time = r(500);
        const from = time;
        for (let k = 0; k < waitsEach; k++) {
            const context = 1 + r(contexts.length), c = contexts[context - 1];
            const start = time + r(900), end = c.flags! & FLAG.unknown ? start : start + (r(5) === 0 ? 0 : 1 + r(900));
            const notified = c.state === 1 && !(c.flags! & (FLAG.timedOut | FLAG.unknown)) && r(2) === 0;
            const woken = notified || (c.state === 0 && !(c.flags! & FLAG.unknown) && r(2) === 0);
            waits.push({ start, end, context, ...(woken ? { waker: 1 + r(threads), how: notified ? "notify" : "handoff-lock", wake: start + Math.floor(((end - start) * r(12)) / 10) - 5 } : {}) });
            time = end;
        }
        all.push({ name: `worker-${t + 1}`, from, to: Math.max(time, to - r(300)), waits, group: t % 2, pool: 1 });
    }
    const stacks = Array.from({ length: 8 }, (_, i) => [{ method: 1 + (i % 4), line: 10 + i }, { method: 5, line: 1 }]);
    return {
        threads: all, contexts, locks: [1, 1, 2, 2, 3, 0], classes: ["shop.Order", "shop.Item", "java.util.Vector"], stacks, from: 0, to: Math.max(...all.map((t) => t.to)),
        sites: Array.from({ length: 8 }, (_, i) => ({ group: 1 + (i % 3), stack: 1 + i, method: 1 + (i % 4), line: 10 + i })),
        methods: [["shop.Order", "put", "()V", "Order.java", 0], ["shop.Item", "get", "()V", "Item.java", 0], ["java.lang.Object", "wait", "(J)V", "Object.java", 1],
            ["shop.Main", "run", "()V", "Main.java", 0], ["shop.Main", "main", "()V", "Main.java", 0]],
    };
}
