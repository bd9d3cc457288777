// questions.mjs - the questions: what each asks of the rows that a tool says, and which tools claim to answer it.
//
// A row is one wait (or start, end, task, deadlock) as a tool tells of it, in words that are the same for all tools:
//     kind      blocked, wait, regain, park, sleep, join, start, end, task, held, deadlock
//     thread    whose it is             on      class of the lock, or of what it parked for
//     ns        how long                at      FILE:LINE where
//     owner     who had the lock        ownerAt METHOD that the owner executed
//     by        who ended it            end     notify, timeout, interrupt, end
//     of        whom it joined          members of a deadlock, sorted
// What a tool does not know is undefined.

const count = (rows) => rows.reduce((sum, r) => sum + (r.n ?? 1), 0); // n: of a sum of short waits
const ns = (rows) => (rows.length && rows.every((r) => r.ns !== undefined) ? rows.reduce((sum, r) => sum + r.ns, 0) : undefined);
const set = (key) => (rows) => {
    const words = new Set(rows.map((r) => r[key]));
    return words.size === 0 || words.has(undefined) ? undefined : [...words].sort().join(',');
};
// Of several waits that fit, the longest one is meant.
const longest = (key) => (rows) =>
    rows.reduce((best, r) => (best === undefined || (r.ns ?? 0) > (best.ns ?? 0) ? r : best), undefined)?.[key];

const ASYNC_PARKS = /^java\.util\.concurrent\.(locks\.Reentrant|Semaphore)/;
const all = () => true;
const asyncPark = (about) => ASYNC_PARKS.test(about.of ?? '');
// The JVM's own search knows monitors and locks with an owner, and platform threads.
const hotspotDeadlock = (about, mode) => mode === 'platform' && about.of !== 'joins';

// JFR has no JavaMonitorEnter of virtual threads that unmount.
const jfrHasBlocked = (about, mode) => mode !== 'unmounted';

const last = (key) => (rows) => rows.at(-1)?.[key];

// Every answer about a thread that waits for something of the program's own, has it, or ends such a wait. (An int[] is what the JVM initializes a class with.)
const WAITS = ['blocked', 'wait', 'regain', 'park', 'deadlock'];
const everythingSaid = (rows) =>
    rows.filter((r) => WAITS.includes(r.kind) && r.on && !/^(java\.|javax\.|jdk\.|sun\.|\[)|\[\]$/.test(r.on))
        .flatMap((r) => [r.thread, r.owner, r.by].filter(Boolean).map((thread) => ({kind: 'said', thread, on: r.on})));

// name: {group: row of the table, kind: of the rows, from: what makes them of the usual ones, answer: from those that fit, unless: rows of this kind say that it is not known, silent: so does this answer
//        where it is not true,
//        claims: {tool: (about, mode) => whether it claims to answer}}
export const QUESTIONS = {
    'blocked-count': {group: 'blocked on a monitor: how often', kind: 'blocked', answer: count, claims: {orca: all, jfr: jfrHasBlocked, async: all}},
    'blocked-ns': {group: 'blocked on a monitor: how long', kind: 'blocked', answer: ns, claims: {orca: all, jfr: all, async: all}},
    'blocked-who': {group: 'blocked on a monitor: who', kind: 'blocked', answer: set('thread'), claims: {orca: all, jfr: all, async: all}},
    'blocked-at': {group: 'blocked on a monitor: where (of a synchronized block its line, or the first one inside)', kind: 'blocked', answer: longest('at'), claims: {orca: all, jfr: all, async: all}},
    'blocked-line': {group: 'blocked at a synchronized block: at its own line', kind: 'blocked', answer: longest('at'), claims: {orca: all, jfr: all, async: all}},
    'blocked-owner': {group: 'blocked on a monitor: who owned it', kind: 'blocked', answer: longest('owner'), claims: {orca: all, jfr: all}},
    'queued-owner': {group: 'blocked in a queue: who owned it then', kind: 'blocked', answer: longest('owner'), claims: {orca: all}},
    'owner-at': {group: 'blocked on a monitor: what its owner executed', kind: 'blocked', answer: longest('ownerAt'), claims: {orca: all}},
    'blocked-by': {group: 'blocked on a monitor: who gave it on', kind: 'blocked', answer: longest('by'), claims: {orca: all, jfr: all}},
    'barged-by': {group: 'blocked on a monitor: who gave it on, where another may have had it in between', kind: 'blocked', answer: longest('by'), claims: {orca: all, jfr: all}},
    'stormed-by': {group: 'blocked on a monitor again and again: who gave it on', kind: 'blocked', answer: longest('by'), claims: {orca: all}},
    'spun-count': {group: 'contention that spinning wins', kind: 'spun', answer: count, claims: {}},
    'wait-count': {group: 'Object.wait: how often', kind: 'wait', answer: count, claims: {orca: all, jfr: all}},
    'wait-ns': {group: 'Object.wait: how long', kind: 'wait', answer: ns, claims: {orca: all, jfr: all}},
    'wait-at': {group: 'Object.wait: where', kind: 'wait', answer: longest('at'), claims: {orca: all, jfr: all}},
    'wait-end': {group: 'Object.wait: how it ended', kind: 'wait', answer: longest('end'), claims: {orca: all, jfr: all}},
    'wait-by': {group: 'Object.wait: who ended it', kind: 'wait', answer: longest('by'), claims: {orca: all, jfr: all}},
    wakers: {group: 'Object.wait: who ended several', kind: 'wait', answer: set('by'), claims: {orca: all, jfr: all}},
    'race-end': {group: 'Object.wait, notified when its time is up or it is interrupted: how it ended', kind: 'wait', answer: longest('end'), claims: {orca: all, jfr: all}},
    'race-by': {group: 'Object.wait, notified when its time is up or it is interrupted: who ended it, and its neighbours', kind: 'wait', answer: longest('by'), claims: {orca: all, jfr: all}},
    'regain-ns': {group: 'Object.wait: how long until it had the monitor back', kind: 'regain', answer: ns, claims: {orca: all}},
    'park-count': {group: 'park: how often', kind: 'park', answer: count, claims: {orca: all, jfr: all, async: asyncPark}},
    'park-ns': {group: 'park: how long', kind: 'park', answer: ns, claims: {orca: all, jfr: all, async: asyncPark}},
    'park-on': {group: 'park: for what', kind: 'park', answer: longest('on'), claims: {orca: all, jfr: all, async: asyncPark}},
    'park-at': {group: 'park: where', kind: 'park', answer: longest('at'), claims: {orca: all, jfr: all, async: asyncPark}},
    'park-owner': {group: 'park: who owned the lock', kind: 'park', answer: longest('owner'), claims: {orca: all}},
    'park-by': {group: 'park: who ended it', kind: 'park', answer: longest('by'), claims: {orca: all}},
    'park-last-by': {group: 'park: who ended the last of several', kind: 'park', answer: last('by'), claims: {orca: all}},
    'park-end': {group: 'park: how it ended', kind: 'park', answer: longest('end'), claims: {orca: all}},
    'sleep-count': {group: 'sleep: how often', kind: 'sleep', answer: count, claims: {orca: all, jfr: all}},
    'sleep-ns': {group: 'sleep: how long', kind: 'sleep', answer: ns, claims: {orca: all, jfr: all}},
    'sleep-end': {group: 'sleep: how it ended', kind: 'sleep', answer: longest('end'), claims: {orca: all}},
    'sleep-by': {group: 'sleep: who interrupted it', kind: 'sleep', answer: longest('by'), claims: {orca: all}},
    'join-count': {group: 'join: how often', kind: 'join', answer: count, claims: {orca: all}},
    'join-ns': {group: 'join: how long', kind: 'join', answer: ns, claims: {orca: all}},
    'join-of': {group: 'join: of whom', kind: 'join', answer: longest('of'), claims: {orca: all}},
    'join-end': {group: 'join: how it ended', kind: 'join', answer: longest('end'), claims: {orca: all}},
    'held-ns': {group: 'pools: who is blocked, and for how long', kind: 'held', answer: ns, claims: {orca: all}},
    'task-ns': {group: 'pools: how long a task waited for a worker', kind: 'task', answer: last('ns'), claims: {orca: all}},
    'task-by': {group: 'pools: who submitted it', kind: 'task', answer: longest('by'), claims: {orca: all}},
    'said-of': {group: 'locks and threads without any wait: waits that are reported', kind: 'said', from: everythingSaid, answer: count, claims: {orca: all, jfr: all, async: all}},
    'start-count': {group: 'threads: how many started', kind: 'start', answer: count, claims: {orca: all, jfr: all}},
    'end-count': {group: 'threads: how many ended', kind: 'end', answer: count, claims: {orca: all, jfr: all}},
    'start-by': {group: 'threads: who started it', kind: 'start', answer: longest('by'), claims: {orca: all, jfr: all}},
    deadlock: {group: 'deadlocks: with whom', kind: 'deadlock', answer: (rows) => (rows.length ? rows[0].members : 'none'), unless: 'unknown-owner', claims: {orca: all, jfr: hotspotDeadlock}},
    'deadlock-count': {group: 'deadlocks: how many', kind: 'deadlock', answer: count, claims: {orca: all, jfr: (about, mode) => mode === 'platform' && about.of === 'all'}},
};

// The questions about a program whose threads all wait ("now" truths), of each of Orca's commands that answer then.
export const LIVE = {query: 'orca query', top: 'orca top', dump: 'the report of orca dump -o', view: 'the tables of orca view'};
const NOW = {'now-state': ['what a thread is in', last('state')], 'now-on': ['for what', last('on')], 'now-owner': ['who has that', last('owner')],
             'now-holds': ['which monitors it holds', last('holds')], 'now-deadlock': ['with whom it is deadlocked', last('members')]};
for (const [source, command] of Object.entries(LIVE))
    for (const [name, [what, answer]] of Object.entries(NOW))
        if (name !== 'now-holds' || source === 'query')
            QUESTIONS[`${source}:${name}`] = {group: `while it runs, ${command}: ${what}`, kind: 'now', answer, silent: name === 'now-owner' ? 'none' : undefined, claims: {orca: all}};

export const TOOLS = {'orca-defaults': 'Orca, defaults', orca: 'Orca', 'orca-holds': 'Orca with holds', 'orca-attached': 'Orca, attached in the middle',
                      'orca-text': 'Orca, read back from .orca', 'orca-trcxml': 'Orca, read back from .trcxml', jfr: 'JFR', async: 'async-profiler'};

// The text formats have no parks: neither who is blocked by a lock of java.util.concurrent, nor who is deadlocked over one; .orca has calls instead, which
// are not parks.
const hasNoForm = (q, about) => ['park', 'task', 'held'].includes(q.kind) || (q.kind === 'deadlock' && !['mon', 'joins', 'all'].includes(about.of ?? 'all'));
const CANNOT = {'orca-trcxml': hasNoForm, 'orca-text': hasNoForm};

// Without the groups virtual and locks no starts and ends of virtual threads, and no tasks, are recorded.
const NOT_BY_DEFAULT = {task: all, start: (mode) => mode !== 'platform', end: (mode) => mode !== 'platform'};

/** Whether a tool claims to answer a question about something. */
export function claims(tool, q, about, mode) {
    if (tool === 'orca-defaults' && NOT_BY_DEFAULT[q.kind]?.(mode)) return false;
    if (CANNOT[tool]?.(q, about)) return false;
    return q.claims[isOrca(tool) ? 'orca' : tool]?.(about, mode) ?? false;
}

export const isOrca = (tool) => tool.startsWith('orca');
