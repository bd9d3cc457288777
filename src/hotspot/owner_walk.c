#include "hotspot/owner_walk.h"

#include "base/clock.h"
#include "base/testpoint.h"
#include "base/util.h"
#include "hotspot/notes.h"
#include "hotspot/stack_room.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* A question: its word says how far it is and, above that, how often the place was used; so an old
 * signal finds no question that it could take for its own.
 *
 *     FREE -> CLAIMED -> ASKED -> TAKEN -> DONE -> FREE       by: asker, asker, owner, owner, asker
 *                             \-> FREE                        the asker does not wait any longer
 *
 * Who has changed it to TAKEN may look at what the asker holds, until it is DONE. */
enum phase { FREE, CLAIMED, ASKED, TAKEN, DONE, PHASES = 8 };

enum {
    QUESTIONS = 16,
    SPIN_NS = 20000,
    NEEDED_STACK = 32 * 1024,
    GUARD_ZONE = 160 * 1024,
    METHODS = 256,    /* that are new, of one answer */
    TEXT = 64 * 1024, /* their names */
};

/* Where the owner writes. */
struct paper {
    struct owner_answer answer; /* first: owner_walk_done */
    struct question *of;
    uint32_t depth;
    struct method_met methods[METHODS];
    char text[TEXT];
    struct walk_frame walked[]; /* depth, then as many struct owner_frame */
};

static struct question {
    _Atomic uint32_t word;
    int result;
    const struct owner_question *asked;
    struct paper *paper; /* of the place: made by the first who claims it, kept */
} questions[QUESTIONS];

static uint32_t payload_of(size_t i, uint32_t uses)
{
    return (uses & 0xffffff) << 8 | (uint32_t)i;
}

static uint32_t uses_of(uint32_t word)
{
    return word / PHASES & 0xffffff;
}

static uint32_t word_of(uint32_t uses, enum phase p)
{
    return uses * PHASES + p;
}

bool owner_walk_owns_monitor(const struct owner_question *q)
{
    return owner_is(q->layout, &q->place, q->lock);
}

/* --- on the owner ----------------------------------------------------------------------------- */

/* The number of a new method; METHODS: there is no room. */
static uint32_t describe(const struct owner_question *a, struct paper *p, uintptr_t method,
                         uint64_t stamp, size_t *used)
{
    struct method_met *m = p->methods;
    uint32_t n = p->answer.n_methods;
    for (uint32_t i = 0; i < n; i++)
        if (m[i].method == method && m[i].stamp == stamp)
            return i;
    if (n == METHODS ||
        method_describe(a->walker, method, p->text + *used, TEXT - *used, &m[n].text) < 0)
        return METHODS;
    m[n].method = method;
    m[n].stamp = stamp;
    *used += m[n].text.size;
    p->answer.n_methods = n + 1;
    return n;
}

/* Methods as ids, or described.  They are on this thread's stack, so none of their classes is
 * unloaded during that. */
static int name_frames(const struct owner_question *a, struct paper *p, uint32_t n)
{
    size_t used = 0;
    int rc = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct walk_frame *f = &p->walked[i];
        struct owner_frame *to = &p->answer.frames[i];
        *to = (struct owner_frame){.bci = f->bci, .near = f->near};
        if (!f->stamp)
            return WALK_NOT_WALKABLE_JAVA;
        to->id = a->known(f->method, f->stamp);
        if (!to->id)
            to->unknown = describe(a, p, f->method, f->stamp, &used);
        if (!to->id && to->unknown == METHODS)
            rc = OWNER_WALK_NEW;
    }
    p->answer.n = n;
    return rc;
}

static uintptr_t stack_pointer(const void *ucontext)
{
#if defined(__x86_64__)
    return (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RSP];
#else
    (void)ucontext;
    return 0; /* no answer */
#endif
}

static int look(const struct owner_question *a, struct paper *p, const void *ucontext)
{
    uintptr_t sp = stack_pointer(ucontext);
    if ((uint32_t)syscall(SYS_gettid) != a->place.os_tid || sp >= a->place.stack_high ||
        sp < a->place.stack_low)
        return OWNER_WALK_NO_SIGNAL;
    if (a->place.carries && mounted_tid(a->layout, a->place.java_thread) != a->place.java_tid)
        return OWNER_WALK_NONE;
    if (!a->owns(a))
        return OWNER_WALK_GONE;
    if (stack_room(a->place.stack_low, a->place.stack_high, GUARD_ZONE, ucontext, 0) < NEEDED_STACK)
        return OWNER_WALK_STACK_END;
    struct walk w = {.frames = p->walked,
                     .max = (int32_t)p->depth,
                     .options = WALK_ONLY_CERTAIN | WALK_WITH_STAMPS};
    p->answer.time = clock_mono_ns();
    int n = walk(a->walker, a->place.java_thread, ucontext, &w);
    p->answer.flags = w.flags;
    /* A carrier has its virtual thread's id a little longer than it runs its frames. */
    if (n > 0 && a->place.carries != ((w.flags & WALK_VIRTUAL) != 0))
        return OWNER_WALK_NONE;
    if (n < 0)
        return n;
    return n > 0 && (uint32_t)n <= p->depth ? name_frames(a, p, (uint32_t)n) : WALK_UNKNOWN_STATE;
}

static void answer(uint32_t payload, const siginfo_t *info, const void *ucontext)
{
    size_t i = payload & 0xff;
    uint32_t uses = payload >> 8;
    (void)info;
    uint32_t asked = word_of(uses, ASKED);
    if (i >= QUESTIONS)
        return;
    struct question *q = &questions[i];
    /* acquire: pairs with the asker's release of ASKED */
    if (!atomic_compare_exchange_strong_explicit(&q->word, &asked, word_of(uses, TAKEN),
                                                 memory_order_acquire, memory_order_relaxed))
        return;
    q->result = look(q->asked, q->paper, ucontext);
    /* release: the asker reads what was found */
    atomic_store_explicit(&q->word, word_of(uses, DONE), memory_order_release);
    syscall(SYS_futex, &q->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* --- on the thread that asks ------------------------------------------------------------------ */

int owner_walk_open(struct err *err)
{
    return notes_open(NOTE_OWNER, answer, err);
}

static struct question *claim(uint32_t *uses)
{
    for (size_t i = 0; i < QUESTIONS; i++) {
        uint32_t word = atomic_load_explicit(&questions[i].word, memory_order_relaxed);
        *uses = (uses_of(word) + 1) & 0xffffff;
        /* acquire: pairs with the release of FREE */
        if (word % PHASES == FREE && atomic_compare_exchange_strong_explicit(
                                         &questions[i].word, &word, word_of(*uses, CLAIMED),
                                         memory_order_acquire, memory_order_relaxed))
            return &questions[i];
    }
    return NULL;
}

static void sleep_while(struct question *q, uint32_t word, uint64_t ns)
{
    const struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    syscall(SYS_futex, &q->word, FUTEX_WAIT_PRIVATE, word, &t, NULL, 0);
}

/* Until it is DONE; false: the owner has not begun in time, and no longer will. */
static bool wait_for_answer(struct question *q, uint32_t uses, uint64_t timeout)
{
    static const uint64_t second = UINT64_C(1000000000);
    uint64_t began = clock_mono_ns(), waited = 0;
    for (;;) {
        /* acquire: pairs with answer */
        uint32_t word = atomic_load_explicit(&q->word, memory_order_acquire);
        if (word == word_of(uses, DONE))
            return true;
        waited = clock_mono_ns() - began;
        if (word == word_of(uses, ASKED) && waited >= timeout) {
            TEST_POINT("owner_walk:patience");
            if (atomic_compare_exchange_strong_explicit(&q->word, &word, word_of(uses, FREE),
                                                        memory_order_release, memory_order_relaxed))
                return false;
        } else if (waited < SPIN_NS) {
            relax();
        } else {
            /* In its handler the owner needs some microseconds of processor time. */
            sleep_while(q, word, word == word_of(uses, ASKED) ? timeout - waited : second);
        }
    }
}

static bool give_paper(struct question *q, uint32_t depth)
{
    if (q->paper && q->paper->depth == depth)
        return true;
    free(q->paper);
    q->paper = calloc(1, sizeof *q->paper + (size_t)depth * (sizeof(struct walk_frame) +
                                                             sizeof(struct owner_frame)));
    if (!q->paper)
        return false;
    q->paper->of = q;
    q->paper->depth = depth;
    q->paper->answer.frames = (struct owner_frame *)(q->paper->walked + depth);
    q->paper->answer.methods = q->paper->methods;
    return true;
}

/* By who has claimed the place, or has the answer. */
static void set_free(struct question *q)
{
    uint32_t word = atomic_load_explicit(&q->word, memory_order_relaxed);
    /* release: pairs with claim */
    atomic_store_explicit(&q->word, word_of(uses_of(word), FREE), memory_order_release);
}

/* 0: there is an answer; else there is none, and the place is free again or claimed. */
static int ask(struct question *q, const struct owner_question *asked, uint32_t uses)
{
    q->asked = asked;
    q->paper->answer.n = q->paper->answer.n_methods = q->paper->answer.flags = 0;
    /* release: pairs with answer's acquire */
    atomic_store_explicit(&q->word, word_of(uses, ASKED), memory_order_release);
    int sent =
        note_send(asked->place.os_tid, NOTE_OWNER, payload_of((size_t)(q - questions), uses));
    if (sent < 0) {
        set_free(q); /* no other thread knows of the question */
        return sent == -EAGAIN ? OWNER_WALK_BUSY : OWNER_WALK_NO_SIGNAL;
    }
    if (!wait_for_answer(q, uses, asked->timeout))
        return OWNER_WALK_SILENT;
    int result = q->result;
    if (result < 0 && result != OWNER_WALK_NEW)
        set_free(q);
    return result;
}

int owner_walk(const struct owner_question *asked, const struct owner_answer **answer)
{
    uint32_t uses;
    *answer = NULL;
    if (!asked->place.java_thread || !asked->place.os_tid)
        return OWNER_WALK_NONE;
    struct question *q = claim(&uses);
    if (q && !give_paper(q, asked->depth)) {
        set_free(q);
        q = NULL;
    }
    if (!q)
        return OWNER_WALK_BUSY;
    int result = ask(q, asked, uses);
    if (result == 0 || result == OWNER_WALK_NEW)
        *answer = &q->paper->answer;
    return result;
}

void owner_walk_done(const struct owner_answer *answer)
{
    set_free(((const struct paper *)answer)->of);
}

const char *owner_walk_text(int result)
{
    switch (result) {
    case OWNER_WALK_NONE:
        return "not running";
    case OWNER_WALK_BUSY:
        return "too many at a time";
    case OWNER_WALK_NO_SIGNAL:
        return "ended";
    case OWNER_WALK_SILENT:
        return "no answer";
    case OWNER_WALK_GONE:
        return "released";
    case OWNER_WALK_STACK_END:
        return "near its stack's end";
    case OWNER_WALK_NATIVE:
        return "in native code";
    case OWNER_WALK_NEW:
        return "too many new methods";
    default:
        return "not walkable";
    }
}
