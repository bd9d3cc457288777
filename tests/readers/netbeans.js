// netbeans.js ORCA DUMP FOLDER LIBRARY JDK CLASSES - the classes of a heap dump as VisualVM reads them (NetBeansHeap in CLASSES),
// against `orca heap`.
'use strict';
const {execFileSync} = require('child_process');
const {check, equal, finish, orca} = require('./report.js');

const [command, dump, , library, jdk, classes] = process.argv.slice(2);

// Fields that only the JVM sees, padding, and gaps behind a super class; most classes have none.
const HIDDEN_BYTES = 400;
const HIDDEN_PERCENT = 10;

const heap = JSON.parse(orca(command, 'heap', '--json', '--classes', '--top', '1000000', dump));
const lines = execFileSync(`${jdk}/bin/java`, ['-Xmx512m', '-cp', `${classes}:${library}`, 'NetBeansHeap', dump,
    heap.reference_bytes, heap.header_bytes], {maxBuffer: 1 << 30}).toString().trimEnd().split('\n');

const theirs = new Map(), loaded = lines.length;
for (const line of lines) {
    const [, id, instances, bytes, name] = line.match(/^(\w+) (\d+) (\d+) (.*)$/);
    if (Number(instances) > 0)
        theirs.set(`0x${id}`, {instances: Number(instances), bytes: Number(bytes), name});
}

let hidden = 0;
for (const c of heap.classes) {
    const their = theirs.get(c.id);
    theirs.delete(c.id);
    check(their, `${c.class}: only orca heap has any`);
    if (!their)
        continue;
    equal(c.class, their.name, `the name of class ${c.id}`);
    if (c.class === 'java.lang.Class') { // those of the loaded classes are no instances to the library
        equal(c.instances, their.instances + loaded, 'Class objects');
        continue;
    }
    equal(c.instances, their.instances, `instances of ${c.class}`);
    const more = (c.bytes - their.bytes) / c.instances;
    if (more === 0)
        continue;
    hidden++;
    check(!c.class.endsWith('[]') && more > 0 && more <= HIDDEN_BYTES && more % 8 === 0,
          `${c.class}: ${c.bytes} bytes, by its fields ${their.bytes}`);
}
for (const t of theirs.values())
    check(false, `${t.name}: orca heap has none`);
check(heap.classes.length > 100, `${heap.classes.length} classes only`);
check(hidden * 100 <= heap.classes.length * HIDDEN_PERCENT, `${hidden} of ${heap.classes.length} classes have other sizes`);
finish();
