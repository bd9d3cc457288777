#include "cli/agent_path.h"

#include "base/buf.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Relative to the folder of the executable. */
static const char *const places[] = {"liborca.so", "../lib/liborca.so"};

static bool readable(const char *path, char out[PATH_MAX])
{
    return realpath(path, out) && access(out, R_OK) == 0;
}

/* The folder of /proc/self/exe, "" when /proc is not there. */
static void exe_folder(char out[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
    out[n > 0 ? n : 0] = 0;
    char *slash = strrchr(out, '/');
    if (slash)
        *slash = 0;
}

int agent_path_find(char out[PATH_MAX], struct err *err)
{
    const char *named = getenv("ORCA_AGENT");
    if (named && *named) {
        if (readable(named, out))
            return 0;
        return err_set(err, -ENOENT,
                       "ORCA_AGENT=%s: cannot be read: %s; set it to liborca.so or unset it", named,
                       strerror(errno));
    }
    char folder[PATH_MAX];
    exe_folder(folder);
    struct buf tried;
    buf_init(&tried);
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct buf path;
        buf_init(&path);
        buf_printf(&path, "%s/%s", folder, places[i]);
        bool found = readable(buf_str(&path), out);
        buf_printf(&tried, "%s%s", i ? ", " : "", buf_str(&path));
        buf_fini(&path);
        if (found) {
            buf_fini(&tried);
            return 0;
        }
    }
    err_set(
        err, -ENOENT,
        "the agent library is not there; looked at: %s; build it (make) or set ORCA_AGENT to it",
        buf_str(&tried));
    buf_fini(&tried);
    return -ENOENT;
}
