// collapsed.js ORCA TRACE - folded stacks, read as the flame-graph tools do, against the report.
'use strict';
const {STATES, check, equal, finish, leftOut, orca, report} = require('./report.js');

const [command, trace] = process.argv.slice(2);
const r = report(command, trace);
const total = (state, what) => r.threads.reduce((n, t) => n + t[`${STATES[state]}_${what}`], 0);

const WAIT = /^((?:[^;]+;)+\[[^;]+\]) (\d+)$/, SAMPLE = /^((?:[^;]+;)*[^;]+) (\d+)$/;

function read(form, ...options) {
    const text = orca(command, 'export', trace, '--to', 'collapsed', '-o', '-', ...options).toString();
    const seen = new Set();
    let sum = 0;
    for (const line of text.split('\n').slice(0, -1)) {
        const m = line.match(form);
        check(m && !seen.has(m[1]), `not a folded stack of its own: ${line}`);
        if (!m) continue;
        seen.add(m[1]);
        sum += Number(m[2]);
    }
    return sum;
}

for (const by of ['waiter', 'owner', 'waker']) {
    for (const state of Object.keys(STATES)) {
        const missing = by === 'owner' ? leftOut(command, 'export', trace, '--to', 'collapsed', '-o', '-',
                                                 '--by', by, '--states', state) : 0;
        const ns = read(WAIT, '--by', by, '--states', state, '--unit', 'ns');
        check(missing ? ns <= total(state, 'ns') : ns === total(state, 'ns'),
              `${by}, ${state}: ${ns} ns of ${total(state, 'ns')}`);
        equal(read(WAIT, '--by', by, '--states', state, '--unit', 'count') + missing, total(state, 'count'),
              `${by}, ${state}`);
    }
    read(WAIT, '--by', by, '--threads', '--lines');
}
for (const kind of ['cpu', 'wall']) {
    const wanted = r.samples[kind];
    if (!wanted) continue;
    const owners = (what) => wanted.owners.reduce((n, o) => n + o[what], 0);
    equal(read(SAMPLE, '--by', kind, '--unit', 'ns', '--kinds'), wanted.ns, `${kind}: ns`);
    equal(read(SAMPLE, '--by', kind, '--unit', 'count', '--threads', '--lines'), wanted.count, kind);
    equal(read(SAMPLE, '--by', `owner-${kind}`, '--unit', 'ns'), owners('ns'), `owner-${kind}: ns`);
    equal(read(SAMPLE, '--by', `owner-${kind}`, '--unit', 'count'), owners('count'), `owner-${kind}`);
}
finish();
