/* view_threads_test.c - one view, asked by several threads at once from the very beginning: each
 * gets what a view that only one asks answers. */
#include "base/hash.h"
#include "base/util.h"
#include "cases.h"
#include "view/arrows.h"
#include "view_read.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ASKERS = 4, QUESTIONS = 60 };

struct question {
    struct some_tile tile;
    uint32_t thread;
    uint64_t to;
};

struct asker {
    struct view *v;
    const struct question *questions;
    uint64_t answers[QUESTIONS];
};

/* Everything that can be asked of a tile, as one number. */
static uint64_t ask(struct view *v, const struct question *q)
{
    const struct some_tile *t = &q->tile;
    struct view_row rows[40];
    struct buf out = {0};
    size_t n = 0;
    for (uint32_t i = 1; i <= 8; i++) {
        rows[n++] = (struct view_row){'t', i};
        rows[n++] = (struct view_row){'l', i};
        rows[n++] = (struct view_row){'p', i - 1};
        rows[n++] = (struct view_row){'g', i - 1};
    }
    int rc = view_tile(v, t->level, t->i, rows, n, &out);
    rc |= view_arrows(v, t->level, t->i, &out);
    rc |= view_path(v, t->level, t->i, 0, 0, &out);
    rc |= view_path(v, t->level, t->i, q->thread, (int64_t)(q->to - v->base), &out);
    uint64_t hash = rc ? 0 : hash_bytes(out.p, out.len, 0);
    buf_fini(&out);
    return hash;
}

static void *ask_all(void *arg)
{
    struct asker *a = arg;
    for (int i = 0; i < QUESTIONS; i++)
        a->answers[i] = ask(a->v, &a->questions[i]);
    return NULL;
}

static void make_questions(struct viewed *w, struct question *q)
{
    for (int i = 0; i < QUESTIONS; i++) {
        uint32_t thread = 1 + (uint32_t)sim_below(&w->s, w->a->threads.n - 1);
        q[i] = (struct question){viewed_tile(w), thread, w->a->threads.v[thread].to - (i % 9)};
    }
}

Test(view_threads, ask_one_view)
{
    static struct viewed one, other;
    static struct asker askers[ASKERS];
    struct question questions[QUESTIONS];
    for (uint64_t seed = 1; seed <= (uint64_t)cases(4); seed++) {
        pthread_t threads[ASKERS];
        viewed_relay(&one, seed, 4000);
        viewed_relay(&other, seed, 4000);
        one.v->coarse_waits = other.v->coarse_waits = 500;
        make_questions(&one, questions);
        for (int i = 0; i < ASKERS; i++) {
            askers[i] = (struct asker){.v = one.v, .questions = questions};
            cr_assert_eq(pthread_create(&threads[i], NULL, ask_all, &askers[i]), 0);
        }
        arrows_prepare(one.v); /* while they ask */
        for (int i = 0; i < ASKERS; i++)
            pthread_join(threads[i], NULL);
        for (int k = 0; k < QUESTIONS; k++)
            for (int i = 0; i < ASKERS; i++)
                CHECK_EQ(askers[i].answers[k], ask(other.v, &questions[k]), "question %d", k);
        viewed_end(&one);
        viewed_end(&other);
    }
}
