#include "agent/methods.h"

#include "agent/jvm_text.h"
#include "agent/locks.h"
#include "agent/moves.h"
#include "agent/natives.h"
#include "record/way.h"

#include <stdlib.h>
#include <string.h>

/* NAMED_ONLY, in by_address: the method was met by its text only, so that its class is known by
 * name and not as itself. */
enum { METHODS_MAX = 1 << 20, NAMED_ONLY = 1 << 30 };

static struct {
    struct way by_jmethod, by_address, by_text;
    _Atomic uint32_t last;
} methods;

int methods_init(struct err *err)
{
    atomic_store_explicit(&methods.last, 0, memory_order_relaxed); /* no other thread yet */
    if (way_init(&methods.by_jmethod, METHODS_MAX) < 0 ||
        way_init(&methods.by_address, METHODS_MAX) < 0 ||
        way_init(&methods.by_text, METHODS_MAX) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    return 0;
}

void methods_fini(void)
{
    way_fini(&methods.by_jmethod);
    way_fini(&methods.by_address);
    way_fini(&methods.by_text);
}

/* By id: the jmethodID that it belongs to, so that of methods which read the same, of several
 * generations of a class, each gets an id of its own; NULL: it was met by its text only. */
static _Atomic(jmethodID) owners[METHODS_MAX + 1];

/* relaxed, all of them: which id a text leads to is a matter of the definitions alone */
static void set_owner(uint32_t id, jmethodID method)
{
    if (id <= METHODS_MAX)
        atomic_store_explicit(&owners[id], method, memory_order_relaxed);
}

static bool may_be(uint32_t id, jmethodID method)
{
    jmethodID owner =
        id <= METHODS_MAX ? atomic_load_explicit(&owners[id], memory_order_relaxed) : NULL;
    return !owner || owner == method;
}

/* By id: the class of a constructor, or TELLS. */
enum { TELLS = UINT32_MAX };
static _Atomic uint32_t parts[METHODS_MAX + 1];

static void note_part(uint32_t id, const char *name, jclass c, class_id class_)
{
    char *signature = NULL;
    if (id > METHODS_MAX ||
        (*agent.jvmti)->GetClassSignature(agent.jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE)
        return;
    uint32_t part = strcmp(signature, "Ljava/lang/OrcaHeap;") == 0 ? TELLS
                    : strcmp(name, "<init>") == 0                  ? class_.v
                                                                   : 0;
    /* relaxed: the id itself is passed on with more than that */
    atomic_store_explicit(&parts[id], part, memory_order_relaxed);
    jvmti_free(signature);
}

struct method_part methods_part(method_id id)
{
    uint32_t part =
        id.v <= METHODS_MAX ? atomic_load_explicit(&parts[id.v], memory_order_relaxed) : 0;
    return part == TELLS ? (struct method_part){.tells = true}
                         : (struct method_part){.class_ = {part}};
}

static uint32_t new_id(jmethodID owner)
{
    uint32_t id = atomic_fetch_add_explicit(&methods.last, 1, memory_order_relaxed) + 1;
    set_owner(id, owner);
    return id;
}

static struct hash128 text_key(const struct method_text *t)
{
    return (struct hash128){t->key.lo, t->key.hi};
}

static struct hash128 address_key(uintptr_t method, uint64_t stamp)
{
    return (struct hash128){hash_u64(stamp ^ method), method};
}

/* The line table, packed; its bytes are in `b`. */
static struct packed line_table(jmethodID method, struct buf *b)
{
    jint n = 0;
    jvmtiLineNumberEntry *lines = NULL;
    if ((*agent.jvmti)->GetLineNumberTable(agent.jvmti, method, &n, &lines) != JVMTI_ERROR_NONE)
        return (struct packed){0};
    uint32_t bci = 0, line = 0;
    for (jint i = 0; i < n; i++) {
        uint32_t at = (uint32_t)lines[i].start_location, number = (uint32_t)lines[i].line_number;
        packed_put_line(b, at, number, bci, line);
        bci = at;
        line = number;
    }
    jvmti_free(lines);
    return b->oom ? (struct packed){0} : (struct packed){b->p, b->len, (uint32_t)n};
}

/* --- by address ------------------------------------------------------------------------------- */

uint32_t methods_known(uintptr_t method, uint64_t stamp)
{
    return way_find(&methods.by_address, address_key(method, stamp)) & ~(uint32_t)NAMED_ONLY;
}

uint32_t methods_known_whole(uintptr_t method, uint64_t stamp)
{
    uint32_t id = way_find(&methods.by_address, address_key(method, stamp));
    return id & NAMED_ONLY ? 0 : id;
}

static struct str str_of(const char *p, size_t n, struct buf *b)
{
    buf_clear(b);
    buf_put(b, p, n);
    buf_putc(b, 0);
    if (b->oom)
        return (struct str){"?", 1};
    return (struct str){(char *)b->p, mutf8_to_utf8((char *)b->p)};
}

static struct packed lines_of_text(const struct walker *w, const struct method_text *t,
                                   struct buf *b)
{
    struct method_lines l = {0};
    uint32_t bci = 0, line = 0, n = 0;
    while (method_lines_next(w, t, &l)) {
        packed_put_line(b, (uint32_t)l.bci, (uint32_t)l.line, bci, line);
        bci = (uint32_t)l.bci;
        line = (uint32_t)l.line;
        n++;
    }
    return b->oom ? (struct packed){0} : (struct packed){b->p, b->len, n};
}

/* A method of which the text is known; its class, unless that is known by its name only. */
struct text_job {
    const struct walker *walker;
    const struct method_text *text;
    jmethodID owner;
    class_id class_;
};

static bool define_text(uint32_t id, const struct text_job *job)
{
    const struct method_text *t = job->text;
    struct buf class, source, name, signature, lines, moved;
    buf_init(&class);
    buf_init(&source);
    buf_init(&name);
    buf_init(&signature);
    buf_init(&lines);
    buf_init(&moved);
    struct str class_name = str_of(t->class_name, t->class_name_len, &class);
    struct str file = str_of(t->source, t->source_len, &source);
    struct def d = {
        .kind = DEF_method,
        .method = {.id = {id},
                   .class_ = job->class_.v ? job->class_ : classes_id_of_name(class_name.p, file),
                   .name = str_of(t->name, t->name_len, &name),
                   .signature = str_of(t->signature, t->signature_len, &signature),
                   .flags = t->access,
                   .lines = lines_of_text(job->walker, t, &lines),
                   .moved = moves_of((struct str){t->class_name, t->class_name_len},
                                     (struct str){t->name, t->name_len},
                                     (struct str){t->signature, t->signature_len}, t->code_size,
                                     &moved)}};
    bool ok = recorder_define(agent.rec, &d);
    buf_fini(&class);
    buf_fini(&source);
    buf_fini(&name);
    buf_fini(&signature);
    buf_fini(&lines);
    buf_fini(&moved);
    return ok;
}

/* The id of the text, defined when it is new: under the text's own lock, so that it is seen by
 * nobody before. */
static bool define_new_text(void *arg, uint32_t number)
{
    struct text_job *job = arg;
    uint32_t id = new_id(job->owner);
    way_give(&methods.by_text, number, id);
    return define_text(id, job);
}

static uint32_t id_of_text(struct text_job *job)
{
    uint32_t id = way_get(&methods.by_text, text_key(job->text), define_new_text, job);
    if (!job->owner || may_be(id, job->owner))
        return id;
    id = new_id(job->owner);
    way_set(&methods.by_text, text_key(job->text), id);
    return define_text(id, job) ? id : 0;
}

method_id methods_id_of_text(uintptr_t method, uint64_t stamp, const struct walker *w,
                             const struct method_text *text)
{
    uint32_t id = id_of_text(&(struct text_job){.walker = w, .text = text});
    if (id)
        way_put(&methods.by_address, address_key(method, stamp), id | NAMED_ONLY);
    return (method_id){id};
}

static bool define_stub(void *arg, uint32_t number)
{
    const char *name = arg;
    uint32_t id = new_id(NULL);
    struct def d = {.kind = DEF_method,
                    .method = {.id = {id}, .name = {name, strlen(name)}, .flags = METHOD_STUB}};
    way_give(&methods.by_text, number, id);
    return recorder_define(agent.rec, &d);
}

method_id methods_id_of_stub(const char *name)
{
    struct hash128 key = hash_bytes128(name, strlen(name));
    return (method_id){way_get(&methods.by_text, key, define_stub, (void *)(uintptr_t)name)};
}

struct place {
    module_id module;
    uint64_t address;
};

static bool define_place(void *arg, uint32_t number)
{
    const struct place *p = arg;
    uint32_t id = new_id(NULL);
    struct def d = {
        .kind = DEF_method,
        .method = {
            .id = {id}, .flags = METHOD_NATIVE_CODE, .module = p->module, .address = p->address}};
    way_give(&methods.by_text, number, id);
    return recorder_define(agent.rec, &d);
}

method_id methods_id_of_place(module_id module, uint64_t address)
{
    struct place p = {module, address};
    struct hash128 key = {hash_u64(address), hash_u64(~(uint64_t)module.v)};
    return (method_id){way_get(&methods.by_text, key, define_place, &p)};
}

/* --- by jmethodID ----------------------------------------------------------------------------- */

struct job {
    JNIEnv *jni;
    jmethodID method;
};

/* A method by address and text; the text's bytes are in `own` or, when there are more, in
 * `more`. */
struct seen {
    uintptr_t method;
    struct method_text text;
    char *more;
    char own[4096];
};

static bool describe(uintptr_t method, struct seen *s)
{
    enum { MORE_BYTES = 1 << 20 }; /* four names of 64 KiB, and the lines */
    s->method = method;
    s->more = NULL;
    int rc = agent.walker && method
                 ? method_describe(agent.walker, method, s->own, sizeof s->own, &s->text)
                 : -ENOTSUP;
    if (rc == -ENOSPC && (s->more = malloc(MORE_BYTES)) != NULL)
        rc = method_describe(agent.walker, method, s->more, MORE_BYTES, &s->text);
    return rc == 0;
}

/* Of a version, as the class file has its code; code_size 0: it is asked for. */
static struct packed moves_of_jmethod(jmethodID method, jclass c, const char *name,
                                      const char *desc, uint32_t code_size, struct buf *b)
{
    jvmtiEnv *ti = agent.jvmti;
    char *signature = NULL;
    jlong first = 0, last = -1;
    struct packed out = {0};
    if (!code_size && (*ti)->GetMethodLocation(ti, method, &first, &last) == JVMTI_ERROR_NONE)
        code_size = (uint32_t)(last + 1);
    if ((*ti)->GetClassSignature(ti, c, &signature, NULL) != JVMTI_ERROR_NONE)
        return out;
    size_t len = strlen(signature);
    if (code_size && len > 2)
        out = moves_of((struct str){signature + 1, len - 2}, (struct str){name, strlen(name)},
                       (struct str){desc, strlen(desc)}, code_size, b);
    jvmti_free(signature);
    return out;
}

/* code_size: of this version; 0: not known. */
static bool define_jmethod(struct job *job, uint32_t id, uint32_t code_size)
{
    jvmtiEnv *ti = agent.jvmti;
    jclass c = NULL;
    char *name = NULL, *signature = NULL;
    jint flags = 0;
    struct buf lines, moved;
    bool ok = false;
    buf_init(&lines);
    buf_init(&moved);
    if ((*ti)->GetMethodName(ti, job->method, &name, &signature, NULL) == JVMTI_ERROR_NONE &&
        (*ti)->GetMethodDeclaringClass(ti, job->method, &c) == JVMTI_ERROR_NONE) {
        (*ti)->GetMethodModifiers(ti, job->method, &flags);
        struct packed moves = moves_of_jmethod(job->method, c, name, signature, code_size, &moved);
        struct def d = {.kind = DEF_method,
                        .method = {.id = {id},
                                   .class_ = classes_id(job->jni, c),
                                   .name = {name, mutf8_to_utf8(name)},
                                   .signature = {signature, mutf8_to_utf8(signature)},
                                   .flags = (uint32_t)flags & 0xffff,
                                   .lines = line_table(job->method, &lines),
                                   .moved = moves}};
        note_part(id, name, c, d.method.class_);
        ok = recorder_define(agent.rec, &d);
        (*job->jni)->DeleteLocalRef(job->jni, c);
    }
    buf_fini(&lines);
    buf_fini(&moved);
    jvmti_free(name);
    jvmti_free(signature);
    return ok;
}

/* One that was met by its text keeps that id, and is defined again, with its own class; unless a
 * method of an earlier generation of the class has the text and the id. */
static bool define(void *arg, uint32_t number)
{
    struct job *job = arg;
    struct seen s;
    bool seen = describe(natives_method(job->method), &s);
    uint32_t id = seen ? way_find(&methods.by_text, text_key(&s.text)) : 0;
    if (!id || !may_be(id, job->method))
        id = new_id(job->method);
    bool ok = define_jmethod(job, id, seen ? s.text.code_size : 0);
    if (ok)
        set_owner(id, job->method);
    if (ok && seen) {
        way_set(&methods.by_text, text_key(&s.text), id);
        way_set(&methods.by_address, address_key(s.method, s.text.stamp), id);
    }
    if (ok)
        way_give(&methods.by_jmethod, number, id);
    free(s.more);
    return ok;
}

method_id methods_id(JNIEnv *jni, jmethodID method)
{
    struct job job = {jni, method};
    /* A method that was rewritten keeps its jmethodID and gets other lines: HotSpot's Method is a
     * new one. */
    struct hash128 key = {hash_u64(natives_method(method) ^ (uintptr_t)method), (uintptr_t)method};
    return (method_id){way_get(&methods.by_jmethod, key, define, &job)};
}

bool methods_newest(JNIEnv *jni, method_id id, jmethodID *method, uintptr_t *version)
{
    *method =
        id.v <= METHODS_MAX ? atomic_load_explicit(&owners[id.v], memory_order_relaxed) : NULL;
    *version = *method ? natives_method(*method) : 0;
    return *version && methods_id(jni, *method).v == id.v;
}

/* --- by both ---------------------------------------------------------------------------------- */

/* Known by its own text: a version of a method that goes on after a newer one has its jmethodID. */
static uint32_t id_of_version(JNIEnv *jni, jmethodID newest, uintptr_t method)
{
    struct seen s;
    jclass c = NULL;
    uint32_t id = 0;
    if (describe(method, &s)) {
        struct text_job job = {.walker = agent.walker, .text = &s.text, .owner = newest};
        if ((*agent.jvmti)->GetMethodDeclaringClass(agent.jvmti, newest, &c) == JVMTI_ERROR_NONE) {
            job.class_ = classes_id(jni, c);
            (*jni)->DeleteLocalRef(jni, c);
        }
        id = id_of_text(&job);
    }
    free(s.more);
    return id;
}

method_id methods_id_of_frame(JNIEnv *jni, jmethodID jmethod, uintptr_t method, uint64_t stamp)
{
    uint32_t id = natives_method(jmethod) == method ? methods_id(jni, jmethod).v
                                                    : id_of_version(jni, jmethod, method);
    if (id)
        way_set(&methods.by_address, address_key(method, stamp), id);
    return (method_id){id};
}

bool methods_is_version(jmethodID jmethod, uintptr_t method)
{
    struct seen a, b;
    uintptr_t newest = natives_method(jmethod);
    if (newest == method)
        return true;
    bool same = describe(newest, &a);
    same = describe(method, &b) && same && a.text.loader == b.text.loader &&
           a.text.class_name_len == b.text.class_name_len && a.text.name_len == b.text.name_len &&
           a.text.signature_len == b.text.signature_len &&
           memcmp(a.text.class_name, b.text.class_name, a.text.class_name_len) == 0 &&
           memcmp(a.text.name, b.text.name, a.text.name_len) == 0 &&
           memcmp(a.text.signature, b.text.signature, a.text.signature_len) == 0;
    free(a.more);
    free(b.more);
    return same;
}
