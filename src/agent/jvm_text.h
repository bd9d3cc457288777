/* jvm_text.h - copying the JVM's strings (modified UTF-8) into buffers of ours. */
#ifndef ORCA_AGENT_JVM_TEXT_H
#define ORCA_AGENT_JVM_TEXT_H

#include "base/mutf8.h"

#include <stdio.h>

/* Copy and convert; cut to n - 1 bytes, "" for NULL.  Returns out. */
static inline char *jvm_text(char *out, size_t n, const char *from)
{
    snprintf(out, n, "%s", from ? from : "");
    mutf8_to_utf8(out);
    return out;
}

#endif
