/* links.h - how an object is called, and by what one refers to another. */
#ifndef ORCA_HEAP_LINKS_H
#define ORCA_HEAP_LINKS_H

#include "heap/objects.h"

/* Append "java.lang.String", "byte[60000]", "class shop.Order"; in quotes a String's beginning, and
 * the name of a thread.  -ENOENT when the dump has no record of the object, -EIO, -ENOMEM. */
int links_describe(struct object_reader *r, uint32_t object, struct buf *into);

/* Append what of `from` refers to `to`: ".next", "[17]", "static all", "its class", "a local in
 * shop.Main.run (Main.java:12)". */
int links_name(struct object_reader *r, uint32_t from, uint32_t to, struct buf *into);

/* How the last of these begins. */
extern const char links_local[];

#endif
