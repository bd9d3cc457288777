/* cmd_doctor.c - checks what can be recorded on this machine. */
#include "base/util.h"
#include "cli/cmd.h"
#include "cli/findings.h"
#include "cli/target.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_COLUMN = 8 };

struct doctor {
    bool json;
    uint64_t timeout;
};

static const struct opt opts[] = {
    {"json", 0, OPT_FLAG, offsetof(struct doctor, json), NULL,
     "print one JSON object: schema, ok, findings: [{area, status, text, remedy}]", NULL, 0, 0},
    TARGET_TIMEOUT(offsetof(struct doctor, timeout), "30s"),
};

static const char *const status_names[] = {"ok", "warn", "fail"};

static const struct {
    const char *area, *title;
} areas[] = {
    {"jdk", "JDKs"},      {"agent", "Agent"},   {"machine", "Machine"},
    {"limits", "Limits"}, {"kernel", "Kernel"}, {"jvm", "JVM"},
};

static size_t count(const struct findings *f, enum finding_status status)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += f->list[i].status == status;
    return n;
}

static bool has_area(const struct findings *f, const char *area)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->list[i].area, area) == 0)
            return true;
    return false;
}

static void put_finding(const struct finding *one, struct buf *b)
{
    buf_printf(b, "  %-4s  ", status_names[one->status]);
    opt_wrap(b, one->text, TEXT_COLUMN, TEXT_COLUMN);
    buf_putc(b, '\n');
    if (!one->remedy[0])
        return;
    buf_puts(b, "        -> ");
    opt_wrap(b, one->remedy, TEXT_COLUMN + 3, TEXT_COLUMN + 3);
    buf_putc(b, '\n');
}

static void put_text(const struct findings *f, struct buf *b)
{
    for (size_t a = 0; a < ARRAY_LEN(areas); a++) {
        if (!has_area(f, areas[a].area))
            continue;
        buf_printf(b, "%s\n", areas[a].title);
        for (size_t i = 0; i < f->n; i++)
            if (strcmp(f->list[i].area, areas[a].area) == 0)
                put_finding(&f->list[i], b);
    }
    size_t warned = count(f, FINDING_WARN), failed = count(f, FINDING_FAIL);
    if (warned + failed == 0)
        buf_puts(b, "\nOrca can record here.\n");
    else
        buf_printf(b, "\nOrca %s record here (%zu failed, %zu warning%s).\n",
                   failed ? "cannot" : "can", failed, warned, warned == 1 ? "" : "s");
}

static int put_json(const struct findings *f, struct buf *b)
{
    json_t *list = json_array();
    for (size_t i = 0; i < f->n; i++) {
        const struct finding *one = &f->list[i];
        /* Paths and versions may hold any bytes; JSON may not. */
        json_t *text = json_string(one->text);
        if (!text)
            text = json_string("(not UTF-8)");
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:s}", "area", one->area, "status",
                                              status_names[one->status], "text", text, "remedy",
                                              one->remedy));
    }
    json_t *all = json_pack("{s:i, s:b, s:o}", "schema", 1, "ok", count(f, FINDING_FAIL) == 0,
                            "findings", list);
    char *text = all ? json_dumps(all, JSON_INDENT(2)) : NULL;
    json_decref(all);
    if (!text)
        return -ENOMEM;
    buf_puts(b, text);
    buf_putc(b, '\n');
    free(text);
    return 0;
}

static int run(int argc, char **argv, struct err *err)
{
    struct doctor o = {false};
    struct jvm jvm;
    int n = cmd_parse(&cmd_doctor, argc, argv, &o, err);
    if (n < 0)
        return n;
    if (n > 0)
        TRY(target_find(n, argv, o.timeout, &jvm, err));
    struct findings f;
    struct buf b;
    findings_init(&f);
    buf_init(&b);
    doctor_jdks(&f);
    doctor_agent(&f);
    doctor_machine(&f);
    if (n > 0)
        doctor_jvm(&f, &jvm);
    int rc = 0;
    if (o.json)
        rc = put_json(&f, &b);
    else
        put_text(&f, &b);
    if (rc < 0 || f.oom || b.oom)
        rc = err_set(err, -ENOMEM, "out of memory");
    else if (fwrite(b.p, 1, b.len, stdout) != b.len || fflush(stdout) != 0)
        rc = err_set(err, -EIO, "cannot write to stdout");
    else
        rc = count(&f, FINDING_FAIL) > 0 ? CMD_FAILED : 0;
    buf_fini(&b);
    findings_fini(&f);
    return rc;
}

const struct cmd cmd_doctor = {
    .name = "doctor",
    .summary = "check what Orca can record on this machine",
    .args = "[PID]",
    .description =
        "Checks JDKs (JAVA_HOME, PATH, the usual folders), the agent, and the limits of this "
        "machine: processors, clock, shared memory, cgroups, resource limits. Each line is "
        "ok, warn or fail, with what to do about it. No JVM is started. With a PID, also "
        "checks what can be recorded in that JVM; nothing is loaded into it.\n"
        "\n"
        "Exit status: 0 when Orca can record here, 1 when it cannot.",
    .examples = "orca doctor\n"
                "orca doctor 4711             # and what can be recorded in this JVM",
    .opts = {opts, ARRAY_LEN(opts)},
    .run = run,
};
