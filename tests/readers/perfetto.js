// perfetto.js ORCA TRACE FOLDER PROCESSOR - the Perfetto trace of a trace, read by Perfetto's own
// trace processor, against the report.
'use strict';
const {STATES, Sums, check, equal, finish, orca, report, sumsOfReport} = require('./report.js');
const {TraceProcessor} = require('./trace_processor.js');

const [command, trace, folder, processor] = process.argv.slice(2);
const OF_STATES = Object.keys(STATES).map((s) => `'${s}'`).join(', ');

function checkReading(tp) {
    const bad = tp.query(`select name, value from stats where value > 0
                          and (severity in ('error', 'data_loss') or name like '%flow%')`);
    for (const s of bad) check(false, `trace processor: ${s.name} is ${s.value}`);
}

function checkThreads(tp, r) {
    const threads = tp.query(`select thread.name, tid, pid from thread join process using (upid)
                              where thread.name is not null and pid > 0`);
    const gone = r.threads.filter((t) => t.life_ns === 0).length;
    check(threads.length <= r.threads.length && threads.length >= r.threads.length - gone,
          `${threads.length} threads instead of ${r.threads.length}`);
    equal(new Set(threads.map((t) => t.tid)).size, threads.length, 'different thread numbers');
    equal(new Set(threads.map((t) => t.pid)).size, 1, 'processes');
    if (r.recording.pid) equal(threads[0].pid, r.recording.pid, 'pid');
}

function checkTimes(tp, r) {
    const sums = new Sums(r.threads.map((t) => t.name));
    for (const s of tp.query(`select thread.name thread, category, count(*) n, sum(dur) ns
                              from slice join thread_track on slice.track_id = thread_track.id
                              join thread using (utid) where category in (${OF_STATES})
                              group by thread.utid, category`))
        sums.add(s.thread, s.category, s.n, s.ns);
    sums.equal(sumsOfReport(r), 'slices');
    const gc = tp.query("select count(*) n, ifnull(sum(dur), 0) ns from slice where category = 'gc'")[0];
    equal(gc.n, r.recording.gc_count, 'pauses');
    equal(gc.ns, r.recording.gc_ns, 'ns of pauses');
}

// What is in a slice lies in it; a thread is in one state at a time.
function checkNesting(tp) {
    equal(tp.query('select count(*) n from slice where dur < 0')[0].n, 0, 'slices without an end');
    equal(tp.query(`select count(*) n from slice s join slice p on s.parent_id = p.id
                    where s.ts < p.ts or s.ts + s.dur > p.ts + p.dur`)[0].n, 0,
          'slices that leave the one around them');
    equal(tp.query(`select count(*) n from (
                      select ts + dur until, lead(ts) over (partition by track_id order by ts, id) next
                      from slice where category in (${OF_STATES})
                      and extract_arg(arg_set_id, 'debug.unknown') is null) where next < until`)[0].n, 0,
          'states that overlap');
}

function checkArrows(tp) {
    const wakes = tp.query("select count(*) n from slice where category = 'wake'")[0].n;
    const arrows = tp.query(`select a.category from_category, b.category to_category, count(*) n,
                             min(b.ts - a.ts) shortest, count(distinct b.id) ends
                             from flow join slice a on slice_out = a.id join slice b on slice_in = b.id
                             group by 1, 2`);
    check(arrows.length <= 1, `kinds of arrows: ${arrows.length}`);
    for (const a of arrows) {
        equal(`${a.from_category} ${a.to_category}`, 'act wake', 'arrows from and to');
        equal(a.n, wakes, 'arrows');
        equal(a.ends, wakes, 'ends of arrows');
        check(a.shortest >= 0, `an arrow goes back by ${-a.shortest} ns`);
    }
    if (wakes) equal(arrows.length, 1, 'arrows');
    equal(tp.query(`select count(*) n from flow join slice a on slice_out = a.id
                    join slice b on slice_in = b.id join thread_track t on a.track_id = t.id
                    join thread using (utid)
                    where thread.name != coalesce(extract_arg(b.arg_set_id, 'debug.waker'),
                                                  extract_arg(b.arg_set_id, 'debug.last_owner_seen'))`)[0].n, 0,
          'arrows from other threads than the waker');
    // Each wait that somebody ended has its awakening; of a split one only the first part says so.
    equal(tp.query(`select count(*) n from slice where category in (${OF_STATES})
                    and coalesce(extract_arg(arg_set_id, 'debug.waker'),
                                 extract_arg(arg_set_id, 'debug.last_owner_seen')) is not null`)[0].n,
          tp.query(`select count(*) n from slice where category = 'wake'
                    and name not in ('starts-thread', 'submit')`)[0].n, 'awakenings');
}

// A lock's slices are the times in which threads queued for it, and its counter says how many.
function checkLocks(tp) {
    const waits = tp.query(`select ts, dur, category, extract_arg(arg_set_id, 'debug.lock') lock,
                            extract_arg(arg_set_id, 'debug.held_up') held_up from slice
                            where category in ('blocked', 'reacquiring', 'parked')
                            and extract_arg(arg_set_id, 'debug.unknown') is null order by ts`);
    const union = new Map();
    for (const w of waits) {
        if (!w.lock || (w.category === 'parked' && !w.held_up)) continue;
        const u = union.get(w.lock) || {until: 0, ns: 0, waits: 0};
        u.ns += Math.max(0, w.ts + w.dur - Math.max(w.ts, u.until));
        u.until = Math.max(u.until, w.ts + w.dur);
        u.waits++;
        union.set(w.lock, u);
    }
    const locks = tp.query(`select extract_arg(arg_set_id, 'debug.lock') lock, sum(dur) ns,
                            sum(extract_arg(arg_set_id, 'debug.waits')) waits,
                            max(extract_arg(arg_set_id, 'debug.longest_queue')) longest
                            from slice where category = 'lock' group by 1`);
    equal(locks.length, union.size, 'locks with tracks');
    for (const l of locks) {
        equal(l.ns, union.get(l.lock).ns, `lock ${l.lock}: ns contended`);
        equal(l.waits, union.get(l.lock).waits, `lock ${l.lock}: waits`);
    }
    const queues = tp.query(`select p.name lock, min(value) least, max(value) most
                             from counter c join track t on c.track_id = t.id
                             join track p on t.parent_id = p.id group by 1`);
    equal(queues.length, locks.length, 'queues');
    for (const q of queues) {
        const lock = locks.find((l) => q.lock.endsWith(` #${l.lock}`));
        equal(q.least, 0, `${q.lock}: least in the queue`);
        equal(q.most, lock && lock.longest, `${q.lock}: most in the queue`);
    }
}

async function main() {
    const tp = await TraceProcessor.open(processor);
    orca(command, 'export', trace, '--to', 'perfetto', '-o', `${folder}/all`);
    tp.load(`${folder}/all.perfetto-trace`);
    const r = report(command, trace);
    checkReading(tp);
    checkThreads(tp, r);
    checkTimes(tp, r);
    checkNesting(tp);
    checkArrows(tp);
    checkLocks(tp);
    finish();
}

main().catch((e) => {
    console.log(String(e.stack).slice(0, 1000));
    process.exit(1);
});
