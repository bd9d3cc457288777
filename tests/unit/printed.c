#include "printed.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

static int turn(int fd, const struct printed *p)
{
    int saved = dup(fd);
    dup2(fileno(p->to), fd);
    return saved;
}

static void turn_back(int fd, int saved)
{
    if (saved < 0)
        return;
    dup2(saved, fd);
    close(saved);
}

struct printed printed_begin(bool errors_too)
{
    struct printed p = {.to = tmpfile(), .err = -1};
    cr_assert_not_null(p.to);
    fflush(NULL);
    p.out = turn(STDOUT_FILENO, &p);
    if (errors_too)
        p.err = turn(STDERR_FILENO, &p);
    return p;
}

char *printed_end(struct printed *p)
{
    fflush(NULL);
    turn_back(STDOUT_FILENO, p->out);
    turn_back(STDERR_FILENO, p->err);
    long len = fseek(p->to, 0, SEEK_END) == 0 ? ftell(p->to) : 0;
    char *text = calloc(1, (size_t)len + 1);
    rewind(p->to);
    cr_assert_eq(fread(text, 1, (size_t)len, p->to), (size_t)len);
    fclose(p->to);
    return text;
}
