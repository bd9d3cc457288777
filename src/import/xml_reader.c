/* xml_reader.c - expat, fed in pieces.
 *
 * A document has one root, fragments have none.  So a root is put in front of the first element,
 * behind the declaration, unless a DOCTYPE stands there; the sink does not see it, and places are
 * those of the file.  A file that begins in the middle may close it. */
#include "import/xml_reader.h"

#include "base/fdio.h"
#include "base/util.h"

#include <expat.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { READ_SIZE = 256 * 1024 };

#define ROOT "<TRACE>"
#define NO_ROOT UINT64_MAX

static XML_Parser parser_of(const struct xml_reader *r)
{
    return r->parser;
}

/* --- places and errors ------------------------------------------------------------------------ */

struct xml_place xml_reader_place(const struct xml_reader *r)
{
    XML_Index at = XML_GetCurrentByteIndex(parser_of(r));
    struct xml_place p = {
        .line = XML_GetCurrentLineNumber(parser_of(r)),
        .column = XML_GetCurrentColumnNumber(parser_of(r)) + 1,
        .offset = at > 0 ? (uint64_t)at : 0,
    };
    enum { ROOT_LEN = sizeof ROOT - 1 };
    if (r->root_at == NO_ROOT || p.offset < r->root_at + ROOT_LEN)
        return p;
    p.offset -= ROOT_LEN;
    if (p.line == r->root_line)
        p.column -= ROOT_LEN;
    return p;
}

/* Give up at the current place: `what` is wrong there. */
static void refuse(struct xml_reader *r, const char *what)
{
    struct xml_place at = xml_reader_place(r);
    r->rc = err_set(r->err, -EINVAL, "%s: line %llu, column %llu: %s", r->source.name,
                    (unsigned long long)at.line, (unsigned long long)at.column, what);
    XML_StopParser(parser_of(r), XML_FALSE);
}

/* The byte of the source at an offset; -1: there is none. */
static int byte_at(const struct xml_reader *r, uint64_t offset)
{
    unsigned char byte;
    if (r->source.fd >= 0)
        return fdio_pread_some(r->source.fd, &byte, 1, offset) == 1 ? byte : -1;
    return offset < r->source.len ? (unsigned char)r->source.p[offset] : -1;
}

/* What expat says, or more where a byte is to blame that no text has; and what helps. */
static const char *explain(const struct xml_reader *r, const struct xml_place *at,
                           const char **remedy)
{
    enum XML_Error code = XML_GetErrorCode(parser_of(r));
    int byte = code == XML_ERROR_INVALID_TOKEN ? byte_at(r, at->offset) : -1;
    *remedy = r->feed.read && r->source.fd < 0
                  ? "unzip it; xmllint --recover --huge then writes what can be saved"
                  : "xmllint --recover --huge writes what can be saved";
    if (byte == 0) {
        *remedy = "tr -d '\\0' removes such bytes";
        return "a NUL byte";
    }
    if (byte >= 0x80)
        *remedy = "iconv -c -f UTF-8 -t UTF-8 removes bytes that are not UTF-8";
    if (code == XML_ERROR_UNKNOWN_ENCODING || code == XML_ERROR_INCORRECT_ENCODING)
        *remedy = "iconv -t UTF-8 changes the encoding; then change the declaration as well";
    return XML_ErrorString(code);
}

static int not_xml(const struct xml_reader *r, struct err *err)
{
    struct xml_place at = xml_reader_place(r);
    const char *remedy, *what = explain(r, &at, &remedy);
    if (XML_GetErrorCode(parser_of(r)) == XML_ERROR_NO_MEMORY)
        return err_set(err, -ENOMEM, "%s: out of memory", r->source.name);
    return err_set(err, -EINVAL, "%s: line %llu, column %llu: this is not XML: %s; %s",
                   r->source.name, (unsigned long long)at.line, (unsigned long long)at.column, what,
                   remedy);
}

/* --- what expat calls ------------------------------------------------------------------------- */

/* Whether what begins is the root that was put there: the first element. */
static bool is_root(struct xml_reader *r)
{
    bool is = r->root_at != NO_ROOT && !r->has_root;
    r->has_root = true;
    return is;
}

/* One more element is open. */
static bool too_deep(struct xml_reader *r)
{
    char text[100];
    if (r->depth++ != XML_DEPTH_MAX)
        return false;
    snprintf(text, sizeof text, "elements in elements, more than %d deep: this is not a trace",
             XML_DEPTH_MAX);
    refuse(r, text);
    return true;
}

static void XMLCALL on_begin(void *ctx, const XML_Char *name, const XML_Char **attrs)
{
    struct xml_reader *r = ctx;
    char text[100];
    if (r->rc < 0 || is_root(r))
        return;
    if (too_deep(r))
        return;
    if (XML_GetSpecifiedAttributeCount(parser_of(r)) > 2 * XML_ATTRS_MAX) {
        snprintf(text, sizeof text, "an element of more than %d attributes: this is not a trace",
                 XML_ATTRS_MAX);
        refuse(r, text);
        return;
    }
    r->tag_len = (uint64_t)XML_GetCurrentByteCount(parser_of(r));
    r->rc = r->sink.begin(r->sink.ctx, name, (const char *const *)attrs, r->err);
    if (r->rc < 0)
        XML_StopParser(parser_of(r), XML_FALSE);
}

static void XMLCALL on_end(void *ctx, const XML_Char *name)
{
    UNUSED(name);
    struct xml_reader *r = ctx;
    if (r->rc < 0 || r->depth == 0)
        return;
    r->depth--;
    r->rc = r->sink.end(r->sink.ctx, r->err);
    if (r->rc < 0)
        XML_StopParser(parser_of(r), XML_FALSE);
}

/* What a DOCTYPE can declare is entities, which multiply, and attributes, which every element then
 * has: both make a long work of a short file. */
static void XMLCALL on_doctype(void *ctx, const XML_Char *name, const XML_Char *system,
                               const XML_Char *public, int declares)
{
    UNUSED(name);
    UNUSED(system);
    UNUSED(public);
    struct xml_reader *r = ctx;
    if (declares)
        refuse(r, "the DOCTYPE has declarations of its own, and entities are not expanded here: "
                  "remove it");
}

static void XMLCALL on_hidden_begin(void *ctx, const XML_Char *name, const XML_Char **attrs)
{
    struct xml_reader *r = ctx;
    if (r->rc == 0 && !too_deep(r))
        r->rc = r->sink.begin(r->sink.ctx, name, (const char *const *)attrs, r->err);
}

/* Parse what the instruction holds; it is in the text, so no longer than an element may be.  A
 * parser that is used again looks through tables as large as its largest text needed. */
static bool parse_hidden(struct xml_reader *r, const char *text)
{
    enum { SMALL = 4096 };
    bool keep = strlen(text) <= SMALL;
    if (r->hidden)
        XML_ParserReset(r->hidden, "UTF-8");
    else
        r->hidden = XML_ParserCreate("UTF-8");
    if (!r->hidden)
        return false;
    XML_SetUserData(r->hidden, r);
    XML_SetElementHandler(r->hidden, on_hidden_begin, on_end);
    XML_SetStartDoctypeDeclHandler(r->hidden, on_doctype);
    bool ok = XML_Parse(r->hidden, text, (int)strlen(text), XML_TRUE) == XML_STATUS_OK;
    if (!keep) {
        XML_ParserFree(r->hidden);
        r->hidden = NULL;
    }
    return ok;
}

static void XMLCALL on_instruction(void *ctx, const XML_Char *target, const XML_Char *text)
{
    struct xml_reader *r = ctx;
    uint32_t depth = r->depth;
    if (r->rc < 0 || strcmp(target, XML_HIDDEN) != 0)
        return;
    r->tag_len = (uint64_t)XML_GetCurrentByteCount(parser_of(r));
    bool well_formed = parse_hidden(r, text);
    bool whole = r->depth == depth;
    r->depth = depth;
    if (r->rc < 0)
        XML_StopParser(parser_of(r), XML_FALSE);
    else if (!well_formed || !whole)
        refuse(r, "the instruction <?" XML_HIDDEN " ...?> holds no element: remove it");
}

/* --- feeding ---------------------------------------------------------------------------------- */

/* What was fed has been parsed, or there is an error. */
static int check(struct xml_reader *r, enum XML_Status status, struct err *err)
{
    if (r->rc < 0)
        return r->rc;
    if (status != XML_STATUS_OK)
        return not_xml(r, err);
    XML_Index at = XML_GetCurrentByteIndex(parser_of(r));
    uint64_t behind = r->fed - (at > 0 && (uint64_t)at <= r->fed ? (uint64_t)at : 0);
    if (r->fed <= XML_ELEMENT_MAX || behind <= XML_ELEMENT_MAX + READ_SIZE)
        return 0;
    struct xml_place place = xml_reader_place(r);
    return err_set(err, -EINVAL,
                   "%s: line %llu: an element of more than %d bytes: this is not a trace",
                   r->source.name, (unsigned long long)place.line, XML_ELEMENT_MAX);
}

static int feed(struct xml_reader *r, const char *p, size_t n, struct err *err)
{
    if (n == 0)
        return 0;
    r->fed += n;
    return check(r, XML_Parse(parser_of(r), p, (int)n, XML_FALSE), err);
}

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
        p++;
    return p;
}

static bool begins(const char *p, const char *end, const char *with)
{
    size_t n = strlen(with);
    return (size_t)(end - p) >= n && memcmp(p, with, n) == 0;
}

/* Behind a comment or processing instruction at p; NULL: there is none, or no end of it. */
static const char *skip_misc(const char *p, const char *end)
{
    const char *close = begins(p, end, "<!--") ? "-->" : begins(p, end, "<?") ? "?>" : NULL;
    const char *at = close ? memmem(p, (size_t)(end - p), close, strlen(close)) : NULL;
    return at ? at + strlen(close) : NULL;
}

/* Where the root belongs in the beginning of a file; NO_ROOT: it has a DOCTYPE, or is UTF-16. */
static uint64_t root_place(const char *p, size_t n)
{
    const char *end = p + n, *at = p, *root;
    if (begins(p, end, "\xff\xfe") || begins(p, end, "\xfe\xff") || memchr(p, 0, n < 4 ? n : 4))
        return NO_ROOT;
    if (begins(at, end, "\xef\xbb\xbf"))
        at += 3;
    if (begins(at, end, "<?xml") && !(at = skip_misc(at, end)))
        return NO_ROOT;
    for (root = at; at; at = skip_misc(at, end)) {
        at = skip_space(at, end);
        if (begins(at, end, "<!DOCTYPE"))
            return NO_ROOT;
    }
    return (uint64_t)(root - p);
}

/* The beginning of the file, n bytes of it. */
static int feed_first(struct xml_reader *r, const char *p, size_t n, struct err *err)
{
    uint64_t at = root_place(p, n);
    size_t bom = begins(p, p + n, "\xef\xbb\xbf") ? 3 : 0;
    const char *first = skip_space(p + bom, p + n);
    r->is_markup = at == NO_ROOT || first == p + n || *first == '<';
    if (at == NO_ROOT)
        return feed(r, p, n, err);
    for (size_t i = 0; i < at; i++)
        r->root_line += p[i] == '\n';
    r->root_at = at;
    TRY(feed(r, p, at, err));
    TRY(feed(r, ROOT, sizeof ROOT - 1, err));
    return feed(r, p + at, n - at, err);
}

static int feed_memory(struct xml_reader *r, struct err *err)
{
    size_t n = r->source.len < READ_SIZE ? r->source.len : READ_SIZE;
    TRY(feed_first(r, r->source.p, n, err));
    for (size_t at = n; at < r->source.len; at += n) {
        n = r->source.len - at < READ_SIZE ? r->source.len - at : READ_SIZE;
        TRY(feed(r, r->source.p + at, n, err));
    }
    return 0;
}

/* The feed of a descriptor. */
static ssize_t read_source(void *ctx, void *p, size_t n, struct err *err)
{
    const struct text_source *source = ctx;
    ssize_t got = fdio_read_some(source->fd, p, n);
    return got < 0
               ? err_set(err, (int)got, "%s: cannot read: %s", source->name, strerror((int)-got))
               : got;
}

static int begin_source(struct xml_reader *r, struct err *err)
{
    int64_t size = fdio_size(r->source.fd);
    if (lseek(r->source.fd, 0, SEEK_SET) < 0)
        return err_set(err, -errno, "%s: cannot read: %s", r->source.name, strerror(errno));
    r->feed = (struct xml_feed){read_source, &r->source, size > 0 ? (uint64_t)size : 0};
    return 0;
}

/* As many bytes as there are, up to n: the first ones decide where the root goes. */
static ssize_t read_whole(const struct xml_feed *f, char *p, size_t n, struct err *err)
{
    size_t have = 0;
    while (have < n) {
        ssize_t got = f->read(f->ctx, p + have, n - have, err);
        if (got < 0)
            return got;
        if (got == 0)
            break;
        have += (size_t)got;
    }
    return (ssize_t)have;
}

static int feed_all(struct xml_reader *r, const struct import_watch *watch, struct err *err)
{
    const struct xml_feed *f = &r->feed;
    char head[READ_SIZE / 4];
    ssize_t n = read_whole(f, head, sizeof head, err);
    if (n < 0)
        return (int)n;
    TRY(feed_first(r, head, (size_t)n, err));
    for (bool more = n == (ssize_t)sizeof head; more; more = n > 0) {
        void *room = XML_GetBuffer(parser_of(r), READ_SIZE);
        if (!room)
            return err_set(err, -ENOMEM, "%s: out of memory", r->source.name);
        if ((n = f->read(f->ctx, room, READ_SIZE, err)) < 0)
            return (int)n;
        r->fed += (uint64_t)n;
        TRY(check(r, XML_ParseBuffer(parser_of(r), (int)n, XML_FALSE), err));
        if (n > 0 && watch && watch->progress && f->size)
            watch->progress(watch->ctx, r->fed, f->size);
    }
    return 0;
}

/* Whether the parser misses nothing but the end. */
static int finish(struct xml_reader *r, struct err *err)
{
    enum XML_Status status = XML_Parse(parser_of(r), "", 0, XML_TRUE);
    if (r->rc < 0)
        return r->rc;
    r->cut = r->depth > 0;
    if (status == XML_STATUS_OK)
        return 0;
    switch (XML_GetErrorCode(parser_of(r))) {
    case XML_ERROR_NO_ELEMENTS: /* of our own root, too */
        return 0;
    case XML_ERROR_UNCLOSED_TOKEN:
    case XML_ERROR_PARTIAL_CHAR:
    case XML_ERROR_UNCLOSED_CDATA_SECTION:
        r->cut = true;
        return 0;
    default:
        return not_xml(r, err);
    }
}

/* --- life cycle ------------------------------------------------------------------------------- */

int xml_reader_open(struct xml_reader *r, const struct text_source *source,
                    const struct xml_sink *sink, struct err *err)
{
    *r = (struct xml_reader){.source = *source, .sink = *sink, .root_at = NO_ROOT, .root_line = 1};
    XML_Parser p = XML_ParserCreate(NULL);
    if (!p)
        return err_set(err, -ENOMEM, "%s: out of memory", source->name);
    r->parser = p;
    XML_SetUserData(p, r);
    XML_SetElementHandler(p, on_begin, on_end);
    XML_SetStartDoctypeDeclHandler(p, on_doctype);
    XML_SetProcessingInstructionHandler(p, on_instruction);
    return 0;
}

int xml_reader_open_feed(struct xml_reader *r, const char *name, const struct xml_feed *feed,
                         const struct xml_sink *sink, struct err *err)
{
    TRY(xml_reader_open(r, &(struct text_source){.name = name, .fd = -1}, sink, err));
    r->feed = *feed;
    return 0;
}

void xml_reader_close(struct xml_reader *r)
{
    if (r->parser)
        XML_ParserFree(parser_of(r));
    if (r->hidden)
        XML_ParserFree(r->hidden);
    memset(r, 0, sizeof *r);
}

int xml_reader_run(struct xml_reader *r, const struct import_watch *watch, struct err *err)
{
    r->err = err;
    if (r->source.fd >= 0)
        TRY(begin_source(r, err));
    TRY(r->feed.read ? feed_all(r, watch, err) : feed_memory(r, err));
    return finish(r, err);
}
