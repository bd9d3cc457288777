/* target.h - the running JVM that a command is about. */
#ifndef ORCA_CLI_TARGET_H
#define ORCA_CLI_TARGET_H

#include "attach/client.h"
#include "attach/jvm.h"
#include "base/buf.h"
#include "base/err.h"

#define TARGET_TIMEOUT_NS (30 * UINT64_C(1000000000))

/* For what has code rewritten or put back: the JVM needs a millisecond for each class, of which
 * there may be thousands, and a busy machine many times that. */
#define TARGET_REWRITE_NS (20 * TARGET_TIMEOUT_NS)

/* The row of the option that every command has which asks a JVM; "default: ..." ends its help. */
#define TARGET_TIMEOUT(offset, default_)                                                           \
    {                                                                                              \
        "timeout", 0, OPT_TIME, (offset), "TIME",                                                  \
            "give up when the JVM has not answered for this time (default: " default_ ")", NULL,   \
            1000000, 0                                                                             \
    }

/* The process id that a word is; CMD_USAGE when it is none. */
int target_pid(const char *word, pid_t *pid, struct err *err);

/* The one operand of a command that takes a PID, and its JVM.  timeout_ns: of TARGET_TIMEOUT, for
 * each of its answers; 0: none was given. */
int target_find(int n_operands, char **argv, uint64_t timeout_ns, struct jvm *jvm, struct err *err);

/* At a terminal: with that limit, and with a line when it takes a while. */
struct jvm_asker target_asker(uint64_t timeout_ns);

/* One line of an answer as a string of at most n bytes with its NUL; "" when it is not there. */
void target_text(const char *reply, const char *key, char *out, size_t n);

/* Events that the recorder says it lost, by whatever cause. */
uint64_t target_losses(const char *reply);

/* A path that the JVM says, as it is from here: through its root when here is another file. */
void target_path(const struct jvm *jvm, const char *path, char *out, size_t n);

/* From a file of a recording to its last one, by what each says of the next; n bytes of room. */
void target_last_file(const struct jvm *jvm, char *path, size_t n);

/* The line about the trace at a path that the JVM says (record_summary.h). */
int target_say_trace(const struct jvm *jvm, const char *path, struct err *err);

/* The files of a recording by what the agent said of it when it began, as one text: the trace
 * unless it is only on the way, and the text files. */
void target_files(const char *reply, struct buf *files);

/* What is left of a recording that has ended, whose first file was at `path`: the line about the
 * trace, and the names of the text files that the agent's answer has. */
int target_say_ended(const struct jvm *jvm, const char *path, const char *reply, struct err *err);

#endif
