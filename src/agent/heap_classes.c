#include "agent/heap_classes.h"

#include "agent/jvm_text.h"
#include "agent/objects.h"
#include "base/arena.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 1024, INTERFACES_MOST = 512 };

/* What is known of a class while its relatives are looked for. */
struct kin {
    jlong *interfaces; /* tags of those that it names itself */
    jint n;
};

struct opening {
    struct heap_classes *c;
    struct heap_walk *w;
    JNIEnv *jni;
    struct kin *kin; /* by the order of `all` */
};

static void release(struct heap_walk *w, void *p)
{
    if (p)
        (*w->jvmti)->Deallocate(w->jvmti, p);
}

/* --- one class -------------------------------------------------------------------------------- */

static const char *keep(struct opening *o, const char *text)
{
    char utf8[NAME_MOST];
    jvm_text(utf8, sizeof utf8, text);
    return arena_strndup(o->c->memory, utf8, strlen(utf8));
}

static jlong tag_of(struct heap_walk *w, jobject object)
{
    jlong tag = 0;
    return object && (*w->jvmti)->GetTag(w->jvmti, object, &tag) == JVMTI_ERROR_NONE ? tag : 0;
}

/* The number that its tag says; a tag of the walk is set where there is none. */
static uint64_t number_it(struct heap_walk *w, jobject object, jlong *tag)
{
    uint32_t place;
    uint64_t number;
    *tag = tag_of(w, object);
    if (objects_tag_place(*tag, &place, &number) || objects_is_walk_tag(*tag, &number))
        return number;
    number = objects_number();
    *tag = objects_walk_tag(number);
    return (*w->jvmti)->SetTag(w->jvmti, object, *tag) == JVMTI_ERROR_NONE ? number : 0;
}

static void put_signature(struct opening *o, jclass class_, struct heap_class *h)
{
    char *signature = NULL;
    if ((*o->w->jvmti)->GetClassSignature(o->w->jvmti, class_, &signature, NULL) ==
        JVMTI_ERROR_NONE)
        h->signature = keep(o, signature);
    if (!h->signature)
        h->signature = "?";
    release(o->w, signature);
}

static void put_fields(struct opening *o, jclass class_, struct heap_class *h)
{
    jvmtiEnv *ti = o->w->jvmti;
    jfieldID *ids = NULL;
    jint n = 0;
    if ((*ti)->GetClassFields(ti, class_, &n, &ids) != JVMTI_ERROR_NONE || n <= 0)
        return;
    const char **names = arena_alloc(o->c->memory, (size_t)n * sizeof *names);
    for (jint i = 0; names && i < n; i++) {
        char *name = NULL;
        if ((*ti)->GetFieldName(ti, class_, ids[i], &name, NULL, NULL) == JVMTI_ERROR_NONE)
            names[i] = keep(o, name);
        release(o->w, name);
    }
    h->fields = names;
    h->n_fields = names ? (uint32_t)n : 0;
    release(o->w, ids);
}

static void put_kin(struct opening *o, jclass class_, struct heap_class *h, struct kin *k)
{
    jvmtiEnv *ti = o->w->jvmti;
    jclass *interfaces = NULL;
    jint n = 0;
    jclass super = (*o->jni)->GetSuperclass(o->jni, class_);
    h->super_tag = tag_of(o->w, super);
    (*o->jni)->DeleteLocalRef(o->jni, super);
    if ((*ti)->GetImplementedInterfaces(ti, class_, &n, &interfaces) != JVMTI_ERROR_NONE)
        return;
    k->interfaces = n > 0 ? arena_alloc(o->c->memory, (size_t)n * sizeof(jlong)) : NULL;
    k->n = k->interfaces ? n : 0;
    for (jint i = 0; i < n; i++) {
        if (k->interfaces)
            k->interfaces[i] = tag_of(o->w, interfaces[i]);
        (*o->jni)->DeleteLocalRef(o->jni, interfaces[i]);
    }
    release(o->w, interfaces);
}

/* --- all of them ------------------------------------------------------------------------------ */

static int by_tag(const void *a, const void *b)
{
    const struct heap_class *x = a, *y = b;
    return (x->tag > y->tag) - (x->tag < y->tag);
}

const struct heap_class *heap_classes_find(const struct heap_classes *c, jlong tag)
{
    struct heap_class key = {.tag = tag};
    return tag && c->n ? bsearch(&key, c->all, c->n, sizeof key, by_tag) : NULL;
}

/* Each interface of a class once, those of its superclasses too. */
static uint32_t collect(const struct opening *o, jlong tag, jlong *met, uint32_t n)
{
    const struct heap_class *h = heap_classes_find(o->c, tag);
    for (; h; h = h->super) {
        const struct kin *k = &o->kin[h - o->c->all];
        for (jint i = 0; i < k->n; i++) {
            uint32_t at = 0;
            while (at < n && met[at] != k->interfaces[i])
                at++;
            if (at < n || n == INTERFACES_MOST)
                continue;
            met[n++] = k->interfaces[i];
            n = collect(o, k->interfaces[i], met, n);
        }
    }
    return n;
}

static void count_before(const struct opening *o, struct heap_class *h)
{
    jlong met[INTERFACES_MOST];
    for (const struct heap_class *s = h->super; s; s = s->super)
        h->before += s->n_fields;
    uint32_t n = collect(o, h->tag, met, 0);
    for (uint32_t i = 0; i < n; i++) {
        const struct heap_class *in = heap_classes_find(o->c, met[i]);
        h->of_interfaces += in ? in->n_fields : 0;
    }
}

/* A class keeps where it was in `before` while it is sorted, so that its kin finds it again. */
static int sort(struct opening *o, struct err *err)
{
    struct heap_classes *c = o->c;
    struct kin *sorted = calloc(c->n + 1, sizeof *sorted);
    if (!sorted)
        return err_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < c->n; i++)
        c->all[i].before = (uint32_t)i;
    qsort(c->all, c->n, sizeof *c->all, by_tag);
    for (size_t i = 0; i < c->n; i++) {
        sorted[i] = o->kin[c->all[i].before];
        c->all[i].before = 0;
    }
    free(o->kin);
    o->kin = sorted;
    return 0;
}

static int describe(struct opening *o, const jclass *classes, jint n, struct err *err)
{
    struct heap_classes *c = o->c;
    c->all = calloc((size_t)n + 1, sizeof *c->all);
    o->kin = calloc((size_t)n + 1, sizeof *o->kin);
    if (!c->all || !o->kin)
        return err_set(err, -ENOMEM, "out of memory");
    for (jint i = 0; i < n; i++)
        c->all[i].number = number_it(o->w, classes[i], &c->all[i].tag);
    for (jint i = 0; i < n; i++) {
        put_signature(o, classes[i], &c->all[i]);
        put_fields(o, classes[i], &c->all[i]);
        put_kin(o, classes[i], &c->all[i], &o->kin[i]);
    }
    c->n = (size_t)n;
    TRY(sort(o, err));
    for (size_t i = 0; i < c->n; i++)
        c->all[i].super = heap_classes_find(c, c->all[i].super_tag);
    for (size_t i = 0; i < c->n; i++)
        count_before(o, &c->all[i]);
    return 0;
}

/* --- how this JVM counts ---------------------------------------------------------------------- */

struct known {
    jlong target;
    jint index, most_static;
};

static jint look(void *ctx, const struct heap_edge *e)
{
    struct known *k = ctx;
    if (e->kind == JVMTI_HEAP_REFERENCE_FIELD && k->target && *e->tag == k->target)
        k->index = e->info->field.index;
    if (e->kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD && e->info->field.index > k->most_static)
        k->most_static = e->info->field.index;
    return HEAP_NOT_BEYOND;
}

/* Properties has few fields of its own, and those of Hashtable before them. */
static void learn_statics(struct opening *o)
{
    struct known k = {.most_static = -1};
    jclass class_ = (*o->jni)->FindClass(o->jni, "java/util/Properties");
    const struct heap_class *h = heap_classes_find(o->c, tag_of(o->w, class_));
    o->c->static_is_own = h && heap_walk_follow(o->w, class_, look, &k, NULL) == 0 &&
                          k.most_static >= 0 && (uint32_t)k.most_static < h->n_fields;
    (*o->jni)->DeleteLocalRef(o->jni, class_);
}

static jint index_of(const struct heap_class *h, const char *field)
{
    for (uint32_t i = 0; h && i < h->n_fields; i++)
        if (h->fields[i] && strcmp(h->fields[i], field) == 0)
            return (jint)(h->of_interfaces + h->before + i);
    return -1;
}

/* An exception whose message is known. */
static void learn_hidden(struct opening *o)
{
    JNIEnv *jni = o->jni;
    struct known k = {.index = -1};
    jclass class_ = (*jni)->FindClass(jni, "java/lang/Throwable");
    jmethodID make =
        class_ ? (*jni)->GetMethodID(jni, class_, "<init>", "(Ljava/lang/String;)V") : NULL;
    jstring message = make ? (*jni)->NewStringUTF(jni, "known") : NULL;
    jobject thrown = message ? (*jni)->NewObject(jni, class_, make, message) : NULL;
    o->c->throwable = tag_of(o->w, class_);
    jint named = index_of(heap_classes_find(o->c, o->c->throwable), "detailMessage");
    if (thrown && number_it(o->w, message, &k.target) && named >= 0 &&
        heap_walk_follow(o->w, thrown, look, &k, NULL) == 0 && k.index > named)
        o->c->hidden = (uint32_t)(k.index - named);
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, thrown);
    (*jni)->DeleteLocalRef(jni, message);
    (*jni)->DeleteLocalRef(jni, class_);
}

/* --- */

int heap_classes_open(struct heap_classes *c, JNIEnv *jni, struct heap_walk *w, struct err *err)
{
    struct opening o = {.c = c, .w = w, .jni = jni};
    jclass *classes = NULL;
    jint n = 0;
    memset(c, 0, sizeof *c);
    c->memory = malloc(sizeof *c->memory);
    if (!c->memory)
        return err_set(err, -ENOMEM, "out of memory");
    arena_init(c->memory, 0);
    w->tagged = true;
    jvmtiError e = (*w->jvmti)->GetLoadedClasses(w->jvmti, &n, &classes);
    refs_may_be_many(jni);
    int rc = e == JVMTI_ERROR_NONE ? describe(&o, classes, n, err)
                                   : err_set(err, -ENOTSUP, "the JVM does not list its classes: %s",
                                             jvmti_error_name(e));
    for (jint i = 0; classes && i < n; i++)
        (*jni)->DeleteLocalRef(jni, classes[i]);
    release(w, classes);
    if (rc == 0) {
        learn_statics(&o);
        learn_hidden(&o);
    }
    free(o.kin);
    if (rc < 0)
        heap_classes_close(c);
    return rc;
}

void heap_classes_close(struct heap_classes *c)
{
    free(c->all);
    if (c->memory)
        arena_fini(c->memory);
    free(c->memory);
    memset(c, 0, sizeof *c);
}

static bool is_throwable(const struct heap_classes *c, const struct heap_class *h)
{
    while (h && h->tag != c->throwable)
        h = h->super;
    return h != NULL;
}

const char *heap_classes_field(const struct heap_classes *c, const struct heap_class *of,
                               bool is_static, jint index)
{
    if (!of || index < 0)
        return NULL;
    uint32_t i = (uint32_t)index, hidden = c->hidden && is_throwable(c, of) ? c->hidden : 0;
    if (is_static && c->static_is_own)
        return i < of->n_fields ? of->fields[i] : NULL;
    if (i < of->of_interfaces + hidden)
        return NULL;
    i -= of->of_interfaces + hidden;
    while (of && i < of->before)
        of = of->super;
    return of && i - of->before < of->n_fields ? of->fields[i - of->before] : NULL;
}
