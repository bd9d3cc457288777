#include "cli/cmd.h"

#include "cli/screen.h"

#include <stddef.h>

const struct cmd *const *cmd_all(void)
{
    static const struct cmd *const all[] = {
        &cmd_record, &cmd_attach, &cmd_detach, &cmd_status, &cmd_dump, &cmd_query, &cmd_top,
        &cmd_report, &cmd_view,   &cmd_html,   &cmd_diff,   &cmd_info, &cmd_heap,  &cmd_events,
        &cmd_export, &cmd_import, &cmd_doctor, &cmd_clean,  NULL,
    };
    return all;
}

int cmd_parse(const struct cmd *c, int argc, char **argv, void *into, struct err *err)
{
    int n = opt_parse_args(c->opts, argc, argv, c->order, into, err);
    const struct opt *json = opt_find(c->opts, "json", 4);
    if (n >= 0 && json && json->kind == OPT_FLAG && *(const bool *)((char *)into + json->offset))
        screen_json();
    return n >= 0 || n == CMD_HELP ? n : CMD_USAGE;
}
