#include "base/tasks.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void tasks_list(struct buf *out)
{
    buf_clear(out);
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; d && (e = readdir(d));) {
        uint32_t tid = (uint32_t)strtoul(e->d_name, NULL, 10);
        if (tid)
            buf_put(out, &tid, sizeof tid);
    }
    if (d)
        closedir(d);
    if (out->len)
        qsort(out->p, tasks_count(out), sizeof(uint32_t), by_number);
}

bool tasks_has(const struct buf *list, uint32_t os_tid)
{
    return list->len &&
           bsearch(&os_tid, list->p, tasks_count(list), sizeof os_tid, by_number) != NULL;
}

/* The beginning of a file about a thread. */
static void read_of(uint32_t os_tid, const char *file, char *out, size_t n)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%u/%s", os_tid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, out, n - 1) : 0;
    if (fd >= 0)
        close(fd);
    out[got > 0 ? got : 0] = 0;
}

void task_name(uint32_t os_tid, char out[TASK_NAME_BYTES])
{
    read_of(os_tid, "comm", out, TASK_NAME_BYTES);
    out[strcspn(out, "\n")] = 0;
}

bool task_times(uint32_t os_tid, struct task_times *out)
{
    char text[96];
    read_of(os_tid, "schedstat", text, sizeof text);
    return sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &out->ran, &out->ready, &out->turns) ==
           3;
}

bool task_is_ready(uint32_t os_tid)
{
    char text[96]; /* number (name) state */
    read_of(os_tid, "stat", text, sizeof text);
    const char *name_end = strrchr(text, ')');
    return name_end && strncmp(name_end, ") R", 3) == 0;
}
