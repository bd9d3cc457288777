// inline.ts - the source that answers from the pack in the page: a file that `orca html` made, opened from a
// disk, without a server.
//
// A page of packed "exact" has every wait and answers everything; one of "tiles" has the overview.
import { SourceError } from "../source.ts";
import type { Source } from "../source.ts";
import type {
    Arrows, By, Context, Flame, Found, LockAt, LockRow, MarkDetail, Marks, Meta, Overview, PathTile, Rates, Report, RowId, Run, Selection, StateName, TileRow, Wait,
} from "../types.ts";
import { isAlloc, isSampled } from "../types.ts";
import { ratesOf } from "./inline_allocs.ts";
import { arrowsOf, pathOf, resample } from "./inline_arrows.ts";
import { sections, unpack } from "./inline_bytes.ts";
import type { Sections } from "./inline_bytes.ts";
import { contextsOf, locksOf, searchOf, threadsNamed } from "./inline_find.ts";
import { flameOf } from "./inline_flame.ts";
import { LockHistory } from "./inline_lock.ts";
import { Model, cutOf } from "./inline_model.ts";
import { readMeta, readPack } from "./inline_pack.ts";
import type { PackMeta } from "./inline_pack.ts";
import { isWhole, packedOfClass, packedReport, reportOf } from "./inline_report.ts";
import { markOf, marksOf } from "./inline_marks.ts";
import { frameOf, groupRow, lockRow, parseRow, threadRow } from "./inline_tile.ts";
import { Tiles, onlyOverview } from "./inline_tiles.ts";
import { threadAt, waitOf } from "./inline_wait.ts";

/** Locks whose history is kept. */
const HISTORIES = 64;

export class InlineSource implements Source {
    private readonly metaOf: PackMeta;
    private readonly model: Model | null = null;
    private readonly tiles: Tiles | null = null;
    private readonly histories = new Map<number, LockHistory>();

    private constructor(all: Sections) {
        this.metaOf = readMeta(all);
        if (this.metaOf.packed === "tiles")
            this.tiles = new Tiles(all, this.metaOf);
        else
            this.model = new Model(readPack(all, this.metaOf));
    }

    /** From the page's script element. */
    static read(element: HTMLElement): Promise<InlineSource> {
        return InlineSource.open(element.textContent ?? "");
    }

    /** From what that holds: base64 of gzip. */
    static async open(text: string): Promise<InlineSource> {
        return new InlineSource(await unpack(text));
    }

    /** From the unpacked bytes. */
    static of(bytes: Uint8Array<ArrayBuffer>): InlineSource {
        return new InlineSource(sections(bytes));
    }

    async meta(): Promise<Meta> {
        return this.metaOf;
    }

    watch(): void {
        // A page does not change.
    }

    private exact(what: string): Model {
        if (!this.model)
            throw onlyOverview(what);
        return this.model;
    }

    private history(m: Model, lock: number): LockHistory {
        let h = this.histories.get(lock);
        if (!h) {
            if (this.histories.size >= HISTORIES)
                this.histories.delete(this.histories.keys().next().value!);
            this.histories.set(lock, (h = new LockHistory(m, lock)));
        }
        return h;
    }

    async tile(level: number, i: number, rows: RowId[]): Promise<Map<RowId, TileRow>> {
        if (this.tiles)
            return this.tiles.tile(level, i, rows);
        const m = this.exact("tiles"), f = frameOf(level, i);
        return new Map(rows.map((id) => {
            const { kind, n } = parseRow(id);
            const row = kind === "t" ? threadRow(m, n, f) : kind === "l" ? lockRow(m, this.history(m, n), f) : groupRow(m, kind, n, f);
            return [id, row];
        }));
    }

    async arrows(level: number, i: number): Promise<Arrows> {
        return this.tiles ? this.tiles.arrowsOf(level, i) : arrowsOf(this.exact("arrows"), frameOf(level, i));
    }

    async path(level: number, i: number, to?: { thread: number; time: number }): Promise<PathTile> {
        if (to)
            throw new SourceError("This page holds only the path to the program's end: open the trace with orca view for others.");
        return this.tiles ? this.tiles.pathOf(level, i) : pathOf(this.exact("the path").pack.path, frameOf(level, i));
    }

    async overview(n: number): Promise<Overview> {
        return resample(this.metaOf.overview, Math.min(Math.max(Math.floor(n), 1), 4096));
    }

    async report(wanted: string[], of: Selection, top?: number): Promise<Report> {
        if (isWhole(of))
            return packedReport(this.metaOf.report, wanted, top);
        const { class: name, ...rest } = of;
        const packed = this.tiles && name !== undefined && isWhole(rest) ? packedOfClass(this.metaOf.report, wanted, name, top) : null;
        if (packed)
            return packed;
        return reportOf(this.exact("tables of a part of the recording"), wanted, of, top);
    }

    async locks(of: Selection, top: number, ids?: readonly number[]): Promise<{ n: number; locks: LockRow[] }> {
        if (ids)
            return this.locksNamed(new Set(ids));
        if (isWhole(of) && (top <= this.metaOf.lock_rows.length || !this.model))
            return { n: this.metaOf.locks, locks: this.metaOf.lock_rows.slice(0, top) };
        const m = this.exact("locks of a part of the recording");
        return locksOf(m, cutOf(of, m.threads), Math.min(top, 5000));
    }

    /** The most used ones are at hand, and a page without waits knows no others. */
    private locksNamed(ids: ReadonlySet<number>): { n: number; locks: LockRow[] } {
        let locks = this.metaOf.lock_rows.filter((l) => ids.has(l.id));
        if (this.model && locks.length < ids.size)
            locks = locksOf(this.model, cutOf({}, this.model.threads), this.model.pack.locks.n).locks.filter((l) => ids.has(l.id));
        return { n: locks.length, locks };
    }

    async contexts(ids: number[]): Promise<Context[]> {
        return contextsOf(this.exact("what waits are about"), ids);
    }

    async wait(thread: number, index: number): Promise<Wait> {
        return waitOf(this.exact("details of a wait"), thread, index);
    }

    async at(row: RowId, time: number): Promise<Wait | Run | LockAt> {
        const { kind, n } = parseRow(row);
        const m = this.exact("details");
        if (kind === "t")
            return threadAt(m, n, time);
        if (kind !== "l")
            throw new SourceError("This row stands for several threads: unfold it, and choose one.");
        if (n <= 0 || n >= m.pack.locks.n)
            throw new SourceError(`There is no lock ${n}.`);
        const h = this.history(m, n), { owner, sure } = h.ownerAt(time);
        return { lock: n, class: m.pack.names.classes[m.pack.locks.group[n]] ?? null, owner, owner_sure: sure, ...h.at(time) };
    }

    async flame(of: Selection, states: StateName[] | null, by: By): Promise<Flame> {
        const m = this.exact("flame graphs"), n = this.metaOf.samples;
        if (isSampled(by) && m.pack.samples.n === 0 && n && n.cpu + n.wall > 0)
            throw new SourceError("This page does not hold all samples: open the trace with orca view.");
        this.roomForAllocs(m, isAlloc(by));
        return flameOf(m, cutOf(of, m.threads), states, by);
    }

    async rates(of: Selection, n: number): Promise<Rates> {
        const m = this.exact("rates of allocation");
        return ratesOf(m, cutOf(of, m.threads), of, n);
    }

    private roomForAllocs(m: Model, asked: boolean): void {
        if (asked && m.pack.allocs.n === 0 && (this.metaOf.allocations?.n ?? 0) > 0)
            throw new SourceError("This page does not hold all allocations: open the trace with orca view.");
    }

    async marks(of: Selection): Promise<Marks> {
        if (this.tiles)
            return { n: 0, marks: [] };
        const m = this.exact("marks");
        return marksOf(m, cutOf(of, m.threads));
    }

    async mark(thread: number, index: number): Promise<MarkDetail> {
        return markOf(this.exact("details of a mark"), thread, index);
    }

    async search(q: string): Promise<Found> {
        if (this.model)
            return searchOf(this.model, q);
        return { threads: threadsNamed(this.metaOf.threads.name, q.trim().toLowerCase()), classes: [], methods: [] };
    }
}
