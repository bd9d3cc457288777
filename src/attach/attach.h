/* attach.h - HotSpot's attach protocol, as jcmd speaks it: commands to a running JVM, among them
 * "load", which loads an agent library.
 *
 * A JVM listens on /tmp/.java_pidN from its first use on; before that it is asked by the file
 * .attach_pidN and SIGQUIT.  SIGQUIT ends a process that does not catch it, and makes a JVM that
 * cannot be attached to print a thread dump, so it is sent only to one that is known to catch it
 * and to allow it.
 *
 * Protocol 1: "1", the command and three arguments, each with a NUL behind it; the answer is a line
 * with a number and a text.  JDK 24 has a protocol 2 for longer arguments, and goes on taking 1
 * (attachListener.cpp: ATTACH_API_V1). */
#ifndef ORCA_ATTACH_ATTACH_H
#define ORCA_ATTACH_ATTACH_H

#include "attach/jvm.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    ATTACH_ARGUMENTS = 3,
    ATTACH_WORD_MOST = 1024, /* bytes of an argument; of the command: 16 */
    ATTACH_REPLY_MOST = 1 << 20,
    ATTACH_TIMEOUT_MS = 10000, /* jcmd's, too */
};

struct attach_reply {
    int status; /* 0: the JVM has executed the command */
    bool cut;   /* the text goes on behind ATTACH_REPLY_MOST */
    struct buf text;
};

void attach_reply_init(struct attach_reply *r);
void attach_reply_fini(struct attach_reply *r);

/* A connection to the JVM, good for one command; makes the JVM listen when it does not yet.
 * timeout_ns: for the whole, the wait for a JVM that is still starting included.
 * Errors, each with a sentence that names the pid and the remedy: -ESRCH it has ended; -EPERM its
 * user or group, or a socket not to be trusted; -EBUSY it is stopped; -EAGAIN it is still starting;
 * -ENOTSUP attaching is disabled, or -Xrs; -ETIMEDOUT; others from the system. */
int attach_open(const struct jvm *jvm, uint64_t timeout_ns, struct err *err);

/* Execute one command and wait for its end.  Arguments may be NULL, or fewer by the list's NULL. A
 * status other than 0 is not an error here.  Of its own: -E2BIG an argument is too long;
 * -ECONNRESET no answer; -EPROTO not an answer. */
int attach_command(const struct jvm *jvm, const char *const words[1 + ATTACH_ARGUMENTS],
                   uint64_t timeout_ns, struct attach_reply *reply, struct err *err);

/* During a long command the caller is asked several times a second whether to go on: a negative
 * errno, with its sentence, gives up; what the JVM does about the command it goes on with. */
struct attach_watch {
    int (*look)(void *ctx, struct err *err);
    void *ctx;
};

/* attach_command for a command that may take any time: timeout_ns is for the connection only. */
int attach_command_watched(const struct jvm *jvm, const char *const words[1 + ATTACH_ARGUMENTS],
                           uint64_t timeout_ns, const struct attach_watch *watch,
                           struct attach_reply *reply, struct err *err);

/* Load an agent library and call its Agent_OnAttach.  library: its absolute path where the JVM sees
 * it (library_place).  Of its own: -ELIBBAD the JVM cannot load it, with its message; -ECANCELED
 * Agent_OnAttach returned an error, with its number. */
int attach_load(const struct jvm *jvm, const char *library, const char *options,
                uint64_t timeout_ns, struct err *err);

/* --- pure parts, for tests -------------------------------------------------------------------- */

/* Take an answer apart: raw is "STATUS\nTEXT".  -EPROTO. */
int attach_parse_reply(const char *raw, size_t n, struct attach_reply *reply);

/* What an answer to "load" means for the library of this JVM. */
int attach_parse_load(const struct attach_reply *reply, pid_t pid, struct err *err);

#endif
