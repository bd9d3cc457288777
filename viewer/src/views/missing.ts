// missing.ts - what a recording lacks, in plain words: what stands above everything else.
import { count, moment, plural } from "../format.ts";
import { THREAD } from "../types.ts";
import type { Meta } from "../types.ts";

/** How a recording ended, where that was not in good order. */
const ENDINGS: Record<string, string> = {
    recovered: "The JVM was killed: Orca completed the recording from its buffers; the very end may be missing.",
    stopped: "The file could not be written any further, but the program continued: later events are missing.",
    recording: "The recording is still running.",
    cut: "The recording is unfinished, and its buffers are gone: its end is missing.",
};

export function missing(m: Meta): string[] {
    const r = m.recording;
    const all: string[] = [];
    if (m.phase)
        all.push(`The trace is still being read (${m.phase.text}): numbers grow until then.`);
    if (ENDINGS[r.state] && !(r.state === "recording" && m.live))
        all.push(ENDINGS[r.state]);
    if (r.windowed)
        all.push(`Recorded with --last or maxsize=: events before ${moment(r.from, 1e7)} were overwritten.`);
    for (const u of r.unwritten ?? [])
        all.push(`The file's disk was full from ${moment(u.from, 1e7)} to ${moment(u.to, 1e7)}: ` +
            (u.lost ? `${plural(u.lost, "event")} of that time ${u.lost === 1 ? "was" : "were"} lost.` : "nothing was lost: events were written later."));
    for (const l of m.losses)
        all.push(`${plural(l.count, "event")} (${l.cause}): ${l.meaning}.`);
    if (r.damaged > 0)
        all.push(`${r.damaged === 1 ? "1 part of the file is damaged and was" : `${count(r.damaged)} parts of the file are damaged and were`} left out.`);
    const incomplete = m.threads.flags.filter((f) => f & THREAD.incomplete).length;
    if (incomplete > 0)
        all.push(`${incomplete === 1 ? "1 thread lost" : `${count(incomplete)} threads lack`} events: counts and times are lower bounds.`);
    if (m.packed === "tiles")
        all.push(m.said || "This page holds only the overview: open the trace with orca view for the single waits.");
    return all;
}
