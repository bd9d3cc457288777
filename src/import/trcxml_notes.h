/* trcxml_notes.h - what an import could not take over: each reason is counted and reported once,
 * with the line of its first case, in the problems of the trace. */
#ifndef ORCA_IMPORT_TRCXML_NOTES_H
#define ORCA_IMPORT_TRCXML_NOTES_H

#include "import/digest.h"
#include "import/intake.h"
#include "import/xml_reader.h"

enum trcxml_note {
    NOTE_NO_TIME,
    NOTE_BAD_TIME,
    NOTE_NO_THREAD,
    NOTE_NO_ID,
    NOTE_NO_OBJECT,
    NOTE_BAD_NUMBER,
    NOTE_BAD_FRAME,
    NOTE_DEEP_STACK,
    NOTE_LONG_TEXT,
    NOTE_STARTED_TWICE,
    NOTE_LIMIT
};

enum {
    NOTES_NAMES = 40, /* of elements that are listed by their name */
    NOTES_NAME_LEN = 48,
    NOTES_PLACE_LEN = 112,
    NOTES_FOREIGN_MAX = 4096, /* different names that TPTP does not have */
};

struct trcxml_count {
    uint64_t n, line, offset; /* of the first */
    const char *part;         /* and which one it is in */
};

struct trcxml_notes {
    const struct xml_reader *reader; /* borrowed */
    const char *part; /* of the file that is read, in a ZIP: its name, borrowed; else "" */
    struct trcxml_count of[NOTE_LIMIT];
    struct {
        char name[NOTES_NAME_LEN];
        struct trcxml_count count;
    } left_out[NOTES_NAMES + 1]; /* the last one: all the others */
    size_t n_left_out;
    struct digest foreign;
};

void trcxml_notes_init(struct trcxml_notes *n, const struct xml_reader *reader);
void trcxml_notes_fini(struct trcxml_notes *n);

/* One more, at the reader's place. */
void trcxml_note(struct trcxml_notes *n, enum trcxml_note what);

/* An element that a trace has no place for. */
void trcxml_leave_out(struct trcxml_notes *n, const char *name);

/* A name of an element or attribute that is not known here; -EINVAL when there were too many
 * different ones: the parser keeps each of them. */
int trcxml_note_foreign(struct trcxml_notes *n, const char *name, struct err *err);

/* Hand everything over. */
void trcxml_notes_put(const struct trcxml_notes *n, struct intake *in);

#endif
