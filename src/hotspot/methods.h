/* methods.h - what stands behind a HotSpot Method: its code, its class, its names.
 *
 * An address is believed to be a Method when what hangs on it fits together: its ConstMethod names
 * a constant pool, the pool names a class, and that class names this pool (or, once it was
 * redefined, another one that names the class). */
#ifndef ORCA_HOTSPOT_METHODS_H
#define ORCA_HOTSPOT_METHODS_H

#include "hotspot/layout.h"
#include "hotspot/method_text.h"

struct method_view {
    uintptr_t method, constants, pool, klass; /* constants: the ConstMethod */
    uintptr_t code;                           /* of the first bytecode */
    uint32_t code_size;
    uint16_t access;
};

enum { ACC_NATIVE = 0x0100 };

/* False: no Method. */
bool method_view(const struct layout *l, uintptr_t method, struct method_view *v);

/* For the method of an nmethod (it is one): whether it is MethodHandle.linkToStatic or its kind,
 * which no frame ever stands for, and whose constant pool is not its class's. */
bool method_is_linker(const struct layout *l, uintptr_t method);

/* Whether it is Continuation.enterSpecial. */
bool method_enters_continuation(const struct layout *l, uintptr_t method);

/* HotSpot's Symbols: texts with a length. */
struct method_symbols {
    uintptr_t class_name, name, signature;
};

bool method_symbols(const struct layout *l, const struct method_view *v, struct method_symbols *s);

/* Whether a symbol is that text.  False of texts of more than 64 bytes. */
bool method_symbol_is(const struct layout *l, uintptr_t symbol, const char *text);

/* The symbol of the class's source file, 0: it names none. */
uintptr_t method_source(const struct layout *l, const struct method_view *v);

/* The jmethodID in a class's array of them, which is at that address, by the number of its method;
 * 0: there is none.  Read without the array's lock: it may be anything. */
uintptr_t method_id_of_number(uintptr_t ids_at, uint16_t number);

/* The method's jmethodID: no other method, of no other generation of its class, ever gets it.  It
 * is believed when its word names the method; 0: none yet, or it names a newer version by now. */
uintptr_t method_own_id(const struct layout *l, const struct method_view *v);

/* method_stamp (method_text.h). */
uint64_t method_stamp_at(const struct layout *l, uintptr_t method);

#endif
