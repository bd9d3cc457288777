// report.js - what `orca report --json` says of a trace, and what the checks of the exports share.
'use strict';
const {execFileSync, spawnSync} = require('child_process');

// The states, as the exports and as the report call them.
const STATES = {blocked: 'blocked', waiting: 'waited', parked: 'parked', joining: 'joined',
                sleeping: 'slept', reacquiring: 'reacquired'};

const failures = [];

function check(ok, text) {
    if (!ok) failures.push(text);
}

function equal(got, wanted, what) {
    check(got === wanted, `${what}: ${got} instead of ${wanted}`);
}

// Print what failed; 1 when anything did.
function finish() {
    for (const f of failures.slice(0, 20)) console.log(f);
    if (failures.length > 20) console.log(`and ${failures.length - 20} more`);
    process.exit(failures.length ? 1 : 0);
}

function orca(command, ...args) {
    return execFileSync(command, args, {maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore']});
}

// By owner, only waits whose owner was asked are exported: how many the command says it left out.
function leftOut(command, ...args) {
    const {stderr} = spawnSync(command, args, {maxBuffer: 1 << 30, stdio: ['ignore', 'ignore', 'pipe']});
    const m = stderr.toString().match(/^orca: from ([\d,]+) of ([\d,]+) waits: the others have no stack of the owner/m);
    const number = (text) => Number(text.replaceAll(',', ''));
    return m ? number(m[2]) - number(m[1]) : 0;
}

const report = (command, trace) => JSON.parse(orca(command, 'report', '--json', trace));

// Counts and times by "thread state".  Threads of one name are one, because reports add the number
// of the thread to a name that several have.
class Sums {
    constructor(names) {
        this.names = new Set(names);
        this.of = new Map();
    }
    add(thread, state, count, ns) {
        const bare = thread.replace(/#\d+$/, '');
        const key = `${this.names.has(thread) ? thread : bare} ${state}`;
        const sum = this.of.get(key) || {count: 0, ns: 0};
        sum.count += count;
        sum.ns += ns;
        if (sum.count) this.of.set(key, sum);
    }
    get count() {
        return [...this.of.values()].reduce((n, sum) => n + sum.count, 0);
    }
    // Nothing is more than in the other, and so many are missing.
    within(other, missing, what) {
        for (const [key, sum] of this.of) {
            const most = other.of.get(key) || {count: 0, ns: 0};
            check(sum.count <= most.count && sum.ns <= most.ns, `${what}: ${key}: more than ${most.count}`);
        }
        equal(this.count + missing, other.count, `${what}: those left out and those not`);
    }
    equal(other, what) {
        for (const key of new Set([...this.of.keys(), ...other.of.keys()])) {
            const got = this.of.get(key) || {count: 0, ns: 0};
            const wanted = other.of.get(key) || {count: 0, ns: 0};
            equal(got.count, wanted.count, `${what}: ${key}: count`);
            equal(got.ns, wanted.ns, `${what}: ${key}: ns`);
        }
    }
}

function sumsOfReport(r) {
    const sums = new Sums(r.threads.map((t) => t.name));
    for (const t of r.threads)
        for (const [state, key] of Object.entries(STATES))
            sums.add(t.name, state, t[`${key}_count`], t[`${key}_ns`]);
    return sums;
}

module.exports = {STATES, Sums, check, equal, finish, leftOut, orca, report, sumsOfReport};
