#include "import/trcxml_ids.h"

#include "base/hash.h"
#include "format/tptp_ids.h"

#include <stdlib.h>
#include <string.h>

/* Where the ids of locks begin that are Thread objects in our own files: below are those that the
 * other locks have there. */
enum { OWN_THREAD_LOCKS = 32768 };

void trcxml_ids_init(struct trcxml_ids *ids, struct intake *in)
{
    memset(ids, 0, sizeof *ids);
    ids->in = in;
    ids->base = TPTP_BASE_UNTOLD;
}

void trcxml_ids_fini(struct trcxml_ids *ids)
{
    map_fini(&ids->threads);
    map_fini(&ids->objects);
    buf_fini(&ids->states);
    free(ids->v);
    free(ids->free);
    memset(ids, 0, sizeof *ids);
}

void trcxml_ids_own(struct trcxml_ids *ids)
{
    if (!ids->own)
        ids->in->lock_ids.next = OWN_THREAD_LOCKS;
    ids->own = true;
}

static int out_of_memory(const struct trcxml_ids *ids, struct err *err)
{
    return err_set(err, -ENOMEM, "%s: out of memory", ids->in->name);
}

/* --- ids as they are written ------------------------------------------------------------------ */

/* A decimal number as a machine writes it: no sign, no zero in front, below 2^62. */
static bool is_number(const char *text, uint64_t *number)
{
    *number = 0;
    if (text[0] == '0' && text[1])
        return false;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (*number > (UINT64_C(1) << 62) / 10 - 1)
            return false;
        *number = *number * 10 + (uint64_t)(*text - '0');
    }
    return *text == 0;
}

struct trcxml_id trcxml_id_read(const char *text)
{
    struct trcxml_id id = {0};
    if (!text || !*text || strcmp(text, "-1") == 0)
        return id;
    if (is_number(text, &id.number)) {
        id.key = (id.number + 1) * 2;
        id.hash = (uint32_t)id.number;
        if (id.number <= UINT32_MAX)
            return id;
    } else {
        id.number = 0;
        id.key = hash_bytes(text, strlen(text), 0) | 1;
    }
    /* HotSpot's hashes are smaller. */
    id.hash = (uint32_t)hash_u64(id.key) | 0x80000000;
    return id;
}

static bool is_zero(struct trcxml_id id)
{
    return id.key == 2;
}

/* --- threads ---------------------------------------------------------------------------------- */

struct trcxml_thread *trcxml_ids_state(const struct trcxml_ids *ids, thread_id t)
{
    struct trcxml_thread *states = (void *)ids->states.p;
    size_t n = ids->states.len / sizeof *states;
    return t.v && t.v < n ? &states[t.v] : NULL;
}

static int new_thread(struct trcxml_ids *ids, uint64_t want, thread_id *t, struct err *err)
{
    TRY(intake_new_thread(ids->in, want, t, err));
    size_t need = ((size_t)t->v + 1) * sizeof(struct trcxml_thread), have = ids->states.len;
    if (need > have) {
        uint8_t *p = buf_reserve(&ids->states, need - have);
        if (!p)
            return out_of_memory(ids, err);
        memset(p, 0, need - have);
        ids->states.len = need;
    }
    ids->unstarted++;
    intake_get_thread(ids->in, *t)->undefined = ids->own;
    return 0;
}

/* Numbers of other writers are kept where they cost no memory. */
static uint64_t kept_number(const struct trcxml_ids *ids, struct trcxml_id id)
{
    return ids->own || id.number < trace_id_limit(0) ? id.number : 0;
}

int trcxml_ids_thread(struct trcxml_ids *ids, struct trcxml_id id, thread_id *t, struct err *err)
{
    const uint64_t *known = map_find(&ids->threads, id.key);
    t->v = known ? (uint32_t)*known : 0;
    if (known || id.key == 0 || is_zero(id))
        return 0;
    TRY(new_thread(ids, kept_number(ids, id), t, err));
    uint64_t *slot = map_put(&ids->threads, id.key);
    if (!slot)
        return out_of_memory(ids, err);
    *slot = t->v;
    return 0;
}

/* --- objects ---------------------------------------------------------------------------------- */

static struct trcxml_object *find_object(const struct trcxml_ids *ids, struct trcxml_id id)
{
    const uint64_t *slot = map_find(&ids->objects, id.key);
    return slot ? &ids->v[*slot - 1] : NULL;
}

static bool reserve_object(struct trcxml_ids *ids)
{
    if (ids->n_free || ids->n < ids->cap)
        return true;
    size_t cap = ids->cap ? 2 * ids->cap : 64;
    struct trcxml_object *v = realloc(ids->v, cap * sizeof *v);
    if (v)
        ids->v = v;
    uint32_t *list = v ? realloc(ids->free, cap * sizeof *list) : NULL;
    if (!list)
        return false;
    ids->free = list;
    ids->cap = cap;
    return true;
}

static void set_hash(struct trcxml_ids *ids, thread_id t, struct trcxml_id object)
{
    intake_get_thread(ids->in, t)->hash = object.hash;
}

/* Our own files tell a thread by its object's id. */
static bool is_own_thread(const struct trcxml_ids *ids, struct trcxml_id id)
{
    return ids->own && (id.number & 1) && id.number < ids->base;
}

static int make_thread(struct trcxml_ids *ids, struct trcxml_id id, thread_id *t, struct err *err)
{
    TRY(new_thread(ids, is_own_thread(ids, id) ? id.number / 2 : 0, t, err));
    set_hash(ids, *t, id);
    return 0;
}

/* The object of an id, made when it is new; none and "0" are NULL. */
static int get_object(struct trcxml_ids *ids, struct trcxml_id id, struct trcxml_object **o,
                      struct err *err)
{
    *o = id.key ? find_object(ids, id) : NULL;
    if (*o || id.key == 0 || is_zero(id))
        return 0;
    uint64_t *slot = reserve_object(ids) ? map_put(&ids->objects, id.key) : NULL;
    if (!slot)
        return out_of_memory(ids, err);
    size_t i = ids->n_free ? ids->free[--ids->n_free] : ids->n++;
    *slot = i + 1;
    *o = &ids->v[i];
    **o = (struct trcxml_object){.lock = {0}};
    return is_own_thread(ids, id) ? make_thread(ids, id, &(*o)->thread, err) : 0;
}

static void forget(struct trcxml_ids *ids, struct trcxml_id object)
{
    const uint64_t *slot = map_find(&ids->objects, object.key);
    if (!slot || is_own_thread(ids, object))
        return;
    ids->free[ids->n_free++] = (uint32_t)(*slot - 1);
    map_remove(&ids->objects, object.key);
}

static uint64_t number_of(const struct trcxml_ids *ids, struct trcxml_id object)
{
    return ids->own ? tptp_object_number(ids->base, object.number) : ids->n_heap;
}

int trcxml_ids_define(struct trcxml_ids *ids, struct trcxml_id object, class_id class_,
                      struct err *err)
{
    struct trcxml_object *o;
    TRY(get_object(ids, object, &o, err));
    if (o && class_.v)
        o->class_ = class_;
    return 0;
}

void trcxml_ids_forget(struct trcxml_ids *ids)
{
    map_fini(&ids->threads);
    map_fini(&ids->objects);
    map_init(&ids->threads);
    map_init(&ids->objects);
    ids->n = ids->n_free = 0;
}

/* In files of other writers it is a new one, whatever had the id. */
int trcxml_ids_alloc(struct trcxml_ids *ids, struct trcxml_id object, class_id class_,
                     struct trcxml_object **o, struct err *err)
{
    TRY(get_object(ids, object, o, err));
    if (!*o)
        return 0;
    if (!ids->own)
        **o = (struct trcxml_object){.lock = {0}};
    ids->n_heap++;
    (*o)->class_ = class_;
    (*o)->heap = (struct trcxml_heap){.number = number_of(ids, object)};
    return 0;
}

bool trcxml_ids_free(struct trcxml_ids *ids, struct trcxml_id object, struct trcxml_object *out)
{
    const struct trcxml_object *o = find_object(ids, object);
    *out = o ? *o : (struct trcxml_object){.lock = {0}};
    forget(ids, object);
    if (!out->heap.number && ids->own)
        out->heap.number = number_of(ids, object);
    return out->heap.number != 0;
}

int trcxml_ids_thread_object(struct trcxml_ids *ids, struct trcxml_id object, thread_id *t,
                             struct err *err)
{
    struct trcxml_object *o;
    t->v = 0;
    TRY(get_object(ids, object, &o, err));
    if (!o)
        return 0;
    if (o->thread.v == 0)
        TRY(make_thread(ids, object, &o->thread, err));
    *t = o->thread;
    return 0;
}

int trcxml_ids_known_thread(struct trcxml_ids *ids, struct trcxml_id object, thread_id *t,
                            struct err *err)
{
    if (is_own_thread(ids, object))
        return trcxml_ids_thread_object(ids, object, t, err);
    const struct trcxml_object *o = find_object(ids, object);
    *t = o ? o->thread : (thread_id){0};
    return 0;
}

/* Whether a threadStart is still to come. */
static bool is_unstarted(const struct trcxml_ids *ids, thread_id t)
{
    const struct trcxml_thread *s = trcxml_ids_state(ids, t);
    return s && !s->started;
}

int trcxml_ids_start(struct trcxml_ids *ids, struct trcxml_id id, struct trcxml_id object,
                     thread_id *t, bool *twice, struct err *err)
{
    struct trcxml_object *o;
    TRY(get_object(ids, object, &o, err));
    uint64_t *slot = map_put(&ids->threads, id.key);
    if (!slot)
        return out_of_memory(ids, err);
    thread_id last = {(uint32_t)*slot};
    bool again = last.v && !is_unstarted(ids, last);
    *twice = again && !ids->own && !trcxml_ids_state(ids, last)->ended;
    *t = last;
    if (last.v == 0 || (again && !ids->own)) {
        if (o && is_unstarted(ids, o->thread))
            *t = o->thread;
        else
            TRY(new_thread(ids, kept_number(ids, id), t, err));
    }
    *slot = t->v;
    if (o) {
        o->thread = *t;
        set_hash(ids, *t, object);
    }
    ids->unstarted -= is_unstarted(ids, *t);
    struct trcxml_thread *state = trcxml_ids_state(ids, *t);
    *state = (struct trcxml_thread){.started = true, .acted = state->acted};
    return 0;
}

/* The number that a lock has as an object; 0: none. */
static uint64_t heap_number(const struct trcxml_ids *ids, struct trcxml_id object,
                            const struct trcxml_object *o)
{
    bool is_heap = ids->own && object.number > ids->base;
    return is_heap ? tptp_object_number(ids->base, object.number) : o->heap.number;
}

int trcxml_ids_lock(struct trcxml_ids *ids, struct trcxml_id object, class_id class_, lock_id *lock,
                    struct err *err)
{
    struct trcxml_object *o;
    lock->v = 0;
    TRY(get_object(ids, object, &o, err));
    if (!o)
        return 0;
    bool fresh = o->lock.v == 0, told = class_.v && o->class_.v == 0;
    if (told)
        o->class_ = class_;
    if (fresh) {
        bool is_lock = object.number && !(object.number & 1) && object.number < ids->base;
        TRY(intake_new_lock(ids->in, ids->own && is_lock ? object.number / 2 : 0, &o->lock, err));
    }
    *lock = o->lock;
    struct def d = {.kind = DEF_lock,
                    .lock = {.id = o->lock,
                             .class_ = o->class_,
                             .hash = object.hash,
                             .object = heap_number(ids, object, o)}};
    return fresh || told ? intake_def(ids->in, &d, err) : 0;
}
