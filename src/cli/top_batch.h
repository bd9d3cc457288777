/* top_batch.h - orca top without a terminal: tables, or one JSON object a line. */
#ifndef ORCA_CLI_TOP_BATCH_H
#define ORCA_CLI_TOP_BATCH_H

#include "cli/top_rows.h"

/* Print the picture as it is.  rows: of each table at most, 0: all.  0, or -EIO. */
int top_batch_text(const struct top_view *v, const struct top_rows *r, size_t rows,
                   struct err *err);
int top_batch_json(const struct top_view *v, const struct top_rows *r, size_t rows,
                   struct err *err);

#endif
