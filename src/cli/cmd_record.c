/* cmd_record.c - runs a command with the agent in every JVM that it starts.
 *
 * The agent travels in JAVA_TOOL_OPTIONS, which every HotSpot JVM reads, so that wrappers (mvn,
 * gradle, shell scripts) need no change.  The command keeps its terminal, its signals and its exit
 * status. */
#include "base/log.h"
#include "base/util.h"
#include "cli/agent_path.h"
#include "cli/child.h"
#include "cli/cmd.h"
#include "cli/record_summary.h"
#include "cli/session.h"
#include "format/chunk.h"
#include "record/recover.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct record {
    const char *file, *more;
    uint64_t events; /* bits, as in event_group_names; 0: the agent's default */
};

static const struct opt opts[] = {
    {"output", 'o', OPT_STR, offsetof(struct record, file), "FILE",
     "the trace; %p becomes the process id, %t the time; further JVMs of the same run get their "
     "process id added (default: orca-%p.otrace)",
     NULL, 0, 0},
    {"events", 'e', OPT_SET, offsetof(struct record, events), "GROUPS",
     "groups of events to record, joined by '+' (default: all that cost nothing when idle)",
     event_group_names, 0, 0},
    {"options", 0, OPT_STR, offsetof(struct record, more), "KEY=VALUE,...",
     "more options for the agent, as in docs/agent-options.md", NULL, 0, 0},
};

static bool is_trace(int fd)
{
    char head[sizeof FILE_MAGIC - 1];
    return pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
           memcmp(head, FILE_MAGIC, sizeof head) == 0;
}

/* An older trace of this name makes room, so that the first JVM can take it; anything else stays.
 */
static int make_room(const char *file, struct err *err)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? 0 : err_set(err, -errno, "%s: %s", file, strerror(errno));
    struct stat st;
    bool ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_size == 0 || is_trace(fd));
    close(fd);
    if (!ours)
        return err_set(err, -EEXIST,
                       "%s: exists and is not a trace; remove it or choose another -o", file);
    /* One that is live, or that nobody completed yet, stays: the agent then takes another name. */
    if (recover_probe(file, NULL) != RECOVER_NOTHING)
        return 0;
    if (unlink(file) < 0)
        return err_set(err, -errno, "%s: cannot be replaced: %s", file, strerror(errno));
    return 0;
}

static int check_folder(const char *folder, struct err *err)
{
    struct stat st;
    if (stat(folder, &st) < 0)
        return err_set(err, -errno, "%s: %s; create the folder or choose another -o", folder,
                       strerror(errno));
    if (access(folder, W_OK) < 0)
        return err_set(err, -errno, "%s: cannot be written: %s; choose another place with -o",
                       folder, strerror(errno));
    return 0;
}

/* What can be said about the place before the command runs; `given` may hold the agent's %p and %t.
 */
static int check_place(const char *given, struct err *err)
{
    struct buf folder;
    buf_init(&folder);
    const char *slash = strrchr(given, '/');
    if (slash)
        buf_put(&folder, given, slash == given ? 1 : (size_t)(slash - given));
    else
        buf_puts(&folder, ".");
    int rc = strchr(buf_str(&folder), '%') ? 0 : check_folder(buf_str(&folder), err);
    buf_fini(&folder);
    return rc == 0 && !strchr(given, '%') ? make_room(given, err) : rc;
}

/* The agent's file= value: absolute, because the JVM may be started in another folder.  A '%' in
 * the current folder's name stands for itself, one in `given` for a pattern. */
static int absolute_pattern(const char *given, struct buf *b, struct err *err)
{
    if (given[0] != '/') {
        char *cwd = getcwd(NULL, 0);
        if (!cwd)
            return err_set(err, -errno, "the current folder is gone: %s", strerror(errno));
        for (const char *p = cwd; *p; p++)
            buf_printf(b, *p == '%' ? "%%%%" : "%c", *p);
        free(cwd);
        buf_putc(b, '/');
    }
    buf_puts(b, given);
    return 0;
}

/* One word for the JVM's parser of JAVA_TOOL_OPTIONS (HotSpot, Arguments::parse_options_buffer):
 * blanks divide words, either quote takes the meaning off everything up to its like, there is no
 * backslash. */
static void put_jvm_word(struct buf *b, const char *word)
{
    while (*word) {
        size_t plain = strcspn(word, " \t\n\v\f\r\"'");
        buf_put(b, word, plain);
        word += plain;
        if (!*word)
            break;
        const char *quote = *word == '"' ? "'" : "\"";
        size_t quoted = strcspn(word, quote);
        buf_printf(b, "%s%.*s%s", quote, (int)quoted, word, quote);
        word += quoted;
    }
}

static void put_agent_option(const struct record *o, const char *agent, const char *file,
                             const char *session, struct buf *b)
{
    struct buf word;
    buf_init(&word);
    buf_printf(&word, "-agentpath:%s=file=", agent);
    opt_escape(&word, file);
    buf_puts(&word, ",session=");
    opt_escape(&word, session);
    buf_puts(&word, ",quiet");
    const char *divider = ",events=";
    for (size_t i = 0; event_group_names[i]; i++) {
        if (!(o->events >> i & 1))
            continue;
        buf_printf(&word, "%s%s", divider, event_group_names[i]);
        divider = "+";
    }
    if (o->more)
        buf_printf(&word, ",%s", o->more);
    put_jvm_word(b, buf_str(&word));
    buf_fini(&word);
}

/* Our environment with JAVA_TOOL_OPTIONS replaced by `value` ("NAME=..." included).  NULL: no
 * memory. */
static char **environment(char *value)
{
    size_t n = 0, name = strcspn(value, "=") + 1;
    while (environ[n])
        n++;
    char **env = calloc(n + 2, sizeof *env);
    if (!env)
        return NULL;
    size_t to = 0;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], value, name) != 0)
            env[to++] = environ[i];
    env[to] = value;
    return env;
}

static void say_results(const struct session *s, const char *command)
{
    if (s->n == 0)
        log_line(
            "no JVM was recorded: '%s' started none, or one that does not read JAVA_TOOL_OPTIONS "
            "(a native image, a cleared environment) or that the agent refused",
            command);
    for (size_t i = 0; i < s->n; i++) {
        struct buf line;
        struct err err;
        buf_init(&line);
        if (record_summary(s->files[i], &line, &err) == 0)
            log_line("%s", buf_str(&line));
        else
            log_line("%s", err.msg);
        buf_fini(&line);
    }
}

static int run_child(const struct record *o, struct session *s, const char *agent, const char *file,
                     char **argv, struct err *err)
{
    struct buf value;
    buf_init(&value);
    const char *old = getenv("JAVA_TOOL_OPTIONS");
    buf_printf(&value, "JAVA_TOOL_OPTIONS=%s%s", old ? old : "", old && *old ? " " : "");
    put_agent_option(o, agent, file, s->path, &value);
    buf_str(&value);
    char **env = value.oom ? NULL : environment((char *)value.p);
    struct child child;
    int rc = env ? child_start(&child, argv, env, err) : err_set(err, -ENOMEM, "out of memory");
    free(env);
    buf_fini(&value);
    if (rc == -ENOENT || rc == -EACCES || rc == -ENOEXEC) {
        log_line("%s", err->msg);
        return rc == -ENOENT ? CHILD_NOT_FOUND : CHILD_NOT_EXECUTABLE;
    }
    TRY(rc);
    int status = child_wait(&child, err);
    TRY(status);
    struct err later;
    if (session_read(s, &later) == 0)
        say_results(s, argv[0]);
    else
        log_line("%s", later.msg);
    session_close(s);
    child_mirror_death(status);
    return child_exit_code(status);
}

static int find_agent(char out[PATH_MAX], struct err *err)
{
    TRY(agent_path_find(out, err));
    if (strchr(out, '='))
        return err_set(err, -EINVAL,
                       "%s: the JVM cannot load an agent whose path has a '=' in it; "
                       "copy it elsewhere and set ORCA_AGENT to the copy",
                       out);
    return 0;
}

static int run(int argc, char **argv, struct err *err)
{
    struct record o = {.file = "orca-%p.otrace"};
    int n = cmd_parse(&cmd_record, argc, argv, &o, err);
    if (n < 0)
        return n;
    if (n == 0)
        return err_set(err, CMD_USAGE, "name the command to run: orca record -- java -jar app.jar");
    char agent[PATH_MAX];
    TRY(find_agent(agent, err));
    TRY(check_place(o.file, err));
    struct session s = {.fd = -1};
    struct buf file;
    buf_init(&file);
    int rc = absolute_pattern(o.file, &file, err);
    if (rc == 0)
        rc = session_open(&s, err);
    if (rc == 0)
        rc = run_child(&o, &s, agent, buf_str(&file), argv + 1, err);
    session_close(&s);
    buf_fini(&file);
    return rc;
}

const struct cmd cmd_record = {
    .name = "record",
    .summary = "run a command and record every JVM that it starts",
    .args = "[--] COMMAND...",
    .description =
        "Runs COMMAND with the Orca agent in every JVM that it starts, also through wrappers such "
        "as "
        "mvn, gradle or shell scripts, and ends with one line per trace on the standard error.\n"
        "\n"
        "The agent is passed in JAVA_TOOL_OPTIONS, after what that variable already holds; each "
        "JVM "
        "says so with its own line \"Picked up JAVA_TOOL_OPTIONS\" on the standard error. COMMAND "
        "keeps "
        "the terminal; signals are passed on to it; the exit status is COMMAND's, 128 + N when "
        "signal "
        "N killed it, 126 or 127 when it could not be started.",
    .examples = "orca record -- java -jar app.jar\n"
                "orca record -o app.otrace -- mvn test\n"
                "orca record -e monitors+waits --options depth=200,maxsize=1g -- ./server.sh",
    .opts = {opts, ARRAY_LEN(opts)},
    .order = OPT_OPERANDS_LAST,
    .run = run,
};
