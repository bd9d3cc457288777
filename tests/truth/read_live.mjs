// read_live.mjs - what Orca's commands said while the program ran (ask_live.mjs), as rows (questions.mjs) of kind "now": one a thread,
// with what it is in (state), for what (on), who has that (owner), what it holds, and with whom it is deadlocked (members).
import {existsSync, readFileSync} from 'node:fs';
import {unknownOwners} from './unknown.mjs';

const NONE = 'none';
const list = (words) => [...words].sort().join(',') || NONE;

// Thread.State, and the JDK's own frames on top of the stack, say what it is.
function stateOf(t) {
    if (t.state === 'BLOCKED') return 'blocked';
    if (t.state === 'RUNNABLE') return NONE;
    const jdk = t.stack.slice(0, t.stack.findIndex((f) => !/^(java|jdk|sun)\./.test(f)));
    const frame = (pattern) => jdk.some((f) => pattern.test(f));
    return frame(/\.join/) ? 'join' : frame(/\.sleep/) ? 'sleep' : frame(/Object\.wait/) ? 'wait' : 'park';
}

function ofQuery({threads, locks}) {
    const members = new Map();
    for (const circle of locks.deadlocks)
        for (const m of circle) members.set(m.name, list(circle.map((x) => x.name)));
    return threads.map((t) => ({thread: t.name, state: stateOf(t), on: t.waits_for?.class, owner: t.owner?.name ?? NONE,
                                holds: list(t.holds.filter((h) => h.kind === 'monitor').map((h) => h.class)), members: members.get(t.name) ?? NONE}));
}

const STATES = {blocked: 'blocked', waiting: 'wait', reacquiring: 'regain', parked: 'park', sleeping: 'sleep', joining: 'join'};

function ofReport({threads, open_waits: waits, deadlocks}) {
    const members = new Map();
    for (const d of deadlocks)
        for (const m of d.members) members.set(m.name, list(d.members.map((x) => x.name)));
    const row = ({name, unknown}) => { // unknown: waits of which an end is missing; it may be in such a one still
        const w = waits.find((x) => x.name === name);
        return {thread: name, state: w ? STATES[w.state] : unknown ? undefined : NONE, on: w?.class ?? undefined, owner: w?.state === 'joining' ? NONE : w?.other_name ?? NONE,
                members: members.get(name) ?? NONE};
    };
    return threads.map(row);
}

const READERS = {query: ofQuery, top: ({report}) => ofReport(report), dump: ofReport, view: ofReport};

// Who waits for somebody unknown may be in a deadlock or not.
function settle(rows) {
    const known = new Set(rows.filter((r) => r.members !== NONE).map((r) => r.thread));
    const waits = rows.map((r) => ({name: r.thread, blocked: r.state === 'blocked', owner: r.owner === NONE ? undefined : r.owner}));
    const unknown = unknownOwners(waits, known);
    return rows.map((r) => ({kind: 'now', ...r, members: unknown.has(r.thread) ? undefined : r.members}));
}

/** Rows by command; {} when the program was not asked anything. */
export function readLive(files) {
    const answers = {};
    for (const [source, read] of Object.entries(READERS))
        if (existsSync(`${files}.${source}.json`)) answers[source] = settle(read(JSON.parse(readFileSync(`${files}.${source}.json`, 'utf8'))));
    return answers;
}
