/* trcxml_frames.h - the classes, methods and stacks of a .trcxml.
 *
 * A frame is a text, `shop/Order.add(Order.java:31)`, which says neither signature nor byte-code
 * index; so the methods of one name in a class are one, and line n is at index n + 1 (0: no line is
 * known).  Each text is taken apart once.
 *
 * The line tables are complete only when the file has been read: trcxml_frames_finish. */
#ifndef ORCA_IMPORT_TRCXML_FRAMES_H
#define ORCA_IMPORT_TRCXML_FRAMES_H

#include "import/intake.h"
#include "import/trcxml_ids.h"

enum { FRAME_LINES_MAX = 16384 }; /* of one method: its definition has to fit into a trace */

/* A stack on its way, innermost frame first. */
struct trcxml_stack {
    struct buf packed;
    uint32_t n;
    bool truncated;
    uint8_t top; /* enum trcxml_top */
};

/* What the innermost frames say of a wait. */
enum trcxml_top {
    TOP_NONE,    /* no frame yet */
    TOP_OBJECT,  /* java.lang.Object's only */
    TOP_WAIT,    /* those, called by anybody but Thread.join */
    TOP_UNKNOWN, /* Thread.join, or no Object.wait */
};

enum frame_use { FRAME_OTHER, FRAME_OBJECT, FRAME_JOIN };

struct trcxml_frame {
    method_id method;
    int32_t bci;
    uint8_t use; /* enum frame_use */
};

struct trcxml_method {
    class_id class_;
    struct text name;
    uint32_t n_lines;
    bool is_native;
    bool is_defined; /* by a methodDef */
};

struct trcxml_frames {
    struct intake *in;     /* borrowed */
    struct digest classes; /* number: class id */
    struct map class_ids;  /* key of a classId -> class */
    struct digest methods; /* number: method id */
    struct buf of_method;  /* struct trcxml_method [], by id; [0] is unused */
    struct digest texts;
    struct buf frames; /* struct trcxml_frame [], by number in texts; [0] is unused */
    struct buf scratch, key;
};

void trcxml_frames_init(struct trcxml_frames *f, struct intake *in);
void trcxml_frames_fini(struct trcxml_frames *f);

/* No text that is passed on may be longer than TRCXML_TEXT_MAX. */

/* The class of an internal name, shop/Order$Line or [I; source "": not known here.  "?" and "" are
 * class 0. */
int trcxml_class(struct trcxml_frames *f, const char *name, const char *source, class_id *id,
                 struct err *err);

/* A classDef: from now on the classId means this class.  dots: its name may be written with
 * them. */
int trcxml_define_class(struct trcxml_frames *f, struct trcxml_id id, const char *name,
                        const char *source, bool dots, struct err *err);
class_id trcxml_class_of(const struct trcxml_frames *f, struct trcxml_id id);

/* A methodDef; line -1: not known. */
int trcxml_define_method(struct trcxml_frames *f, class_id class_, const char *name,
                         const char *signature, int32_t line, struct err *err);

void trcxml_stack_clear(struct trcxml_stack *s);

/* Add a frame to a stack: 1, or 0 when the text is none (an unknown frame was added), or a negative
 * errno.  A stack that is as long as can be is `truncated` instead. */
int trcxml_stack_add(struct trcxml_frames *f, struct trcxml_stack *s, const char *text,
                     struct err *err);

/* The id of the stack, which is empty afterwards. */
int trcxml_stack_take(struct trcxml_frames *f, struct trcxml_stack *s, stack_id *id,
                      struct err *err);

/* Define the methods. */
int trcxml_frames_finish(struct trcxml_frames *f, struct err *err);

#endif
