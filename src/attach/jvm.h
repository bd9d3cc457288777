/* jvm.h - finds JVMs through /proc and says what they are.
 *
 * A process is named by its pid and its start time, so that a reused pid is not taken for it.  It
 * may end at any moment: every function answers -ESRCH then. */
#ifndef ORCA_ATTACH_JVM_H
#define ORCA_ATTACH_JVM_H

#include "attach/proc.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct jvm;

/* Who asks a JVM, and waits for its answers. */
struct jvm_asker {
    uint64_t limit_ns; /* how long for each; 0: as long as the question may take */
    void (*waits)(const struct jvm *jvm, uint64_t limit_ns); /* it takes a while; NULL: no word */
};

struct jvm {
    pid_t pid, ns_pid; /* ns_pid: in its own pid namespace */
    uid_t uid;         /* effective, as seen from here */
    gid_t gid;
    char state;
    uint64_t start_time; /* clock ticks since boot */
    char name[256];      /* main class, MODULE/CLASS, jar or source file, as jps -l */
    char java[32];       /* "17.0.15"; "" when its JDK does not say */
    char libjvm[1024];   /* path in the process's root */
    struct jvm_asker asker;
};

/* Describe one process.  Errors, each with a sentence that names the pid:
 * -ESRCH no such process, or ended; -EINVAL a thread, with its process in the message; -EPERM
 * another user's, or not to be looked into; -EAGAIN a java command whose JVM is not loaded yet;
 * -ENOTSUP another kind of JVM; -ENOEXEC no JVM. */
int jvm_find(pid_t pid, struct jvm *jvm, struct err *err);

/* jvm_find, repeated while it says -EAGAIN, for at most that long. */
int jvm_find_wait(pid_t pid, uint64_t timeout_ns, struct jvm *jvm, struct err *err);

/* Whether a JVM does what we ask: HotSpot takes commands from its own user with its own group and
 * from root, the agent in it from its own user and from root; both as the JVM sees them: in a user
 * name space, root of the machine may be the user nobody.  -EPERM: no, with what to run instead. */
enum jvm_asked { JVM_HOTSPOT, JVM_AGENT };
int jvm_check_rights(const struct jvm *jvm, enum jvm_asked whom, struct err *err);

/* Each JVM of this user (root: of every user) in the order of /proc; ends with the first result of
 * `each` that is not 0, and returns it.  What cannot be looked into is left out. */
int jvm_list(int (*each)(void *ctx, const struct jvm *jvm), void *ctx, struct err *err);

/* Whether the process is still there and the same; its status now.  -ESRCH with a sentence. */
int jvm_check(const struct jvm *jvm, struct proc_status *now, struct err *err);

/* -EBUSY, with a sentence, when all of it is stopped: nothing in it can answer. */
int jvm_check_running(const struct jvm *jvm, struct err *err);

/* What the JVM's counters, command and environment say about attaching. */
struct jvm_switches {
    bool no_attach;   /* -XX:+DisableAttachMechanism */
    bool few_signals; /* -Xrs */
};
void jvm_switches(const struct jvm *jvm, struct jvm_switches *out);

/* Whether the JVM has come so far that an agent can be loaded: by its counters, or without them by
 * its age (JVM_START_MS). */
enum { JVM_START_MS = 2000 };
bool jvm_is_live(const struct jvm *jvm);

/* A user's name, or "#UID". */
void jvm_user_name(uid_t uid, char *out, size_t room);

/* What to type to attach as that user, with that group where it is not NULL, quoted for a shell:
 * sudo -u '#20001' orca attach 12 */
enum { JVM_REMEDY_MAX = 192 };
void jvm_remedy(uid_t uid, const gid_t *gid, pid_t pid, char out[JVM_REMEDY_MAX]);

#endif
