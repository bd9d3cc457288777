#include "agent/safepoints.h"

#include "agent/lacks.h"
#include "base/log.h"
#include "base/util.h"
#include "record/safepoint_log.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MS = 1000000, LOOK_MS = 10, OLDEST = 17 };

/* of the log: used by the drain thread and by the threads that begin and end it, under the
 * mutex. */
static struct {
    pthread_mutex_t lock;
    struct safepoints_setup of;
    struct safepoint_log log;
    char path[64];
    struct ring *ring;
    uint64_t looked, written, dropped;
    bool runs;
} safepoints = {.lock = PTHREAD_MUTEX_INITIALIZER, .log = {.fd = -1}};

/* --- the JVM's command ------------------------------------------------------------------------ */

#define EXECUTE "Java_com_sun_management_internal_DiagnosticCommandImpl_executeDiagnosticCommand"

typedef jstring(JNICALL *execute)(JNIEnv *jni, jobject unused, jstring command);

/* The native method behind the JDK's own MBean, found by name: the interface between the JDK's
 * library and the JVM has no layout that an agent could know, and the MBean's classes would cost
 * 30 ms.  The library's JNI_OnLoad only notes that interface, and may be called again. */
static execute find_execute(struct err *err)
{
    char path[PATH_MAX];
    static execute found;
    if (found)
        return found;
    snprintf(path, sizeof path, "%s/lib/libmanagement_ext.so", safepoints.of.java_home);
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* stays: Java may use it, too */
    jint (*load)(JavaVM *, void *) =
        lib ? (jint(*)(JavaVM *, void *))dlsym(lib, "JNI_OnLoad") : NULL;
    execute e = lib ? (execute)dlsym(lib, EXECUTE) : NULL;
    if (!load || !e || load(safepoints.of.vm, NULL) < JNI_VERSION_1_2) {
        err_set(err, -ENOENT, "this JVM has no module jdk.management");
        return NULL;
    }
    return found = e;
}

/* What it answers; NULL: it could not.  To be freed by the caller. */
static char *run(JNIEnv *jni, const char *command, struct err *err)
{
    execute e = find_execute(err);
    jstring text = e ? (*jni)->NewStringUTF(jni, command) : NULL;
    jstring reply = text ? e(jni, NULL, text) : NULL;
    char *answer = NULL;
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    else if (reply) {
        jsize n = (*jni)->GetStringLength(jni, reply);
        answer = calloc(1, 3 * (size_t)n + 1); /* modified UTF-8 has three bytes at most */
        if (answer)
            (*jni)->GetStringUTFRegion(jni, reply, 0, n, answer);
    }
    if (e && !answer)
        err_set(err, -EIO, "the JVM refuses the command VM.log");
    (*jni)->DeleteLocalRef(jni, reply);
    (*jni)->DeleteLocalRef(jni, text);
    return answer;
}

/* The output of ours, added or taken away. */
static int configure(JNIEnv *jni, const char *how, struct err *err)
{
    char command[256];
    snprintf(command, sizeof command, "VM.log output=file=%s %s", safepoints.path, how);
    char *answer = run(jni, command, err);
    if (!answer)
        return -EIO;
    answer[strcspn(answer, "\r\n")] = 0;
    int rc = *answer ? err_set(err, -EINVAL, "VM.log: %.160s", answer) : 0;
    free(answer);
    return rc;
}

/* Whether the JVM still writes it: "VM.log disable" takes all outputs away. */
static bool is_configured(JNIEnv *jni)
{
    struct err err;
    char row[sizeof safepoints.path + 8];
    snprintf(row, sizeof row, "file=%s ", safepoints.path);
    char *list = run(jni, "VM.log list", &err);
    bool is = list && strstr(list, row);
    free(list);
    return is;
}

/* --- events ----------------------------------------------------------------------------------- */

static void put(void *ctx, const struct safepoint_line *s)
{
    UNUSED(ctx);
    safepoints.written = max_u64(safepoints.written, s->until);
    struct event *e =
        s->until > safepoints.of.started
            ? ring_begin(safepoints.ring, EV_safepoint, (thread_id){0}, safepoints.written)
            : NULL;
    if (!e)
        return;
    e->safepoint = (struct ev_safepoint){
        .operation = safepoints.of.name(s->operation), .since = s->since, .reached = s->reached};
    ring_commit(safepoints.ring, e);
}

static void look(void)
{
    struct safepoint_log *log = &safepoints.log;
    safepoint_log_read(log, put, NULL);
    if (log->dropped != safepoints.dropped)
        recorder_count_loss(safepoints.of.rec, LOSS_safepoint, log->dropped - safepoints.dropped);
    safepoints.dropped = log->dropped;
}

void safepoints_tick(uint64_t now)
{
    if (pthread_mutex_trylock(&safepoints.lock) != 0)
        return;
    if (safepoints.runs && now - safepoints.looked >= (uint64_t)LOOK_MS * MS) {
        safepoints.looked = now;
        look();
    }
    pthread_mutex_unlock(&safepoints.lock);
}

/* --- begin and end ---------------------------------------------------------------------------- */

static int begin(JNIEnv *jni, struct err *err)
{
    if (safepoints.of.java_version < OLDEST)
        return err_set(err, -ENOTSUP, "Java %d is too old", safepoints.of.java_version);
    TRY(safepoint_log_open(&safepoints.log, safepoints.path, sizeof safepoints.path, err));
    safepoints.ring = ring_attach(safepoints.of.rec);
    if (!safepoints.ring)
        return err_set(err, -ENOMEM, "no ring is free");
    int rc =
        configure(jni, "what=safepoint=info decorators=timenanos output_options=filecount=0", err);
    if (rc < 0)
        ring_detach(safepoints.ring);
    return rc;
}

/* To take away what is not there would open it first. */
static void end(JNIEnv *jni)
{
    struct err err = {""};
    if (!is_configured(jni))
        recorder_put_info(safepoints.of.rec, "orca.safepoints",
                          "until VM.log disable switched the JVM's log off");
    else if (configure(jni, "what=all=off", &err) < 0)
        log_line("the output of the JVM's log that recorded safepoints stays: %s", err.msg);
}

void safepoints_start(JNIEnv *jni, const struct safepoints_setup *setup)
{
    struct err err = {""};
    pthread_mutex_lock(&safepoints.lock);
    safepoints.of = *setup;
    safepoints.written = safepoints.dropped = safepoints.looked = 0;
    int rc = begin(jni, &err);
    safepoints.runs = rc == 0;
    safepoints.of.java_home = NULL; /* the caller's */
    if (rc < 0)
        safepoint_log_close(&safepoints.log);
    pthread_mutex_unlock(&safepoints.lock);
    if (rc < 0)
        lacks_note("safepoints are not recorded: %s", err.msg);
    recorder_put_info(safepoints.of.rec, "orca.safepoints", rc < 0 ? err.msg : "yes");
}

void safepoints_stop(JNIEnv *jni)
{
    if (!safepoints.runs) /* changed by this thread alone: under the mutex of a recording's life */
        return;
    end(jni);
    pthread_mutex_lock(&safepoints.lock);
    look();
    ring_detach(safepoints.ring);
    safepoint_log_close(&safepoints.log);
    safepoints.ring = NULL;
    safepoints.runs = false;
    pthread_mutex_unlock(&safepoints.lock);
}

bool safepoints_run(void)
{
    return safepoints.runs;
}
