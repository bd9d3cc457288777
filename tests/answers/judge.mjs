// judge.mjs CASE PLANTED REPAIRED - what Orca says of a program with a cause and of the repaired one, beside what is true.
//
// CASE: JDK/PROGRAM/HOW/STRENGTH; PLANTED, REPAIRED: files without their ends, of which .json (outside.mjs) and .report.json (orca
// report --json) are read.  Prints the verdict, as JSON: docs/quality/answers.md says what its words mean.
import {readFileSync} from 'node:fs';
import {Report, glob, isAny, methodOf, speaksOf} from './facts.mjs';
import {readTruth} from './truth.mjs';

const BETTER = 1.2, SHARE_SLACK = 0.1;

// Each part of an answer: whether the truth has it, and whether a finding says it.
const PARTS = {
    rule: {asked: (t) => t.rule, said: (f, t) => isAny(t.rule, f.rule)},
    threads: {asked: (t) => t.threads.length, said: (f, t, c) => sameThreads(c.report.threadsOf(f), t.threads)},
    resource: {asked: (t) => t.role, said: (f, t, c) => isAny(t.role, f.resource?.role) && isNamed(f.resource, t, c.peer)},
    holder: {asked: (t) => t.holder, said: (f, t) => isPlace(f.holders?.[0]?.at, t)},
    waiter: {asked: (t) => t.waiter, said: (f, t, c) => c.report.waitingAt(f).some((at) => isPlace(at, {holder: t.waiter, file: t.file, lines: t.waiterLines}))},
    does: {asked: (t) => t.does, said: (f, t) => isAny(t.does, f.holders?.[0]?.does)},
};
const MORE = {
    share: {asked: (t) => t.share, said: (f, t, c) => typeof f.share === 'number' && Math.abs(f.share - t.share[c.strength]) <= SHARE_SLACK},
    peer: {asked: (t) => t.peer, said: (f, t, c) => isPeer(f.holders?.[0]?.peer, t.peer, c.peer)},
};

// Not everything has a name.
const isNamed = (resource, t, peer) => t.names === undefined || isAny(t.names.map((n) => n.replaceAll('{peer}', peer)), resource?.name);
const isPeer = (said, wanted, port) => (wanted === 'yes' ? said === `127.0.0.1:${port}` : Boolean(said?.endsWith(`/${wanted}`)));
const sameThreads = (names, patterns) => names.length > 0 && names.every((n) => isAny(patterns, n)) && patterns.every((p) => names.some((n) => glob(p).test(n)));
const isPlace = (at, t) => methodOf(at) === t.holder && at.file === t.file && t.lines.includes(at.line);

const grave = (f) => f.severity === 'warning' || f.severity === 'problem';

// Findings that are not true: about threads that have nothing to do, about what is harmless first, about a cause that is gone.
function falseOf(report, t, variant, peer) {
    const idle = (f) => {
        if (report.isBlocked(f)) return false;
        const pools = [f.waiters?.pool, ...(f.holders ?? []).map((h) => h.pool)].filter(Boolean);
        const threads = report.threadsOf(f);
        return (threads.length > 0 && threads.every((n) => isAny(t.idle, n))) || (!threads.length && pools.length > 0 && pools.every((p) => isAny(t.idle, p)));
    };
    // A program without a resource has a rule: it, or one that says that nothing goes on.
    const removed = (f) => (t.role ? isAny(t.role, f.resource?.role) && isNamed(f.resource, t, peer) : isAny([...t.rule, 'stuck'], f.rule))
        || speaksOf(report.names(f), t.removed);
    const out = [];
    report.findings.filter(grave).forEach((f, i) => {
        if (t.control) out.push({why: 'nothing is wrong', variant, text: f.text});
        else if (variant === 'repaired' && removed(f)) out.push({why: 'the removed cause', variant, text: f.text});
        else if (idle(f)) out.push({why: 'an idle thread', variant, text: f.text});
        else if (variant === 'planted' && i === 0 && speaksOf(report.names(f), t.distractor)) out.push({why: 'the distractor first', variant, text: f.text});
    });
    return out;
}

const read = (file) => JSON.parse(readFileSync(`${file}.json`, 'utf8'));
const [key, plantedFile, repairedFile] = process.argv.slice(2);
const [jdk, name, how, strength] = key.split('/');
const truth = readTruth(name);
const planted = read(plantedFile), repaired = read(repairedFile);
const report = new Report(`${plantedFile}.report.json`), control = new Report(`${repairedFile}.report.json`);
const context = {report, strength, peer: planted.peer};
const ask = (parts, f) => Object.fromEntries(Object.entries(parts).filter(([, p]) => p.asked(truth)).map(([k, p]) => [k, f !== undefined && Boolean(p.said(f, truth, context))]));
const isStrict = (f) => Object.values(ask(PARTS, f)).every(Boolean);
const gain = {
    throughput: planted.throughput > 0 ? repaired.throughput / planted.throughput : Infinity,
    p99: repaired.p99_ms > 0 ? planted.p99_ms / repaired.p99_ms : Infinity,
};
const first = report.findings[0];
const longest = report.longestWait();
process.stdout.write(`${JSON.stringify({
    jdk, name, how, strength, healthy: truth.control,
    kept: truth.control || Math.max(gain.throughput, gain.p99) >= BETTER,
    gain: {throughput: gain.throughput, p99: gain.p99}, planted, repaired,
    first: first && {rule: first.rule, severity: first.severity, text: first.text},
    strict: first !== undefined && isStrict(first),
    strict3: report.findings.slice(0, 3).some(isStrict),
    parts: {...ask(PARTS, first), ...ask(MORE, first)},
    false: [...falseOf(report, truth, 'planted', planted.peer), ...falseOf(control, truth, 'repaired', repaired.peer)],
    findings: report.findings.length, control: control.findings.filter(grave).map((f) => ({rule: f.rule, text: f.text})),
    // As little as the dumb rule is asked for: any frame or class that it names.
    named: {resource: first !== undefined && speaksOf(report.names(first), truth.removed), holder: first !== undefined && report.names(first).includes(truth.holder)},
    dumb: {said: longest ?? null, resource: longest !== undefined && speaksOf([longest], truth.removed), holder: longest === truth.holder},
})}\n`);
