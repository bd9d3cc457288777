/* rules.h - the unwinding rules of known places in C, packed, so that a table is interpreted
 * once.
 *
 * A fixed table, filled by any thread that interprets, read by all threads and signal handlers at
 * any time: each entry has a sequence number, odd while it is written; a reader that sees it change
 * has read nothing, a writer that finds it odd does not write.  No thread waits.
 *
 * An entry holds as long as the libraries do not change (libraries_changes). */
#ifndef ORCA_UNWIND_RULES_H
#define ORCA_UNWIND_RULES_H

#include <stdbool.h>
#include <stdint.h>

enum rule_kind {
    RULE_CFA = 1, /* CFA = register + offset, return address below it, registers at words below */
    RULE_END,     /* the return address is undefined */
    RULE_LINK,    /* no table knows the place */
};

enum { RULE_SAVED = 6 }; /* rbx rbp r12 r13 r14 r15 */

struct rule {
    int32_t cfa_offset;
    uint8_t kind;
    uint8_t cfa_register;
    int16_t saved[RULE_SAVED]; /* in words from the CFA; 0: as it is */
};

struct rules;

int rules_new(struct rules **out);
void rules_free(struct rules *r);

/* The rule of a place, as of that state of the libraries.  Signals: safe, both. */
bool rules_find(const struct rules *r, uintptr_t place, uint64_t changes, struct rule *out);
void rules_put(struct rules *r, uintptr_t place, uint64_t changes, const struct rule *rule);

#endif
