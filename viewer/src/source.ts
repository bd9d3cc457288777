// source.ts - where the viewer's answers come from: one interface, two implementations
// (source/http.ts asks `orca view`, source/inline.ts answers from the pack in the page).
import type {
    Arrows, Context, Flame, Found, By, LockAt, LockRow, MarkDetail, Marks, Meta, Overview, PathTile, Rates, Report, RowId, Run, Selection, StateName,
    TileRow, Wait,
} from "./types.ts";

/** An answer that could not be had; its message is for the user. */
export class SourceError extends Error {}

export interface Source {
    /** The newest generation.  `changed` is called after each one that follows, and with the progress of an analysis. */
    meta(): Promise<Meta>;
    watch(changed: (meta: Meta) => void, gone: (why: string) => void): void;

    /** Rows that a tile has nothing for are "nothing"; every row asked for is in the answer. */
    tile(level: number, i: number, rows: RowId[]): Promise<Map<RowId, TileRow>>;
    arrows(level: number, i: number): Promise<Arrows>;
    /** to: the path to that moment of that thread; without it the one to the program's end. */
    path(level: number, i: number, to?: { thread: number; time: number }): Promise<PathTile>;
    overview(n: number): Promise<Overview>;

    report(sections: string[], of: Selection, top?: number): Promise<Report>;
    /** ids: only these. */
    locks(of: Selection, top: number, ids?: readonly number[]): Promise<{ n: number; locks: LockRow[] }>;
    contexts(ids: number[]): Promise<Context[]>;
    wait(thread: number, index: number): Promise<Wait>;
    at(row: RowId, time: number): Promise<Wait | Run | LockAt>;
    flame(of: Selection, states: StateName[] | null, by: By): Promise<Flame>;
    /** What threads allocated over time, in n parts. */
    rates(of: Selection, n: number): Promise<Rates>;
    search(q: string): Promise<Found>;
    marks(of: Selection): Promise<Marks>;
    mark(thread: number, index: number): Promise<MarkDetail>;
}
