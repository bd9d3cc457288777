#include "hotspot/archives.h"

#include <stddef.h>

const struct archive_option archive_options[] = {
    {"AOTCacheOutput", NULL, false},         {"AOTMode", "record", false},
    {"ArchiveClassesAtExit", NULL, false},   {"RecordDynamicDumpInfo", NULL, true},
    {"AutoCreateSharedArchive", NULL, true}, {NULL, NULL, false}};
