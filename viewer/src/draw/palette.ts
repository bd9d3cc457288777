// palette.ts - what each state looks like: a colour that the common kinds of colour blindness keep apart
// (after Okabe and Ito), and a texture, so that no reader depends on a colour.
//
// The picture is made of 8 x 8 patterns of pixels; what is loud (blocked, deadlocked) is what limits a
// program, what is quiet is a thread that has nothing to do.
import type { Interaction } from "../types.ts";

/** What a pixel can show, apart from nothing; 0 to 5 are the waits of the protocol; up to "off"
 * they are the parts of a column ("locked": parked, and blocked by others). */
export const LOOKS = ["blocked", "waiting", "parked", "joining", "sleeping", "reacquiring", "running", "locked", "unknown", "io", "ready", "stopped", "off", "deadlocked", "held", "queue", "gc"] as const;
export type Look = (typeof LOOKS)[number];
export const LOOK = Object.fromEntries(LOOKS.map((name, k) => [name, k])) as Record<Look, number>;

type Texture = (x: number, y: number) => boolean;

const textures: Record<Look, Texture> = {
    blocked: (x, y) => (x + y) % 4 === 0,
    waiting: (x, y) => x % 4 === 0 && y % 4 === 0,
    parked: (_, y) => y % 8 === 0,
    joining: (x) => x % 4 === 0,
    sleeping: (x, y) => (x % 8 === 0 && y % 4 === 0) || (x % 8 === 4 && y % 4 === 2),
    reacquiring: (x, y) => (x - y + 8) % 4 === 0,
    running: () => false,
    locked: (_, y) => y % 4 < 2,
    unknown: (x, y) => (x + y) % 8 < 2,
    io: (x) => x % 8 < 2,
    ready: (x, y) => (x - y + 8) % 8 < 3,
    stopped: (x, y) => (x + y) % 2 === 0,
    off: (x, y) => x % 4 === 0 && y % 2 === 0,
    deadlocked: (x, y) => ((x >> 2) + (y >> 2)) % 2 === 0,
    held: () => false,
    queue: (x, y) => (x + y) % 4 === 0,
    gc: (x, y) => (x + y) % 2 === 0,
};

/** Colour and the colour of its texture, as 0xRRGGBB. */
const dark: Record<Look, [number, number]> = {
    blocked: [0xe8602c, 0xa83c10], waiting: [0x8a7f3c, 0xb8ac62], parked: [0x27374f, 0x3c5a86], joining: [0xa8668c, 0x80406a],
    sleeping: [0x4a5058, 0x6a727c], reacquiring: [0xe69f00, 0xa06c00], running: [0x1fa37a, 0x1fa37a], locked: [0x5aa2ff, 0x2b6cd0],
    unknown: [0x1d2127, 0x3a414b], io: [0x1b5c6b, 0x2f8ca0], ready: [0x6fce6a, 0x2f8a3a], stopped: [0x6f5ca0, 0x4d3f78], off: [0x3a4036, 0x5c6656], deadlocked: [0xff2222, 0x000000], held: [0x4f8fd0, 0x4f8fd0], queue: [0xe8602c, 0xa83c10], gc: [0x9a86c8, 0x6f5ca0],
};
const light: Record<Look, [number, number]> = {
    blocked: [0xd84c14, 0xa03408], waiting: [0xe9dd9a, 0xb9aa50], parked: [0xd9e5f5, 0xb4cbea], joining: [0xd9a2c2, 0xb06a94],
    sleeping: [0xc8ced5, 0x98a1ab], reacquiring: [0xf0b030, 0xb87c00], running: [0x12936b, 0x12936b], locked: [0x2f74d8, 0x1a4fa0],
    unknown: [0xf4f5f7, 0xd3d8df], io: [0xbfe3ea, 0x7fbfcc], ready: [0x9fdc8c, 0x4f9f4a], stopped: [0xcfc3ea, 0xa894d4], off: [0xdfe3d8, 0xa8b09c], deadlocked: [0xe00000, 0x000000], held: [0x4380c4, 0x4380c4], queue: [0xd84c14, 0xa03408], gc: [0xa894d4, 0x7c68b0],
};

/** 0xRRGGBB as a little-endian RGBA pixel. */
function pixel(rgb: number): number {
    return (0xff000000 | ((rgb & 0xff) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
}

export interface Palette {
    dark: boolean;
    /** By look: 64 pixels, row by row. */
    pattern: Uint32Array[];
    /** The same behind each other. */
    flat: Uint32Array;
    background: number;
    stripe: number;
    grid: number;
    css: Record<Look, string>;
    text: string;
    subdued: string;
    /** Of the lanes of what threads allocate. */
    alloc: string;
    path: string;
    pathEdge: string;
    arrows: Record<Interaction, string>;
}

const css = (rgb: number): string => `#${rgb.toString(16).padStart(6, "0")}`;

const arrowsDark: Record<Interaction, string> = {
    "starts-thread": "#e8e8e8", "handoff-lock": "#ff9d6e", "interrupt": "#ff5c8a", "notify": "#f0e442", "notify-all": "#d8b830",
    "dead-and-notify-joined": "#d99ac0", "unpark": "#7db4ff", "semaphore": "#5fd0d0", "submit": "#9be07a", "last-owner-seen": "#d8a284",
};
const arrowsLight: Record<Interaction, string> = {
    "starts-thread": "#303030", "handoff-lock": "#b83a00", "interrupt": "#c2185b", "notify": "#8a7a00", "notify-all": "#6a5800",
    "dead-and-notify-joined": "#8e3a70", "unpark": "#1f5fbf", "semaphore": "#00797f", "submit": "#3f7f1f", "last-owner-seen": "#96644a",
};

function make(isDark: boolean): Palette {
    const colours = isDark ? dark : light;
    const pattern = LOOKS.map((look) => Uint32Array.from({ length: 64 }, (_, k) => pixel(colours[look][textures[look](k % 8, k >> 3) ? 1 : 0])));
    return {
        dark: isDark,
        pattern,
        flat: Uint32Array.from(pattern.flatMap((p) => [...p])),
        background: pixel(isDark ? 0x14171c : 0xffffff),
        stripe: pixel(isDark ? 0x191d23 : 0xf6f7f9),
        grid: pixel(isDark ? 0x2a3038 : 0xe4e7eb),
        css: Object.fromEntries(LOOKS.map((look) => [look, css(colours[look][0])])) as Record<Look, string>,
        text: isDark ? "#e6e9ee" : "#1b1f24",
        subdued: isDark ? "#9aa4b1" : "#5b6570",
        alloc: isDark ? "#c792ea" : "#8e3fc0",
        path: isDark ? "#ffffff" : "#000000",
        pathEdge: isDark ? "#000000" : "#ffffff",
        arrows: isDark ? arrowsDark : arrowsLight,
    };
}

const palettes = { dark: make(true), light: make(false) };

export function palette(isDark: boolean): Palette {
    return isDark ? palettes.dark : palettes.light;
}
