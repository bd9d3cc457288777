#include "import/lines.h"

#include "base/fdio.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_SIZE = 256 * 1024 };

int lines_open(struct lines *l, const struct text_source *source, struct err *err)
{
    memset(l, 0, sizeof *l);
    l->source = *source;
    if (source->fd < 0) {
        l->p = source->p;
        l->end = source->p + source->len;
        l->at_end = true;
    } else if (lseek(source->fd, 0, SEEK_SET) < 0) {
        return err_set(err, -errno, "%s: %s", source->name, strerror(errno));
    }
    return 0;
}

void lines_close(struct lines *l)
{
    free(l->buf);
    memset(l, 0, sizeof *l);
}

/* Read more behind what is there, which moves to the front of the buffer. */
static int more(struct lines *l, struct err *err)
{
    size_t have = (size_t)(l->end - l->p);
    if (have > LINES_MAX)
        return err_set(err, -EINVAL, "%s: line %llu: longer than %d bytes: not an Orca text file",
                       l->source.name, (unsigned long long)l->number + 1, LINES_MAX);
    if (have)
        memmove(l->buf, l->p, have);
    if (l->cap - have < READ_SIZE) {
        size_t cap = l->cap ? 2 * l->cap : (size_t)2 * READ_SIZE;
        char *buf = realloc(l->buf, cap);
        if (!buf)
            return err_set(err, -ENOMEM, "%s: out of memory", l->source.name);
        l->buf = buf;
        l->cap = cap;
    }
    l->p = l->buf;
    ssize_t n = fdio_read_some(l->source.fd, l->buf + have, READ_SIZE);
    if (n < 0)
        return err_set(err, (int)n, "%s: cannot read: %s", l->source.name, strerror((int)-n));
    l->end = l->buf + have + n;
    l->at_end = n < READ_SIZE;
    return 0;
}

/* The end of the line at l->p, or NULL when the text ends first. */
static int find_end(struct lines *l, const char **end, struct err *err)
{
    size_t searched = 0;
    for (;;) {
        size_t have = (size_t)(l->end - l->p);
        *end = have > searched ? memchr(l->p + searched, '\n', have - searched) : NULL;
        if (*end || l->at_end)
            return 0;
        searched = have;
        TRY(more(l, err));
    }
}

static int refuse_nul(const struct lines *l, const struct line *line, struct err *err)
{
    const char *nul = memchr(line->p, 0, (size_t)(line->end - line->p));
    if (!nul)
        return 0;
    return err_set(err, -EINVAL, "%s: line %llu, column %zu: a NUL byte: not an Orca text file",
                   l->source.name, (unsigned long long)line->number, (size_t)(nul - line->p) + 1);
}

int lines_next(struct lines *l, struct line *line, struct err *err)
{
    for (;;) {
        const char *end;
        TRY(find_end(l, &end, err));
        if (l->p == l->end)
            return 0;
        *line = (struct line){l->p, end ? end : l->end, ++l->number, l->offset, !end};
        l->p = end ? end + 1 : l->end;
        l->offset += (uint64_t)(l->p - line->p);
        if (line->end > line->p && line->end[-1] == '\r')
            line->end--;
        if (line->end > line->p)
            break;
    }
    TRY(refuse_nul(l, line, err));
    return 1;
}
