// jfr.mjs JDK PROGRAM FILE COMMAND - what the top row of each of `jfr view`'s views of waits names: the resource, the holder's line?
//
// The most that can be made of it: one row of any of the views that names it counts.
import {execFileSync} from 'node:child_process';
import {readTruth} from './truth.mjs';

const VIEWS = ['contention-by-site', 'contention-by-class', 'contention-by-thread', 'contention-by-address', 'latencies-by-type', 'pinned-threads',
    'native-methods', 'hot-methods', 'longest-compilations', 'socket-reads-by-host', 'deadlocks', 'memory-leaks-by-site'];
const [jdk, name, file, command] = process.argv.slice(2);
const truth = readTruth(name);

function topRow(view) {
    let text;
    try {
        text = execFileSync(command, ['view', '--width', '400', view, file], {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore']});
    } catch {
        return undefined;
    }
    const lines = text.split('\n');
    const rule = lines.findIndex((l) => /^-{3,}/.test(l));
    return rule < 0 ? undefined : lines[rule + 1]?.trim() || undefined;
}

const rows = Object.fromEntries(VIEWS.map((v) => [v, topRow(v)]).filter(([, r]) => r));
const all = Object.values(rows);
// A view shows methods as "PaymentClient.pay(long, int)" or with their package, and classes likewise.
const short = (s) => s.split('.').slice(-2).join('.');
const says = (words) => words.some((w) => all.some((r) => r.includes(w) || r.includes(short(w))));
const resources = [...truth.removed.filter((r) => !truth.holder || !truth.holder.endsWith(r)), ...truth.classes, ...(truth.names ?? [])].filter((w) => !w.includes('*') && w.length > 5);
process.stdout.write(`${JSON.stringify({jdk, name, rows, resource: says(resources), holder: truth.holder !== undefined && says([truth.holder])})}\n`);
