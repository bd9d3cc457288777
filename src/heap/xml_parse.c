/* xml_parse.c - TPTP's elements of a heap dump, as facts.
 *
 * An element with missing or unreadable attributes is left out, and reported with its line.
 * Reading ends where the file is not XML; what came before is used. */
#include "base/fdio.h"
#include "base/hash.h"
#include "base/util.h"
#include "heap/xml_parts.h"

#include <expat.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    READ = 256 << 10,
    ELEMENT_MAX = 4 << 20, /* bytes of a tag */
    DEPTH_MAX = 32,
    STRANGERS_MAX = 4096, /* names that are none of ours: expat keeps each */
    NAME_MAX_BYTES = 65535,
};

struct parse {
    struct xml_facts *f;
    XML_Parser parser;
    uint32_t depth;
    struct map strangers; /* hashes of names */
    const char *refused;  /* why the reading ends here; NULL */
    int rc;
};

/* --- names and problems ----------------------------------------------------------------------- */

uint32_t xml_name(struct xml_facts *f, const char *text)
{
    size_t n = strnlen(text, NAME_MAX_BYTES);
    for (uint64_t hash = hash_place(text, n, 0);; hash++) {
        uint64_t *known = map_put(&f->name_of, hash);
        if (!known)
            return UINT32_MAX;
        if (*known) {
            const char *other = XML_VEC(f->names, const char *)[*known - 1];
            if (strlen(other) == n && memcmp(other, text, n) == 0)
                return (uint32_t)*known - 1;
            continue;
        }
        const char *copy = arena_strndup(&f->arena, text, n);
        buf_put(&f->names, &copy, sizeof copy);
        if (!copy || f->names.oom)
            return UINT32_MAX;
        *known = XML_LEN(f->names, const char *);
        return (uint32_t)*known - 1;
    }
}

static void say(struct xml_problem *p, uint64_t offset, uint64_t line, const char *fmt, va_list ap)
{
    int n = line ? snprintf(p->text, sizeof p->text, "line %" PRIu64 ": ", line) : 0;
    p->offset = offset;
    p->line = line;
    vsnprintf(p->text + n, sizeof p->text - (size_t)n, fmt, ap);
}

void xml_problem_at(struct xml_facts *f, uint64_t offset, uint64_t line, const char *fmt, ...)
{
    va_list ap;
    if (f->out->n_problems++ >= XML_PROBLEMS)
        return;
    va_start(ap, fmt);
    say(&f->out->problems[f->out->n_problems - 1], offset, line, fmt, ap);
    va_end(ap);
}

static uint64_t offset_of(const struct parse *p)
{
    XML_Index at = XML_GetCurrentByteIndex(p->parser);
    return at > 0 ? (uint64_t)at : 0;
}

/* An element that is left out. */
#define LEAVE_OUT(p, ...)                                                                          \
    xml_problem_at((p)->f, offset_of(p), XML_GetCurrentLineNumber((p)->parser), __VA_ARGS__)

/* --- attributes ------------------------------------------------------------------------------- */

enum attr {
    AT_CLASS_ID,
    AT_CLASS_ID_REF,
    AT_FIELD_NAME,
    AT_FRAME,
    AT_INDEX,
    AT_IS_ARRAY,
    AT_NAME,
    AT_OBJ_ID,
    AT_OBJ_ID_REF,
    AT_SIZE,
    AT_SRC,
    AT_TARGET,
    AT_THREAD_ID,
    AT_THREAD_ID_REF,
    AT_THREAD_NAME,
    AT_TIME,
    AT_TYPE,
    ATTRS
};

/* transient ones stand in where the plain ones are missing. */
static const struct {
    const char *name;
    enum attr attr;
    bool instead;
} words[] = {
    {"classId", AT_CLASS_ID, false},
    {"classIdRef", AT_CLASS_ID_REF, false},
    {"fieldName", AT_FIELD_NAME, false},
    {"frame", AT_FRAME, false},
    {"index", AT_INDEX, false},
    {"isArray", AT_IS_ARRAY, false},
    {"name", AT_NAME, false},
    {"objId", AT_OBJ_ID, false},
    {"objIdRef", AT_OBJ_ID_REF, false},
    {"size", AT_SIZE, false},
    {"srcIdRef", AT_SRC, false},
    {"targetIdRef", AT_TARGET, false},
    {"threadId", AT_THREAD_ID, false},
    {"threadIdRef", AT_THREAD_ID_REF, false},
    {"threadName", AT_THREAD_NAME, false},
    {"time", AT_TIME, false},
    {"type", AT_TYPE, false},
    {"transientClassId", AT_CLASS_ID, true},
    {"transientClassIdRef", AT_CLASS_ID_REF, true},
    {"transientObjId", AT_OBJ_ID, true},
    {"transientObjIdRef", AT_OBJ_ID_REF, true},
    {"transientThreadId", AT_THREAD_ID, true},
    {"transientThreadIdRef", AT_THREAD_ID_REF, true},
    {"objIdRef", AT_SRC, true},          /* of an objReference whose source has no srcIdRef */
    {"targetObjIdRef", AT_TARGET, true}, /* and so on */
};

static void meet_stranger(struct parse *p, const char *name)
{
    if (!map_put(&p->strangers, hash_place(name, strlen(name), 1)))
        p->rc = -ENOMEM;
    if (p->strangers.len > STRANGERS_MAX)
        p->refused = "too many different names that TPTP does not have";
}

static void sort_attrs(struct parse *p, const char *const *attrs, const char *at[ATTRS])
{
    memset(at, 0, ATTRS * sizeof *at);
    for (; *attrs; attrs += 2) {
        bool known = false;
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
            if (words[i].name[0] == attrs[0][0] && strcmp(words[i].name, attrs[0]) == 0) {
                known = true;
                if (!words[i].instead || !at[words[i].attr])
                    at[words[i].attr] = attrs[1];
            }
        if (!known)
            meet_stranger(p, attrs[0]);
    }
}

/* Whole numbers; 0 and -1 are not ids. */
static bool number(const char *text, uint64_t *out)
{
    *out = 0;
    if (!text || !*text)
        return false;
    for (; *text; text++)
        if (*text < '0' || *text > '9' || __builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, (uint64_t)(*text - '0'), out))
            return false;
    return *out < INT64_MAX;
}

static bool id(const char *text, uint64_t *out)
{
    return number(text, out) && *out > 0;
}

static const char *shown(const char *text)
{
    return text ? text : "nothing";
}

/* --- elements --------------------------------------------------------------------------------- */

/* "1732315954.123456789" */
static void dump_def(struct parse *p, const char *at[ATTRS])
{
    uint64_t seconds = at[AT_TIME] ? strtoull(at[AT_TIME], NULL, 10) : 0;
    const char *dot = at[AT_TIME] ? strchr(at[AT_TIME], '.') : NULL;
    uint64_t ms = 0;
    for (int i = 1; i <= 3; i++) {
        bool digit = dot && dot[i] >= '0' && dot[i] <= '9';
        ms = 10 * ms + (digit ? (uint64_t)(dot[i] - '0') : 0);
        dot = digit ? dot : NULL;
    }
    if (seconds < UINT32_MAX)
        p->f->time_ms = seconds * 1000 + ms;
}

static void thread_start(struct parse *p, const char *at[ATTRS])
{
    struct xml_thread t = {.name = xml_name(p->f, at[AT_THREAD_NAME] ? at[AT_THREAD_NAME] : "")};
    if (!number(at[AT_THREAD_ID], &t.id))
        return;
    if (!id(at[AT_OBJ_ID_REF], &t.object))
        t.object = 0;
    buf_put(&p->f->threads, &t, sizeof t);
}

/* The name as HPROF has it: a hidden class has an address behind a '+', in JVMTI's signature
 * '.'. */
static uint32_t class_name(struct xml_facts *f, const char *text)
{
    const char *hidden = strstr(text, ".0x");
    char *own = hidden ? arena_strndup(&f->arena, text, strlen(text)) : NULL;
    if (!own)
        return xml_name(f, text);
    own[hidden - text] = '+';
    return xml_name(f, own);
}

static void class_def(struct parse *p, const char *at[ATTRS])
{
    struct xml_facts *f = p->f;
    struct xml_class c = {.super = DUMP_NONE};
    if (!id(at[AT_CLASS_ID], &c.id) || !at[AT_NAME]) {
        LEAVE_OUT(p, "a classDef with the classId %.40s is left out", shown(at[AT_CLASS_ID]));
        return;
    }
    if (!id(at[AT_OBJ_ID], &c.object) && !id(at[AT_OBJ_ID_REF], &c.object))
        c.object = UINT64_C(1) << 63 | c.id;
    uint64_t *by_id = map_put(&f->class_by_id, c.id), *by_object;
    if (by_id && *by_id)
        return; /* once more, as where a trace names it in front of an allocation */
    if (!by_id || !(by_object = map_put(&f->class_by_object, c.object))) {
        p->rc = -ENOMEM;
        return;
    }
    if (*by_object) {
        LEAVE_OUT(p, "a second class of the object %" PRIu64 " is left out", c.object);
        map_remove(&f->class_by_id, c.id);
        return;
    }
    c.name = class_name(f, at[AT_NAME]);
    buf_put(&f->classes, &c, sizeof c);
    *by_object = XML_LEN(f->classes, struct xml_class);
    *map_put(&f->class_by_id, c.id) = *by_object;
}

/* What an object is, where isArray does not say it. */
static uint8_t kind_by_name(const char *name)
{
    static const char primitives[] = "ZCFDBSIJ";
    if (name[0] != '[')
        return 0;
    const char *at = name[1] ? strchr(primitives, name[1]) : NULL;
    return at ? (uint8_t)(HPROF_BOOLEAN + (at - primitives)) : HPROF_OBJECT;
}

static void obj_def(struct parse *p, const char *at[ATTRS])
{
    struct xml_facts *f = p->f;
    struct xml_object o = {.class_number = DUMP_NONE};
    uint64_t v;
    f->seen = true;
    if (!id(at[AT_OBJ_ID], &o.id)) {
        LEAVE_OUT(p, "an objDef with the objId %.40s is left out", shown(at[AT_OBJ_ID]));
        return;
    }
    uint64_t *number_of = id(at[AT_CLASS_ID_REF], &v) ? map_find(&f->class_by_id, v) : NULL;
    if (number_of) {
        o.class_number = (uint32_t)*number_of - 1;
        uint32_t name = XML_VEC(f->classes, struct xml_class)[o.class_number].name;
        o.kind = kind_by_name(XML_VEC(f->names, const char *)[name]);
    }
    if (number(at[AT_IS_ARRAY], &v))
        o.kind = v == HPROF_OBJECT || (v >= HPROF_BOOLEAN && v <= HPROF_LONG) ? (uint8_t)v : 0;
    if (!number(at[AT_SIZE], &o.size) || o.size > UINT64_C(8) * UINT32_MAX)
        o.size = 0;
    int rc = ids_add(&f->ids, o.id);
    p->rc = p->rc ? p->rc : rc;
    xml_tape_put(&f->objects, &o, sizeof o);
}

static uint8_t root_kind(const char *type)
{
    static const struct {
        const char *word;
        uint8_t kind;
    } kinds[] = {
        {"JNI_GLOBAL", HPROF_ROOT_JNI_GLOBAL},     {"JNI_LOCAL", HPROF_ROOT_JNI_LOCAL},
        {"JAVA_FRAME", HPROF_ROOT_JAVA_FRAME},     {"NATIVE_STACK", HPROF_ROOT_NATIVE_STACK},
        {"STICKY_CLASS", HPROF_ROOT_STICKY_CLASS}, {"THREAD_BLOCK", HPROF_ROOT_THREAD_BLOCK},
        {"MONITOR_USED", HPROF_ROOT_MONITOR_USED}, {"THREAD_OBJ", HPROF_ROOT_THREAD_OBJ},
    };
    for (size_t i = 0; type && i < ARRAY_LEN(kinds); i++)
        if (strcmp(kinds[i].word, type) == 0)
            return kinds[i].kind;
    return HPROF_ROOT_UNKNOWN;
}

static void gc_root(struct parse *p, const char *at[ATTRS])
{
    struct xml_root r = {.kind = root_kind(at[AT_TYPE])};
    uint64_t frame;
    p->f->seen = true;
    if (!id(at[AT_OBJ_ID_REF], &r.object)) {
        LEAVE_OUT(p, "a gcRoot with the objIdRef %.40s is left out", shown(at[AT_OBJ_ID_REF]));
        return;
    }
    if (!number(at[AT_THREAD_ID_REF], &r.thread))
        r.thread = UINT64_MAX;
    r.depth = number(at[AT_FRAME], &frame) && frame < UINT32_MAX ? (uint32_t)frame : UINT32_MAX;
    buf_put(&p->f->roots, &r, sizeof r);
}

static const struct ref_word {
    const char *word, *name; /* what a reference without a name of its own is called by */
} ref_words[XML_REF_KINDS] = {
    [XML_FIELD] = {"FIELD", "(no name)"},
    [XML_STATIC_FIELD] = {"STATIC_FIELD", "(no name)"},
    [XML_ARRAY_ELEMENT] = {"ARRAY_ELEMENT", "(element)"},
    [XML_CLASS_LOADER] = {"CLASS_LOADER", "(class loader)"},
    [XML_SIGNERS] = {"SIGNERS", "(signers)"},
    [XML_PROTECTION_DOMAIN] = {"PROTECTION_DOMAIN", "(protection domain)"},
    [XML_INTERFACE] = {"INTERFACE", "(interface)"},
    [XML_CONSTANT_POOL] = {"CONSTANT_POOL", "(constant pool)"},
    [XML_SUPERCLASS] = {"SUPERCLASS", "(super class)"},
    [XML_OTHER] = {"", "(reference)"},
};

static uint8_t ref_kind(const char *type)
{
    uint8_t kind = 0;
    while (kind < XML_OTHER && (!type || strcmp(ref_words[kind].word, type) != 0))
        kind++;
    return kind;
}

static void obj_reference(struct parse *p, const char *at[ATTRS])
{
    struct xml_ref r = {.kind = ref_kind(at[AT_TYPE])};
    uint64_t index;
    p->f->seen = true;
    if (!id(at[AT_SRC], &r.from) || !id(at[AT_TARGET], &r.to)) {
        LEAVE_OUT(p, "an objReference from %.40s to %.40s is left out", shown(at[AT_SRC]),
                  shown(at[AT_TARGET]));
        return;
    }
    r.name = xml_name(p->f, at[AT_FIELD_NAME] ? at[AT_FIELD_NAME] : ref_words[r.kind].name);
    r.index = number(at[AT_INDEX], &index) && index < INT32_MAX ? (uint32_t)index : UINT32_MAX;
    xml_tape_put(&p->f->refs, &r, sizeof r);
}

static const struct {
    const char *name;
    void (*take)(struct parse *p, const char *at[ATTRS]);
} elements[] = {
    {"objReference", obj_reference},
    {"objectReference", obj_reference},
    {"objDef", obj_def},
    {"classDef", class_def},
    {"gcRoot", gc_root},
    {"threadStart", thread_start},
    {"heapDumpDef", dump_def},
};

static void XMLCALL begin(void *ctx, const XML_Char *name, const XML_Char **attrs)
{
    struct parse *p = ctx;
    const char *at[ATTRS];
    size_t i = 0;
    while (i < ARRAY_LEN(elements) && strcmp(elements[i].name, name) != 0)
        i++;
    if (++p->depth > DEPTH_MAX)
        p->refused = "elements are nested too deeply";
    if (i < ARRAY_LEN(elements)) {
        sort_attrs(p, attrs, at);
        elements[i].take(p, at);
    } else {
        meet_stranger(p, name);
    }
    const struct xml_facts *f = p->f;
    if (f->classes.oom || f->roots.oom || f->threads.oom || f->names.oom)
        p->rc = -ENOMEM;
    p->rc = p->rc ? p->rc : f->objects.rc ? f->objects.rc : f->refs.rc;
    if (p->rc || p->refused)
        XML_StopParser(p->parser, XML_FALSE);
}

static void XMLCALL end(void *ctx, const XML_Char *name)
{
    struct parse *p = ctx;
    UNUSED(name);
    p->depth--;
}

static void XMLCALL doctype(void *ctx, const XML_Char *name, const XML_Char *system,
                            const XML_Char *public, int has_subset)
{
    struct parse *p = ctx;
    UNUSED(name);
    UNUSED(system);
    UNUSED(public);
    if (!has_subset)
        return;
    p->refused = "a DOCTYPE that declares something: entities are never expanded";
    XML_StopParser(p->parser, XML_FALSE);
}

/* --- reading ---------------------------------------------------------------------------------- */

static void end_here(struct parse *p, const char *why)
{
    struct xml_dump *out = p->f->out;
    unsigned long line = XML_GetCurrentLineNumber(p->parser);
    out->cut = true;
    out->end = (struct xml_problem){.offset = offset_of(p), .line = line};
    snprintf(out->end.text, sizeof out->end.text, "line %lu, column %lu: %s: the rest is not read",
             line, (unsigned long)XML_GetCurrentColumnNumber(p->parser) + 1, why);
}

/* 1: go on, 0: the end, or what follows cannot be read. */
static int feed(struct parse *p, const char *bytes, size_t n, uint64_t fed)
{
    if (XML_Parse(p->parser, bytes, (int)n, n == 0) != XML_STATUS_OK) {
        if (p->rc)
            return p->rc;
        end_here(p, p->refused ? p->refused : XML_ErrorString(XML_GetErrorCode(p->parser)));
        return 0;
    }
    if (n && fed - offset_of(p) > ELEMENT_MAX) {
        end_here(p, "an element of more than 4 MiB");
        return 0;
    }
    return n > 0;
}

static int read_file(struct parse *p, int fd, xml_progress_fn progress, void *ctx)
{
    char *bytes = malloc(READ);
    uint64_t at = 0;
    int rc = bytes ? 1 : -ENOMEM;
    while (rc > 0) {
        ssize_t n = fdio_pread_some(fd, bytes, READ, at);
        at += n > 0 ? (uint64_t)n : 0;
        rc = n < 0 ? (int)n : feed(p, bytes, (size_t)n, at);
        if (progress)
            progress(ctx, at, p->f->file_size);
    }
    free(bytes);
    return rc;
}

int xml_parse(struct xml_facts *f, int fd, const char *path, xml_progress_fn progress, void *ctx,
              struct err *err)
{
    struct parse p = {.f = f, .parser = XML_ParserCreate(NULL)};
    if (!p.parser)
        return err_set(err, -ENOMEM, "%s: out of memory", path);
    map_init(&p.strangers);
    XML_SetUserData(p.parser, &p);
    XML_SetElementHandler(p.parser, begin, end);
    XML_SetStartDoctypeDeclHandler(p.parser, doctype);
    int rc = read_file(&p, fd, progress, ctx);
    XML_ParserFree(p.parser);
    map_fini(&p.strangers);
    if (rc == -ERANGE || rc == -ENOMEM)
        return err_set(err, rc, "%s: out of memory", path);
    if (rc < 0)
        return err_set(err, rc, "%s: %s", path, strerror(-rc));
    if (!f->seen && f->out->cut)
        return err_set(err, -EINVAL, "%s: %s", path, f->out->end.text);
    if (!f->seen)
        return err_set(err, -EINVAL, "%s: it has no heap dump (no objDef, gcRoot or objReference)",
                       path);
    return 0;
}
