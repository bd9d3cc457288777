/* xml_reader.h - an XML file, element by element, from a descriptor, from memory or from the code
 * that unpacks it (expat).
 *
 * Elements need no root: a file may be one document, several roots, or fragments, with an XML
 * declaration or without.  One that ends too early is read as far as it goes (`cut`).  What is not
 * XML is an error with file, line, column and remedy.
 *
 * Memory is bounded whatever the file holds: no element is longer than XML_ELEMENT_MAX nor has more
 * than XML_ATTRS_MAX attributes, and none is deeper than XML_DEPTH_MAX.  (expat keeps every
 * different name of an element or attribute: the sink has to stop a file of ever new ones.)
 * A DOCTYPE that declares anything is refused; nothing but the file itself is opened. */
#ifndef ORCA_IMPORT_XML_READER_H
#define ORCA_IMPORT_XML_READER_H

#include "import/import.h"
#include "import/lines.h"

#include <sys/types.h>

enum {
    XML_ELEMENT_MAX = 4 << 20, /* bytes */
    XML_ATTRS_MAX = 100,
    XML_DEPTH_MAX = 32,
};

/* A processing instruction of this target holds an element, which only readers who know it see. */
#define XML_HIDDEN "orca"

/* The receiver of the elements.  Both return 0, or a negative errno with err set, which ends the
 * reading. Texts live until the return. */
struct xml_sink {
    /* attrs: name, value, name, value, ..., NULL; values are UTF-8, references resolved. */
    int (*begin)(void *ctx, const char *name, const char *const *attrs, struct err *err);
    int (*end)(void *ctx, struct err *err); /* of the innermost that is open */
    void *ctx;
};

struct xml_place {
    uint64_t line, column; /* from 1 */
    uint64_t offset;       /* bytes */
};

/* Who hands the bytes over when they are in no file and not in memory: up to n of them to p, 0 at
 * the end, or a negative errno with err set. */
struct xml_feed {
    ssize_t (*read)(void *ctx, void *p, size_t n, struct err *err);
    void *ctx;
    uint64_t size; /* of all; 0: not known */
};

struct xml_reader {
    struct text_source source;
    struct xml_feed feed; /* read NULL: the source has them */
    struct xml_sink sink;
    void *parser;
    void *hidden; /* parser of hidden elements; NULL: there was none yet */
    struct err *err;
    int rc;         /* of the sink, or why the reader itself gave up */
    uint32_t depth; /* elements that are open, the sink's view */
    uint64_t fed;   /* bytes of the file handed to the parser */
    uint64_t
        root_at; /* where the root that stands for a missing one was put; UINT64_MAX: nowhere */
    uint64_t root_line;
    bool has_root;
    uint64_t tag_len; /* bytes of the tag that the sink is looking at */
    bool is_markup;   /* it begins with a '<', or is empty */
    bool cut;         /* the file ends before its last element does */
};

/* Borrows the source and what the sink points to.  A failed open needs no close. */
int xml_reader_open(struct xml_reader *r, const struct text_source *source,
                    const struct xml_sink *sink, struct err *err);

/* The same of what a feed hands over; `name` is for messages, and borrowed. */
int xml_reader_open_feed(struct xml_reader *r, const char *name, const struct xml_feed *feed,
                         const struct xml_sink *sink, struct err *err);
void xml_reader_close(struct xml_reader *r);

/* Read it to the end (a descriptor is rewound).  watch may be NULL. */
int xml_reader_run(struct xml_reader *r, const struct import_watch *watch, struct err *err);

/* Where the element stands that the sink is looking at; after an error, the error. */
struct xml_place xml_reader_place(const struct xml_reader *r);

#endif
