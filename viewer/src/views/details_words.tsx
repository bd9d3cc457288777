// details_words.tsx - a wait in a sentence.
import { duration } from "../format.ts";
import type { Interaction, StateName, Wait } from "../types.ts";
import { LockLink, ThreadLink } from "./links.tsx";

/** What a thread did to end a wait. */
export const ACTS: Record<Interaction, string> = {
    "starts-thread": "started it", "handoff-lock": "released the lock", interrupt: "interrupted it", notify: "notified it", "notify-all": "notified all",
    "dead-and-notify-joined": "ended", unpark: "unparked it", semaphore: "released a permit", submit: "submitted a task",
    "last-owner-seen": "was the last owner seen",
};

interface Phrase { verb: string; lock: string; other: string }

const PHRASES: Record<StateName, Phrase> = {
    blocked: { verb: "was blocked for", lock: "on", other: "owned by" },
    waiting: { verb: "waited for", lock: "in Object.wait on", other: "" },
    parked: { verb: "was parked for", lock: "for", other: "owned by" },
    joining: { verb: "waited for", lock: "on", other: "for the end of" },
    sleeping: { verb: "slept for", lock: "on", other: "" },
    reacquiring: { verb: "waited for", lock: "to reacquire", other: "owned by" },
    unknown: { verb: "was in an unknown state for", lock: "", other: "" },
};

export function Headline({ w }: { w: Wait }) {
    const p = PHRASES[w.state];
    const unknown = w.flags.includes("unknown");
    return (
        <h3 data-test="details-headline">
            <ThreadLink thread={w.thread} /> {p.verb} {unknown ? "an unknown time" : duration(w.end - w.start)}
            {w.lock && <> {p.lock} <LockLink id={w.lock.id} name={w.lock.class} /></>}
            {w.other > 0 && p.other && <>, {p.other} <ThreadLink thread={w.other} time={w.start} /></>}
            <Ending w={w} />.
        </h3>
    );
}

function Ending({ w }: { w: Wait }) {
    if (w.state === "unknown")
        return <>: events are missing, or it is one of the JVM's own threads, which wait in native code</>;
    if (w.flags.includes("open"))
        return <>; the wait was not over when the recording ended</>;
    if (w.ended_by?.how === "last-owner-seen")
        return <>; <ThreadLink thread={w.ended_by.thread} time={w.ended_by.time} /> was the last owner seen (another thread may have owned the lock in between)</>;
    if (w.ended_by)
        return <>, until <ThreadLink thread={w.ended_by.thread} time={w.ended_by.time} /> {ACTS[w.ended_by.how] ?? w.ended_by.how}</>;
    return <>{w.timed_out ? ", and timed out" : w.state === "sleeping" ? "" : "; what ended the wait is unknown"}</>;
}

/** The flags that the sentence does not say. */
const FLAGS: Record<string, string> = {
    unknown: "its start or end is missing, so its duration is unknown", timed: "it had a time limit", interrupted: "it ended in an InterruptedException",
    reacquired: "a virtual thread reacquired the monitor; Orca does not know since when it was blocked",
};

export function flagTexts(w: Wait): string[] {
    const known = w.flags.filter((f) => f !== "timed" || w.state !== "sleeping"); // a sleep always has one
    return known.map((f) => FLAGS[f]).filter((text) => text !== undefined);
}
