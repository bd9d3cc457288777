/* symbols.c - how long native code takes to get its names: build/release/bench/symbols LIBRARY [N]
 *
 * Makes a trace of stacks with N different places (100,000) all over the library's code, and opens
 * names for it, five times. */
#include "symbols/symbols.h"
#include "base/clock.h"
#include "base/util.h"
#include "format/writer.h"
#include "symbols/elf_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5, DEPTH = 20 };

static uint64_t text_begin, text_size;
static char build_id[BUILD_ID_TEXT];

static int look(const char *path, struct err *err)
{
    struct elf_image f;
    GElf_Shdr h;
    TRY(elf_image_open(&f, path, err));
    bool found = elf_image_section(&f, ".text", &h) != NULL;
    text_begin = h.sh_addr;
    text_size = h.sh_size;
    memcpy(build_id, f.build_id, sizeof build_id);
    elf_image_close(&f);
    return found && text_size ? 0 : err_set(err, -EINVAL, "%s: it has no .text", path);
}

/* A trace in memory: only the tables that names are looked for in. */
static struct trace *make(const char *path, uint32_t n)
{
    struct trace *t = calloc(1, sizeof *t);
    arena_init(&t->arena, 0);
    t->path = "bench";
    t->fd = -1;
    t->n_modules = 2;
    t->modules = arena_alloc(&t->arena, t->n_modules * sizeof *t->modules);
    t->modules[1] = (struct trace_module){.id = {1}, .path = path, .build_id = build_id};
    t->n_methods = n + 1;
    t->methods = arena_alloc(&t->arena, t->n_methods * sizeof *t->methods);
    t->n_stacks = n / DEPTH;
    t->stacks = arena_alloc(&t->arena, t->n_stacks * sizeof *t->stacks);
    struct trace_frame *frames = arena_alloc(&t->arena, n * sizeof *frames);
    for (uint32_t i = 1; i <= n; i++) {
        t->methods[i] = (struct trace_method){.id = {i},
                                              .flags = METHOD_NATIVE_CODE,
                                              .name = "",
                                              .signature = "",
                                              .module = {1},
                                              .address = text_begin + text_size / n * (i - 1)};
        frames[i - 1] = (struct trace_frame){{1 + (uint32_t)((uint64_t)i * 7919 % n)}, -1};
    }
    for (size_t i = 0; i < t->n_stacks; i++)
        t->stacks[i] = (struct trace_stack){
            .id = {(uint32_t)i + 1}, .n_frames = DEPTH, .frames = frames + i * DEPTH};
    return t;
}

int main(int argc, char **argv)
{
    struct symbols_options o = symbols_options_default();
    struct err err;
    uint32_t n = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 100000;
    if (argc < 2 || n < DEPTH || look(argv[1], &err) < 0) {
        fprintf(stderr, "%s\n", argc < 2 ? "symbols LIBRARY [N]" : err.msg);
        return 2;
    }
    for (int i = 0; i < ROUNDS; i++) {
        struct symbols_summary s;
        struct trace *t = make(argv[1], n);
        uint64_t from = clock_mono_ns();
        int rc = symbols_resolve(t, &o, &s, &err);
        uint64_t ns = clock_mono_ns() - from;
        if (rc < 0 || s.n != 1) {
            fprintf(stderr, "%s\n", rc < 0 ? err.msg : "no places");
            return 1;
        }
        printf("%u places, %u in functions, lines: %s: %.0f ms\n", s.modules[0].places,
               s.modules[0].named, s.modules[0].lines ? "yes" : "no", (double)ns / 1e6);
        trace_close(t);
    }
    return 0;
}
