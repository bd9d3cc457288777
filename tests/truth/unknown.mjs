// unknown.mjs - of whom a tool cannot say that they are in no deadlock, the same rule for each: a thread that is blocked, directly or behind
// others, on something whose owner the tool does not know.

/** waits: {name, blocked: on a monitor, owner: name or undefined}; known: names of the members of deadlocks; names, in a Set. */
export function unknownOwners(waits, known) {
    const of = new Map(waits.map((w) => [w.name, w]));
    const leadsNowhere = (name) => {
        const seen = new Set();
        let w = of.get(name);
        for (; w?.owner && !seen.has(w.name); w = of.get(w.owner)) seen.add(w.name);
        return w?.blocked && !w.owner;
    };
    return new Set(waits.map((w) => w.name).filter((name) => !known.has(name) && leadsNowhere(name)));
}
