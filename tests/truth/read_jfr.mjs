// read_jfr.mjs - what JFR says, as rows (questions.mjs): "jfr print --json" of a recording of JFR's or of async-profiler's, which
// writes the same format with fewer fields.
import {execFileSync} from 'node:child_process';
import {unknownOwners} from './unknown.mjs';

const EVENTS = ['JavaMonitorEnter', 'JavaMonitorWait', 'ThreadPark', 'ThreadSleep', 'ThreadStart', 'ThreadEnd',
                'VirtualThreadStart', 'VirtualThreadEnd', 'ThreadDump'].map((e) => `jdk.${e}`);
const JDK = /^(java|javax|jdk|sun)\//;
const SECONDS = /^PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?$/;

function nanoseconds(duration) {
    const [, h = 0, m = 0, s = 0] = SECONDS.exec(duration);
    return Math.round(Number(h) * 3.6e12 + Number(m) * 6e10 + Number(s) * 1e9);
}

// async-profiler knows the carriers of virtual threads only: whose wait it was, it does not say.
function nameOf(thread) {
    const name = thread?.javaName || undefined;
    return name && /^ForkJoinPool-\d+-worker-\d+$/.test(name) ? undefined : name;
}

const dotted = (c) => c?.name?.replaceAll('/', '.');

// JFR's frames have no file: that of a class is named by its outermost class.
function place(stack) {
    const f = stack?.frames.find((x) => !JDK.test(x.method.type.name));
    return f && `${f.method.type.name.replace(/^.*\//, '').replace(/\$.*/, '')}.java:${f.lineNumber}`;
}

function rowOf(type, v) {
    const row = {thread: nameOf(v.eventThread), at: place(v.stackTrace), ns: v.duration && nanoseconds(v.duration)};
    switch (type) {
    case 'jdk.JavaMonitorEnter': {
        const before = nameOf(v.previousOwner);
        return {...row, kind: 'blocked', on: dotted(v.monitorClass), owner: before, by: before};
    }
    case 'jdk.JavaMonitorWait': {
        const by = nameOf(v.notifier);
        return {...row, kind: 'wait', on: dotted(v.monitorClass), by, end: by ? 'notify' : v.timedOut ? 'timeout' : undefined};
    }
    case 'jdk.ThreadPark': return {...row, kind: 'park', on: dotted(v.parkedClass)};
    case 'jdk.ThreadSleep': return {...row, kind: 'sleep'};
    case 'jdk.ThreadStart': return {kind: 'start', thread: nameOf(v.thread ?? v.eventThread), by: nameOf(v.parentThread)};
    case 'jdk.VirtualThreadStart': return {kind: 'start', thread: row.thread};
    case 'jdk.ThreadEnd': return {kind: 'end', thread: nameOf(v.thread ?? v.eventThread)};
    default: return {kind: 'end', thread: row.thread};
    }
}

// Who is blocked on which monitor, and who holds that, as the dump has it of each thread.
function blockedIn(dump) {
    const threads = [...dump.matchAll(/^"(.*?)" #.*\n(?:[^"].*\n|\n)*/gm)].map(([text, name]) => ({name, text}));
    const holders = new Map(threads.flatMap(({name, text}) => [...text.matchAll(/- locked <(\w+)>/g)].map(([, lock]) => [lock, name])));
    return threads.map(({name, text}) => {
        const lock = /- waiting to lock <(\w+)>/.exec(text)?.[1];
        return {name, blocked: lock !== undefined, owner: holders.get(lock)};
    });
}

// The JVM's thread dump, which JFR records at the end, tells of deadlocks as jstack does.
function deadlocks(dumps) {
    const last = dumps.at(-1)?.values.result ?? '';
    const rows = last.split(/^Found one Java-level deadlock:$/m).slice(1).map((part) => {
        const head = part.split('Java stack information')[0];
        const names = [...head.matchAll(/^"(.*)":$/gm)].map((m) => m[1]).sort();
        return {kind: 'deadlock', threads: names, members: names.join(',')};
    });
    const unknown = unknownOwners(blockedIn(last.split(/^Found one Java-level deadlock:$/m)[0]), new Set(rows.flatMap((r) => r.threads)));
    return [...rows, ...[...unknown].map((name) => ({kind: 'unknown-owner', threads: [name]}))];
}

export function readJfr(jfr, file) {
    const text = execFileSync(jfr, ['print', '--json', '--stack-depth', '16', '--events', EVENTS.join(','), file],
                              {encoding: 'utf8', maxBuffer: 1 << 30});
    const events = JSON.parse(text).recording.events;
    const rows = events.filter((e) => e.type !== 'jdk.ThreadDump').map((e) => rowOf(e.type, e.values));
    return [...rows, ...deadlocks(events.filter((e) => e.type === 'jdk.ThreadDump'))];
}
