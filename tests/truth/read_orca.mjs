// read_orca.mjs - what Orca says, as rows (questions.mjs): from the Perfetto export, which has each wait with all that the
// analysis knows of it; the profile by waker, which has the waits that timed out; "orca report --json --deadlocks";
// and "orca export --to collapsed", which has the causes of blocking.
import {execFileSync} from 'node:child_process';
import {readPerfetto} from './perfetto.mjs';
import {readPprof} from './pprof.mjs';
import {unknownOwners} from './unknown.mjs';

const OUR_OWN = /^(?!java\.|javax\.|jdk\.|sun\.)/;
const KINDS = {blocked: 'blocked', waiting: 'wait', reacquiring: 'regain', parked: 'park', sleeping: 'sleep', joining: 'join'};
const ENDS = {notify: 'notify', 'notify-all': 'notify', interrupt: 'interrupt', 'dead-and-notify-joined': 'end'};

// "Class.method(File.java:12)" of the innermost frame of the program's own.
function frame(stack) {
    const line = stack?.split('\n').find((l) => OUR_OWN.test(l));
    return line && /^(?<method>.*)\((?<place>.*)\)$/.exec(line)?.groups;
}

const unnumbered = (name) => name?.replace(/#\d+$/, '');

// A lock of which only the hash is known is called by that.
const classOf = (lock) => (/^object [0-9A-F]{8}$/.test(lock) ? undefined : lock);

function rowOf(s) {
    const a = s.args;
    const end = a.timed_out ? 'timeout' : a.interrupted ? 'interrupt' : ENDS[a.ended_by];
    return {kind: KINDS[s.category], n: a.waits === undefined ? 1 : Number(a.waits), thread: s.thread, on: classOf(a.lock_class), ns: s.ns, at: frame(a.stack)?.place, owner: a.owner,
            ownerAt: frame(a.owner_stack)?.method, by: a.waker, of: a.joins, end: a.open ? undefined : end, until: s.end ?? s.time, from: s.time};
}

// What Object.wait took is both: waiting, and getting the monitor back.
function addRegained(rows) {
    const before = new Map();
    for (const r of rows) {
        const wait = before.get(r.thread);
        if (r.kind === 'regain' && wait?.kind === 'wait' && wait.on === r.on && wait.until === r.from) wait.ns += r.ns;
        before.set(r.thread, r);
    }
    return rows;
}

// A wait of which one end is not known is a moment: it happened.
function waits({slices, moments}) {
    const known = [...slices, ...moments].filter((s) => KINDS[s.category]).sort((a, b) => (a.time < b.time ? -1 : 1));
    return addRegained(known.map(rowOf));
}

function acts(moments) {
    const rows = [], sent = new Map();
    for (const m of moments) for (const f of m.flows) sent.set(f, m.time);
    for (const m of moments) {
        if (m.category === 'act' && m.name === 'thread_start') rows.push({kind: 'start', thread: m.thread});
        else if (m.category === 'act' && m.name === 'thread_end') rows.push({kind: 'end', thread: m.thread});
        else if (m.category === 'wake' && m.name === 'submit')
            rows.push({kind: 'task', thread: m.thread, by: m.args.waker, ns: Number(m.time - (sent.get(m.flowEnds[0]) ?? m.time))});
    }
    const starters = new Map(moments.filter((m) => m.category === 'wake' && m.name === 'starts-thread').map((m) => [m.thread, m.args.waker]));
    for (const r of rows) if (r.kind === 'start') r.by = starters.get(r.thread);
    return rows;
}

const exported = (orca, trace, ...options) =>
    execFileSync(orca, ['export', trace, ...options, '-o', '-'], {maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore']});

// The waits of a thread that no thread ended timed out, if the profile says so of all of them.
function addTimeouts(rows, samples) {
    const ends = new Map();
    for (const s of samples) {
        const key = `${KINDS[s.labels.state]} ${s.labels.thread}`;
        if (s.labels.waker === 'unknown') ends.set(key, [...(ends.get(key) ?? []), s.innermost]);
    }
    for (const r of rows)
        if (!r.end && !r.by && ends.get(`${r.kind} ${r.thread}`)?.every((e) => e === '[timed out]')) r.end = 'timeout';
    return rows;
}

function heldUp(orca, trace, threads) {
    const text = exported(orca, trace, '--to', 'collapsed', '--threads', '--unit', 'ns').toString();
    const sums = new Map(threads.map((t) => [t, 0]));
    for (const line of text.split('\n').filter(Boolean)) {
        const thread = line.slice(0, line.indexOf(';'));
        sums.set(thread, (sums.get(thread) ?? 0) + Number(line.slice(line.lastIndexOf(' ') + 1)));
    }
    return [...sums].map(([thread, ns]) => ({kind: 'held', thread, ns}));
}

function deadlocks(orca, trace) {
    const options = ['report', '--json', '--deadlocks', '--threads', trace];
    const report = JSON.parse(execFileSync(orca, options, {encoding: 'utf8', maxBuffer: 1 << 30}));
    const rows = report.deadlocks.map((d) => {
        const names = d.members.map((m) => m.name).sort();
        return {kind: 'deadlock', threads: names, members: names.join(',')};
    });
    const waits = report.open_waits.map((w) => ({name: w.name, blocked: w.state === 'blocked', owner: w.other_name ?? undefined}));
    const unknown = unknownOwners(waits, new Set(rows.flatMap((r) => r.threads)));
    return [...rows, ...[...unknown].map((name) => ({kind: 'unknown-owner', threads: [name]}))];
}

export function readOrca(orca, trace) {
    const r = readPerfetto(exported(orca, trace, '--to', 'perfetto'));
    const states = 'waiting,parked,sleeping,joining';
    const byWaker = readPprof(exported(orca, trace, '--to', 'pprof', '--by', 'waker', '--states', states));
    const rows = [...addTimeouts(waits(r), byWaker), ...acts(r.moments), ...heldUp(orca, trace, r.threads), ...deadlocks(orca, trace)];
    for (const row of rows) row.thread = unnumbered(row.thread);
    return rows;
}
