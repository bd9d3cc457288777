/* native_builder.h - places in native code for a trace_builder: modules, places, stacks of them. */
#ifndef ORCA_TESTS_NATIVE_BUILDER_H
#define ORCA_TESTS_NATIVE_BUILDER_H

#include "trace_builder.h"

#include "symbols/symbols.h"

/* Module `id` (from 1); build_id: hexadecimal or "". */
module_id native_module(struct trace_builder *b, uint32_t id, const char *path,
                        const char *build_id, uint64_t bias);

/* A place at an address of the module's file. */
method_id native_place(struct trace_builder *b, module_id in, uint64_t address);

/* A stack of frames without bci, innermost first; kinds: [n] or NULL. */
stack_id native_stack(struct trace_builder *b, const method_id *frames, size_t n,
                      const uint8_t *kinds);

/* What trace_method_text says of frame i of a stack; lives until the next call. */
const char *native_text(const struct trace *t, stack_id stack, uint32_t i);

/* Look nowhere but at the modules' own paths. */
struct symbols_options native_nowhere(void);

/* The names at addresses of one file, each the only frame of a stack, after symbols_resolve.
 * names[i] is malloc'ed; build_id NULL: the file's own. *summary may be NULL. */
void native_names(const char *path, const char *build_id, const struct symbols_options *o,
                  const uint64_t *addresses, size_t n, char **names);

/* The build id of an ELF file, or of this process's vdso for "[vdso]". */
const char *native_build_id(const char *path);

#endif
