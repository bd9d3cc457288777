#include "serve/gate.h"

#include "base/util.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

const char gate_enter_page[] = "/enter", gate_enter_api[] = "/api/enter";

const char gate_used[] =
    "This link has been used. Run orca view again, or use the window that is open.";
const char gate_wrong[] = "This is not the link that orca view has printed: copy it whole.";
const char gate_foreign[] =
    "Another user of this machine sent this request: only the user who ran orca view may open the "
    "link.";

/* --- secrets ---------------------------------------------------------------------------------- */

static int make_secret(char *out, struct err *err)
{
    uint8_t bytes[GATE_SECRET_BYTES];
    ssize_t n = getrandom(bytes, sizeof bytes, 0);
    if (n != (ssize_t)sizeof bytes)
        return err_set(err, n < 0 ? -errno : -EIO, "no random bytes for the link: %s",
                       n < 0 ? strerror(errno) : "the system gave too few");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(&out[2 * i], 3, "%02x", bytes[i]);
    return 0;
}

int gate_init(struct gate *g, unsigned port, struct err *err)
{
    *g = (struct gate){.port = port};
    for (size_t i = 0; i < ARRAY_LEN(g->token); i++)
        TRY(make_secret(g->token[i], err));
    return make_secret(g->key, err);
}

/* In a time that does not depend on where they differ. */
static bool same_secret(const char *secret, const char *given, size_t n)
{
    unsigned char differ = 0;
    if (n != GATE_SECRET_TEXT)
        return false;
    for (size_t i = 0; i < n; i++)
        differ |= (unsigned char)(secret[i] ^ given[i]);
    return differ == 0;
}

bool gate_is_key(const struct gate *g, const char *given, size_t n)
{
    return same_secret(g->key, given, n);
}

/* "token=..." */
int gate_way_of(const struct gate *g, const char *body, size_t n)
{
    static const char before[] = "token=";
    const size_t skip = sizeof before - 1;
    int way = -1;
    if (n < skip || memcmp(body, before, skip) != 0)
        return -1;
    for (int i = 0; i < GATE_WAYS; i++)
        if (same_secret(g->token[i], body + skip, n - skip))
            way = i;
    return way;
}

/* --- headers ---------------------------------------------------------------------------------- */

/* "127.0.0.1:PORT" or "localhost:PORT". */
static bool is_us(const struct gate *g, const char *name)
{
    char port[8];
    snprintf(port, sizeof port, ":%u", g->port);
    static const char *const names[] = {"127.0.0.1", "localhost"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        size_t n = strlen(names[i]);
        if (strncasecmp(name, names[i], n) == 0 && strcmp(name + n, port) == 0)
            return true;
    }
    return false;
}

static bool is_our_origin(const struct gate *g, const char *origin)
{
    static const char scheme[] = "http://";
    return strncmp(origin, scheme, sizeof scheme - 1) == 0 && is_us(g, origin + sizeof scheme - 1);
}

/* "application/json", or with parameters. */
static bool is_type(const char *type, const char *wanted)
{
    size_t n = strlen(wanted);
    return type && strncasecmp(type, wanted, n) == 0 &&
           (type[n] == 0 || type[n] == ';' || type[n] == ' ');
}

/* Only digits, and no more than a body may have. */
static bool is_length(const char *text, uint64_t *out)
{
    uint64_t v = 0;
    size_t n = strspn(text, "0123456789");
    if (n == 0 || text[n] || n > 18)
        return false;
    for (const char *p = text; *p; p++)
        v = v * 10 + (uint64_t)(*p - '0');
    *out = v;
    return true;
}

/* --- checks: NULL, or what is wrong ----------------------------------------------------------- */

struct asked {
    const struct gate *gate;
    const struct gate_request *r;
    bool post, form, enter; /* form: to enter, from no page of ours */
};

/* A path from the root, of visible ASCII.  An absolute one (GET http://...) is for proxies. */
static bool bad_target(const struct asked *a)
{
    const char *t = a->r->target;
    if (!t || t[0] != '/' || t[1] == '/' || strlen(t) > GATE_TARGET_MAX)
        return true;
    for (; *t; t++)
        if (*t <= ' ' || *t > '~' || *t == '#' || *t == '\\')
            return true;
    return false;
}

static bool bad_method(const struct asked *a)
{
    return !a->post && (!a->r->method || strcmp(a->r->method, "GET") != 0);
}

static bool bad_bytes(const struct asked *a)
{
    return a->r->odd_bytes;
}

static bool bad_count(const struct asked *a)
{
    return a->r->doubled > 0;
}

static bool bad_host(const struct asked *a)
{
    return !a->r->host || !is_us(a->gate, a->r->host);
}

/* Browsers leave the Origin of a GET from the page itself out; a POST always has one.  A file's is
 * "null". */
static bool bad_origin(const struct asked *a)
{
    if (a->form && a->r->origin && strcmp(a->r->origin, "null") == 0)
        return false;
    return a->r->origin ? !is_our_origin(a->gate, a->r->origin) : a->post;
}

static bool bad_type(const struct asked *a)
{
    return a->post && !a->enter && !is_type(a->r->content_type, "application/json");
}

static bool bad_form(const struct asked *a)
{
    return a->enter && !is_type(a->r->content_type, "application/x-www-form-urlencoded");
}

static bool bad_length(const struct asked *a)
{
    uint64_t n = 0;
    if (a->r->chunked)
        return true;
    if (!a->r->content_length)
        return false;
    return !is_length(a->r->content_length, &n) || (!a->post && n > 0);
}

static bool too_long(const struct asked *a)
{
    uint64_t n = 0, most = a->enter ? GATE_ENTER_MAX : GATE_BODY_MAX;
    return a->r->content_length && is_length(a->r->content_length, &n) && n > most;
}

static const struct check {
    bool (*fails)(const struct asked *a);
    unsigned status;
    const char *text;
} checks[] = {
    {bad_bytes, 400,
     "the request has bytes that are not text: ask for a path of docs/reference/view-protocol.md"},
    {bad_count, 400, "a header of the request came twice: send Host, Origin and the like once"},
    {bad_method, 405, "only GET and POST are supported"},
    {bad_target, 400, "the request names no path of this server: it begins with one '/'"},
    {bad_host, 403, "the request is for another host: use the address that orca view has printed"},
    {bad_origin, 403,
     "the request comes from another page: only the page of orca view itself may ask"},
    {too_long, 413, "the request's body is too long: it may have 64 kB, a token's 256 bytes"},
    {bad_length, 400, "the request's body has no length that is understood: send Content-Length"},
    {bad_type, 400,
     "the request's body is not declared as JSON: send Content-Type: application/json"},
    {bad_form, 400,
     "the token is not declared as a form: send Content-Type: application/x-www-form-urlencoded"},
};

void gate_judge(const struct gate *g, const struct gate_request *r, struct gate_answer *out)
{
    struct asked a = {.gate = g, .r = r};
    a.post = r->method && strcmp(r->method, "POST") == 0;
    a.form = a.post && r->target && strcmp(r->target, gate_enter_page) == 0;
    a.enter = a.form || (a.post && r->target && strcmp(r->target, gate_enter_api) == 0);
    *out = (struct gate_answer){GATE_REFUSE, 403, NULL};
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        if (checks[i].fails(&a)) {
            out->status = checks[i].status;
            out->text = checks[i].text;
            return;
        }
    if (a.enter)
        out->verdict = GATE_ENTER;
    else if ((r->page && !a.post) || (r->key && gate_is_key(g, r->key, strlen(r->key))))
        out->verdict = GATE_PASS;
    else
        out->text = "Open the link that orca view has printed, with its token.";
}
