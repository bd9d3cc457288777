/* module_files.h - where the file of a module is, and the debug file that belongs to it.
 *
 * A file counts when its build id is the recorded one.  Where the recording has none the file must
 * have none either, and must not have been changed since the recording began. */
#ifndef ORCA_SYMBOLS_MODULE_FILES_H
#define ORCA_SYMBOLS_MODULE_FILES_H

#include "symbols/elf_image.h"
#include "symbols/symbols.h"

enum { MODULE_FILES_PATH = 4096 };

struct module_files {
    struct elf_image main, debug; /* not open: not found */
    char main_path[MODULE_FILES_PATH], debug_path[MODULE_FILES_PATH];
};

/* Open what there is.  -ENOENT: neither; err says why.  err is also set, and 0 returned, when a
 * file was passed over because it is not the recorded one and another was found: its text is then
 * of no interest. */
int module_files_open(struct module_files *f, const struct trace *t, const struct trace_module *m,
                      const struct symbols_options *o, struct err *err);

void module_files_close(struct module_files *f);

#endif
