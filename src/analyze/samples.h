/* samples.h - what the threads executed, or were at, at moments: cpu_sample and wall_sample.
 *
 * By thread and kind, in the order of time; 24 bytes a sample.  A sample is at its moment: ranges
 * that adjoin add up.  Its weight is the time that it stands for, the time up to the moment. */
#ifndef ORCA_ANALYZE_SAMPLES_H
#define ORCA_ANALYZE_SAMPLES_H

#include "analyze/run.h"
#include "analyze/selection.h"
#include "format/event.h"

/* Looks (SAMPLE_LOOK) leave out who waits: they stand in for samples where there are none. */
enum sample_kind {
    SAMPLE_CPU,
    SAMPLE_WALL,
    SAMPLE_KINDS,
    SAMPLE_LOOKS = SAMPLE_KINDS,
    SAMPLE_LISTS
};

/* "cpu", "wall", "looks" */
extern const char *const sample_kind_names[SAMPLE_LISTS];

struct sample {
    uint64_t time;   /* ns of CLOCK_MONOTONIC: when it was taken */
    uint64_t weight; /* ns */
    stack_id stack;  /* 0: see error */
    uint16_t error;  /* enum sample_error */
    uint8_t flags;   /* SAMPLE_* */
};

/* Of one thread. */
struct sample_line {
    struct run of[SAMPLE_LISTS]; /* struct sample */
};

struct samples {
    struct arena arena;
    struct sample_line *lines; /* [n_lines], by index into struct thread_set; [0]: unknown ones */
    size_t n_lines;
    uint64_t n[SAMPLE_LISTS];
};

void samples_init(struct samples *s);
void samples_fini(struct samples *s);

/* Keep a cpu_sample or wall_sample of a thread.  -ENOMEM. */
int samples_add(struct samples *s, uint32_t thread, const struct event *e);

/* After the last one: puts those that came late into their places.  -ENOMEM. */
int samples_finish(struct samples *s);

static inline bool samples_any(const struct samples *s)
{
    return s->n[SAMPLE_CPU] || s->n[SAMPLE_WALL];
}

/* Which samples of the wall clock there are: those that were asked for, else looks. */
static inline enum sample_kind samples_wall(const struct samples *s)
{
    return s->n[SAMPLE_WALL] ? SAMPLE_WALL : SAMPLE_LOOKS;
}

/* The samples of a thread; an empty list where there are none. */
const struct run *samples_of(const struct samples *s, enum sample_kind kind, uint32_t thread);

static inline const struct sample *sample_at(const struct run *r, uint32_t i)
{
    return run_at(r, sizeof(struct sample), i);
}

/* How many of a list are before a moment. */
uint32_t samples_before(const struct run *r, uint64_t time);

#endif
