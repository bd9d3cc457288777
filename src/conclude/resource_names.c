#include "conclude/resource_names.h"

#include "analyze/labels.h"
#include "analyze/peer_sums.h"
#include "base/util.h"
#include "conclude/resource_field.h"

#include <stdio.h>
#include <string.h>

#define COMMON_POOL "ForkJoinPool.commonPool"

enum {
    LIBRARY_NAMES = 3,  /* of a package, that identify a library: com/zaxxer/hikari/ */
    LED_PERMILLE = 900, /* of its holders' time: connections to a peer, and what they are for */
};

struct known {
    const char *class_, *method, *role, *suffix;
    const char *lock; /* what a lock inside of it is; NULL: the same */
    bool pool;
};

static const struct known known_resources[] = {
#define RESOURCE(class_, method, role, suffix) {class_, method, role, suffix, NULL, false},
#define POOL(class_, method, role, suffix)                                                         \
    {class_, method, role, suffix, "lock of the " role, true},
#define QUEUE(class_, method, of)                                                                  \
    {class_, method, "full queue of " of, "", "lock of the queue of " of, false},
#include "conclude/resources.def"
#undef RESOURCE
#undef POOL
#undef QUEUE
};

static const struct known *known_at(method_id take, const struct trace *t)
{
    const struct trace_method *m = trace_method(t, take);
    const char *signature = trace_class(t, m->class_)->signature;
    for (size_t i = 0; i < ARRAY_LEN(known_resources) && take.v && *signature == 'L'; i++) {
        const struct known *k = &known_resources[i];
        if (strncmp(signature + 1, k->class_, strlen(k->class_)) == 0 &&
            strncmp(m->name, k->method, strlen(k->method)) == 0)
            return k;
    }
    return NULL;
}

/* The known pool of the method that waits, or of a method of its class that has called it. */
static const struct known *find_known(const struct resource *r, const struct trace *t)
{
    const struct trace_stack *s = trace_stack(t, r->wait_stack);
    const struct known *first = known_at(r->take, t);
    class_id of = trace_method(t, r->take)->class_;
    uint32_t i = 0;
    while (i < s->n_frames && s->frames[i].method.v != r->take.v)
        i++;
    for (; i < s->n_frames && trace_method(t, s->frames[i].method)->class_.v == of.v; i++) {
        const struct known *k = known_at(s->frames[i].method, t);
        first = k && (!first || k < first) ? k : first;
    }
    return first;
}

bool resource_is_known_pool(method_id take, const struct trace *t)
{
    const struct known *k = known_at(take, t);
    return k && k->pool;
}

/* The only name before this suffix among the threads' names; false: none, or several. */
static bool name_before(const struct trace *t, const char *suffix, char *out, size_t n)
{
    bool found = false;
    for (size_t i = 1; i < t->n_threads && *suffix; i++) {
        const char *name = t->threads[i].name;
        size_t all = strlen(name), end = strlen(suffix);
        /* newer: "HikariPool-1:connection-adder" */
        bool fits = all > end &&
                    (strcmp(name + all - end, suffix) == 0 ||
                     (name[all - end] == ':' && strncmp(name + all - end + 1, suffix + 1, 9) == 0));
        if (!fits)
            continue;
        if (found && (strncmp(out, name, all - end) != 0 || strlen(out) != all - end))
            return false;
        snprintf(out, n, "%.*s", (int)(all - end), name);
        found = true;
    }
    return found;
}

void resource_method_name(const struct trace *t, method_id method, char *out, size_t n)
{
    char class_[LABEL_MAX], name[LABEL_MAX];
    label_method_parts(t, method, class_, name);
    snprintf(out, n, "%s%s%s", label_simple(class_), *class_ ? "." : "", name);
}

/* The JVM's lock of a class that is being initialised: an array of no ints. */
static bool is_initialisation(const struct resource *r, const struct analysis *a)
{
    return r->kind == RESOURCE_LOCK && strcmp(a->locks.groups[r->group].signature, "[I") == 0;
}

/* The lock of a class loader has a class, but that is not a name. */
static bool is_loading(const struct resource *r, const struct analysis *a)
{
    const struct trace *t = a->trace;
    const struct trace_stack *s = trace_stack(t, r->wait_stack);
    bool jdk = r->kind == RESOURCE_LOCK;
    for (uint32_t i = 0; i < s->n_frames && jdk; i++) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        if (strncmp(m->name, "loadClass", 9) == 0)
            return true;
        jdk = sites_is_jdk(trace_class(t, m->class_)->signature);
    }
    return false;
}

bool resource_is_of_classes(const struct resource *r, const struct analysis *a)
{
    return is_initialisation(r, a) || is_loading(r, a);
}

static bool is_semaphore(const struct resource *r, const struct analysis *a)
{
    return purpose_of_group(&a->locks, r->group) == PURPOSE_PERMIT;
}

bool resource_class_of_entry(const char *signature)
{
    return strstr(signature, "/ConcurrentHashMap$") != NULL;
}

bool resource_is_of_entry(const struct resource *r, const struct analysis *a)
{
    return r->kind == RESOURCE_LOCK && resource_class_of_entry(a->locks.groups[r->group].signature);
}

/* The method that takes the resource: of a library or the program, or of the JDK.  For an entry of
 * a map, the method that loads it says more. */
static method_id taker(const struct resource *r, const struct analysis *a)
{
    bool lock = r->kind == RESOURCE_LOCK && !resource_is_of_entry(r, a) && !find_known(r, a->trace);
    method_id inner = lock ? lock_taken_inside(a->trace, r->wait_stack) : (method_id){0};
    return inner.v ? inner : r->take;
}

/* Objects of threads or requests, at which each thread waits for its turn.  They are not the
 * resource. */
static bool is_of_nodes(const struct resource *r)
{
    return r->kind == RESOURCE_THINGS && !r->lock.v && r->n_objects > 1;
}

/* A class of the JDK, an array or an unknown class says nothing, so the method that takes the lock
 * gives the name. */
static bool name_is_method(const struct resource *r, const struct analysis *a)
{
    const char *signature = a->locks.groups[r->group].signature;
    return taker(r, a).v && (sites_is_jdk(signature) || *signature != 'L' || is_of_nodes(r) ||
                             resource_is_of_entry(r, a));
}

/* Roles by words in the names of methods and classes between the program and the wait, for unknown
 * libraries.  A word is part of a name, in lower case. */
static const struct word {
    enum resource_kind kind;
    const char *word, *role;
} role_words[] = {
    {RESOURCE_THINGS, "getconnection", "connection pool"},
    {RESOURCE_THINGS, "cache", "loading of a cache entry"},
    {RESOURCE_THINGS, "bulkhead", "bulkhead"},
    {RESOURCE_THINGS, "pool", "pool"},
    {RESOURCE_LOCK, "cache", "loading of a cache entry"},
    {RESOURCE_DELAY, "limit", "rate limit"},
    {RESOURCE_DELAY, "bucket", "rate limit"},
    {RESOURCE_DELAY, "throttl", "rate limit"},
    {RESOURCE_DELAY, "retry", "delay before a retry"},
    {RESOURCE_DELAY, "backoff", "delay before a retry"},
};

static bool is_role_of_loading(const char *role)
{
    return strncmp(role, "loading", 7) == 0;
}

/* What the method that the program calls says that it wants of a grid or cache, if it is no entry
 * that has to be loaded; NULL: nothing. */
static const char *role_of_called(const struct trace *t, const struct trace_stack *s,
                                  method_id program)
{
    static const struct {
        const char *name, *role;
    } called[] = {{"lock", "lock"},
                  {"tryLock", "lock"},
                  {"put", "lock of an entry"},
                  {"replace", "lock of an entry"},
                  {"remove", "lock of an entry"}};
    const char *name = "";
    for (uint32_t i = 0; i < s->n_frames && s->frames[i].method.v != program.v; i++)
        name = trace_method(t, s->frames[i].method)->name;
    for (size_t i = 0; i < ARRAY_LEN(called); i++)
        if (strncmp(name, called[i].name, strlen(called[i].name)) == 0)
            return called[i].role;
    return NULL;
}

/* "Transaction.acquireWriteLock": who polls it lets time pass between two looks. */
static bool wants_a_lock(const struct trace *t, const struct trace_stack *s, method_id program)
{
    bool wants = false;
    for (uint32_t i = 0; i < s->n_frames && s->frames[i].method.v != program.v; i++)
        wants |= lock_is_called_so(trace_method(t, s->frames[i].method)->name);
    return wants;
}

/* A sleep of the program's own has its role by the methods that sleep: NEAR of them. */
static const char *role_of_sleep(const struct trace *t, const struct trace_stack *s, method_id own)
{
    enum { NEAR = 3 };
    uint32_t i = 0;
    while (i < s->n_frames && s->frames[i].method.v != own.v)
        i++;
    for (uint32_t k = i; k < s->n_frames && k < i + NEAR; k++) {
        const struct trace_method *m = trace_method(t, s->frames[k].method);
        const char *signature = trace_class(t, m->class_)->signature,
                   *name = strrchr(signature, '/');
        size_t n = strlen(signature);
        if (sites_is_jdk(signature))
            break;
        if (lock_is_called_so(m->name) || (n > 5 && strcmp(signature + n - 5, "Lock;") == 0))
            return "lock, polled";
        for (size_t w = 0; w < ARRAY_LEN(role_words); w++)
            if (role_words[w].kind == RESOURCE_DELAY &&
                (strcasestr(m->name, role_words[w].word) ||
                 strcasestr(name ? name : signature, role_words[w].word)))
                return role_words[w].role;
    }
    return "sleep";
}

static const char *role_by_words(const struct resource *r, const struct analysis *a)
{
    const struct trace *t = a->trace;
    const struct trace_stack *s = trace_stack(t, r->wait_stack);
    if (r->past)
        return r->at_once == 1 ? "lock, polled" : "limit, polled";
    if (resource_is_sleep(r))
        return role_of_sleep(t, s, r->wait_at.method);
    const char *called =
        r->kind == RESOURCE_THINGS ? role_of_called(t, s, r->wait_at.method) : NULL;
    if (called && strcmp(called, "lock") == 0)
        return called;
    if (r->kind == RESOURCE_DELAY && wants_a_lock(t, s, r->wait_at.method))
        return "lock, polled";
    for (size_t k = 0; k < ARRAY_LEN(role_words); k++)
        for (uint32_t i = 0; i < s->n_frames && r->kind == role_words[k].kind; i++) {
            const struct trace_method *m = trace_method(t, s->frames[i].method);
            const char *signature = trace_class(t, m->class_)->signature;
            if (m->id.v == r->wait_at.method.v)
                break;
            if (!sites_is_jdk(signature) && (strcasestr(m->name, role_words[k].word) ||
                                             strcasestr(signature, role_words[k].word)))
                return called && is_role_of_loading(role_words[k].role) ? called
                                                                        : role_words[k].role;
        }
    return NULL;
}

bool resource_is_taken(const struct resource *r, const struct analysis *a)
{
    const struct known *k = find_known(r, a->trace);
    const char *by_words = k ? NULL : role_by_words(r, a);
    return r->kind == RESOURCE_THINGS && (!k || k->pool) &&
           !(by_words && is_role_of_loading(by_words));
}

bool resource_is_loading(const struct resource *r, const struct analysis *a)
{
    return is_role_of_loading(resource_role(r, a));
}

bool resource_is_sleep(const struct resource *r)
{
    return r->kind == RESOURCE_DELAY && r->take.v && r->take.v == r->wait_at.method.v;
}

bool resource_is_rate(const struct resource *r, const struct analysis *a)
{
    return r->kind == RESOURCE_DELAY && strcmp(resource_role(r, a), "rate limit") == 0;
}

bool resource_is_known(const struct resource *r, const struct analysis *a)
{
    return find_known(r, a->trace) != NULL;
}

bool resource_is_pipe(const struct resource *r, const struct analysis *a)
{
    static const char pipe[] = "Ljava/io/Piped";
    const char *signature = trace_class(a->trace, trace_lock(a->trace, r->lock)->class_)->signature;
    return strncmp(signature, pipe, sizeof pipe - 1) == 0;
}

/* Whether it is a monitor inside of what keeps a row locked: threads have it for a moment. */
static bool is_inside_database(const struct resource *r, const struct known *k)
{
    static const char row[] = "row lock";
    return r->kind == RESOURCE_LOCK && strncmp(k->role, row, sizeof row - 1) == 0;
}

bool resource_is_of_transactions(const struct resource *r, const struct analysis *a)
{
    const struct known *k = find_known(r, a->trace);
    return k && strstr(k->role, " of the database") && !is_inside_database(r, k);
}

bool resource_is_of_jdk(const struct resource *r, const struct analysis *a)
{
    method_id take = taker(r, a);
    return r->kind == RESOURCE_LOCK && !r->field && name_is_method(r, a) && take.v &&
           sites_is_jdk(trace_method_class(a->trace, take));
}

bool resource_is_limit(const struct resource *r, const struct analysis *a)
{
    if (r->kind != RESOURCE_THINGS)
        return false;
    const char *role = resource_role(r, a);
    return (is_semaphore(r, a) && !find_known(r, a->trace)) || strcmp(role, "bulkhead") == 0 ||
           strcmp(role, "concurrency limit") == 0;
}

const char *resource_io_word(const struct resource *r)
{
    return r->doing->does == DOES_OUTPUT   ? "output"
           : r->doing->does == DOES_NATIVE ? "native code"
                                           : "input";
}

const char *resource_role(const struct resource *r, const struct analysis *a)
{
    const struct known *k = find_known(r, a->trace);
    const char *by_words = NULL;
    if (k && k->pool && r->kind == RESOURCE_THINGS && strcmp(k->role, "object pool") == 0)
        by_words = role_by_words(r, a); /* of connections */
    if (k)
        return is_inside_database(r, k)                               ? "lock inside the database"
               : k->lock && r->kind == RESOURCE_LOCK                  ? k->lock
               : by_words && strcmp(by_words, "connection pool") == 0 ? by_words
                                                                      : k->role;
    if (resource_is_of_classes(r, a))
        return is_initialisation(r, a) ? "class initialisation" : "class loading";
    if (resource_is_full_queue(r))
        return resource_is_pipe(r, a) ? "full pipe" : "full queue";
    if (r->kind == RESOURCE_THINGS || r->kind == RESOURCE_DELAY || r->past ||
        resource_is_of_entry(r, a))
        by_words = role_by_words(r, a);
    if (by_words)
        return by_words;
    if (resource_is_of_entry(r, a))
        return "lock of an entry";
    if (resource_is_meeting(r))
        return "barrier";
    if (r->kind == RESOURCE_ANSWERS && r->holder)
        return (r->n_holders > 1 && r->one_pool) || resource_is_common_pool(a, r->holder)
                   ? "thread pool"
                   : "thread";
    static const char *const roles[] = {
        [RESOURCE_LOCK] = "lock",      [RESOURCE_THINGS] = "pool or limit",
        [RESOURCE_ANSWERS] = "answer", [RESOURCE_POLLED] = "polled condition",
        [RESOURCE_DELAY] = "delay",    [RESOURCE_LOOP] = "event loop"};
    if (r->kind == RESOURCE_IO)
        return r->none_free ? "thread pool" : resource_io_word(r);
    return roles[r->kind];
}

bool resource_is_of_child(const struct resource *r, const struct analysis *a)
{
    static const char child[] = "=process ";
    const struct trace *t = a->trace;
    return strncmp(trace_class(t, trace_lock(t, r->source.peer)->class_)->signature, child,
                   sizeof child - 1) == 0;
}

/* Whether one thread or one pool gives the answers, and has a name that says something. */
static bool has_named_giver(const struct resource *r, const struct analysis *a)
{
    char name[LABEL_MAX];
    if (!r->holder || !(r->one_pool || r->n_holders == 1))
        return false;
    resource_called_pool(a, r->holder, name, sizeof name);
    return *name != 0;
}

/* Answers have the name of the thread or pool that gives them, if it is only one. */
static const char *thread_name(const struct analysis *a, uint32_t thread)
{
    return trace_thread(a->trace, a->threads.v[thread].id)->name;
}

bool resource_is_common_pool(const struct analysis *a, uint32_t thread)
{
    return strncmp(thread_name(a, thread), COMMON_POOL "-worker",
                   sizeof COMMON_POOL "-worker" - 1) == 0;
}

static bool answering_pool(const struct resource *r, const struct analysis *a, char *out, size_t n)
{
    if (r->remote) {
        peer_name(a->trace, r->source.peer, out, n);
        if (r->inside)
            snprintf(out + strlen(out), n - strlen(out), ", this program");
        return true;
    }
    if ((r->kind != RESOURCE_ANSWERS && r->kind != RESOURCE_LOOP) || resource_is_meeting(r) ||
        !(r->kind == RESOURCE_LOOP ? r->holder != 0 : has_named_giver(r, a)))
        return false;
    if (resource_is_common_pool(a, r->holder)) /* of one thread, where there are two processors */
        snprintf(out, n, "%s", COMMON_POOL);
    else if (r->n_holders > 1)
        resource_thread_pool(a, r->holder, out, n);
    else
        label_thread(&a->threads, a->trace, r->holder, out, n);
    return *out != 0;
}

bool resource_field(const struct resource *r, char *out, size_t n)
{
    if (r->field)
        field_text(r->field, false, out, n);
    return r->field != NULL;
}

/* Whether the field says more than the rest.  An object of a class outside the JDK is named by its
 * class, an answer by the thread that has to give it. */
static bool name_is_field(const struct resource *r, const struct analysis *a)
{
    bool known = find_known(r, a->trace) != NULL;
    bool answer = r->kind == RESOURCE_ANSWERS && !resource_is_meeting(r);
    return r->field && !answer && !resource_is_of_classes(r, a) &&
           (known || resource_is_meeting(r) || r->kind == RESOURCE_THINGS ||
            r->kind == RESOURCE_DELAY || name_is_method(r, a));
}

/* Whether two classes are of one library, by the first three names of their packages. */
static bool is_one_library(const char *x, const char *y)
{
    int names = 0;
    for (; *x && *x == *y && names < LIBRARY_NAMES; x++, y++)
        names += *x == '/';
    return names == LIBRARY_NAMES;
}

lock_id resource_leads_to(const struct resource *r, const struct analysis *a)
{
    const struct trace *t = a->trace;
    const struct activity *x = r->doing;
    lock_id peer = r->n_doing ? activity_peer(x) : (lock_id){0};
    if ((r->kind != RESOURCE_THINGS && r->kind != RESOURCE_LOCK) || !peer.v ||
        r->take.v == r->wait_at.method.v || 1000 * (x->ns >> 10) < LED_PERMILLE * (r->held >> 10))
        return (lock_id){0};
    const char *own = trace_method_class(t, r->take);
    const struct trace_stack *s = trace_stack(t, x->stack);
    for (uint32_t i = 0; i < s->n_frames; i++) {
        const char *at = trace_method_class(t, s->frames[i].method);
        if (!sites_is_jdk(at))
            return is_one_library(own, at) ? peer : (lock_id){0};
    }
    return (lock_id){0};
}

/* The method that asks a known pool for a thing: the outermost of the adjacent frames that the
 * table lists for this pool. */
static method_id asked_of_pool(const struct resource *r, const struct analysis *a,
                               const struct known *pool)
{
    const struct trace *t = a->trace;
    const struct trace_stack *s = trace_stack(t, r->wait_stack);
    method_id asked = taker(r, a);
    uint32_t i = 0;
    while (i < s->n_frames && s->frames[i].method.v != asked.v)
        i++;
    for (; i < s->n_frames; i++) {
        const struct known *k = known_at(s->frames[i].method, t);
        if (!k || strcmp(k->role, pool->role) != 0)
            break;
        asked = s->frames[i].method;
    }
    return asked;
}

/* The class as programs write it: CountDownLatch for the lock CountDownLatch$Sync inside it. */
static void class_of_program(const char *signature, char *out, size_t n)
{
    label_class(signature, out, n);
    char *nested = strchr(out, '$');
    size_t len = nested ? strlen(nested) : 0;
    if (len > 4 && nested > out && strcmp(nested + len - 4, "Sync") == 0)
        *nested = 0;
}

static void name_alone(const struct resource *r, const struct analysis *a, char *out, size_t n)
{
    const struct known *k = find_known(r, a->trace);
    const char *signature = a->locks.groups[r->group].signature;
    char method[2 * LABEL_MAX], class_[LABEL_MAX];
    resource_method_name(a->trace, k && k->pool ? asked_of_pool(r, a, k) : taker(r, a), method,
                         sizeof method);
    class_of_program(signature, class_, sizeof class_);
    if (k && name_before(a->trace, k->suffix, out, n))
        return;
    if (r->kind == RESOURCE_IO && r->none_free)
        resource_thread_pool(a, r->holder, out, n);
    else if (r->kind == RESOURCE_IO)
        snprintf(out, n, "%s", method);
    if (r->kind == RESOURCE_IO || answering_pool(r, a, out, n))
        return;
    if (name_is_field(r, a))
        field_text(r->field, true, out, n);
    else if (k || name_is_method(r, a) ||
             (r->take.v && (r->kind == RESOURCE_ANSWERS || r->kind == RESOURCE_DELAY)))
        snprintf(out, n, "%s", method);
    else
        snprintf(out, n, "%s", class_);
}

void resource_name(const struct resource *r, const struct analysis *a, char *out, size_t n)
{
    char peer[LABEL_MAX];
    lock_id end = resource_leads_to(r, a);
    name_alone(r, a, out, n);
    if (!end.v)
        return;
    peer_name(a->trace, end, peer, sizeof peer);
    snprintf(out + strlen(out), n - strlen(out), " %s %s",
             r->kind == RESOURCE_LOCK && r->doing->does == DOES_INPUT ? "from" : "to", peer);
}

static void add_role(const struct resource *r, const struct analysis *a, const char *name,
                     char *out, size_t n)
{
    bool known = find_known(r, a->trace) != NULL, of_classes = resource_is_of_classes(r, a);
    if (of_classes)
        snprintf(out, n, "%s", resource_role(r, a));
    else if (known || name_is_field(r, a) || resource_is_meeting(r))
        snprintf(out, n, "%s (%s)", name,
                 !known && is_semaphore(r, a) && !role_by_words(r, a) ? "semaphore"
                                                                      : resource_role(r, a));
    else if (r->kind == RESOURCE_IO)
        snprintf(out, n, r->none_free ? "%s (thread pool)" : "%s (%s)", name, resource_role(r, a));
    else if (resource_is_full_queue(r))
        snprintf(out, n, "%s of %s", resource_role(r, a), name);
    else if (r->kind == RESOURCE_LOOP)
        snprintf(out, n, "event loop %s", name);
    else if (r->remote && resource_is_of_child(r, a))
        snprintf(out, n, "end of %s", name);
    else if (r->kind == RESOURCE_ANSWERS)
        snprintf(out, n, "answers %s %s",
                 r->remote               ? "from"
                 : has_named_giver(r, a) ? "of"
                                         : "to",
                 name);
    else if ((r->kind == RESOURCE_DELAY || r->kind == RESOURCE_THINGS || r->past) &&
             role_by_words(r, a))
        snprintf(out, n, "%s (%s)", name, resource_role(r, a));
    else if (name_is_method(r, a) && (r->kind == RESOURCE_LOCK || is_semaphore(r, a)))
        snprintf(out, n, "%s of %s", r->kind == RESOURCE_LOCK ? "lock" : "Semaphore", name);
    else
        snprintf(out, n, "%s", name);
}

void resource_title(const struct resource *r, const struct analysis *a, char *out, size_t n)
{
    char name[2 * LABEL_MAX];
    resource_name(r, a, name, sizeof name);
    add_role(r, a, name, out, n);
}

void resource_key(const struct resource *r, const struct analysis *a, char *out, size_t n)
{
    char name[2 * LABEL_MAX];
    name_alone(r, a, name, sizeof name);
    add_role(r, a, name, out, n);
}

/* The field, with the JDK's class where that says something. */
static void name_by_field(const char *field, const char *signature, char *out, size_t n)
{
    char class_[LABEL_MAX];
    class_of_program(signature, class_, sizeof class_);
    const char *nested = strrchr(class_, '$'), *simple = nested ? nested + 1 : label_simple(class_);
    field_text(field, true, out, n);
    if (sites_is_jdk(signature) && strcmp(signature, "Ljava/lang/Object;") != 0)
        snprintf(out + strlen(out), n - strlen(out), " (%s)", simple);
}

/* A stack of a release may be in a synchronized method of another monitor. */
struct lock_wait resource_order_wait(const struct trace *t, lock_id lock,
                                     struct lock_order_place at)
{
    bool other = at.what == LOCK_ORDER_GIVEN_BACK && field_in_synchronized(t, at.stack);
    bool none = other || at.what == LOCK_ORDER_OWNING;
    return (struct lock_wait){lock, none ? (stack_id){0} : at.stack, false};
}

/* A park is for a lock, or for an object of the JDK that the program has in a field. */
static void lock_name(const struct analysis *a, const struct field_sites *fields,
                      struct lock_wait w, char *out, size_t n)
{
    uint32_t group = lock_set_group(&a->locks, w.lock);
    const char *signature = a->locks.groups[group].signature;
    const char *field = w.called                             ? field_of_called(fields, w.at)
                        : resource_class_of_entry(signature) ? NULL
                                                             : field_of_lock(fields, w.at);
    const struct resource r = {
        .kind = RESOURCE_LOCK, .lock = w.lock, .group = group, .wait_stack = w.at};
    if (resource_is_of_classes(&r, a))
        snprintf(out, n, "%s", resource_role(&r, a));
    else if (field && (sites_is_jdk(signature) || *signature != 'L'))
        name_by_field(field, signature, out, n);
    else
        class_of_program(signature, out, n);
}

void resource_lock_label(const struct analysis *a, const struct field_sites *fields,
                         struct lock_wait w, bool numbered, char *out, size_t n)
{
    char number[16];
    lock_name(a, fields, w, out, n);
    if (!numbered || lock_group_is_object(&a->locks.groups[lock_set_group(&a->locks, w.lock)]))
        return;
    size_t end = strlen(out);
    bool open = end && out[end - 1] == ')';
    label_lock_number(a->trace, w.lock, number, sizeof number);
    snprintf(out + end - open, n - end + open, open ? ", object %s)" : " (object %s)", number);
}

bool resource_same_pool(const struct analysis *a, uint32_t x, uint32_t y)
{
    return pool_is_same(thread_name(a, x), thread_name(a, y));
}

void resource_thread_pool(const struct analysis *a, uint32_t thread, char *out, size_t n)
{
    pool_name(thread_name(a, thread), out, n);
    for (size_t len = strlen(out); len && strchr("-#_ ", out[len - 1]); len--)
        out[len - 1] = 0;
}

void resource_called_pool(const struct analysis *a, uint32_t thread, char *out, size_t n)
{
    resource_thread_pool(a, thread, out, n);
    if (strcmp(out, "Thread") == 0)
        *out = 0;
}

void resource_pool_name(const struct analysis *a, const struct resource *r, char *out, size_t n)
{
    *out = 0;
    if (resource_n_waiters(r) > 1 && !r->mixed)
        resource_called_pool(a, r->threads[0], out, n);
}

static bool is_whole_pool(const struct analysis *a, const struct resource *r)
{
    uint32_t n = 0;
    for (uint32_t i = 1; i < a->threads.n && i < a->timeline.n_lines; i++)
        n += resource_same_pool(a, r->threads[0], i);
    return n == resource_n_waiters(r);
}

static bool is_of_one_pool(const struct analysis *a, const struct resource *r)
{
    char pool[LABEL_MAX];
    resource_pool_name(a, r, pool, sizeof pool);
    return r->kind == RESOURCE_ANSWERS && *pool && strncmp(pool, "ForkJoinPool", 12) != 0;
}

bool resource_is_unanswered(const struct analysis *a, const struct resource *r)
{
    return is_of_one_pool(a, r) && !r->given && !resource_is_meeting(r) &&
           2 * r->open <= r->count && r->wait_at.method.v && is_whole_pool(a, r);
}

bool resource_is_of_own_pool(const struct analysis *a, const struct resource *r)
{
    return (is_of_one_pool(a, r) && r->given_ns && 2 * r->own_ns >= r->given_ns) ||
           resource_is_unanswered(a, r);
}
