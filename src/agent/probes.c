#include "agent/probes.h"

#include "agent/alloc_probes.h"
#include "agent/holds.h"
#include "agent/kept.h"
#include "agent/lacks.h"
#include "agent/moves.h"
#include "agent/natives.h"
#include "agent/retransform.h"
#include "agent/stacks.h"
#include "agent/tracked.h"
#include "agent/user_methods.h"
#include "base/embed.h"
#include "base/log.h"
#include "base/util.h"
#include "classfile/edit.h"

#include <string.h>

EMBED(java_lang_OrcaProbe);

#define PROBE "java/lang/OrcaProbe"
enum { CLASSES_MAX = 128, REFERENCES = 4096, USER_ROWS_MAX = 64, ROWS_MAX = 256 };

static _Atomic bool hooking; /* the probe's natives are there */

static _Atomic bool holding; /* OrcaHolds is there, and its group on */

static _Atomic bool counting; /* OrcaHeap is there, and reports every object */

/* Rows of Orca's own whose class carries probes, perhaps of an earlier choice of groups. */
static _Atomic bool rewritten[ROWS_MAX];

void probes_want(jvmtiCapabilities *want)
{
    want->can_retransform_classes = 1;
    want->can_retransform_any_class = 1;
}

static bool is_of_class(const struct tracked *t, const char *name, size_t len)
{
    return !t->user && strncmp(t->class, name, len) == 0 && !t->class[len];
}

/* Whether we track methods of this class (`len`: of the name in internal form); `old`: or did until
 * now. */
static bool is_tracked_class(const char *name, size_t len, bool old)
{
    for (size_t i = 0; i < n_tracked; i++)
        if (is_of_class(&tracked[i], name, len) &&
            (tracked_applies(&tracked[i]) || (old && i < ROWS_MAX && rewritten[i])))
            return true;
    return false;
}

static void note_rewritten(const char *name, bool is)
{
    for (size_t i = 0; i < n_tracked && i < ROWS_MAX; i++)
        if (is_of_class(&tracked[i], name, strlen(name)))
            rewritten[i] = is;
}

/* --- one class -------------------------------------------------------------------------------- */

struct rewrite {
    const char *class; /* NULL: none of Orca's own rows */
    const char *kept;  /* the class, when it has rows that stay */
    const char *holds; /* when its locks are looked at */
    const char *alloc; /* when its allocations are */
    bool boot;
    bool again;         /* of another loader than the boot loader, and loaded already */
    bool looked, stays; /* found out on the way; stays: kept.h */
    struct cf_plan plan;
    struct user_hit hits[USER_ROWS_MAX];
    size_t n_hits;
    struct cf_edit edits[CF_MAX_EDITS];
};

enum { EDITS_OF_ROW = 3 }; /* at most */

/* A row of the table, whichever table is the recording's. */
struct row {
    const struct tracked *t;
    size_t number;
};

static const char *probe_name(const struct tracked *t, const char *name)
{
    static const char *const kept[][2] = {
        {"enter", "keptEnter"}, {"exit", "keptExit"}, {"threw", "keptThrew"}, {"call", "keptCall"}};
    size_t i = 0;
    while (t->kept && i < ARRAY_LEN(kept) && strcmp(kept[i][0], name) != 0)
        i++;
    return t->kept && i < ARRAY_LEN(kept) ? kept[i][1] : name;
}

static struct cf_probe probe(struct row r, const char *name, const char *signature)
{
    const struct tracked *t = r.t;
    struct cf_probe p = {.cls = PROBE, .name = probe_name(t, name), .desc = signature, .n_args = 2};
    p.args[0] = (struct cf_arg){CF_ARG_INT, tracked_number(r.number)};
    p.args[1] = t->object == CALL_NO_OBJECT ? (struct cf_arg){CF_ARG_NULL, 0}
                : t->object == CALL_THIS    ? (struct cf_arg){CF_ARG_THIS, 0}
                                            : (struct cf_arg){CF_ARG_PARAM, t->object};
    return p;
}

static uint32_t blocking_edits(struct row row, struct cf_edit *e)
{
    const struct tracked *t = row.t;
    e[0] =
        (struct cf_edit){.at = CF_AT_ENTRY, .probe = probe(row, "enter", "(ILjava/lang/Object;)V")};
    if (t->time >= 0) {
        e[0].probe.desc = "(ILjava/lang/Object;J)V";
        e[0].probe.args[e[0].probe.n_args++] = (struct cf_arg){CF_ARG_PARAM, t->time};
    }
    e[1] =
        (struct cf_edit){.at = CF_AT_RETURN, .probe = probe(row, "exit", "(ILjava/lang/Object;)V")};
    if (t->result) {
        e[1].probe.desc = "(ILjava/lang/Object;I)V";
        e[1].probe.args[e[1].probe.n_args++] = (struct cf_arg){CF_ARG_RESULT, 0};
    }
    e[2] =
        (struct cf_edit){.at = CF_AT_THROW, .probe = probe(row, "threw", "(ILjava/lang/Object;)V")};
    return 3;
}

/* `this` of a constructor is an object only at its end. */
static enum cf_point call_point(const struct tracked *t)
{
    bool ctor = t->object == CALL_THIS && strcmp(t->name, "<init>") == 0;
    return ctor || t->ends ? CF_AT_RETURN : CF_AT_ENTRY;
}

static struct cf_arg arg_int(int32_t value)
{
    return (struct cf_arg){CF_ARG_INT, value};
}

/* The same, with the object that the method is called on. */
static uint32_t filtered_edits(struct row row, struct cf_edit *e)
{
    const struct tracked *t = row.t;
    uint32_t n = t->call ? 1 : 3;
    for (uint32_t i = 0; i < n; i++) {
        bool exits = !t->call && i > 0;
        e[i].at = t->call  ? call_point(t)
                  : i == 0 ? CF_AT_ENTRY
                  : i == 1 ? CF_AT_RETURN
                           : CF_AT_THROW;
        e[i].probe = probe(row,
                           t->call ? "callIf"
                           : exits ? "exitIf"
                                   : "enterIf",
                           exits ? "(ILjava/lang/Object;Ljava/lang/Object;I)V"
                                 : "(ILjava/lang/Object;Ljava/lang/Object;)V");
        e[i].probe.args[e[i].probe.n_args++] = (struct cf_arg){CF_ARG_THIS, 0};
        if (exits) /* what threw got nothing; what returns has got it unless it says no */
            e[i].probe.args[e[i].probe.n_args++] = i == 2      ? arg_int(0)
                                                   : t->result ? (struct cf_arg){CF_ARG_RESULT, 0}
                                                               : arg_int(1);
    }
    return n;
}

static uint32_t row_edits(struct row row, bool filtered, struct cf_edit *e)
{
    if (filtered)
        return filtered_edits(row, e);
    if (!row.t->call)
        return blocking_edits(row, e);
    *e = (struct cf_edit){.at = call_point(row.t),
                          .probe = probe(row, "call", "(ILjava/lang/Object;)V")};
    return 1;
}

static bool row_is_of(const struct tracked *t, const char *class, const struct cf_method *m)
{
    return strcmp(t->class, class) == 0 && cf_text_is(m->name, t->name) &&
           (!t->signature || cf_text_is(m->desc, t->signature));
}

/* A class that is kept gets all of its rows, whatever this recording wants: it is rewritten
 * once. */
static uint32_t kept_edits(const char *class, const struct cf_method *m, struct cf_edit *e)
{
    uint32_t n = 0;
    const struct tracked *t;
    for (size_t i = 0; (t = tracked_kept(i)) && n + EDITS_OF_ROW <= CF_MAX_EDITS; i++)
        if (tracked_is_here(t) && row_is_of(t, class, m))
            n += row_edits((struct row){t, i}, false, e + n);
    return n;
}

static uint32_t own_edits(const char *class, const struct cf_method *m, struct cf_edit *e,
                          uint32_t n)
{
    for (size_t i = 0; i < n_tracked && n + EDITS_OF_ROW <= CF_MAX_EDITS; i++) {
        const struct tracked *t = &tracked[i];
        if (!t->user && !t->kept && tracked_applies(t) && row_is_of(t, class, m))
            n += row_edits((struct row){t, i}, false, e + n);
    }
    return n;
}

static bool has_native(const struct cf_class *c)
{
    for (uint32_t i = 0; i < c->n_methods; i++)
        if (c->methods[i].access & CF_ACC_NATIVE)
            return true;
    return false;
}

static const struct cf_edit *edits_of(void *ctx, const struct cf_class *c,
                                      const struct cf_method *m, uint32_t *n)
{
    struct rewrite *r = ctx;
    if (!r->looked) {
        r->plan.always = cf_has_nan(c);
        r->stays = r->boot && (r->kept || r->alloc || r->plan.always || has_native(c));
    }
    r->looked = true;
    *n = r->kept ? kept_edits(r->kept, m, r->edits) : 0;
    if (r->class)
        *n = own_edits(r->class, m, r->edits, *n);
    for (size_t i = 0; i < r->n_hits && *n + EDITS_OF_ROW <= CF_MAX_EDITS; i++) {
        const struct tracked *t = &tracked[r->hits[i].row];
        bool boolean = m->desc.len && m->desc.p[m->desc.len - 1] == 'Z';
        if (call_row_is(t->user, m->name.p, m->name.len, m->desc.p, m->desc.len) &&
            (boolean || !t->result))
            *n += row_edits((struct row){t, r->hits[i].row}, r->hits[i].filtered, r->edits + *n);
    }
    if (r->holds && *n + HOLDS_EDITS <= CF_MAX_EDITS)
        *n += holds_edits(r->holds, r->boot, m, r->edits + *n);
    if (r->alloc && *n + ALLOC_EDITS <= CF_MAX_EDITS)
        *n += alloc_edits(r->alloc, m, r->edits + *n);
    return r->edits;
}

/* cf_plan.moved: where a class is kept, so is this; one that had a NaN stays without it. */
static void note_moves(void *ctx, const struct cf_class *c, const struct cf_method *m,
                       uint32_t code_len, const struct cf_move *v, size_t n)
{
    const struct rewrite *r = ctx;
    moves_note(c, m, code_len, (struct moves_new){v, n, r->stays || (r->again && r->plan.always)});
}

static void note_kept(const struct rewrite *r, const char *name)
{
    unsigned other = r->n_hits || r->holds ? KEPT_OTHER : 0;
    /* A method without code, which was not looked at, stays as it is. */
    if (r->stays || (r->boot && r->alloc && !r->looked))
        kept_note(name, (r->kept ? KEPT_ROWS : 0) | (r->alloc ? KEPT_ALLOC : 0) | other);
}

/* HotSpot never finds a NaN among the constants of a class: see kept.h and classfile/nan.h.  Of a
 * class that an agent has changed it keeps the earlier bytes; of another class it makes new ones,
 * with twice as many constants. So a class with such a constant is changed, if only into itself. */
static void rewrite(struct rewrite *r, const char *name, const unsigned char *bytes, jint len,
                    jint *new_len, unsigned char **new_bytes)
{
    r->plan =
        (struct cf_plan){.edits = edits_of, .moved = note_moves, .ctx = r, .no_nan = r->again};
    struct cf_result result;
    struct buf out;
    struct err err = {""};
    buf_init(&out);
    int rc = cf_edit_class(bytes, (size_t)len, &r->plan, &out, &result, &err);
    if (rc < 0)
        log_line("%s: %s: its methods are not tracked", name, err.msg);
    else if (result.first.msg[0])
        log_line("%s: %s: not tracked", name, result.first.msg);
    unsigned char *copy = NULL;
    if (rc > 0 &&
        (*agent.jvmti)->Allocate(agent.jvmti, (jlong)out.len, &copy) == JVMTI_ERROR_NONE) {
        memcpy(copy, out.p, out.len);
        *new_bytes = copy;
        *new_len = (jint)out.len;
    }
    if (r->class)
        note_rewritten(name, copy != NULL);
    if (copy || rc == 0)
        note_kept(r, name);
    buf_fini(&out);
}

/* HotSpot also names the class that is being retransformed to the hook of each class that is loaded
 * during that (17). */
static bool is_named(jclass c, const char *name)
{
    char *signature = NULL;
    if ((*agent.jvmti)->GetClassSignature(agent.jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE)
        return false;
    size_t len = strlen(name);
    bool is = signature[0] == 'L' && strncmp(signature + 1, name, len) == 0 &&
              strcmp(signature + 1 + len, ";") == 0;
    jvmti_free(signature);
    return is;
}

/* Not a class that is loaded during that: it has still to be initialized. */
static bool is_same(JNIEnv *jni, jclass c, const char *name, jobject loader)
{
    jobject its = NULL;
    if (!is_named(c, name) ||
        (*agent.jvmti)->GetClassLoader(agent.jvmti, c, &its) != JVMTI_ERROR_NONE)
        return false;
    bool same = (*jni)->IsSameObject(jni, its, loader);
    (*jni)->DeleteLocalRef(jni, its);
    return same;
}

/* What the recording wants of a class.  Inside the guard. */
static void want(struct rewrite *r, JNIEnv *jni, jclass redefined, const char *name)
{
    /* acquire: pairs with probes_install; the probe class can be linked to */
    if (!atomic_load_explicit(&hooking, memory_order_acquire))
        return;
    bool tracked_ = r->boot && is_tracked_class(name, strlen(name), true);
    bool kept = tracked_ && tracked_is_kept(name);
    r->kept = kept ? name : r->kept;
    r->class = tracked_ && !kept ? name : NULL;
    r->n_hits = redefined && is_named(redefined, name)
                    ? user_methods_of(jni, redefined, r->hits, USER_ROWS_MAX)
                    : 0;
    if (atomic_load_explicit(&holding, memory_order_acquire) && holds_wants_class(name, r->boot))
        r->holds = name;
    if (atomic_load_explicit(&counting, memory_order_acquire) && alloc_wants_class(name))
        r->alloc = name;
}

/* Orca's own rows mean classes of the boot loader: another class of such a name is none of them.
 * A class that is kept stays so when another agent has it retransformed while nothing is
 * recorded. */
/* NOLINTNEXTLINE(readability-function-size): the parameters are JVMTI's */
void JNICALL on_class_file(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader,
                           const char *name, jobject domain, jint len, const unsigned char *bytes,
                           jint *new_len, unsigned char **new_bytes)
{
    (void)jvmti, (void)domain;
    int saved = errno;
    struct rewrite r;
    if (!name)
        return;
    if (redefined)
        refs_may_be_many(jni);
    r.looked = r.stays = false;
    r.n_hits = 0;
    r.class = r.holds = NULL;
    r.boot = !loader;
    r.again =
        redefined && !r.boot && retransform_is_ours() && is_same(jni, redefined, name, loader);
    bool recorded = guard_enter();
    unsigned parts = r.boot ? kept_parts(name) : 0;
    r.kept = parts & KEPT_ROWS ? name : NULL;
    r.alloc = parts & KEPT_ALLOC ? name : NULL;
    if (recorded)
        want(&r, jni, redefined, name);
    if (r.class || r.kept || r.n_hits || r.holds || r.alloc || parts || r.again)
        rewrite(&r, name, bytes, len, new_len, new_bytes);
    if (recorded)
        guard_leave();
    errno = saved;
}

/* --- all of them ------------------------------------------------------------------------------ */

static jclass probe_class; /* a global reference, for as long as the JVM lives */
static jfieldID probe_on;

/* Called through natives_from_java: a class of java.lang with native methods of ours. */
static void define_probe(JNIEnv *jni)
{
    if (probe_class)
        return;
    jclass c =
        natives_define(jni, PROBE, embed_java_lang_OrcaProbe, EMBED_BYTES(java_lang_OrcaProbe));
    if (c && (*jni)->RegisterNatives(jni, c, tracked_natives, N_TRACKED_NATIVES) == JNI_OK &&
        (probe_on = (*jni)->GetStaticFieldID(jni, c, "on", "J")) &&
        (probe_class = (*jni)->NewGlobalRef(jni, c)))
        natives_name_methods(c);
    (*jni)->DeleteLocalRef(jni, c);
}

/* Which probes in classes that are kept are events.  Two threads may be here at once: each writes
 * until what it wrote is what is wanted. */
static void switch_kept(JNIEnv *jni, bool recording)
{
    uint64_t rows, now = recording ? tracked_kept_wanted() : 0;
    do {
        rows = now;
        if (probe_class)
            (*jni)->SetStaticLongField(jni, probe_class, probe_on, (jlong)rows);
        now = recording ? tracked_kept_wanted() : 0;
    } while (now != rows);
}

void probes_switch(JNIEnv *jni)
{
    switch_kept(jni, true);
}

/* `old`: or was until now.  A class whose code stays does not count. */
static bool is_tracked(jclass c, bool old)
{
    char *signature = NULL;
    jobject loader = NULL;
    bool yes = false;
    if ((*agent.jvmti)->GetClassSignature(agent.jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE)
        return false;
    size_t len = strlen(signature);
    if (signature[0] == 'L' && is_tracked_class(signature + 1, len - 2, old))
        yes =
            (*agent.jvmti)->GetClassLoader(agent.jvmti, c, &loader) == JVMTI_ERROR_NONE && !loader;
    signature[len - 1] = 0;
    yes = yes && !kept_settled(signature + 1, KEPT_ROWS);
    jvmti_free(signature);
    return yes;
}

/* Rewrite those that are there already; the others come through the hook when they are loaded. None
 * is loaded for our sake: VirtualThread's initializer, for one, starts a thread. */
static jvmtiError rewrite_loaded(JNIEnv *jni, bool old)
{
    jint n = 0, found = 0;
    jclass *all = NULL;
    jclass classes[CLASSES_MAX];
    jvmtiError e = (*agent.jvmti)->GetLoadedClasses(agent.jvmti, &n, &all);
    if (e != JVMTI_ERROR_NONE)
        return e;
    refs_may_be_many(jni);
    for (jint i = 0; i < n; i++)
        if (found < CLASSES_MAX && is_tracked(all[i], old) && class_has_room(all[i]))
            classes[found++] = all[i];
        else
            (*jni)->DeleteLocalRef(jni, all[i]);
    jvmti_free(all);
    if (found)
        e = retransform_classes(found, classes);
    if (e != JVMTI_ERROR_NONE)
        kept_forget();
    stacks_code_changed();
    for (jint i = 0; i < found; i++)
        (*jni)->DeleteLocalRef(jni, classes[i]);
    return e;
}

/* --- holds ------------------------------------------------------------------------------------ */

static bool holds_defined;

static void define_holds(JNIEnv *jni)
{
    holds_defined = holds_define(jni);
}

/* The group may have been switched. */
static void update_holds(JNIEnv *jni)
{
    bool want = agent.settings.groups[GROUP_holds];
    /* relaxed: only those who hold the life of the recording come here */
    if (want == atomic_load_explicit(&holding, memory_order_relaxed))
        return;
    if (want && (natives_from_java(jni, define_holds) < 0 || !holds_defined || !holds_start(jni))) {
        log_line("this JVM rejects the class OrcaHolds: holds are not recorded");
        agent.settings.groups[GROUP_holds] = false;
        return;
    }
    /* release: pairs with on_class_file */
    atomic_store_explicit(&holding, want, memory_order_release);
    holds_rewrite_loaded(jni);
    if (!want)
        holds_stop(jni);
}

/* --- every object ----------------------------------------------------------------------------- */

static bool alloc_defined;

static void define_alloc(JNIEnv *jni)
{
    alloc_defined = alloc_define(jni);
}

static void update_alloc(JNIEnv *jni)
{
    static bool followed; /* whether OrcaHeap knows group frees as on */
    bool want = agent.settings.groups[GROUP_alloc] && agent.settings.allocby == ALLOCBY_CODE;
    bool follow = want && agent.settings.groups[GROUP_frees];
    /* relaxed: only those who hold the life of the recording come here */
    bool counts = atomic_load_explicit(&counting, memory_order_relaxed);
    if (want == counts && (!want || follow == followed))
        return;
    followed = follow;
    if (want && (natives_from_java(jni, define_alloc) < 0 || !alloc_defined || !alloc_start(jni))) {
        log_line("this JVM rejects the class OrcaHeap: allocations are not recorded; allocby=jvm "
                 "does not need it");
        agent.settings.groups[GROUP_alloc] = false;
        return;
    }
    /* release: pairs with on_class_file */
    atomic_store_explicit(&counting, want, memory_order_release);
    if (!want)
        alloc_stop(jni);
    if (want != counts)
        alloc_rewrite_loaded(jni);
}

void probes_update(JNIEnv *jni)
{
    /* relaxed: only those who hold the life of the recording come here */
    if (!atomic_load_explicit(&hooking, memory_order_relaxed)) {
        probes_install(jni);
        return;
    }
    tracked_define();
    if ((*jni)->PushLocalFrame(jni, REFERENCES) < 0)
        return;
    jvmtiError e = rewrite_loaded(jni, true);
    (*jni)->PopLocalFrame(jni, NULL);
    if (e != JVMTI_ERROR_NONE)
        log_line("this JVM does not let Orca rewrite classes (%s)", jvmti_error_name(e));
    switch_kept(jni, true);
    update_holds(jni);
    update_alloc(jni);
}

void probes_remove(JNIEnv *jni)
{
    /* relaxed: the retransformation below is ordered by the JVM */
    if (!atomic_exchange_explicit(&hooking, false, memory_order_relaxed))
        return;
    switch_kept(jni, false);
    jvmtiError e = JVMTI_ERROR_OUT_OF_MEMORY;
    if ((*jni)->PushLocalFrame(jni, REFERENCES) == 0) {
        e = rewrite_loaded(jni, true);
        user_methods_stop(jni);
        (*jni)->PopLocalFrame(jni, NULL);
    }
    if (atomic_exchange_explicit(&holding, false, memory_order_relaxed)) {
        holds_rewrite_loaded(jni);
        holds_stop(jni);
    }
    if (atomic_exchange_explicit(&counting, false, memory_order_relaxed)) {
        alloc_stop(jni);
        alloc_rewrite_loaded(jni);
    }
    for (size_t i = 0; i < ROWS_MAX; i++)
        rewritten[i] = false;
    if (e != JVMTI_ERROR_NONE)
        log_line("this JVM does not let Orca put classes back (%s): inactive probes stay in "
                 "them",
                 jvmti_error_name(e));
}

static bool any_wanted(void)
{
    bool any = agent.settings.groups[GROUP_holds] || agent.settings.groups[GROUP_alloc];
    for (size_t i = 0; i < n_tracked; i++)
        any |= tracked_applies(&tracked[i]);
    return any;
}

void probes_install(JNIEnv *jni)
{
    if (!any_wanted())
        return;
    jvmtiError e = JVMTI_ERROR_INTERNAL;
    tracked_define();
    if (natives_from_java(jni, define_probe) == 0 && probe_class) {
        /* release: pairs with on_class_file */
        atomic_store_explicit(&hooking, true, memory_order_release);
        e = (*agent.jvmti)
                ->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE,
                                           JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
    }
    /* GetLoadedClasses makes a reference to each of several hundred classes. */
    if (e == JVMTI_ERROR_NONE && (*jni)->PushLocalFrame(jni, REFERENCES) == 0) {
        e = rewrite_loaded(jni, false);
        (*jni)->PopLocalFrame(jni, NULL);
    }
    if (e == JVMTI_ERROR_NONE)
        switch_kept(jni, true);
    if (e == JVMTI_ERROR_NONE && user_methods_any())
        user_methods_start(jni);
    if (e == JVMTI_ERROR_NONE)
        update_holds(jni);
    if (e == JVMTI_ERROR_NONE)
        update_alloc(jni);
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    if (e != JVMTI_ERROR_NONE)
        lacks_note("this JVM does not let Orca rewrite classes (%s): join, semaphores, "
                   "InterruptedException and parks of virtual threads are not recorded",
                   jvmti_error_name(e));
}
