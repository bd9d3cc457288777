// jfr.mjs JDK PROGRAM FILE JDK_HOME TOOLS - what is on top of each of `jfr view`'s views of waits, and what JDK Mission Control's rules
// say first: do they name the resource, and the holder's line?
//
// The most that can be made of them: one top row of any of the views, or one of the first three rules that warn or inform, that names it
// counts.  TOOLS: the class path of JmcRules.
import {execFileSync} from 'node:child_process';
import {readTruth} from './truth.mjs';

const VIEWS = ['contention-by-site', 'contention-by-class', 'contention-by-thread', 'contention-by-address', 'latencies-by-type', 'pinned-threads',
    'native-methods', 'hot-methods', 'socket-reads-by-host', 'file-writes-by-path', 'memory-leaks-by-site'];
const [jdk, name, file, home, tools] = process.argv.slice(2);
const truth = readTruth(name);

function output(command, args) {
    try {
        return execFileSync(command, args, {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore']}).split('\n');
    } catch {
        return [];
    }
}

function topRow(view) {
    const lines = output(`${home}/bin/jfr`, ['view', '--width', '400', view, file]);
    const rule = lines.findIndex((l) => /^-{3,}/.test(l));
    return rule < 0 ? undefined : lines[rule + 1]?.trim().replace(/ {2,}/g, '  ') || undefined;
}

// A method is shown with parameters, "pay(long, int)", a class with its package or without it.
const short = (s) => s.split('.').slice(-2).join('.');
const says = (rows, words) => words.some((w) => rows.some((r) => r.includes(w) || r.includes(short(w))));
const resources = [...truth.removed, ...truth.classes, ...(truth.names ?? [])].filter((w) => !w.includes('*') && w.length > 5);
const verdict = (rows) => ({rows, resource: says(rows, resources), holder: truth.holder !== undefined && says(rows, [truth.holder])});
const views = VIEWS.map((v) => [v, topRow(v)]).filter(([, row]) => row).map(([v, row]) => `${v}: ${row}`);
const rules = output(`${home}/bin/java`, ['-cp', tools, 'JmcRules', file]).filter(Boolean).slice(0, 3);
process.stdout.write(`${JSON.stringify({jdk, name, view: verdict(views), jmc: verdict(rules)})}\n`);
