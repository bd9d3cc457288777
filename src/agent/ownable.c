#include "agent/ownable.h"

#include "base/guarded_x86_64.h"

#include <stddef.h>

/* Where the field is; 0: not known. */
static struct {
    uintptr_t offset;
    bool narrow;
    bool tried;
} field;

static bool read_field(uintptr_t object, uint64_t *value)
{
    uint32_t low;
    if (!field.narrow)
        return guarded_u64(object + field.offset, value);
    if (!guarded_u32(object + field.offset, &low))
        return false;
    *value = low;
    return true;
}

static bool read_all(const uintptr_t *handle, struct ownable *o)
{
    *o = (struct ownable){.handle = handle};
    return guarded_word((uintptr_t)handle, &o->object) && o->object &&
           read_field(o->object, &o->owner);
}

bool ownable_look(jobject lock, struct ownable *o)
{
    return field.offset && read_all(handle_of(lock), o) && o->owner && ownable_is_same(o);
}

bool ownable_is_same(const struct ownable *o)
{
    struct ownable now, again;
    return read_all(o->handle, &now) && now.object == o->object && now.owner == o->owner &&
           read_all(o->handle, &again) && again.object == o->object;
}

/* --- where the field is ----------------------------------------------------------------------- */

/* The objects are read one after the other, and a collector may come in between: then what is found
 * is not found again. */
static uintptr_t search(const uintptr_t *lock, uint64_t value, bool narrow)
{
    enum { FIRST = 8, LAST = 64 };
    uintptr_t found = 0;
    field.narrow = narrow;
    for (field.offset = FIRST; field.offset <= LAST; field.offset += narrow ? 4 : 8) {
        uint64_t at;
        if (read_field(*lock, &at) && at == value) {
            if (found)
                return 0;
            found = field.offset;
        }
    }
    return found;
}

static uint64_t narrowed(const struct agent *from, uintptr_t oop)
{
    uintptr_t base;
    uint32_t shift;
    return vmstructs_narrow_oop(from->vmstructs, &base, &shift) ? (oop - base) >> shift : 0;
}

struct trial {
    const struct agent *from;
    jobject lock, sync, self;
    jmethodID take, give;
};

static bool make_trial(JNIEnv *jni, struct trial *t)
{
    jclass c = (*jni)->FindClass(jni, "java/util/concurrent/locks/ReentrantLock");
    jmethodID new = c ? (*jni)->GetMethodID(jni, c, "<init>", "()V") : NULL;
    jfieldID sync =
        new ? (*jni)->GetFieldID(jni, c, "sync", "Ljava/util/concurrent/locks/ReentrantLock$Sync;")
            : NULL;
    t->take = sync ? (*jni)->GetMethodID(jni, c, "lock", "()V") : NULL;
    t->give = t->take ? (*jni)->GetMethodID(jni, c, "unlock", "()V") : NULL;
    t->lock = t->give ? (*jni)->NewObject(jni, c, new) : NULL;
    t->sync = t->lock ? (*jni)->GetObjectField(jni, t->lock, sync) : NULL;
    return t->sync &&
           (*t->from->jvmti)->GetCurrentThread(t->from->jvmti, &t->self) == JVMTI_ERROR_NONE;
}

/* The field has our address while we own the lock, and 0 when we do not. */
static bool find_field(JNIEnv *jni, const struct trial *t, bool narrow)
{
    const uintptr_t *lock = handle_of(t->sync), *self = handle_of(t->self);
    uint64_t value;
    (*jni)->CallVoidMethod(jni, t->lock, t->take);
    uintptr_t first = search(lock, narrow ? narrowed(t->from, *self) : *self, narrow);
    (*jni)->CallVoidMethod(jni, t->lock, t->give);
    field.offset = first;
    bool released = first && read_field(*lock, &value) && value == 0;
    (*jni)->CallVoidMethod(jni, t->lock, t->take);
    uintptr_t second = search(lock, narrow ? narrowed(t->from, *self) : *self, narrow);
    (*jni)->CallVoidMethod(jni, t->lock, t->give);
    field.offset = released && first == second ? first : 0;
    return field.offset != 0;
}

void ownable_init(const struct agent *from, JNIEnv *jni)
{
    enum { REFERENCES = 16, TRIES = 3 };
    struct trial t = {.from = from};
    if (field.tried || (*jni)->PushLocalFrame(jni, REFERENCES) < 0)
        return;
    field.tried = true;
    bool narrow = vmstructs_flag(from->vmstructs, "UseCompressedOops", false);
    if (!from->layout.moving && make_trial(jni, &t))
        for (int i = 0; i < TRIES && !find_field(jni, &t, narrow); i++)
            ;
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    (*jni)->PopLocalFrame(jni, NULL);
}
