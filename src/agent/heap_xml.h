/* heap_xml.h - the references between the objects of this JVM as TPTP's XML
 * (docs/concepts/heap.md).
 *
 * Objects that the recording has numbers of keep them; others get new ones, that no other object
 * will have.  What can be come to from the roots is written, in one walk, straight to the file. */
#ifndef ORCA_AGENT_HEAP_XML_H
#define ORCA_AGENT_HEAP_XML_H

#include "agent/agent.h"
#include "base/buf.h"

/* Write the file, which must not be there; none is there after an error.  limit: objects at most.
 * The reply: objects, references, roots, stopped_ns.  -EOVERFLOW: there are more; -EEXIST and
 * others of the system; -ENOTSUP. */
int heap_xml_write(JNIEnv *jni, const char *path, uint64_t limit, struct buf *reply,
                   struct err *err);

#endif
