/* version.h - the version, and the one place that says it: `orca --version`, traces, exports, the
 * man page, the bill of materials and the name of the release file have it from here.  CHANGELOG.md
 * begins with it. */
#ifndef ORCA_BASE_VERSION_H
#define ORCA_BASE_VERSION_H

#define ORCA_VERSION "0.9.0"

#endif
