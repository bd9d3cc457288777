// pprof.js ORCA TRACE FOLDER - the profile of a trace, read by `go tool pprof`, against the report.
'use strict';
const {execFileSync} = require('child_process');
const {STATES, Sums, check, equal, finish, leftOut, orca, report, sumsOfReport} = require('./report.js');

const [command, trace, folder] = process.argv.slice(2);

// What `pprof -raw` prints: a line of values and location numbers for each sample, its labels
// below; then the locations.
function readRaw(file) {
    const raw = execFileSync('go', ['tool', 'pprof', '-raw', file],
                             {maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore']}).toString();
    const [head, rest] = raw.split('\nSamples:\n');
    const [samples, tables] = rest.split('\nLocations\n');
    const lines = samples.split('\n');
    const types = lines.shift().trim().split(/\s+/).map((t) => t.replace('[dflt]', ''));
    const profile = {head, types, samples: [], locations: new Map()};
    for (const line of lines) {
        const values = line.match(/^\s*((?:\d+\s+)*\d+): ([\d ]*)$/);
        if (values) {
            profile.samples.push({values: values[1].trim().split(/\s+/).map(Number),
                                  locations: values[2].trim().split(' '), labels: {}});
            continue;
        }
        for (const [, key, text] of line.matchAll(/(\w+):\[(.*?)\](?= \w+:\[|\s*$)/g))
            profile.samples.at(-1).labels[key] = text;
    }
    for (const [, id, name] of tables.split('\nMappings')[0].matchAll(/^\s*(\d+): 0x0 (.*?) s=0/gm))
        profile.locations.set(id, name);
    return profile;
}

function checkWaits(r, by) {
    const file = `${folder}/${by}.pb.gz`;
    orca(command, 'export', trace, '--to', 'pprof', '--by', by, '--states', 'all', '-o', `${folder}/${by}`);
    const profile = readRaw(file);
    const sums = new Sums(r.threads.map((t) => t.name));
    check(profile.types.slice(0, 2).join(' ') === 'contentions/count delay/nanoseconds',
          `sample types: ${profile.types}`);
    for (const s of profile.samples) {
        check(s.locations.every((id) => profile.locations.has(id)), `${by}: a location is missing`);
        if (Object.keys(STATES).includes(s.labels.state)) // not held, and no time between waits
            sums.add(s.labels.thread, s.labels.state, s.values[0], s.values[1]);
    }
    const missing = by === 'owner' ? leftOut(command, 'export', trace, '--to', 'pprof', '--by', by,
                                             '--states', 'all', '-o', `${folder}/${by}`) : 0;
    if (missing)
        sums.within(sumsOfReport(r), missing, `by ${by}`);
    else
        sums.equal(sumsOfReport(r), `by ${by}`);
    return profile;
}

// Holds are not in the report: they are added up from the events.
function checkHolds(profile) {
    let count = 0, ns = 0n;
    const time = (text) => BigInt(text.replace('.', ''));
    for (const line of orca(command, 'events', trace, '--kind', 'hold').toString().split('\n')) {
        const m = line.match(/^([\d.]+) .* since=([\d.]+) .* mode=([01])$/);
        if (!m) continue;
        count++;
        ns += time(m[1]) - time(m[2]);
    }
    const held = profile.samples.filter((s) => s.labels.state === 'held');
    equal(profile.types.length, count ? 4 : 2, 'number of sample types');
    equal(held.reduce((n, s) => n + s.values[2], 0), count, 'holds');
    equal(BigInt(held.reduce((n, s) => n + s.values[3], 0)), ns, 'ns held');
}

// By thread, or by class of the lock of whose owner they are.
function checkSamples(r, kind, owners) {
    const by = owners ? `owner-${kind}` : kind, wanted = r.samples[kind];
    if (!wanted) return;
    orca(command, 'export', trace, '--to', 'pprof', '--by', by, '-o', `${folder}/${by}`);
    const profile = readRaw(`${folder}/${by}.pb.gz`);
    equal(profile.types.join(' '), `samples/count ${kind}/nanoseconds`, 'sample types');
    const sums = new Map();
    const add = (to, key, count, ns) => to.set(key, (to.get(key) ?? [0, 0]).map((n, i) => n + (i ? ns : count)));
    for (const s of profile.samples)
        add(sums, owners ? s.labels.lock_class : s.labels.thread.replace(/#\d+$/, ''), ...s.values);
    const rows = new Map();
    for (const row of owners ? wanted.owners.filter((o) => o.count) : wanted.threads)
        add(rows, owners ? row.class : (row.name ?? 'unknown').replace(/#\d+$/, ''), row.count, row.ns);
    equal(JSON.stringify([...sums].sort()), JSON.stringify([...rows].sort()), by);
}

const r = report(command, trace);
checkHolds(checkWaits(r, 'waiter'));
checkWaits(r, 'owner');
checkWaits(r, 'waker');
for (const kind of ['cpu', 'wall'])
    for (const owners of [false, true])
        checkSamples(r, kind, owners);
finish();
