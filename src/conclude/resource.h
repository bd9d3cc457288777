/* resource.h - the things that block threads: each monitor, lock, pool and limit, who wants it, who
 * has it, and what its holders do.
 *
 *     monitors and locks   one owner at a time: the owner is recorded, or can be concluded
 *                          (owned.h)
 *     things               several, or none that anybody owns: permits, slots, connections;
 *                          whoever waited for one has it until it ends another thread's wait
 *     answers              what somebody else has to do first: whoever ended a wait for one had it
 *     polled               what threads look for again and again between short parks for nothing:
 *                          hardly anybody ends those; whoever unparks at the end of most loops is
 *                          the other end, or else whoever runs other code of the same library (of
 *                          the same class, where the program itself polls), by samples
 *     delays               what a library lets time pass for, in a call of the program's, or the
 *                          program itself in a task: whoever is at a later call of the method that
 *                          sleeps, where never more than a few threads are there at a time; else
 *                          nobody has it
 *
 * The class decides that something is a thing (purpose.h), or else the events: most waits were
 * ended by threads that also wait there at other times, so one thread takes what another gives
 * back.  Where threads wait is the innermost frame that is not the JDK's: the JDK's own frames
 * differ from version to version.  Objects with few waits that are waited for at one place (a
 * future for each request) are one resource. */
#ifndef ORCA_CONCLUDE_RESOURCE_H
#define ORCA_CONCLUDE_RESOURCE_H

#include "analyze/analysis.h"
#include "conclude/program.h"

enum holder_does {
    DOES_UNKNOWN, /* no wait that is recorded, and nobody looked */
    DOES_COMPUTE,
    DOES_INPUT, /* reads, accepts, connects, polls */
    DOES_OUTPUT,
    DOES_NATIVE, /* paused in native code */
    DOES_SLEEP,
    DOES_JOIN,
    DOES_ANSWER,  /* waits for what others do for it */
    DOES_WAIT,    /* waits for something else */
    DOES_BLOCKED, /* on another resource */
    DOES_SYNC,    /* waits until a file is on its disk */
    DOES_READY,   /* waits for a processor */
    DOES_STOPPED, /* by the JVM */
    DOES_FAULT,   /* a page is read from a file or from swap */
    DOES_OFF,     /* on no processor, cause unknown */
    DOES_LIMIT
};

/* Of times at several peers that with more than half of them, if there is one: by majority vote. */
struct peer_vote {
    lock_id peer;
    uint64_t votes, ns; /* ns that were at it for certain */
};

static inline void peer_vote(struct peer_vote *v, struct peer_vote x)
{
    if (v->peer.v == x.peer.v) {
        v->votes += x.votes;
        v->ns += x.ns;
    } else if (v->votes >= x.votes) {
        v->votes -= x.votes;
    } else {
        *v = (struct peer_vote){x.peer, x.votes - v->votes, x.ns};
    }
}

struct activity {
    enum holder_does does;
    struct place at;     /* in the program; method 0: not in it */
    struct place leaf;   /* the innermost frame that is not the machinery of waiting */
    uint32_t other;      /* of a wait: 1 + index of the resource; 0: not known, none */
    uint64_t ns;         /* of the time that it was had */
    uint64_t samples;    /* that say so; 0: it is recorded, or most of it is */
    uint64_t by_samples; /* of ns */
    stack_id stack;
    uint64_t most;         /* ns of it at this line */
    struct peer_vote peer; /* input or output: activity_peer */
    bool other_line;       /* the line is that of other samples of the method: these have none */
    uint64_t calls;        /* recorded, of input and output, that ended in that time, */
    uint64_t took;         /* and their ns */
};

/* Samples say it only where they say most of it. */
static inline void activity_settle(struct activity *x)
{
    x->samples = 2 * x->by_samples < x->ns ? 0 : x->samples;
}

/* What was at the other end for half of the time or more; 0: unknown, or not one. */
static inline lock_id activity_peer(const struct activity *x)
{
    return 2 * x->peer.ns >= x->ns ? x->peer.peer : (lock_id){0};
}

enum {
    STRAYS_PART = 20,
    RESOURCE_IDS = 5,
    BEHIND_OTHER = INT32_MAX,
    RESOURCE_BEHIND = 3, /* of those that stand behind one, so many are named */
};

enum resource_kind {
    RESOURCE_LOCK,
    RESOURCE_THINGS,
    RESOURCE_ANSWERS,
    RESOURCE_POLLED,
    RESOURCE_DELAY,
    RESOURCE_LOOP,
    RESOURCE_IO /* input or output at one place of the program */
};

struct resource {
    enum resource_kind kind;
    bool permits;      /* things, by their class: also where nobody gives back */
    bool mixed;        /* its threads are of several pools; else */
    uint32_t n_strays; /* of n_threads: those of other pools than threads[0], who wait little */
    lock_id lock;      /* 0: several objects */
    uint32_t group;    /* their class */
    method_id take;    /* where threads wait for it */
    uint64_t count, ns, max, first, last;
    uint64_t parts, now; /* of waits: one that looks and waits again has several; of the last one */
    uint64_t timed_out;  /* of count: nobody ended them before their limit */
    uint64_t polls;      /* polled: parks after which the thread looked, and parked again */
    uint64_t given,
        back;          /* waits that a thread ended; those ended by threads that wait here, too */
    bool endless;      /* delays; of permits main: its one thread never returned from it */
    bool past;         /* polled, delays: threads at a later call have it, at_once of them */
    bool brought;      /* permits that nobody gives back who took one: others bring them */
    bool others_give;  /* things: who ends waits never waits there; and */
    uint64_t put_ns;   /* by who puts something into a queue, */
    uint64_t take_ns;  /* or takes something out of one */
    uint64_t loop_ns;  /* at the task loops of its threads */
    uint64_t early_ns; /* of ns: in the first tenth of the recording from its first wait on */
    uint64_t near_ns;  /* likewise, or few calls inside of them */
    uint64_t private;  /* waits for an object for which one thread waits again and again, and nobody
                           else: a sign to this thread, of no use to others */
    uint32_t n_threads;
    uint32_t threads[RESOURCE_IDS], objects[RESOURCE_IDS];
    uint32_t n_objects; /* of the ids */
    uint64_t base; /* ns that its threads lived without the time in which they had nothing to do */
    struct place wait_at; /* where in the program most of the time is waited */
    stack_id wait_stack;
    uint64_t wait_at_ns;
    const char
        *field;      /* of it or its pool, where most is waited (resource_field.h); NULL: unknown */
    uint64_t *waits; /* [n_waits]: thread << 33 | span << 1 | again; of those whose holders are
                        looked for */
    uint64_t n_waits;
    bool by_acts;   /* an act ended some of them; of `waits` */
    bool has_whole; /* some of them are known one by one, also where waits are summed: the others
                       are not looked at */
    uint64_t summed_ns; /* of ns: known as sums alone */
    /* Who has it. */
    struct activity *doing; /* most time first */
    size_t n_doing;
    uint64_t held;     /* ns of which it is known who had it while others waited */
    uint64_t wanted;   /* locks: ns in which it was waited for; `held` is of it */
    uint64_t handed;   /* locks: ns between giving one and the end of the wait of who got it, */
    uint64_t n_handed; /* summed over this number of waits; of `handed`, */
    uint64_t late;     /* virtual threads that got one waited for a carrier */
    bool by_waits;     /* `held`, and ns of `doing`, count once for each wait that they are for */
    uint64_t looks;    /* samples, or owners that were asked, behind what is not recorded */
    uint32_t
        at_once;    /* things: how many were had at a time at most, as far as is known; answers: how
                         many were worked on; */
    bool all_known; /* and each take is known, whether it waited or not */
    uint32_t holder; /* the thread that had it the longest; */
    uint64_t holder_ns;
    uint32_t n_holders;
    bool one_pool; /* their names are of one pool */
    uint64_t given_ns,
        own_ns;         /* answers: of waits that somebody ended; who is of the waiter's own pool */
    uint64_t turns_ns;  /* or in the same call of the program: they take turns at something */
    uint64_t queued_ns; /* of given_ns: before whoever gave it began with it, while others were
                           worked on; */
    uint64_t outside_ns; /* and while nobody worked on any; */
    uint64_t due_ns;     /* of given_ns: whoever gave it waited until it was time to begin; */
    uint64_t timed_ns;   /* answers, not of given_ns: a timer ended the wait when it was time, */
    uint64_t asked_ns;   /* in a task that the program had it do once */
    uint32_t timer;      /* a thread that did; 0: none */
    uint64_t
        met_ns; /* of given_ns: who gave it came to the same call, the last of those who meet */
    struct peer_vote source; /* of given_ns: what who gave it had read from just before; */
    bool remote;        /* and it says where the answer is from: who gave it did little for it */
    bool inside;        /* remote, but this very program listens there; */
    bool passed;        /* who gives them waits for input itself: those who are busy are listed, */
    bool worked;        /* or those who work on them at once */
    uint32_t open;      /* waits that are not over */
    uint32_t lost;      /* permits that were acquired, and that nobody can release any longer; */
    uint32_t lost_by;   /* the thread that acquired the last of them, */
    stack_id lost_at;   /* and where */
    uint32_t behind_of; /* 1 + index of the one at the end of its chain (chains.c); 0: none, or
                           BEHIND_OTHER: one that is in no list */
    uint32_t behind[RESOURCE_BEHIND], n_behind; /* 1 + index of those whose chains end here; */
    uint64_t behind_ns, behind_base;            /* what is waited for all of these */
    uint32_t n_alike;     /* locks: more of its class, waited for and held in the same way, which */
    uint64_t alike_count; /* stand behind it; the waits for them, */
    uint64_t alike_ns;    /* and their time */
    unsigned full;        /* input, output: permille of the time in which at_once threads are there,
                           where that are less than all; 0: it is little */
    uint64_t none_free;   /* ns in which no thread of its pool had nothing to do; */
    uint32_t alone;    /* of the pool: for alone_ns, in one stretch, only this thread had work; */
    uint64_t alone_ns; /* 0: for less than is worth a word */
    uint32_t n_pool;   /* the pool's threads, without those that hand out the work */
    bool of_loops;     /* event loops wait for it in their handlers */
};

/* Whether nearly all of it was in a tenth of the recording, as what a start needs once. */
static inline bool resource_is_brief(const struct resource *r)
{
    return !r->open && r->kind <= RESOURCE_DELAY &&
           1000 * (r->early_ns >> 10) >= 950 * (r->ns >> 10);
}

/* Of n threads, strays that are not of the pool of the longest one are left out where they have
 * little of the time, and the pool has more than one of the threads. */
static inline bool strays_are_few(uint32_t n_strays, uint32_t n, uint64_t ns, uint64_t all)
{
    return !n_strays || (STRAYS_PART * ns <= all && n - n_strays > 1);
}

/* Those who wait, without strays. */
static inline uint32_t resource_n_waiters(const struct resource *r)
{
    return r->n_threads - r->n_strays;
}

/* Of answers: whether nobody who gives them worked on any for most of the time. */
static inline bool resource_is_from_elsewhere(const struct resource *r)
{
    return r->kind == RESOURCE_ANSWERS && !r->passed && !r->remote && r->given_ns &&
           2 * r->outside_ns >= r->given_ns;
}

/* Of answers: whether most of the time who gives them waited until it was time to begin. */
static inline bool resource_is_due(const struct resource *r)
{
    return r->kind == RESOURCE_ANSWERS && !r->passed && !r->remote && r->given_ns &&
           2 * (r->timed_ns + r->due_ns) >= r->ns;
}

/* Threads wait there for each other: at a barrier. */
static inline bool resource_is_meeting(const struct resource *r)
{
    return r->kind == RESOURCE_ANSWERS && r->given_ns && 2 * r->met_ns >= r->given_ns;
}

static inline bool resource_is_full_queue(const struct resource *r)
{
    return r->others_give && 2 * r->put_ns >= r->ns;
}

struct resources {
    struct resource *v; /* most time first */
    size_t n;
    uint32_t *of_context; /* [contexts.n]: 1 + index; 0: none */
    uint32_t *of_regain;  /* likewise: the monitor that an Object.wait takes again */
    bool *rooms;          /* [contexts.n]: of waits for room in a queue */
    uint64_t *calls;      /* [n_stacks]: where a stack calls the JDK; while they are made */
    const bool *runs;     /* [n_methods]: of native methods, whether they compute (does.h) */
    struct program program;
};

/* Analyse a trace as analysis_run does; what its waits are for is decided here, once: who waits for
 * what, which of it is a resource, and by that the purposes of all contexts. */
int conclude_run(struct analysis **out, struct trace *t, struct err *err);
int conclude_run_watched(struct analysis **out, struct trace *t, const struct analysis_watch *watch,
                         struct err *err);
int conclude_run_on(struct analysis **out, struct trace *t, const struct carry *carry,
                    struct err *err);

/* The resources of an analysis, with those who have them.  Memory is the analysis' arena's.
 * -ENOMEM. */
int resources_make(struct resources *out, struct analysis *a);

/* r's waits are there because of root: one cause, one finding. */
void resource_stand_behind(struct resource *root, struct resource *r, const struct resources *all);

/* Whether spans of a context wait for work: no thread blocks them, and the program has asked for
 * nothing. */
static inline bool wait_is_for_work(const struct analysis *of, uint32_t context)
{
    const struct context *x = timeline_context(&of->timeline, context);
    return purposes_for(&of->purposes, context, x->what) == FOR_IDLE;
}

/* Whether a wait began after the program had been stopped (stop.h), or is for the lock under which
 * the JVM ends: it is a part of that end. */
bool wait_is_of_the_end(const struct analysis *a, const struct span *s);

/* Whether each thread waited once, all for as long and at the same time: for something that begins,
 * and not again. */
static inline bool resource_is_once(const struct resource *r)
{
    bool one = r->lock.v || r->kind != RESOURCE_LOCK; /* not one lock each */
    return one && r->n_threads > 1 && r->count <= r->n_threads && !r->open &&
           2 * r->given >= r->count && 5 * r->ns >= 4 * r->max * r->count &&
           r->last - r->first <= 2 * r->max;
}

/* Whether one thread has it for most of the time that it is had: else it is one of many. */
bool resource_has_one_holder(const struct resource *r);

/* What the share of a resource's waits is in the time of those who wait, in thousandths. */
unsigned resource_permille(const struct resource *r);

/* Locks: most of the time that one is wanted it is free, and on its way to the thread that was woken
 * for it.  Many such hand-offs are a convoy.  late: woken threads have no carrier. */
bool resource_is_handed(const struct resource *r);
bool resource_is_late(const struct resource *r);

/* Who is woken for it gets it, however late it comes. */
bool resource_is_fair(const struct resource *r, const struct analysis *a);

#endif
