#include "agent/lacks.h"

#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    struct buf lines;
    struct recorder *rec; /* NULL: without a trace */
} lacks = {.lock = PTHREAD_MUTEX_INITIALIZER};

void lacks_begin(void)
{
    pthread_mutex_lock(&lacks.lock);
    buf_clear(&lacks.lines);
    lacks.rec = NULL;
    pthread_mutex_unlock(&lacks.lock);
}

/* Under the mutex. */
static bool is_known(const char *line, size_t n)
{
    for (const char *at = buf_str(&lacks.lines); *at; at += strcspn(at, "\n") + 1)
        if (strncmp(at, line, n) == 0 && at[n] == '\n')
            return true;
    return false;
}

static void put_info(void)
{
    if (lacks.rec && lacks.lines.len)
        recorder_put_info(lacks.rec, "orca.lacks", buf_str(&lacks.lines));
}

void lacks_note(const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    pthread_mutex_lock(&lacks.lock);
    bool is_new = !is_known(line, strlen(line));
    if (is_new)
        buf_printf(&lacks.lines, "%s\n", line);
    if (is_new)
        put_info();
    pthread_mutex_unlock(&lacks.lock);
    if (!is_new)
        return;
    log_line("%s", line);
}

void lacks_trace(struct recorder *rec)
{
    pthread_mutex_lock(&lacks.lock);
    lacks.rec = rec;
    put_info();
    pthread_mutex_unlock(&lacks.lock);
}

void lacks_put(struct buf *b, const char *word)
{
    pthread_mutex_lock(&lacks.lock);
    for (const char *at = buf_str(&lacks.lines); *at; at += strcspn(at, "\n") + 1)
        buf_printf(b, "%s %.*s\n", word, (int)strcspn(at, "\n"), at);
    pthread_mutex_unlock(&lacks.lock);
}
