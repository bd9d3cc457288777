/* archives.h - the options with which a JVM makes an archive of the classes that it has. */
#ifndef ORCA_HOTSPOT_ARCHIVES_H
#define ORCA_HOTSPOT_ARCHIVES_H

#include <stdbool.h>

struct archive_option {
    const char *flag;
    const char *value; /* of a text; NULL: any */
    bool is_switch;
};

/* Ends with a flag NULL. */
extern const struct archive_option archive_options[];

#endif
