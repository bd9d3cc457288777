/* embed.h - files that the build puts into the binary (tools/embed.S). */
#ifndef ORCA_BASE_EMBED_H
#define ORCA_BASE_EMBED_H

#include <stddef.h>

/* Declares a file: EMBED_BYTES(name) bytes at embed_NAME. */
#define EMBED(name) extern const unsigned char embed_##name[], embed_##name##_end[]
#define EMBED_BYTES(name) ((size_t)(embed_##name##_end - embed_##name))

#endif
