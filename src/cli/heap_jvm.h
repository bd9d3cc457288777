/* heap_jvm.h - what `orca heap` does with the heap of a running JVM: its sub-commands dump and
 * live, each with options of its own. */
#ifndef ORCA_CLI_HEAP_JVM_H
#define ORCA_CLI_HEAP_JVM_H

#include "cli/cmd.h"

extern const struct cmd heap_dump, heap_live;

/* The sub-command that the words of `orca heap` name (argv[1]), or NULL: they name files. */
const struct cmd *heap_jvm_find(int argc, char **argv);

/* Run it, its help included; argv as of heap_jvm_find.  Results as of struct cmd's run. */
int heap_jvm_run(const struct cmd *c, int argc, char **argv, struct err *err);

#endif
