/* cmd_record.c - runs a command with the agent in every JVM that it starts.
 *
 * The agent travels in JAVA_TOOL_OPTIONS, which every HotSpot JVM reads, so that wrappers (mvn,
 * gradle, shell scripts) need no change.  The command keeps its terminal, its signals and its exit
 * status. */
#include "base/human.h"
#include "base/log.h"
#include "base/util.h"
#include "cli/agent_options.h"
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

static const struct opt opts[] = {
    {"output", 'o', OPT_STR, offsetof(struct agent_options, file), "FILE",
     "the trace; %p becomes the process id, %t the time; further JVMs of the same run get their "
     "process id added (default: orca-%p.otrace)",
     NULL, 0, 0},
    AGENT_OPTIONS(0),
};

static bool is_trace(int fd)
{
    char head[sizeof FILE_MAGIC - 1];
    return pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
           memcmp(head, FILE_MAGIC, sizeof head) == 0;
}

/* An older trace of this name makes room, so that the first JVM can take it; anything else
 * stays. */
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
    /* A trace that is live, or not completed yet, stays: the agent then takes another name. */
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

/* Checks of the place before the command runs; `given` may hold the agent's %p and %t. */
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

/* One word for the JVM's parser of JAVA_TOOL_OPTIONS (HotSpot, Arguments::parse_options_buffer):
 * blanks divide words, either quote quotes everything up to the next one of its kind, and a
 * backslash has no meaning. */
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

static int put_tool_options(const struct agent_options *o, const char *agent, const char *session,
                            struct buf *b, struct err *err)
{
    struct buf word, own;
    const char *old = getenv("JAVA_TOOL_OPTIONS");
    buf_init(&word);
    buf_init(&own);
    buf_puts(&own, "session=");
    opt_escape(&own, session);
    buf_printf(&word, "-agentpath:%s=", agent);
    int rc = agent_options_put(o, buf_str(&own), NULL, &word, err);
    buf_printf(b, "JAVA_TOOL_OPTIONS=%s%s", old ? old : "", old && *old ? " " : "");
    put_jvm_word(b, buf_str(&word));
    buf_fini(&word);
    buf_fini(&own);
    return rc;
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

static bool is_read(const char *path)
{
    const char *suffix = strrchr(path, '.');
    return suffix && (strcmp(suffix, ".orca") == 0 || strcmp(suffix, ".trcxml") == 0);
}

/* The files in another format from i on that belong together; their number. */
static size_t say_texts(const struct session *s, size_t i)
{
    const char *main = s->files[i] + 1;
    struct buf line;
    size_t n = 0;
    buf_init(&line);
    do
        buf_printf(&line, "%s%s", n ? ", " : "", record_shown(s->files[i + n] + 1));
    while (i + ++n < s->n && s->files[i + n][0] == '=' && !is_read(s->files[i + n]));
    buf_puts(&line, ": look at it: orca report ");
    human_shell_word(&line, record_shown(main));
    log_line("%s", buf_str(&line));
    buf_fini(&line);
    return n;
}

static void say_results(const struct session *s, const char *command)
{
    if (s->n == 0)
        log_line(
            "no JVM was recorded: '%s' started none, or one that does not read JAVA_TOOL_OPTIONS "
            "(a native image, a cleared environment) or that the agent refused",
            command);
    for (size_t i = 0, n; i < s->n; i += n) {
        struct buf line;
        struct err err;
        n = s->files[i][0] == '=' ? say_texts(s, i) : 1;
        if (s->files[i][0] == '=')
            continue;
        buf_init(&line);
        if (record_summary(s->files[i], &line, &err) == 0)
            log_line("%s", buf_str(&line));
        else
            log_line("%s", err.msg);
        buf_fini(&line);
    }
    if (s->n_removed)
        log_line("%s older file%s removed (--keep)", human_count(s->n_removed).text,
                 s->n_removed == 1 ? " was" : "s were");
}

static int run_child(struct session *s, struct buf *tool_options, char **argv, struct err *err)
{
    buf_str(tool_options);
    char **env = tool_options->oom ? NULL : environment((char *)tool_options->p);
    struct child child;
    int rc = env ? child_start(&child, argv, env, err) : err_set(err, -ENOMEM, "out of memory");
    free(env);
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
    struct agent_options o = {.file = AGENT_FILE_DEFAULT};
    int n = cmd_parse(&cmd_record, argc, argv, &o, err);
    if (n < 0)
        return n;
    if (n == 0)
        return err_set(err, CMD_USAGE, "name the command to run: orca record -- java -jar app.jar");
    char agent[PATH_MAX];
    TRY(find_agent(agent, err));
    TRY(agent_options_check(&o, err));
    TRY(check_place(o.file, err));
    struct session s = {.fd = -1};
    struct buf tool_options;
    buf_init(&tool_options);
    int rc = session_open(&s, err);
    if (rc == 0)
        rc = put_tool_options(&o, agent, s.path, &tool_options, err);
    if (rc == 0)
        rc = run_child(&s, &tool_options, argv + 1, err);
    session_close(&s);
    buf_fini(&tool_options);
    return rc;
}

const struct cmd cmd_record = {
    .name = "record",
    .summary = "run a command and record every JVM that it starts",
    .args = "[--] COMMAND...",
    .description =
        "Runs COMMAND and records every JVM that it starts, also through wrappers such as "
        "mvn, gradle or shell scripts. Ends with one line for each trace on the standard "
        "error.\n"
        "\n"
        "The agent is passed in JAVA_TOOL_OPTIONS, after the variable's present value; each "
        "JVM reports that with a line \"Picked up JAVA_TOOL_OPTIONS\". COMMAND keeps the "
        "terminal and receives its signals. The exit status is COMMAND's: 128 + N when signal "
        "N killed it, 126 or 127 when it could not be started.\n"
        "\n"
        "With --every, the recording continues in a new file after each TIME: app.otrace, "
        "app.002.otrace, app.003.otrace, or, with %t in the name, one named by its time. Each "
        "file is a complete trace. An existing app.002.otrace is replaced when it is the "
        "complete trace of an earlier run; when it is live or unfinished, the new file gets "
        "the process id in its name; when it is not a trace, the recording stays in its "
        "present file. --keep removes this recording's oldest finished files.",
    .examples = "orca record -- java -jar app.jar\n"
                "orca record -o app.otrace -- mvn test\n"
                "orca record -m shop.Cart#checkout -- java -jar shop.jar\n"
                "orca record --every 10m --keep 6 -- ./server.sh    # the last hour\n"
                "orca record -e monitors+waits --options depth=200,maxsize=1g -- ./server.sh",
    .opts = {opts, ARRAY_LEN(opts)},
    .order = OPT_OPERANDS_LAST,
    .run = run,
};
