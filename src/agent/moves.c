#include "agent/moves.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Memory for all of them; what comes then is not remembered. */
enum { MOVES_BYTES = 32 << 20 };

struct moves {
    uint64_t check;  /* the other half of the key */
    uint32_t n : 31; /* 0: several differ */
    uint32_t stay : 1;
    struct cf_move v[];
};

static struct {
    pthread_mutex_t lock;
    struct map known; /* half of the key -> struct moves * */
    size_t bytes;
} moves = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct key {
    uint64_t lo, hi;
};

static struct key key_of(struct str class_name, struct str method, struct str signature,
                         uint32_t code_len)
{
    uint64_t lo = code_len, hi = ~(uint64_t)code_len;
    const struct str *parts[] = {&class_name, &method, &signature};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct hash128 h = hash_bytes128(parts[i]->p, parts[i]->len);
        lo = hash_u64(lo ^ h.lo);
        hi = hash_u64(hi ^ h.hi);
    }
    return (struct key){lo, hi};
}

static struct str str_of(struct cf_text t)
{
    return (struct str){t.p, t.len};
}

static bool is_same(const struct moves *m, uint64_t check, struct moves_new v)
{
    return m->check == check && m->n == v.n && memcmp(m->v, v.v, v.n * sizeof *v.v) == 0;
}

static struct moves *make(uint64_t check, struct moves_new v)
{
    size_t bytes = sizeof(struct moves) + v.n * sizeof *v.v;
    struct moves *m = moves.bytes + bytes <= MOVES_BYTES ? malloc(bytes) : NULL;
    if (!m)
        return NULL;
    moves.bytes += bytes;
    m->check = check;
    m->n = (uint32_t)v.n & INT32_MAX;
    m->stay = v.stay;
    memcpy(m->v, v.v, v.n * sizeof *v.v);
    return m;
}

void moves_note(const struct cf_class *c, const struct cf_method *m, uint32_t code_len,
                struct moves_new v)
{
    struct key key = key_of(str_of(c->name), str_of(m->name), str_of(m->desc), code_len);
    pthread_mutex_lock(&moves.lock);
    uint64_t *place = map_put(&moves.known, key.lo);
    struct moves *known = place ? (struct moves *)(uintptr_t)*place : NULL;
    if (known && !is_same(known, key.hi, v))
        known->n = 0;
    else if (place && !known)
        *place = (uintptr_t)make(key.hi, v);
    if (known && v.stay)
        known->stay = true;
    pthread_mutex_unlock(&moves.lock);
}

static struct packed pack(const struct moves *m, struct buf *b)
{
    uint32_t at = 0, from = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t value = m->v[i].from << 1 | m->v[i].stays;
        packed_put_line(b, m->v[i].at, value, at, from);
        at = m->v[i].at;
        from = value;
    }
    return b->oom ? (struct packed){0} : (struct packed){b->p, b->len, m->n};
}

struct packed moves_of(struct str class_name, struct str method, struct str signature,
                       uint32_t code_len, struct buf *b)
{
    struct key key = key_of(class_name, method, signature, code_len);
    struct packed out = {0};
    pthread_mutex_lock(&moves.lock);
    const uint64_t *place = map_find(&moves.known, key.lo);
    const struct moves *known = place ? (const struct moves *)(uintptr_t)*place : NULL;
    if (known && known->check == key.hi)
        out = pack(known, b);
    pthread_mutex_unlock(&moves.lock);
    return out;
}

void moves_forget(void)
{
    struct map old;
    pthread_mutex_lock(&moves.lock);
    old = moves.known;
    map_init(&moves.known);
    moves.bytes = 0;
    for (size_t i = 0; i < old.cap; i++) {
        struct moves *m = old.slots[i].used ? (void *)(uintptr_t)old.slots[i].value : NULL;
        uint64_t *place = m && m->stay ? map_put(&moves.known, old.slots[i].key) : NULL;
        if (place) {
            *place = (uintptr_t)m;
            moves.bytes += sizeof *m + m->n * sizeof *m->v;
        } else {
            free(m);
        }
    }
    map_fini(&old);
    pthread_mutex_unlock(&moves.lock);
}
