/* answer.h - an answer on its way to the client: status, body and what the headers are made of. */
#ifndef ORCA_SERVE_ANSWER_H
#define ORCA_SERVE_ANSWER_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

enum answer_kind { ANSWER_JSON, ANSWER_BYTES, ANSWER_PAGE, ANSWER_EVENTS };

struct answer {
    unsigned status;
    enum answer_kind kind;
    bool immutable;       /* of one generation: it never changes; else it is not stored */
    unsigned retry_after; /* seconds; 0: not sent */
    const char *allow;    /* of a 405: the methods */
    bool own_policy;      /* a page that says itself what of it may run */
    struct buf body;
};

void answer_init(struct answer *a);
void answer_fini(struct answer *a);

/* {"error": ...} in place of what there was. */
void answer_error(struct answer *a, unsigned status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with the name of a field of the question, or NULL; or with the generation now. */
void answer_error_field(struct answer *a, unsigned status, const char *text, const char *field);
void answer_error_gen(struct answer *a, unsigned status, const char *text, uint32_t gen);

/* A page of one sentence. */
void answer_sentence(struct answer *a, unsigned status, const char *text);

/* The status that a negative errno of the view or of a hook means. */
unsigned answer_status(int rc);

/* Append a text as a JSON string; bytes that are not UTF-8 are replaced. */
void answer_put_text(struct buf *b, const char *text);

#endif
