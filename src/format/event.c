/* event.c - the tables of event.h, made from events.def. */
#include "format/event.h"

#include "base/util.h"

#include <string.h>

/* A field's offset needs the name of its struct, which F does not know: a function of its own gives
 * each kind a scope in which HERE is that struct. */
#define F(type, field, doc) {#field, FIELD_##type, offsetof(HERE, field), doc},
#define EVENT(number, name_, group, fields_, doc)                                                  \
    static const struct field *event_fields_##name_(void)                                          \
    {                                                                                              \
        typedef struct event HOLDER;                                                               \
        typedef struct ev_##name_ HERE;                                                            \
        static const struct field fields[] = {fields_{0}};                                         \
        _Static_assert(sizeof(HERE) % 8 == 0 && offsetof(HOLDER, name_) == EVENT_HEAD, "layout");  \
        return fields;                                                                             \
    }
#include "format/events.def"
#undef F

#define F(type, field, doc) +1
#define EVENT(number, name_, group_, fields_, doc_)                                                \
    [number] = {#name_,         doc_,                                                              \
                GROUP_##group_, EVENT_HEAD + sizeof(struct ev_##name_),                            \
                (0 fields_),    event_fields_##name_},
const struct kind_info event_kinds[EV_LIMIT] = {
#include "format/events.def"
};
#undef F

#define D(type, field, doc) {#field, FIELD_##type, offsetof(HERE, field), doc},
#define DEF(number, name_, fields_, doc)                                                           \
    static const struct field *def_fields_##name_(void)                                            \
    {                                                                                              \
        typedef struct def_##name_ HERE;                                                           \
        static const struct field fields[] = {fields_{0}};                                         \
        return fields;                                                                             \
    }
#include "format/events.def"
#undef D

#define D(type, field, doc) +1
#define DEF(number, name_, fields_, doc_)                                                          \
    [number] = {#name_, doc_, 0, 0, (0 fields_), def_fields_##name_},
const struct kind_info def_kinds[DEF_LIMIT] = {
#include "format/events.def"
};
#undef D

enum { GROUP_OFF, GROUP_ON };
const struct group_info event_groups[GROUP_LIMIT] = {
#define GROUP(name, word, state, summary) {word, summary, GROUP_##state},
#include "format/events.def"
};

const char *const event_group_names[GROUP_LIMIT] = {
#define GROUP(name, word, state, summary)                                                          \
    [GROUP_##name ? GROUP_##name - 1 : GROUP_LIMIT - 1] = GROUP_##name ? word : NULL,
#include "format/events.def"
};

const struct loss_info loss_causes[LOSS_LIMIT] = {
    {"unknown", "cause unknown: the imported file has only their number", LOSS_OF_EVENT},
#define LOSS(number, name, what, doc) [number] = {#name, doc, LOSS_OF_##what},
#include "format/events.def"
};

const struct io_kind_info io_kinds[IO_KINDS] = {
    [IO_KIND_none] = {"?", "unknown"},
#define IO(number, name, doc) [number] = {#name, doc},
#include "format/events.def"
};

const struct sample_error_info sample_errors[SAMPLE_ERRORS] = {
#define SAMPLE_ERROR(number, name, doc) [number] = {#name, doc},
#include "format/events.def"
    [SAMPLE_ERROR_UNKNOWN] = {"unknown", "an error that this Orca does not know"},
};

const char *const executed_names[EXECUTED_LIMIT] = {
    [EXECUTED_UNKNOWN] = "unknown", [EXECUTED_INTERPRETED] = "interpreted",
    [EXECUTED_C1] = "C1",           [EXECUTED_C2] = "C2",
    [EXECUTED_INLINED] = "inlined", [EXECUTED_NATIVE_METHOD] = "native method",
    [EXECUTED_STUB] = "stub",       [EXECUTED_NATIVE_CODE] = "native code",
    [EXECUTED_KERNEL] = "kernel",
};

enum { LEVEL_C2 = 4 };

enum executed executed_of(uint8_t kind)
{
    static const uint8_t as[] = {
        [FRAMEKIND_INTERPRETED] = EXECUTED_INTERPRETED,     [FRAMEKIND_INLINED] = EXECUTED_INLINED,
        [FRAMEKIND_NATIVE_METHOD] = EXECUTED_NATIVE_METHOD, [FRAMEKIND_STUB] = EXECUTED_STUB,
        [FRAMEKIND_NATIVE_CODE] = EXECUTED_NATIVE_CODE,     [FRAMEKIND_KERNEL] = EXECUTED_KERNEL,
    };
    unsigned what = kind & (FRAMEKIND_NEAR - 1);
    if (what == FRAMEKIND_COMPILED)
        return kind >> FRAMEKIND_LEVEL_SHIFT >= LEVEL_C2 ? EXECUTED_C2 : EXECUTED_C1;
    return what < ARRAY_LEN(as) ? (enum executed)as[what] : EXECUTED_UNKNOWN;
}

static int same(const char *a, const char *b, size_t len)
{
    return strlen(a) == len && memcmp(a, b, len) == 0;
}

int event_kind_find(const char *name, size_t len)
{
    for (int i = 0; i < EV_LIMIT; i++)
        if (event_kinds[i].name && same(event_kinds[i].name, name, len))
            return i;
    return -1;
}

int event_group_find(const char *name, size_t len)
{
    for (int i = 0; i < GROUP_LIMIT; i++)
        if (same(event_groups[i].name, name, len))
            return i;
    return -1;
}

uint64_t field_get(const struct field *f, const void *base)
{
    const char *p = (const char *)base + f->offset;
    switch (f->type) {
    case FIELD_u64:
    case FIELD_i64:
    case FIELD_time: {
        uint64_t v;
        memcpy(&v, p, sizeof v);
        return v;
    }
    case FIELD_thread:
    case FIELD_lock:
    case FIELD_class:
    case FIELD_method:
    case FIELD_stack:
    case FIELD_call:
    case FIELD_module:
    case FIELD_gc_name:
    case FIELD_u32:
    case FIELD_kind:
    case FIELD_cause: {
        uint32_t v;
        memcpy(&v, p, sizeof v);
        return v;
    }
    case FIELD_str:
    case FIELD_lines:
    case FIELD_frames:
        break;
    }
    return 0;
}

/* Whether a list of groups, joined by '+', names one. */
static bool lists(const char *groups, const char *name)
{
    for (const char *p = groups; *p; p += p[0] == '+') {
        size_t n = strcspn(p, "+");
        if (same(name, p, n))
            return true;
        p += n;
    }
    return false;
}

bool event_groups_list(const char *groups, enum event_group g)
{
    return lists(groups, event_groups[g].name);
}

bool event_joins_have_waits(const char *groups, const char *include, const char *exclude)
{
    return event_groups_list(groups, GROUP_waits) && !*include && !*exclude;
}
