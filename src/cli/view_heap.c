#include "cli/view_heap.h"

#include "heap/hprof_file.h"

#include <string.h>

static const char head[] = "JAVA PROFILE ";

bool view_heap_is(const char *path)
{
    char begin[sizeof head - 1] = "";
    struct hprof_file *f;
    if (hprof_file_open(&f, path, NULL) < 0)
        return false;
    struct hprof_cursor *c = hprof_cursor_new(f);
    ssize_t n = c ? hprof_cursor_read(c, 0, begin, sizeof begin) : -1;
    bool is_xml = hprof_file_is_xml(f);
    hprof_cursor_free(c);
    hprof_file_close(f);
    return is_xml || (n == (ssize_t)sizeof begin && memcmp(begin, head, sizeof begin) == 0);
}
