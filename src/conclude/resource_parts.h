/* resource_parts.h - what the files of resources share.
 *
 *   resource.c   who waits for what              holders.c   who has it, and what they do */
#ifndef ORCA_CONCLUDE_RESOURCE_PARTS_H
#define ORCA_CONCLUDE_RESOURCE_PARTS_H

#include "conclude/resource.h"

/* Each span of a thread that is a wait for a resource. */
typedef int (*resource_visit)(void *self, struct resource *r, uint32_t thread,
                              const struct span *s);
int resources_each(struct resources *v, const struct analysis *a, resource_visit visit, void *self);

/* Fill in who has a resource.  -ENOMEM. */
int resource_find_holders(struct resources *all, struct resource *r, struct analysis *a);

#endif
