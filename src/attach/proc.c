#include "attach/proc.h"

#include "base/fdio.h"
#include "base/util.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_MOST = 64 << 10, MAPS_MOST = 32 << 20 };

/* --- text ------------------------------------------------------------------------------------- */

struct span {
    const char *p;
    size_t n;
};

/* Cut the first line off `rest`; false at the end. */
static bool next_line(struct span *rest, struct span *line)
{
    if (rest->n == 0)
        return false;
    const char *end = memchr(rest->p, '\n', rest->n);
    line->p = rest->p;
    line->n = end ? (size_t)(end - rest->p) : rest->n;
    size_t used = line->n + (end ? 1 : 0);
    rest->p += used;
    rest->n -= used;
    return true;
}

/* Cut the first word, divided by blanks, off `rest`; false when there is none. */
static bool next_word(struct span *rest, struct span *word)
{
    while (rest->n > 0 && (*rest->p == ' ' || *rest->p == '\t')) {
        rest->p++;
        rest->n--;
    }
    word->p = rest->p;
    word->n = 0;
    while (word->n < rest->n && word->p[word->n] != ' ' && word->p[word->n] != '\t')
        word->n++;
    rest->p += word->n;
    rest->n -= word->n;
    return word->n > 0;
}

static bool number(struct span word, unsigned base, uint64_t *out)
{
    uint64_t v = 0;
    for (size_t i = 0; i < word.n; i++) {
        char c = word.p[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 99;
        if (digit >= base || __builtin_mul_overflow(v, base, &v) ||
            __builtin_add_overflow(v, digit, &v))
            return false;
    }
    *out = v;
    return word.n > 0;
}

void proc_copy_text(char *to, size_t room, const char *from, size_t n)
{
    size_t len = n < room - 1 ? n : room - 1;
    if (len > 0)
        memcpy(to, from, len);
    to[len] = 0;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)to[i] < ' ' || to[i] == 0x7f)
            to[i] = '?';
}

static bool has(struct span s, const char *text)
{
    return memmem(s.p, s.n, text, strlen(text)) != NULL;
}

/* --- status and stat -------------------------------------------------------------------------- */

/* The word at `index` of a status line's value, as a number. */
static bool value_at(struct span value, unsigned index, unsigned base, uint64_t *out)
{
    struct span word;
    do {
        if (!next_word(&value, &word))
            return false;
    } while (index-- > 0);
    return number(word, base, out);
}

static bool last_value(struct span value, uint64_t *out)
{
    struct span word;
    bool found = false;
    while (next_word(&value, &word))
        found = number(word, 10, out);
    return found;
}

enum { SEEN_STATE = 1, SEEN_PID = 2, SEEN_TGID = 4, SEEN_UID = 8, SEEN_GID = 16, SEEN_ALL = 31 };

/* One line of status; returns the SEEN_ bit of what was needed and is there. */
static int take_status(struct span key, struct span value, struct proc_status *out)
{
    uint64_t v;
#define KEY(name) (key.n == sizeof(name) - 1 && memcmp(key.p, name, key.n) == 0)
    if (KEY("Name")) {
        while (value.n > 0 && (*value.p == '\t' || *value.p == ' '))
            value = (struct span){value.p + 1, value.n - 1};
        proc_copy_text(out->comm, sizeof out->comm, value.p, value.n);
    } else if (KEY("State")) {
        struct span word;
        if (!next_word(&value, &word) || !isalpha((unsigned char)word.p[0]))
            return 0;
        out->state = word.p[0];
        return SEEN_STATE;
    } else if (KEY("Tgid") && value_at(value, 0, 10, &v)) {
        out->tgid = (pid_t)v;
        return SEEN_TGID;
    } else if (KEY("Pid") && value_at(value, 0, 10, &v)) {
        out->pid = (pid_t)v;
        return SEEN_PID;
    } else if (KEY("PPid") && value_at(value, 0, 10, &v)) {
        out->parent = (pid_t)v;
    } else if (KEY("Uid") && value_at(value, 1, 10, &v)) {
        out->uid = (uid_t)v;
        return SEEN_UID;
    } else if (KEY("Gid") && value_at(value, 1, 10, &v)) {
        out->gid = (gid_t)v;
        return SEEN_GID;
    } else if (KEY("NSpid") && last_value(value, &v)) {
        out->ns_pid = (pid_t)v;
    } else if (KEY("Threads") && value_at(value, 0, 10, &v)) {
        out->threads = (uint32_t)v;
    } else if (KEY("VmSize")) {
        out->memory = true;
    } else if (KEY("SigCgt") && value_at(value, 0, 16, &v)) {
        out->catches_quit = v >> (SIGQUIT - 1) & 1;
    }
#undef KEY
    return 0;
}

int proc_parse_status(const char *text, size_t n, struct proc_status *out)
{
    memset(out, 0, sizeof *out);
    struct span rest = {text, n}, line;
    int seen = 0;
    while (next_line(&rest, &line)) {
        const char *colon = memchr(line.p, ':', line.n);
        if (!colon)
            continue;
        struct span key = {line.p, (size_t)(colon - line.p)};
        struct span value = {colon + 1, line.n - key.n - 1};
        seen |= take_status(key, value, out);
    }
    if (out->ns_pid == 0) /* Linux before 4.1 */
        out->ns_pid = out->pid;
    return seen == SEEN_ALL ? 0 : -EINVAL;
}

int proc_parse_start(const char *text, size_t n, uint64_t *ticks)
{
    /* The name in parentheses may hold anything; behind the last ')' come the fields from the 3rd
     * on, and the start time is the 22nd. */
    const char *end = memrchr(text, ')', n);
    if (!end)
        return -EINVAL;
    struct span rest = {end + 1, (size_t)(text + n - end - 1)};
    return value_at(rest, 22 - 3, 10, ticks) ? 0 : -EINVAL;
}

/* Lines "INSIDE OUTSIDE COUNT". */
int64_t proc_parse_id_map(const char *text, size_t n, uint32_t id)
{
    struct span rest = {text, n}, line;
    while (next_line(&rest, &line)) {
        uint64_t inside, outside, count;
        if (value_at(line, 0, 10, &inside) && value_at(line, 1, 10, &outside) &&
            value_at(line, 2, 10, &count) && id >= outside && id - outside < count)
            return (int64_t)(inside + (id - outside));
    }
    return -1;
}

/* --- maps ------------------------------------------------------------------------------------- */

static struct span base_name(struct span path)
{
    const char *slash = memrchr(path.p, '/', path.n);
    if (!slash)
        return path;
    return (struct span){slash + 1, (size_t)(path.p + path.n - slash - 1)};
}

static bool is(struct span s, const char *text)
{
    return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

static bool begins(struct span s, const char *text)
{
    return s.n >= strlen(text) && memcmp(s.p, text, strlen(text)) == 0;
}

static bool copy_path(char *to, size_t room, struct span path)
{
    if (path.n >= room)
        return false;
    memcpy(to, path.p, path.n);
    to[path.n] = 0;
    return true;
}

static void take_mapping(struct span perms, struct span path, pid_t ns_pid, struct proc_maps *out)
{
    static const char gone[] = " (deleted)";
    bool deleted = path.n >= sizeof gone - 1 &&
                   memcmp(path.p + path.n - (sizeof gone - 1), gone, sizeof gone - 1) == 0;
    if (deleted)
        path.n -= sizeof gone - 1;
    struct span name = base_name(path);
    bool code = perms.n >= 3 && perms.p[2] == 'x';
    uint64_t pid;
    if (begins(name, "libj9vm") && code) {
        out->vm = PROC_VM_OPENJ9; /* whose libjvm.so only passes calls on */
    } else if (is(name, "libjvm.so") && code && out->vm != PROC_VM_OPENJ9) {
        out->vm = PROC_VM_HOTSPOT;
        out->deleted = deleted;
        copy_path(out->libjvm, sizeof out->libjvm, path);
    } else if (is(name, "libjli.so") && out->vm == PROC_VM_NONE) {
        out->vm = PROC_VM_LAUNCHER;
    } else if (!deleted && has(path, "/hsperfdata_") && number(name, 10, &pid) &&
               pid == (uint64_t)ns_pid) {
        copy_path(out->perfdata, sizeof out->perfdata, path);
    }
}

void proc_parse_maps(const char *text, size_t n, pid_t ns_pid, struct proc_maps *out)
{
    memset(out, 0, sizeof *out);
    struct span rest = {text, n}, line;
    while (next_line(&rest, &line)) {
        struct span word[5];
        size_t i = 0;
        while (i < ARRAY_LEN(word) && next_word(&line, &word[i]))
            i++;
        while (line.n > 0 && *line.p == ' ')
            line = (struct span){line.p + 1, line.n - 1};
        if (i == ARRAY_LEN(word) && line.n > 0 && *line.p == '/')
            take_mapping(word[1], line, ns_pid, out);
    }
    if (out->vm != PROC_VM_HOTSPOT)
        out->libjvm[0] = 0;
}

/* --- readers ---------------------------------------------------------------------------------- */

static int gone_if_absent(int code)
{
    return code == -ENOENT ? -ESRCH : code;
}

static int read_most(int fd, size_t most, struct buf *out)
{
    enum { STEP = 16 << 10 };
    while (most > 0) {
        size_t step = most < STEP ? most : STEP;
        uint8_t *to = buf_reserve(out, step);
        if (!to)
            return -ENOMEM;
        ssize_t n = fdio_read_some(fd, to, step);
        if (n < 0)
            return (int)n;
        out->len += (size_t)n;
        most -= (size_t)n;
        if ((size_t)n < step)
            return 0;
    }
    return 0;
}

int proc_read(pid_t pid, const char *file, size_t most, struct buf *out)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return gone_if_absent(-errno);
    int rc = read_most(fd, most, out);
    close(fd);
    return gone_if_absent(rc);
}

int proc_read_status(pid_t pid, struct proc_status *out)
{
    struct buf b;
    buf_init(&b);
    int rc = proc_read(pid, "status", STATUS_MOST, &b);
    if (rc == 0)
        rc = proc_parse_status((const char *)b.p, b.len, out);
    buf_fini(&b);
    return rc;
}

bool proc_has_ended(const struct proc_status *s)
{
    return s->state == 'X' || (s->state == 'Z' && s->threads <= 1);
}

int proc_read_start(pid_t pid, uint64_t *ticks)
{
    struct buf b;
    buf_init(&b);
    int rc = proc_read(pid, "stat", STATUS_MOST, &b);
    if (rc == 0)
        rc = proc_parse_start((const char *)b.p, b.len, ticks);
    buf_fini(&b);
    return rc;
}

int proc_read_maps(pid_t pid, pid_t ns_pid, struct proc_maps *out)
{
    struct buf b;
    buf_init(&b);
    memset(out, 0, sizeof *out);
    int rc = proc_read(pid, "maps", MAPS_MOST, &b);
    if (rc == 0)
        proc_parse_maps(buf_str(&b), b.len, ns_pid, out);
    buf_fini(&b);
    return rc;
}

/* The state in a file "stat", 0 when it cannot be read. */
static char read_state(pid_t pid, const char *file)
{
    struct buf b;
    buf_init(&b);
    int rc = proc_read(pid, file, STATUS_MOST, &b);
    const char *end = rc == 0 ? strrchr(buf_str(&b), ')') : NULL;
    char state = end && end[1] == ' ' ? end[2] : 0;
    buf_fini(&b);
    return state;
}

static bool is_stopped(char state)
{
    return state == 'T' || state == 't';
}

/* What a file of a cgroup says at one of the places where they are mounted; outside of this
 * process's own name space of cgroups nothing can be known. */
static bool cgroup_says(const char *mount, const char *group, const char *file, const char *word)
{
    char path[1024], text[256];
    int n = snprintf(path, sizeof path, "%s%s/%s", mount, group, file);
    int fd = n < (int)sizeof path && !strstr(group, "/..") ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    ssize_t got = fdio_read_some(fd, text, sizeof text - 1);
    close(fd);
    text[got > 0 ? got : 0] = 0;
    return strstr(text, word) != NULL;
}

/* A line "NUMBER:CONTROLLERS:GROUP": version 1 freezes by a controller, version 2 any group. */
static bool line_is_frozen(const char *line, size_t n)
{
    char text[1024];
    snprintf(text, sizeof text, "%.*s", (int)min_u64(n, sizeof text), line);
    const char *controllers = strchr(text, ':');
    const char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return false;
    group++;
    if (strncmp(text, "0::", 3) == 0)
        return cgroup_says("/sys/fs/cgroup", group, "cgroup.events", "frozen 1") ||
               cgroup_says("/sys/fs/cgroup/unified", group, "cgroup.events", "frozen 1");
    return strncmp(controllers, ":freezer:", 9) == 0 &&
           cgroup_says("/sys/fs/cgroup/freezer", group, "freezer.state", "FROZEN");
}

/* A frozen thread is shown as sleeping, or as waiting for a disk. */
static bool is_frozen(pid_t pid)
{
    struct buf b;
    bool frozen = false;
    buf_init(&b);
    const char *line = proc_read(pid, "cgroup", STATUS_MOST, &b) == 0 ? buf_str(&b) : "";
    for (size_t n; !frozen && *line; line += n + (line[n] == '\n')) {
        n = strcspn(line, "\n");
        frozen = line_is_frozen(line, n);
    }
    buf_fini(&b);
    return frozen;
}

/* The first thread may be stopped alone, by a debugger. */
char proc_stopped(pid_t pid)
{
    char path[32], file[32], state = read_state(pid, "stat");
    if ((state == 'S' || state == 'D') && is_frozen(pid))
        return PROC_FROZEN;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *d = is_stopped(state) ? opendir(path) : NULL;
    if (!d)
        return 0;
    for (struct dirent *e; state && (e = readdir(d));) {
        snprintf(file, sizeof file, "task/%.12s/stat", e->d_name);
        char s = e->d_name[0] == '.' ? 0 : read_state(pid, file);
        if (s && !is_stopped(s) && s != 'Z' && s != 'X')
            state = 0;
    }
    closedir(d);
    return state;
}

bool proc_has_thread(pid_t pid, const char *comm)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *d = opendir(path);
    if (!d)
        return false;
    bool found = false;
    for (struct dirent *e; !found && (e = readdir(d));) {
        char file[300], name[64] = "";
        snprintf(file, sizeof file, "%s/%s/comm", path, e->d_name);
        int fd = e->d_name[0] == '.' ? -1 : open(file, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        ssize_t n = fdio_read_some(fd, name, sizeof name - 1);
        close(fd);
        found = n > 0 && strcspn(name, "\n") == strlen(comm) &&
                begins((struct span){name, (size_t)n}, comm);
    }
    closedir(d);
    return found;
}

/* --- native images ---------------------------------------------------------------------------- */

/* Whether the section names of an ELF file, read into `names`, hold the one looked for. */
static bool names_heap(int fd, const Elf64_Shdr *table, struct buf *names)
{
    static const char wanted[] = ".svm_heap";
    uint64_t n = min_u64(table->sh_size, 64 << 10);
    uint8_t *to = buf_reserve(names, n);
    if (!to || fdio_pread_some(fd, to, n, table->sh_offset) != (ssize_t)n)
        return false;
    return memmem(to, n, wanted, sizeof wanted) != NULL;
}

bool proc_is_native_image(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    Elf64_Ehdr head;
    Elf64_Shdr table;
    struct buf names;
    buf_init(&names);
    bool found = fdio_pread_some(fd, &head, sizeof head, 0) == (ssize_t)sizeof head &&
                 memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
                 head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_shoff < INT64_MAX / 2 &&
                 fdio_pread_some(fd, &table, sizeof table,
                                 head.e_shoff + (uint64_t)head.e_shstrndx * sizeof table) ==
                     (ssize_t)sizeof table &&
                 names_heap(fd, &table, &names);
    buf_fini(&names);
    close(fd);
    return found;
}
