#include "native_builder.h"

#include "format/codec.h"
#include "symbols/elf_image.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct str str(const char *s)
{
    return (struct str){s, strlen(s)};
}

module_id native_module(struct trace_builder *b, uint32_t id, const char *path,
                        const char *build_id, uint64_t bias)
{
    builder_def(b, &(struct def){.kind = DEF_module,
                                 .module = {.id = {id},
                                            .path = str(path),
                                            .build_id = str(build_id),
                                            .bias = bias,
                                            .begin = bias,
                                            .end = bias + (1 << 20)}});
    return (module_id){id};
}

method_id native_place(struct trace_builder *b, module_id in, uint64_t address)
{
    method_id id = {++b->n_methods};
    builder_def(b, &(struct def){.kind = DEF_method,
                                 .method = {.id = id,
                                            .name = str(""),
                                            .signature = str(""),
                                            .flags = METHOD_NATIVE_CODE,
                                            .module = in,
                                            .address = address}});
    return id;
}

stack_id native_stack(struct trace_builder *b, const method_id *frames, size_t n,
                      const uint8_t *kinds)
{
    stack_id id = {++b->n_stacks};
    struct buf packed = {0};
    for (size_t i = 0; i < n; i++)
        packed_put_frame(&packed, frames[i], -1);
    builder_def(b, &(struct def){.kind = DEF_stack,
                                 .stack = {.id = id,
                                           .frames = {packed.p, packed.len, (uint32_t)n},
                                           .kinds = {(const char *)kinds, kinds ? n : 0}}});
    buf_fini(&packed);
    return id;
}

const char *native_text(const struct trace *t, stack_id stack, uint32_t i)
{
    static char text[8192];
    const struct trace_stack *s = trace_stack(t, stack);
    cr_assert_lt(i, s->n_frames);
    trace_method_text(t, s->frames[i].method, text, sizeof text);
    return text;
}

struct symbols_options native_nowhere(void)
{
    return (struct symbols_options){.dirs = "",
                                    .debug_root = "/nonexistent",
                                    .kallsyms = "/nonexistent",
                                    .kernel_notes = "/nonexistent",
                                    .most = 4000000};
}

void native_names(const char *path, const char *build_id, const struct symbols_options *o,
                  const uint64_t *addresses, size_t n, char **names)
{
    struct trace_builder b;
    struct err err;
    stack_id *stacks = calloc(n, sizeof *stacks);
    builder_init(&b);
    module_id in = native_module(&b, 1, path, build_id ? build_id : native_build_id(path), 0x1000);
    for (size_t i = 0; i < n; i++) {
        method_id place = native_place(&b, in, addresses[i]);
        stacks[i] = native_stack(&b, &place, 1, NULL);
    }
    struct trace *t = builder_open(&b, 1000);
    cr_assert_eq(symbols_resolve(t, o, NULL, &err), 0, "%s", err.msg);
    for (size_t i = 0; i < n; i++)
        names[i] = strdup(native_text(t, stacks[i], trace_stack(t, stacks[i])->n_frames - 1));
    trace_close(t);
    free(stacks);
}

const char *native_build_id(const char *path)
{
    static char id[BUILD_ID_TEXT];
    struct elf_image f;
    struct err err;
    cr_assert_eq(elf_image_open(&f, path, &err), 0, "%s", err.msg);
    memcpy(id, f.build_id, sizeof id);
    elf_image_close(&f);
    return id;
}
