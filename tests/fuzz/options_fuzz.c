/* The agent's option text: parsed without a crash, and what was parsed is within its range. */
#include "base/options.h"

#include <stdlib.h>
#include <string.h>

static const char *const words[] = {"one", "two", "three", NULL};

struct o {
    bool flag;
    const char *text;
    uint64_t number, size, time, choice, set;
};

static const struct opt rows[] = {
    {"flag", 'f', OPT_FLAG, offsetof(struct o, flag), NULL, "x", NULL, 0, 0},
    {"text", 't', OPT_STR, offsetof(struct o, text), "T", "x", NULL, 0, 0},
    {"number", 'n', OPT_UINT, offsetof(struct o, number), "N", "x", NULL, 1, 100},
    {"size", 's', OPT_SIZE, offsetof(struct o, size), "S", "x", NULL, 4096, 1 << 20},
    {"time", 0, OPT_TIME, offsetof(struct o, time), "T", "x", NULL, 0, 0},
    {"choice", 0, OPT_CHOICE, offsetof(struct o, choice), "C", "x", words, 0, 0},
    {"set", 0, OPT_SET, offsetof(struct o, set), "S", "x", words, 0, 0},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct o *o)
{
    if (o->number > 100 || (o->size && (o->size < 4096 || o->size > 1 << 20)) || o->choice > 2 ||
        o->set > 7 || (o->text && !*o->text))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *again = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    memcpy(again, text, size + 1);
    struct o o = {0};
    struct err err = {""};
    if (opt_parse_keys(OPT_TABLE(rows), text, &o, &err) < 0 && !err.msg[0])
        abort();
    check(&o);

    /* The same bytes as a command line, cut at line breaks. */
    char *argv[34] = {(char *)"fuzz"};
    int argc = 1;
    for (char *at = strtok(again, "\n"); at && argc < 32; at = strtok(NULL, "\n"))
        argv[argc++] = at;
    struct o p = {0};
    int n = opt_parse_args(OPT_TABLE(rows), argc, argv, size % 2 ? OPT_MIXED : OPT_OPERANDS_LAST,
                           &p, &err);
    if (n >= argc || (n >= 0 && argv[n + 1] != NULL))
        abort();
    check(&p);
    free(text);
    free(again);
    return 0;
}
