/* trcxml_words.h - the names of TPTP's attributes, and finding a name in a list quickly. */
#ifndef ORCA_IMPORT_TRCXML_WORDS_H
#define ORCA_IMPORT_TRCXML_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* Those that say something which a trace can hold. */
#define TRCXML_ATTRS(X)                                                                            \
    X(threadIdRef)                                                                                 \
    X(threadId)                                                                                    \
    X(transientThreadIdRef)                                                                        \
    X(transientThreadId)                                                                           \
    X(time)                                                                                        \
    X(objIdRef)                                                                                    \
    X(transientObjIdRef)                                                                           \
    X(objId)                                                                                       \
    X(transientObjId)                                                                              \
    X(threadOwner)                                                                                 \
    X(timeout)                                                                                     \
    X(isTimedOut)                                                                                  \
    X(in)                                                                                          \
    X(isNotifyAll)                                                                                 \
    X(threadName)                                                                                  \
    X(groupName)                                                                                   \
    X(parentName)                                                                                  \
    X(name)                                                                                        \
    X(value)                                                                                       \
    X(key)                                                                                         \
    X(hostname)                                                                                    \
    X(pid)                                                                                         \
    X(nodeId)                                                                                      \
    X(processId)                                                                                   \
    X(agentId)                                                                                     \
    X(traceId)                                                                                     \
    X(classId)                                                                                     \
    X(classIdRef)                                                                                  \
    X(sourceName)                                                                                  \
    X(size)                                                                                        \
    X(signature)                                                                                   \
    X(since)                                                                                       \
    X(limit)                                                                                       \
    X(startLineNumber)                                                                             \
    X(usedObjSpace)                                                                                \
    X(totalObjSpace)

enum trcxml_attr {
#define X(name) ATTR_##name,
    TRCXML_ATTRS(X)
#undef X
        ATTR_LIMIT
};
extern const char *const trcxml_attr_names[ATTR_LIMIT];

/* The attributes of one element; NULL: it has not got it. */
struct trcxml_attrs {
    const char *v[ATTR_LIMIT];
};

enum { WORDS_MAX = 64, WORDS_SLOTS = 256 };

struct words {
    const char *const *list;
    uint8_t slots[WORDS_SLOTS]; /* index in the list + 1; 0: empty */
};

/* list[n], n <= WORDS_MAX; borrowed. */
void words_init(struct words *w, const char *const *list, size_t n);

/* Its index, or -1. */
int words_find(const struct words *w, const char *word);

#endif
