/* kept.h - classes whose rewritten code stays after a recording has ended.
 *
 * From JDK 20 on HotSpot never frees the compiled wrapper of a native method
 * (nmethod::is_cold), nor the version of the class that it belongs to: of each version of
 * java.lang.Thread that was ever current while threads started and slept, 45 kB of metaspace
 * stay for good.  So a class of the boot loader that has native methods is rewritten once.  Its
 * calls do nothing while nothing is recorded (OrcaProbe.on, OrcaHeap.on), and the next
 * recording can use them.
 *
 * So are java.util.concurrent.Semaphore and InterruptedException, whose rows are on by default: JDK
 * 17 frees compiled code when it has reason to, and until then keeps the version of the class that
 * it was made of.  The same holds for classes with the constant NaN, of which each rewriting makes
 * another one (classfile/nan.h).
 *
 * The same holds for what the group alloc changes: some 700 classes of the boot loader, for which
 * each further attach cost 0.7 MB (17), 1.2 MB (25) of metaspace, until their compiled code is
 * swept.
 *
 * Object does not stay rewritten: its constructor would cost every object of the program something,
 * and its versions are small.  Threads: any. */
#ifndef ORCA_AGENT_KEPT_H
#define ORCA_AGENT_KEPT_H

#include <stdbool.h>

/* What a class's code calls. */
enum {
    KEPT_ROWS = 1,  /* the probes of tracked methods of Orca's own */
    KEPT_ALLOC = 2, /* OrcaHeap */
    KEPT_OTHER = 4  /* what this recording wants, and the next perhaps not */
};

/* Of a class of the boot loader, by its name in internal form.  0: it is as it always was. */
unsigned kept_parts(const char *name);

/* Its code was just rewritten so that it calls those; it has native methods. */
void kept_note(const char *name, unsigned parts);

/* It calls that, and nothing that is to be taken away again: leave it. */
bool kept_settled(const char *name, unsigned part);

/* Rewriting failed, and which classes have the code that was made for them is not known: they are
 * rewritten when they are wanted again. */
void kept_forget(void);

#endif
