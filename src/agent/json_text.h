/* json_text.h - text of the JVM and numbers as JSON; the answers to orca query. */
#ifndef ORCA_AGENT_JSON_TEXT_H
#define ORCA_AGENT_JSON_TEXT_H

#include "base/buf.h"

#include <jvmti.h>

/* In quotes, ASCII only: of modified UTF-8, cut at some 1000 bytes; of characters of the JVM. */
void json_put_text(struct buf *b, const char *mutf8);
void json_put_chars(struct buf *b, const jchar *chars, jint n);

/* What JSON has no number for is in quotes. */
void json_put_double(struct buf *b, double v, int digits);

#endif
