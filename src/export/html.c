#include "export/html.h"

#include "base/printable.h"
#include "export/zip.h"

enum {
    TITLE_BYTES = 1024,
    PIECE = 1 << 20,       /* of the pack, compressed at once */
    PACKED = 3 * 16 << 10, /* of compressed bytes, encoded at once; a multiple of 3 */
    LEVEL = 6,
};

static const char MARKER[] = "<!--orca-pack-->";
static const char TITLE[] = "<title>", TITLE_END[] = "</title>";

/* --- base64 ----------------------------------------------------------------------------------- */

/* n: a multiple of 3, but at the end of the text. */
static void put_base64(struct out *o, const uint8_t *p, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t left = (uint32_t)(n - i), v = (uint32_t)p[i] << 16;
        v |= left > 1 ? (uint32_t)p[i + 1] << 8 : 0;
        v |= left > 2 ? (uint32_t)p[i + 2] : 0;
        uint8_t *to = out_room(o, 4);
        to[0] = (uint8_t)digits[v >> 18];
        to[1] = (uint8_t)digits[v >> 12 & 63];
        to[2] = (uint8_t)(left > 1 ? digits[v >> 6 & 63] : '=');
        to[3] = (uint8_t)(left > 2 ? digits[v & 63] : '=');
        o->len += 4;
    }
}

/* --- the pack --------------------------------------------------------------------------------- */

/* What was compressed and is not yet written: less than fills the buffer. */
struct packer {
    struct zip zip;
    struct out *o;
    uint8_t packed[PACKED];
};

/* Compress all of the input, or end the stream. */
static void deflate_into(struct packer *k, int flush)
{
    z_stream *z = &k->zip.z;
    for (;;) {
        int rc = deflate(z, flush);
        if (z->avail_out > 0 && (flush != Z_FINISH || rc == Z_STREAM_END))
            return;
        put_base64(k->o, k->packed, PACKED - z->avail_out);
        z->next_out = k->packed;
        z->avail_out = PACKED;
    }
}

static int put_pack(const struct html_page *p, struct out *o)
{
    struct packer k = {.o = o};
    const uint8_t *at = p->pack;
    if (zip_open(&k.zip, ZIP_GZIP, LEVEL) < 0)
        return -ENOMEM;
    k.zip.z.next_out = k.packed;
    k.zip.z.avail_out = PACKED;
    for (size_t done = 0; done < p->pack_len && o->rc == 0;) {
        size_t n = p->pack_len - done < PIECE ? p->pack_len - done : PIECE;
        k.zip.z.next_in = (uint8_t *)(uintptr_t)(at + done); /* zlib only reads it */
        k.zip.z.avail_in = (uInt)n;
        deflate_into(&k, Z_NO_FLUSH);
        done += n;
        if (p->progress)
            p->progress(p->ctx, done, p->pack_len);
    }
    deflate_into(&k, Z_FINISH);
    put_base64(o, k.packed, PACKED - k.zip.z.avail_out);
    zip_close(&k.zip);
    return 0;
}

/* --- the page --------------------------------------------------------------------------------- */

static void put_escaped(struct out *o, const char *text)
{
    static const struct {
        char c;
        const char *instead;
    } all[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (; *text; text++) {
        const char *instead = NULL;
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (all[i].c == *text)
                instead = all[i].instead;
        if (instead)
            out_text(o, instead);
        else
            out_char(o, *text);
    }
}

/* The head of the page, with another title. */
static void put_head(const struct html_page *p, struct out *o, const char *end)
{
    char title[TITLE_BYTES];
    const char *at =
        p->title ? memmem(p->page, (size_t)(end - p->page), TITLE, strlen(TITLE)) : NULL;
    const char *behind = at ? memmem(at, (size_t)(end - at), TITLE_END, strlen(TITLE_END)) : NULL;
    if (!behind) {
        out_bytes(o, p->page, (size_t)(end - p->page));
        return;
    }
    printable_text(p->title, true, title, sizeof title);
    out_bytes(o, p->page, (size_t)(at - p->page));
    out_text(o, TITLE);
    put_escaped(o, title);
    out_bytes(o, behind, (size_t)(end - behind));
}

int html_write(const struct html_page *p, struct out *o, struct err *err)
{
    const char *end = p->page + p->page_len;
    const char *at = memmem(p->page, p->page_len, MARKER, strlen(MARKER));
    const char *behind = at ? at + strlen(MARKER) : NULL;
    if (!at || memmem(behind, (size_t)(end - behind), MARKER, strlen(MARKER)))
        return err_set(err, -EINVAL,
                       "the viewer's page has no one place for the data; build it again");
    put_head(p, o, at);
    out_text(o, "<script type=\"application/octet-stream\" id=\"orca-pack\">");
    int rc = put_pack(p, o);
    out_text(o, "</script>");
    out_bytes(o, behind, (size_t)(end - behind));
    return rc < 0 ? err_set(err, rc, "out of memory") : 0;
}
