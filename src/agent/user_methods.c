#include "agent/user_methods.h"

#include "agent/retransform.h"
#include "agent/tracked.h"
#include "base/log.h"
#include "base/near.h"
#include "base/util.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Loaders that have a class of the same name, each its own. */
enum { LOADERS_MAX = 16, REFERENCES = 64, CHANGES_MAX = 64 };

/* What was seen of a row's method, as bits. */
enum seen {
    SEEN_CLASS = 1,
    SEEN_METHOD = 2,
    SEEN_NATIVE = 4,
    SEEN_HIDDEN = 8,      /* in a class that cannot be rewritten: a lambda's */
    SEEN_NO_BOOLEAN = 16, /* `tries`, and the result is something else */
    SEEN_USABLE = 32,
};

struct user_row {
    const struct tracked *t;
    jweak classes[LOADERS_MAX];
    _Atomic uint32_t n_classes; /* release: written after the reference */
    uint32_t seen;              /* enum seen bits */
    char near[128];             /* the method of the class that was perhaps meant */
};

/* Code of the class is to be rewritten for the row. */
struct place {
    size_t row;
    jweak class;
    bool filtered;
};

/* Never held while classes are rewritten: the class-file hook takes it. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct user_row *rows; /* [n_rows] */
static size_t n_rows, first_row;
static struct place *places;
static size_t n_places, cap_places;

bool user_methods_any(void)
{
    return n_tracked && tracked[n_tracked - 1].user && tracked_applies(&tracked[n_tracked - 1]);
}

static int make_rows(void)
{
    for (first_row = n_tracked; first_row > 0 && tracked[first_row - 1].user; first_row--)
        ;
    size_t n = n_tracked - first_row;
    rows = n ? calloc(n, sizeof *rows) : NULL;
    if (!rows)
        return -ENOMEM;
    n_rows = n;
    for (size_t i = 0; i < n_rows; i++)
        rows[i].t = &tracked[first_row + i];
    return 0;
}

/* --- a class's methods ------------------------------------------------------------------------ */

struct class_view {
    JNIEnv *jni;
    jclass class;
    char *signature;
    jmethodID *methods; /* those it declares; NULL: not asked for yet */
    jint n_methods;
};

static void view_release(struct class_view *v)
{
    jvmti_free(v->signature);
    jvmti_free(v->methods);
}

static bool view_methods(struct class_view *v)
{
    return v->methods ||
           (*agent.jvmti)->GetClassMethods(agent.jvmti, v->class, &v->n_methods, &v->methods) ==
               JVMTI_ERROR_NONE;
}

static bool is_class(const struct class_view *v, const char *name)
{
    size_t len = strlen(name);
    return v->signature[0] == 'L' && strncmp(v->signature + 1, name, len) == 0 &&
           strcmp(v->signature + 1 + len, ";") == 0;
}

/* What the user may have meant: an overload, or a name that is nearly the same. */
static void note_near(struct user_row *r, const char *name, const char *desc)
{
    size_t len = strlen(name), wanted = strlen(r->t->name);
    if (strcmp(name, r->t->name) == 0) {
        snprintf(r->near, sizeof r->near, "%s%s", name, desc);
        return;
    }
    size_t d = near_distance(name, len, r->t->name, wanted);
    size_t best =
        r->near[0] ? near_distance(r->near, strlen(r->near), r->t->name, wanted) : SIZE_MAX;
    if (d < best && near_close(d, wanted) && len < sizeof r->near)
        memcpy(r->near, name, len + 1);
}

enum { ACC_PRIVATE = 2, ACC_STATIC = 8, ACC_NATIVE = 0x100, ACC_ABSTRACT = 0x400 };

/* What the method is like, as SEEN_ bits.  `inherits`: only what a subclass can override or
 * inherit. */
static uint32_t look(const struct user_row *r, jmethodID m, const char *desc, bool inherits)
{
    jint access = 0;
    if ((*agent.jvmti)->GetMethodModifiers(agent.jvmti, m, &access) != JVMTI_ERROR_NONE)
        return 0;
    if (inherits && (access & ACC_PRIVATE))
        return 0;
    uint32_t seen = SEEN_METHOD;
    if (access & ACC_NATIVE)
        return seen | SEEN_NATIVE;
    if (access & ACC_ABSTRACT)
        return seen;
    if (r->t->result && desc[strlen(desc) - 1] != 'Z')
        return seen | SEEN_NO_BOOLEAN;
    return seen | SEEN_USABLE;
}

/* What the class itself declares of the row's method, as SEEN_ bits; 0: nothing. */
static uint32_t declared(struct class_view *v, struct user_row *r, bool inherits)
{
    uint32_t seen = 0;
    if (!view_methods(v))
        return 0;
    for (jint i = 0; i < v->n_methods; i++) {
        char *name = NULL, *desc = NULL;
        if ((*agent.jvmti)->GetMethodName(agent.jvmti, v->methods[i], &name, &desc, NULL) !=
            JVMTI_ERROR_NONE)
            continue;
        if (call_row_is(r->t->user, name, strlen(name), desc, strlen(desc)))
            seen |= look(r, v->methods[i], desc, inherits);
        else if (!inherits)
            note_near(r, name, desc);
        jvmti_free(name);
        jvmti_free(desc);
    }
    return seen;
}

/* --- places ----------------------------------------------------------------------------------- */

/* Classes that got a new place: to be rewritten. */
struct changes {
    jclass classes[CHANGES_MAX]; /* local references */
    jint n;
};

static bool has_place(JNIEnv *jni, size_t row, jclass c)
{
    for (size_t i = 0; i < n_places; i++)
        if (places[i].row == row && (*jni)->IsSameObject(jni, places[i].class, c))
            return true;
    return false;
}

/* Room for one more: that of a class that was unloaded, or at the end. */
static struct place *new_place(JNIEnv *jni)
{
    for (size_t i = 0; i < n_places; i++)
        if ((*jni)->IsSameObject(jni, places[i].class, NULL)) {
            (*jni)->DeleteWeakGlobalRef(jni, places[i].class);
            return &places[i];
        }
    if (n_places == cap_places) {
        size_t cap = cap_places ? 2 * cap_places : 64;
        struct place *p = realloc(places, cap * sizeof *p);
        if (!p)
            return NULL;
        places = p;
        cap_places = cap;
    }
    return &places[n_places++];
}

static void note_change(JNIEnv *jni, struct changes *changes, jclass c)
{
    for (jint i = 0; i < changes->n; i++)
        if ((*jni)->IsSameObject(jni, changes->classes[i], c))
            return;
    if (changes->n < CHANGES_MAX)
        changes->classes[changes->n++] = (*jni)->NewLocalRef(jni, c);
}

static void add_place(JNIEnv *jni, struct user_row *r, jclass c, bool filtered,
                      struct changes *changes)
{
    jboolean modifiable = JNI_FALSE;
    (*agent.jvmti)->IsModifiableClass(agent.jvmti, c, &modifiable);
    if (!modifiable || !class_has_room(c)) {
        r->seen |= SEEN_HIDDEN;
        return;
    }
    size_t row = (size_t)(r->t - tracked);
    if (has_place(jni, row, c))
        return;
    jweak class = (*jni)->NewWeakGlobalRef(jni, c);
    struct place *p = class ? new_place(jni) : NULL;
    if (!p) {
        log_line("out of memory: not every method of methods= is tracked");
        return;
    }
    *p = (struct place){row, class, filtered};
    r->seen |= SEEN_USABLE;
    note_change(jni, changes, c);
}

/* --- looking at a class ----------------------------------------------------------------------- */

static void add_class(JNIEnv *jni, struct user_row *r, jclass c)
{
    uint32_t n = atomic_load_explicit(&r->n_classes, memory_order_relaxed); /* under the mutex */
    r->seen |= SEEN_CLASS;
    for (uint32_t i = 0; i < n; i++)
        if ((*jni)->IsSameObject(jni, r->classes[i], c))
            return;
    jweak w = n < LOADERS_MAX ? (*jni)->NewWeakGlobalRef(jni, c) : NULL;
    if (!w) {
        log_line("%s is loaded by more than %d class loaders: not all of them are tracked",
                 r->t->class, LOADERS_MAX);
        return;
    }
    r->classes[n] = w;
    /* release: pairs with is_of_row */
    atomic_store_explicit(&r->n_classes, n + 1, memory_order_release);
}

static bool is_of_row(JNIEnv *jni, struct user_row *r, bool (*test)(JNIEnv *, jobject, jclass),
                      jobject what)
{
    /* acquire: pairs with add_class */
    uint32_t n = atomic_load_explicit(&r->n_classes, memory_order_acquire);
    bool is = false;
    for (uint32_t i = 0; i < n && !is; i++) {
        jclass c = (*jni)->NewLocalRef(jni, r->classes[i]); /* NULL: it was unloaded */
        is = c && test(jni, what, c);
        (*jni)->DeleteLocalRef(jni, c);
    }
    return is;
}

static bool is_subclass(JNIEnv *jni, jobject class, jclass of)
{
    return (*jni)->IsAssignableFrom(jni, class, of);
}

static bool is_instance(JNIEnv *jni, jobject object, jclass of)
{
    return (*jni)->IsInstanceOf(jni, object, of);
}

/* The class that this one inherits the row's method from; superclasses that are of the row's class
 * were looked at when they were prepared. */
static void look_above(struct class_view *v, struct user_row *r, struct changes *changes)
{
    JNIEnv *jni = v->jni;
    jclass c = (*jni)->GetSuperclass(jni, v->class);
    for (uint32_t found = 0; c && !found && !is_of_row(jni, r, is_subclass, c);) {
        struct class_view above = {.jni = jni, .class = c};
        found = declared(&above, r, true);
        if (found & SEEN_USABLE)
            add_place(jni, r, c, true, changes);
        r->seen |= found & ~(uint32_t)SEEN_USABLE;
        view_release(&above);
        jclass next = found ? NULL : (*jni)->GetSuperclass(jni, c);
        (*jni)->DeleteLocalRef(jni, c);
        c = next;
    }
    (*jni)->DeleteLocalRef(jni, c);
}

/* Default methods of the interfaces of the row's own class. */
static void look_at_interfaces(struct class_view *v, struct user_row *r, int depth,
                               struct changes *changes)
{
    JNIEnv *jni = v->jni;
    jint n = 0;
    jclass *all = NULL;
    if (depth == 0 || (*agent.jvmti)->GetImplementedInterfaces(agent.jvmti, v->class, &n, &all) !=
                          JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < n; i++) {
        struct class_view above = {.jni = jni, .class = all[i]};
        uint32_t found = declared(&above, r, true);
        if (found & SEEN_USABLE)
            add_place(jni, r, all[i], true, changes);
        r->seen |= found & ~(uint32_t)SEEN_USABLE;
        if (!found)
            look_at_interfaces(&above, r, depth - 1, changes);
        view_release(&above);
        (*jni)->DeleteLocalRef(jni, all[i]);
    }
    jvmti_free(all);
}

static void look_for_row(struct class_view *v, struct user_row *r, struct changes *changes)
{
    enum { INTERFACES_DEEP = 16 };
    bool own = is_class(v, r->t->class), ctor = strcmp(r->t->name, "<init>") == 0;
    if (own)
        add_class(v->jni, r, v->class);
    else if (ctor || !is_of_row(v->jni, r, is_subclass, v->class))
        return;
    uint32_t found = declared(v, r, !own);
    if (found & SEEN_USABLE)
        add_place(v->jni, r, v->class, false, changes);
    r->seen |= found & ~(uint32_t)SEEN_USABLE;
    if (found || ctor)
        return;
    look_above(v, r, changes);
    if (own && !(r->seen & SEEN_USABLE))
        look_at_interfaces(v, r, INTERFACES_DEEP, changes);
}

static void look_at(JNIEnv *jni, jclass c, struct changes *changes)
{
    struct class_view v = {.jni = jni, .class = c};
    if ((*agent.jvmti)->GetClassSignature(agent.jvmti, c, &v.signature, NULL) != JVMTI_ERROR_NONE)
        return;
    pthread_mutex_lock(&mutex);
    if (v.signature[0] == 'L')
        for (size_t i = 0; i < n_rows; i++)
            look_for_row(&v, &rows[i], changes);
    pthread_mutex_unlock(&mutex);
    view_release(&v);
}

static void rewrite(JNIEnv *jni, struct changes *changes)
{
    jvmtiError e =
        changes->n ? retransform_classes(changes->n, changes->classes) : JVMTI_ERROR_NONE;
    if (e != JVMTI_ERROR_NONE)
        log_line("the JVM does not let Orca rewrite a class that methods= names (%s): its calls "
                 "are not recorded",
                 jvmti_error_name(e));
    for (jint i = 0; i < changes->n; i++)
        (*jni)->DeleteLocalRef(jni, changes->classes[i]);
    changes->n = 0;
}

static void look_and_rewrite(JNIEnv *jni, jclass c)
{
    struct changes changes = {.n = 0};
    refs_may_be_many(jni);
    if ((*jni)->PushLocalFrame(jni, REFERENCES + CHANGES_MAX) < 0) {
        (*jni)->ExceptionClear(jni);
        return;
    }
    look_at(jni, c, &changes);
    rewrite(jni, &changes);
    (*jni)->PopLocalFrame(jni, NULL);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the parameters are JVMTI's */
void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass c)
{
    (void)jvmti, (void)thread;
    RECORDING(look_and_rewrite(jni, c));
}

/* Twice: a class may stand before the one that it extends. */
void user_methods_start(JNIEnv *jni)
{
    jint n = 0, status;
    jclass *all = NULL;
    if (make_rows() < 0 ||
        (*agent.jvmti)
                ->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_PREPARE,
                                           NULL) != JVMTI_ERROR_NONE ||
        (*agent.jvmti)->GetLoadedClasses(agent.jvmti, &n, &all) != JVMTI_ERROR_NONE) {
        log_line("this JVM does not list its classes: methods= has no effect");
        return;
    }
    refs_may_be_many(jni);
    for (jint i = 0; i < 2 * n; i++)
        if ((*agent.jvmti)->GetClassStatus(agent.jvmti, all[i % n], &status) == JVMTI_ERROR_NONE &&
            (status & JVMTI_CLASS_STATUS_PREPARED))
            look_and_rewrite(jni, all[i % n]);
    for (jint i = 0; i < n; i++)
        (*jni)->DeleteLocalRef(jni, all[i]);
    jvmti_free(all);
}

static void put_back(JNIEnv *jni, struct changes *changes, const struct place *p)
{
    jclass c = (*jni)->NewLocalRef(jni, p->class);
    if (c)
        note_change(jni, changes, c);
    (*jni)->DeleteLocalRef(jni, c);
    (*jni)->DeleteWeakGlobalRef(jni, p->class);
    if (changes->n == CHANGES_MAX)
        rewrite(jni, changes);
}

void user_methods_stop(JNIEnv *jni)
{
    struct changes changes = {.n = 0};
    if (!n_rows)
        return;
    (*agent.jvmti)
        ->SetEventNotificationMode(agent.jvmti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_PREPARE, NULL);
    pthread_mutex_lock(&mutex);
    struct place *old = places;
    size_t n_old = n_places;
    places = NULL;
    n_places = cap_places = 0;
    pthread_mutex_unlock(&mutex);
    for (size_t i = 0; i < n_old; i++)
        put_back(jni, &changes, &old[i]);
    rewrite(jni, &changes);
    free(old);
}

/* Once no thread is inside. */
void user_methods_free(JNIEnv *jni)
{
    for (size_t r = 0; r < n_rows; r++)
        for (uint32_t i = 0; i < rows[r].n_classes; i++)
            (*jni)->DeleteWeakGlobalRef(jni, rows[r].classes[i]);
    for (size_t i = 0; i < n_places; i++) /* of classes that were prepared during that */
        (*jni)->DeleteWeakGlobalRef(jni, places[i].class);
    free(places);
    places = NULL;
    n_places = cap_places = 0;
    free(rows);
    rows = NULL;
    n_rows = 0;
}

/* --- use -------------------------------------------------------------------------------------- */

size_t user_methods_of(JNIEnv *jni, jclass c, struct user_hit *hits, size_t max)
{
    size_t n = 0;
    if (!c || !n_rows)
        return 0;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < n_places && n < max; i++)
        if ((*jni)->IsSameObject(jni, places[i].class, c))
            hits[n++] = (struct user_hit){places[i].row, places[i].filtered};
    pthread_mutex_unlock(&mutex);
    return n;
}

bool user_methods_mean(JNIEnv *jni, size_t row, jobject self)
{
    return self && is_of_row(jni, &rows[row - first_row], is_instance, self);
}

/* --- what matched nothing --------------------------------------------------------------------- */

static void report(const struct user_row *r)
{
    struct buf method;
    buf_init(&method);
    call_row_put(&method, r->t->user);
    const char *text = buf_str(&method);
    log_line("methods=%s: line %u, %.*s, matched nothing: %s%s%s", agent.settings.methods,
             r->t->user->line, (int)strcspn(text, " "), text,
             !(r->seen & SEEN_CLASS)     ? "no class of this name was used"
             : r->seen & SEEN_HIDDEN     ? "only classes that cannot be rewritten (lambdas) have it"
             : r->seen & SEEN_NO_BOOLEAN ? "it does not return a boolean, so `tries` does not fit"
             : r->seen & SEEN_NATIVE     ? "it is native, and only Java code can be rewritten"
             : r->seen & SEEN_METHOD     ? "it is abstract, and nothing that was used implements it"
             : r->near[0]                ? "the class has no such method; did you mean "
                                         : "the class has no such method",
             r->near[0] && !(r->seen & ~(uint32_t)SEEN_CLASS) ? r->near : "",
             r->near[0] && !(r->seen & ~(uint32_t)SEEN_CLASS) ? "?" : "");
    buf_fini(&method);
}

void user_methods_report(void)
{
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < n_rows; i++)
        if (!(rows[i].seen & SEEN_USABLE))
            report(&rows[i]);
    pthread_mutex_unlock(&mutex);
}
