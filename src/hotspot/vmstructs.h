/* vmstructs.h - HotSpot's own description of its data structures (gHotSpotVMStructs, the tables
 * that the serviceability agent reads), resolved at run time.
 *
 * Offsets differ between releases and even between updates of one release, so nothing is tabled
 * here but names.  What is not described is -1, and whatever needs it is switched off.  No JNI. */
#ifndef ORCA_HOTSPOT_VMSTRUCTS_H
#define ORCA_HOTSPOT_VMSTRUCTS_H

#include "base/err.h"
#include "hotspot/oops.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm_layout {
    /* JavaThread */
    long pending_monitor, waiting_monitor, lock_stack, monitor_owner_id, stack_base, stack_size,
        osthread, state, terminated;
    long thread_obj, vthread, jvmti_vthread; /* handles: of itself, of whom it runs, and the same
                                              * as JVMTI has it */
    long lock_stack_top, lock_stack_base;    /* LockStack */
    long os_thread_id;                       /* OSThread */
    long monitor_owner, monitor_object;      /* ObjectMonitor */
    long tid; /* in a Thread object: what getId() says.  Not described: who can ask the JVM finds
               * it (mounted.h).  -1: not known */
    struct oops oops;
    size_t stack_guard; /* bytes that are protected at the end of a Java thread's stack */
    uint32_t in_native; /* value of JavaThread::_thread_state; none has it: not known */
    bool owner_is_tid;  /* JDK 24 and later: a Thread.getId(), not an address */
    bool moving;        /* the collector moves objects while threads run, and updates the
                  * references of a thread when the thread runs again */
};

struct vmstructs;

/* Find the tables in the library that holds the address `inside` (any function of the JVM).
 * -ENOTSUP when that library is not HotSpot or does not describe itself. */
int vmstructs_open(struct vmstructs **out, const void *inside, struct err *err);
void vmstructs_close(struct vmstructs *vs);

/* Offset of a field (address of a static one), -1 when it is not described.  *type_string may be
 * NULL. */
long vmstructs_offset(const struct vmstructs *vs, const char *type, const char *field,
                      const char **type_string);

/* A fact that does not hold (facts.h): from now on it is not described. */
void vmstructs_refute(struct vmstructs *vs, const char *type, const char *field);

/* The value of a static field that is a word.  False: it is not described. */
bool vmstructs_word(const struct vmstructs *vs, const char *type, const char *field,
                    uintptr_t *value);

/* The address of what a reference of 32 bits refers to: *base + (reference << *shift).  False: it
 * is not described.  Only where the JVM has such references (UseCompressedOops). */
bool vmstructs_narrow_oop(const struct vmstructs *vs, uintptr_t *base, uint32_t *shift);

/* A function that the JVM's library exports, or NULL. */
void *vmstructs_symbol(const struct vmstructs *vs, const char *name);

/* The size of a type, -1 when it is not described. */
long vmstructs_sizeof(const struct vmstructs *vs, const char *type);

/* A named integer constant; false when it is not described. */
bool vmstructs_constant(const struct vmstructs *vs, const char *name, int32_t *value);

/* The value of a boolean command-line flag of the JVM, or `otherwise` when there is no such
 * flag. */
bool vmstructs_flag(const struct vmstructs *vs, const char *name, bool otherwise);

/* The same of a flag that is an intx or uintx. */
int64_t vmstructs_number(const struct vmstructs *vs, const char *name, int64_t otherwise);

/* The same of one that is a text: NULL where it is not set, or there is none. */
const char *vmstructs_text(const struct vmstructs *vs, const char *name);

/* In a debug build: a fact that a test takes away, in ORCA_HIDE by commas: "Type::field",
 * "sizeof::Type", "constant::name", and what is not described: "jmethodID::address".  Those in
 * ORCA_BREAK are wrong by ORCA_BREAK_BY (8); the file ORCA_FACTS gets the name of each that is
 * asked for. */
bool vmstructs_hides(const char *type, const char *field);

void vmstructs_layout(const struct vmstructs *vs, struct vm_layout *l);

#endif
