#include "agent/gc_names.h"

#include "agent/agent.h"
#include "hotspot/gc_counters.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { NAMES = 128 };
enum { FREE, TAKEN, READY, DEFINED };

/* Slot i has the id i + 1.  FREE -> TAKEN (who put it there writes the text) -> READY -> DEFINED.
 * Two threads that put the same word at the same time may take a slot each: two ids, one text. */
static struct {
    _Atomic int state;
    char text[GC_TEXT];
} names[NAMES];

void gc_names_reset(void)
{
    for (size_t i = 0; i < NAMES; i++)
        atomic_store_explicit(&names[i].state, FREE, memory_order_relaxed); /* no recording yet */
}

static gc_name_id put(size_t slot, const char *text)
{
    strncpy(names[slot].text, text, GC_TEXT - 1);
    names[slot].text[GC_TEXT - 1] = 0;
    /* release: who sees READY sees the text */
    atomic_store_explicit(&names[slot].state, READY, memory_order_release);
    return (gc_name_id){(uint32_t)slot + 1};
}

gc_name_id gc_names_id(const char *text)
{
    for (size_t i = 0; i < NAMES; i++) {
        int state = FREE;
        /* acquire: of the text, when it is another thread's slot */
        if (atomic_compare_exchange_strong_explicit(&names[i].state, &state, TAKEN,
                                                    memory_order_acquire, memory_order_acquire))
            return put(i, text);
        if (state >= READY && strncmp(names[i].text, text, GC_TEXT - 1) == 0)
            return (gc_name_id){(uint32_t)i + 1};
    }
    return (gc_name_id){0};
}

void gc_names_define(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < NAMES; i++) {
        /* acquire: of the text */
        if (atomic_load_explicit(&names[i].state, memory_order_acquire) != READY)
            continue;
        struct def d = {
            .kind = DEF_gc_name,
            .gc_name = {.id = {(uint32_t)i + 1}, .text = {names[i].text, strlen(names[i].text)}}};
        if (recorder_define(agent.rec, &d)) /* else it is tried again */
            atomic_store_explicit(&names[i].state, DEFINED, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
}
