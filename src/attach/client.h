/* client.h - requests to the agent in a JVM, over its control socket
 * (docs/reference/control-protocol.md). */
#ifndef ORCA_ATTACH_CLIENT_H
#define ORCA_ATTACH_CLIENT_H

#include "attach/jvm.h"
#include "base/buf.h"

/* Send one request, "VERB [ARGUMENT]", and take its answer's text.  timeout_ns: unless who asks has
 * a limit of its own (jvm->asker).
 * -ENOENT, with a sentence: no agent listens in this JVM.  -EBUSY: the JVM is stopped; that is
 * looked at before it is asked, and while it does not answer.  -ETIMEDOUT, -EPERM, -EPROTO,
 * -EMSGSIZE; else the agent's own code and sentence. */
int client_ask(const struct jvm *jvm, const char *request, uint64_t timeout_ns, struct buf *reply,
               struct err *err);

/* Whether client_ask failed in such a way that further questions to the JVM are useless. */
bool client_is_silent(int rc);

/* The value of the next line of a text that begins with `key` and a blank, from *at on; *at moves
 * behind it.  The length of the value, or -1 when there is none. */
int client_value(const char *text, const char *key, const char **at, const char **value);

/* The number of a key, 0 when it is not there. */
uint64_t client_number(const char *text, const char *key);

/* --- pure, for tests: an answer taken apart.  `raw` ends with a NUL. */
int client_parse(const char *raw, const char **text, struct err *err);

#endif
