// inline_flame.ts - the flame graph of a selection's waits, samples or allocations, from the pack.
import { FLAG, HANDOFF, INTERACTIONS, LAST_OWNER, WAITS, isAlloc, isSampled } from "../types.ts";
import type { By, ByAlloc, BySample, ByWait, Flame, FlameFrame, StateName } from "../types.ts";
import { eachAlloc } from "./inline_allocs.ts";
import { BLOCKED, PARKED, REACQUIRING, SLEEPING, WAITING } from "./inline_model.ts";
import type { Cut, Model } from "./inline_model.ts";
import { eachSample } from "./inline_samples.ts";
import { eachPart } from "./inline_stats.ts";
import type { Part } from "./inline_stats.ts";

/** Why a stack is missing; as in src/export/wait_sums.c. */
const WHY = ["no stack", "owner not asked", "no owner", "still waiting", "timed out", "waker unknown", "release not recorded", "thread ended", "the outermost frames were cut off", "last owner seen"];
const NO_STACK = 0, NOT_ASKED = 1, NO_OWNER = 2, STILL = 3, TIME_UP = 4, NOT_KNOWN = 5, NO_RELEASE = 6, ENDED = 7, CUT = 8, SEEN = 9;

const JOINED = INTERACTIONS.indexOf("dead-and-notify-joined");

class Builder {
    readonly out: Flame;
    private readonly m: Model;
    private readonly sampled: boolean;
    private readonly nodes = new Map<number, number>(); // parent, frame -> node
    private readonly frames = new Map<number, number>(); // method, line -> frame
    private readonly leaves = new Map<number, number>(); // stack, or -1 - why -> node

    constructor(m: Model, by: By) {
        this.m = m;
        this.sampled = isSampled(by);
        this.out = { unit: isAlloc(by) ? "bytes" : "ns", by, total_ns: 0, total_count: 0, frames: [], parent: [], frame: [], ns: [], count: [], why: [] };
    }

    hasStack(stack: number): boolean {
        const s = this.m.pack.stacks;
        return stack > 0 && stack < s.n && s.first[stack + 1] > s.first[stack];
    }

    add(stack: number, why: number, ns: number, count: number): void {
        const there = this.hasStack(stack), key = there ? stack : -1 - why;
        let at = this.leaves.get(key);
        if (at === undefined)
            this.leaves.set(key, (at = there ? this.path(stack) : this.node(-1, this.why(why))));
        this.out.ns[at] += ns;
        this.out.count[at] += count;
        this.out.total_ns += ns;
        this.out.total_count += count;
    }

    /** Objects of a class, in thousandths until `rounded`. */
    addObjects(stack: number, class_: number, bytes: number, thousandths: number): void {
        this.add(stack, 0, 0, 0);
        const parent = this.leaves.get(this.hasStack(stack) ? stack : -1)!;
        const at = this.node(parent, this.classFrame(class_));
        this.out.ns[at] += bytes;
        this.out.count[at] += thousandths;
        this.out.total_ns += bytes;
        this.out.total_count += thousandths;
    }

    rounded(): Flame {
        const round = (n: number) => Math.floor((n + 500) / 1000);
        return { ...this.out, count: this.out.count.map(round), total_count: round(this.out.total_count) };
    }

    private classFrame(class_: number): number {
        let at = this.frames.get(-1 - class_);
        if (at === undefined) {
            this.frames.set(-1 - class_, (at = this.out.frames.length));
            this.out.frames.push({ class: this.m.pack.names.objects?.[class_] ?? "unknown class", method: "", file: "", line: null, jdk: false });
        }
        return at;
    }

    /** The node of a stack's innermost frame. */
    private path(stack: number): number {
        const s = this.m.pack.stacks;
        let at = s.cut[stack] ? this.node(-1, this.why(CUT)) : -1;
        for (let i = s.first[stack + 1] - 1; i >= s.first[stack]; i--)
            at = this.node(at, this.frame(s.method[i], s.line[i], (this.sampled && this.m.pack.executed[i]) || 0));
        return at;
    }

    /** A reason is in the answer once it is met. */
    private why(why: number): number {
        const text = WHY[why] ?? this.m.pack.names.errors?.[why - WHY.length] ?? "unknown";
        const known = this.out.why.indexOf(text);
        return known >= 0 ? -1 - known : -this.out.why.push(text);
    }

    private node(parent: number, frame: number): number {
        const key = (parent + 1) * 2 ** 26 + frame + 16;
        let at = this.nodes.get(key);
        if (at === undefined) {
            this.nodes.set(key, (at = this.out.parent.length));
            this.out.parent.push(parent);
            this.out.frame.push(frame);
            this.out.ns.push(0);
            this.out.count.push(0);
        }
        return at;
    }

    private frame(method: number, line: number, executed: number): number {
        const key = (method * 2 ** 20 + Math.min(Math.max(line, -1), 2 ** 20 - 2) + 1) * 16 + executed;
        let at = this.frames.get(key);
        if (at === undefined) {
            this.frames.set(key, (at = this.out.frames.length));
            this.out.frames.push({ ...this.made(method, line), ...(executed && { executed }) });
        }
        return at;
    }

    private made(method: number, line: number): FlameFrame {
        const m = this.m.pack.names.methods[method];
        return m ? { class: m[0], method: m[1], file: m[3], line: line >= 0 ? line : null, jdk: m[4] === 1 }
            : { class: "unknown", method: "unknown", file: "", line: null, jdk: false };
    }
}

export function flameOf(m: Model, cut: Cut, states: StateName[] | null, by: By): Flame {
    if (isSampled(by))
        return sampledFlame(m, cut, by);
    if (isAlloc(by))
        return allocFlame(m, cut, by);
    const b = new Builder(m, by);
    const wanted = states ? states.map((s) => (WAITS as readonly string[]).indexOf(s)) : null;
    const isWanted = (p: Part) => (wanted ? wanted.includes(p.state) : m.heldUp(p.context, p.state));
    let notAsked = 0, notAskedNs = 0;
    eachPart(m, cut, (p) => {
        if (!isWanted(p))
            return;
        const [stack, why] = STACK_BY[by](m, p), ns = p.flags & FLAG.unknown ? 0 : p.end - p.start;
        if (by === "owner" && why === NOT_ASKED && !b.hasStack(stack)) {
            notAsked++;
            notAskedNs += ns;
        } else
            b.add(stack, why, ns, 1);
    });
    return { ...b.out, ...(by === "owner" && { not_asked_count: notAsked, not_asked_ns: notAskedNs }) };
}

function allocFlame(m: Model, cut: Cut, by: ByAlloc): Flame {
    const b = new Builder(m, by), a = m.pack.allocs;
    let samples = 0;
    eachAlloc(m, cut, by, (context, bytes, thousandths, n) => {
        if (bytes || thousandths)
            b.addObjects(a.stack[context], a.class[context], bytes, thousandths);
        samples += n;
    });
    return { ...b.rounded(), ...(a.sampled && !(a.beside && by === "alloc") && { samples }) };
}

function sampledFlame(m: Model, cut: Cut, by: BySample): Flame {
    const b = new Builder(m, by), s = m.pack.samples;
    let failed = 0, failedNs = 0;
    const { wanted, known } = eachSample(m, cut, by, (k) => {
        b.add(s.stack[k], WHY.length + s.error[k], s.weight[k], 1);
        if (!b.hasStack(s.stack[k])) {
            failed++;
            failedNs += s.weight[k];
        }
    });
    return { ...b.out, failed_count: failed, failed_ns: failedNs, ...(by.startsWith("owner") && { wanted_ns: wanted, owner_known_ns: known }) };
}

const isSecond = (m: Model, p: Part) => p.state === REACQUIRING && m.pack.contexts.state[p.context] === WAITING;

const STACK_BY: Record<ByWait, (m: Model, p: Part) => [stack: number, why: number]> = {
    waiter: (m, p) => [m.pack.contexts.stack[p.context], NO_STACK],
    owner: (m, p) => {
        const lock = p.state === BLOCKED || p.state === PARKED || p.state === REACQUIRING;
        const own = p.wait - m.pack.waits.first[p.thread];
        return [isSecond(m, p) ? m.wakeStack(p.thread, own) : m.ownerStack(p.wait), lock ? NOT_ASKED : NO_OWNER]; // where who owns it notified
    },
    waker: (m, p) => {
        const w = m.pack.waits, k = p.wait, of = isSecond(m, p) ? m.regain(k) : -1;
        if (of >= 0)
            return [m.pack.regains.how[of] !== LAST_OWNER ? m.pack.regains.stack[of] : 0, whyNoWaker(m, p)];
        const known = w.waker[k] > 0 && !isSecond(m, p);
        return [known && w.how[k] !== LAST_OWNER ? m.wakeStack(p.thread, k - w.first[p.thread]) : 0, whyNoWaker(m, p)];
    },
};

function whyNoWaker(m: Model, p: Part): number {
    const w = m.pack.waits, waker = w.waker[p.wait], flags = m.pack.contexts.flags[p.context], second = isSecond(m, p);
    if (flags & FLAG.open && (second || !waker))
        return STILL;
    if (second) {
        const of = m.regain(p.wait);
        return of < 0 ? NOT_KNOWN : m.pack.regains.how[of] === LAST_OWNER ? SEEN : NO_RELEASE;
    }
    if (!waker)
        return flags & (p.state === WAITING ? FLAG.timedOut : FLAG.timed) || p.state === SLEEPING ? TIME_UP : NOT_KNOWN;
    if (w.how[p.wait] === LAST_OWNER)
        return SEEN;
    return w.how[p.wait] === JOINED ? ENDED : w.how[p.wait] === HANDOFF ? NO_RELEASE : NO_STACK;
}
