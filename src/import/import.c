#include "import/import.h"

#include "base/util.h"
#include "import/orca_text.h"
#include "import/trcxml.h"

/* The first that wants a file gets it; a file that none wants goes to the last, which says why
 * not. */
static const struct {
    bool (*wants)(const char *path);
    int (*import)(struct trace **out, const char *path, const struct import_watch *watch,
                  struct err *err);
} importers[] = {
    {import_trcxml_wants, import_trcxml_watched},
    {import_orca_wants, import_orca_watched},
};

bool import_wants(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(importers); i++)
        if (importers[i].wants(path))
            return true;
    return false;
}

int import_file(struct trace **out, const char *path, const struct import_watch *watch,
                struct err *err)
{
    size_t i = 0;
    while (i + 1 < ARRAY_LEN(importers) && !importers[i].wants(path))
        i++;
    return importers[i].import(out, path, watch, err);
}
