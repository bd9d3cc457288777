/* findings.h - what `orca doctor` found: one line each, with what to do about it. */
#ifndef ORCA_CLI_FINDINGS_H
#define ORCA_CLI_FINDINGS_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

struct jvm;

enum finding_status { FINDING_OK, FINDING_WARN, FINDING_FAIL };

struct finding {
    const char *area; /* "jdk", "agent", "machine", "limits", "kernel", "jvm" */
    enum finding_status status;
    const char *text;
    const char *remedy; /* "" when nothing needs doing */
};

struct findings {
    struct arena arena;
    struct finding *list;
    size_t n, cap;
    bool oom;
};

void findings_init(struct findings *f);
void findings_fini(struct findings *f);

/* `area` and `remedy` must outlive f. */
void findings_add(struct findings *f, const char *area, enum finding_status status,
                  const char *remedy, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* The parts of the examination. */
void doctor_jdks(struct findings *f);
void doctor_agent(struct findings *f);
void doctor_machine(struct findings *f);
void doctor_jvm(struct findings *f, const struct jvm *jvm);

#endif
