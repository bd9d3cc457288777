/* class_names.h - class names short enough for a column, and never two alike.
 *
 * "org.apache.tomcat.util.net.NioEndpoint$Poller" becomes "o.a.tomcat.util.net.NioEndpoint$Poller":
 * packages from the left, one by one, until it fits; then the middle is cut.  Where two classes
 * would look the same they keep other parts of their names, or end in "~1", "~2". */
#ifndef ORCA_CLI_CLASS_NAMES_H
#define ORCA_CLI_CLASS_NAMES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct class_name {
    const char *full; /* as it is fit for the terminal */
    const char *text; /* at most as wide as asked for */
};

/* Make one name as narrow as `width`, without regard to others. */
void class_name_fit(char *name, size_t width);

/* Fill text of names[0..n), which need not be different.  -ENOMEM. */
int class_names_shorten(struct class_name *names, size_t n, size_t width, struct arena *a);

#endif
