/* gen-format.c - print the tables of docs/reference/trace-format.md that come from events.def.  Run
 * by tools/gen-format. */
#include "format/event.h"

#include <stdio.h>

static const char *const types[] = {
    [FIELD_thread] = "thread", [FIELD_lock] = "lock",       [FIELD_class] = "class",
    [FIELD_method] = "method", [FIELD_stack] = "stack",     [FIELD_call] = "call",
    [FIELD_module] = "module", [FIELD_gc_name] = "gc_name", [FIELD_u32] = "u32",
    [FIELD_kind] = "kind",     [FIELD_cause] = "cause",     [FIELD_u64] = "u64",
    [FIELD_i64] = "i64",       [FIELD_time] = "time",       [FIELD_str] = "str",
    [FIELD_lines] = "lines",   [FIELD_frames] = "frames",
};

static void kinds(const struct kind_info *table, int n, int events)
{
    for (int i = 0; i < n; i++) {
        const struct kind_info *k = &table[i];
        if (!k->name)
            continue;
        if (events)
            printf("\n**%d `%s`** (%s): %s\n", i, k->name, event_groups[k->group].name, k->doc);
        else
            printf("\n**%d `%s`**: %s\n", i, k->name, k->doc);
        const struct field *f = k->fields();
        for (unsigned j = 0; j < k->n_fields; j++)
            printf("%s- `%s` %s: %s\n", j ? "" : "\n", f[j].name, types[f[j].type], f[j].doc);
    }
}

int main(void)
{
    printf("\n### Event groups\n\n");
    for (int i = 0; i < GROUP_LIMIT; i++)
        printf("- `%s`: %s\n", event_groups[i].name, event_groups[i].doc);
    printf("\n### Events\n");
    kinds(event_kinds, EV_LIMIT, 1);
    printf("\n### Definitions\n");
    kinds(def_kinds, DEF_LIMIT, 0);
    printf("\n### Loss causes\n\n");
    for (int i = 0; i < LOSS_LIMIT; i++)
        if (loss_causes[i].name)
            printf("- %d `%s`: %s\n", i, loss_causes[i].name, loss_causes[i].doc);
    printf("\n### Kinds of input and output\n\n");
    for (int i = 1; i < IO_KINDS; i++)
        printf("- %d `%s`: %s\n", i, io_kinds[i].name, io_kinds[i].doc);
    printf("\n### Errors of samples\n\n");
    for (int i = 0; i < SAMPLE_ERROR_UNKNOWN; i++)
        printf("- %d `%s`: %s\n", i, sample_errors[i].name, sample_errors[i].doc);
    return 0;
}
