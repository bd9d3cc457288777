#include "export/orca_stacks.h"

#include "trace_builder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is put for stacks 1, 2, 1, 2, 9999, kept as far as there is room. */
static char *texts(struct trace *t, size_t room)
{
    static const uint32_t ids[] = {1, 2, 1, 2, 9999};
    struct orca_stacks s;
    struct out o = {.buf = malloc(OUT_BUFFER)};
    cr_assert_eq(orca_stacks_init(&s, t, ORCA_2), 0);
    s.room = room;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        orca_stacks_put(&s, &o, (stack_id){ids[i]});
        out_char(&o, '\n');
    }
    cr_assert_leq(s.room, room);
    orca_stacks_fini(&s);
    out_char(&o, 0);
    return (char *)o.buf;
}

Test(orca_stacks, a_text_is_the_same_kept_or_not)
{
    struct trace_builder b;
    builder_init(&b);
    builder_stack(&b, "A.a:1 A.b:native A.a:300");
    builder_stack(&b, "A.b:native");
    struct trace *t = builder_open(&b, 1);
    static const char expected[] = "3;00000001;00000001;00000002;FFFFFFFF;00000001;0000012C\n"
                                   "1;00000002;FFFFFFFF\n"
                                   "3;00000001;00000001;00000002;FFFFFFFF;00000001;0000012C\n"
                                   "1;00000002;FFFFFFFF\n"
                                   "0\n";
    static const size_t rooms[] = {0, 40, 100, ORCA_STACKS_BYTES}; /* none, the second, both */
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        char *got = texts(t, rooms[i]);
        cr_assert_str_eq(got, expected, "room %zu", rooms[i]);
        free(got);
    }
    trace_close(t);
}
