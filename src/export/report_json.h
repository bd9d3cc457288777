/* report_json.h - a report as one JSON object: `orca report --json`, schema orca-report-1
 * (docs/reference/json.md). */
#ifndef ORCA_EXPORT_REPORT_JSON_H
#define ORCA_EXPORT_REPORT_JSON_H

#include "base/buf.h"
#include "conclude/report.h"

#include <stdio.h>

/* The sections that r has, to a file.  -EIO when it cannot be written, -ENOMEM. */
int report_json(const struct report *r, FILE *file);

/* The same, appended to a buffer.  -ENOMEM. */
int report_json_buf(const struct report *r, struct buf *out, struct err *err);

#endif
