/* top_batch.h - orca top without a terminal: pages, or one JSON object a line. */
#ifndef ORCA_CLI_TOP_BATCH_H
#define ORCA_CLI_TOP_BATCH_H

#include "cli/top_text.h"

/* Print the picture as it is.  0, -EIO, -ENOMEM. */
int top_batch_text(const struct top_view *v, struct err *err);
int top_batch_json(const struct top_view *v, struct err *err);

#endif
