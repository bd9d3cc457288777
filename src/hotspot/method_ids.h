/* method_ids.h - the jmethodID of a HotSpot Method that a walk has found, without making one.
 *
 * Up to JDK 25 a jmethodID is the address of a word that holds the Method.  A class keeps those
 * that exist in an array, by the number of the method (InstanceKlass::_methods_jmethod_ids),
 * which is read without its lock: it may be replaced and freed at the same time.  So only an id
 * whose word names the very method is believed; with one exception: the word of a method that was
 * redefined to the same code names the new version, and the old one, with the same number, runs
 * on.  A method that was redefined to other code (obsolete) has no id, unless JVMTI made one for
 * it: HotSpot gives it a number of its own, but not when it was redefined to the same code
 * before.
 *
 * Since JDK 26 an id is a number that leads nowhere.  Then the class's newest method of that number
 * takes the place of the word, and nothing is remembered.
 *
 * Ids found are remembered; each use looks at the id's word again, so a remembered one cannot be
 * wrong.  No JNI, no lock, no allocation after opening: async-signal-safe. */
#ifndef ORCA_HOTSPOT_METHOD_IDS_H
#define ORCA_HOTSPOT_METHOD_IDS_H

#include "hotspot/class_methods.h"
#include "hotspot/walker.h"

struct method_ids;

/* -ENOTSUP when this JVM keeps its ids in another way.  The walker must live as long. */
int method_ids_open(struct method_ids **out, const struct walker *w, const struct vmstructs *vs,
                    struct err *err);

/* The jmethodID, 0: there is none.  Any thread.  The method must be on the caller's stack. */
uintptr_t method_ids_find(struct method_ids *m, uintptr_t method);

/* Where ids are numbers, what finds the method of one; else NULL. */
const struct class_methods *method_ids_classes(const struct method_ids *m);

/* Whether a method has that name and signature, and that id.  Both texts end with a 0. */
bool method_ids_agree(struct method_ids *m, uintptr_t method, uintptr_t id, const char *name,
                      const char *signature);

#endif
