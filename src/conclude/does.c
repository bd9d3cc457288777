#include "conclude/does.h"

#include "base/util.h"

#include <string.h>

/* --- input and output --------------------------------------------------------------------------
 */

/* Methods of the JDK below which a thread that stands still is in input or output, by the beginning
 * of the class's signature and of the name.  The innermost that is on a stack says which. */
static const struct {
    const char *class_, *name;
    enum holder_does does;
} io_methods[] = {
    {"Ljava/io/FileOutputStream;", "write", DOES_OUTPUT},
    {"Ljava/io/FileDescriptor;", "sync", DOES_OUTPUT},
    {"Ljava/io/RandomAccessFile;", "write", DOES_OUTPUT},
    {"Ljava/io/FileOutputStream;", "open", DOES_OUTPUT},
    {"Ljava/io/RandomAccessFile;", "", DOES_INPUT},
    {"Ljava/io/FileInputStream;", "", DOES_INPUT},
    {"Ljava/io/UnixFileSystem;", "", DOES_INPUT},
    {"Ljava/net/Socket", "", DOES_INPUT},
    {"Ljava/net/Plain", "", DOES_INPUT},
    {"Ljava/net/Inet", "", DOES_INPUT},
    {"Ljava/net/NetworkInterface;", "", DOES_INPUT},
    {"Lsun/net/", "", DOES_INPUT},
    {"Lsun/nio/ch/NioSocketImpl;", "write", DOES_OUTPUT},
    {"Lsun/nio/ch/NioSocketImpl;", "implWrite", DOES_OUTPUT},
    {"Lsun/nio/ch/SocketChannelImpl;", "write", DOES_OUTPUT},
    {"Lsun/nio/ch/SocketDispatcher;", "write", DOES_OUTPUT},
    {"Lsun/nio/ch/FileDispatcherImpl;", "write", DOES_OUTPUT},
    {"Lsun/nio/ch/FileDispatcherImpl;", "force", DOES_OUTPUT},
    {"Lsun/nio/ch/UnixFileDispatcherImpl;", "write", DOES_OUTPUT},
    {"Lsun/nio/ch/UnixFileDispatcherImpl;", "force", DOES_OUTPUT},
    {"Lsun/nio/ch/FileChannelImpl;", "write", DOES_OUTPUT},
    {"Lsun/nio/ch/FileChannelImpl;", "force", DOES_OUTPUT},
    {"Lsun/nio/ch/FileChannelImpl;", "implCloseChannel", DOES_OUTPUT},
    {"Lsun/nio/ch/", "", DOES_INPUT},
    {"Lsun/nio/fs/", "", DOES_INPUT},
    {"Ljava/lang/ProcessImpl;", "", DOES_INPUT},
};

/* DOES_UNKNOWN: it is none of them. */
static enum holder_does io_of(const char *signature, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(io_methods); i++)
        if (strncmp(signature, io_methods[i].class_, strlen(io_methods[i].class_)) == 0 &&
            strncmp(name, io_methods[i].name, strlen(io_methods[i].name)) == 0)
            return io_methods[i].does;
    return DOES_UNKNOWN;
}

bool does_is_native_io(const struct trace *t, method_id method)
{
    const struct trace_method *m = trace_method(t, method);
    return m->flags & METHOD_NATIVE &&
           io_of(trace_class(t, m->class_)->signature, m->name) != DOES_UNKNOWN;
}

/* A stack whose frames down to the first native method of Java are no Java code, or that has none.
 */
static enum holder_does doing_of_stack(const struct trace *t, const struct trace_stack *s,
                                       bool still)
{
    bool native = false;
    for (uint32_t i = 0; i < s->n_frames; i++) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        if (!trace_method_is_java(m))
            continue;
        const char *signature = trace_class(t, m->class_)->signature;
        native |= (m->flags & METHOD_NATIVE) != 0;
        if (!native && !still)
            return DOES_COMPUTE;
        enum holder_does io = io_of(signature, m->name);
        if (io != DOES_UNKNOWN)
            return io;
        if (!sites_is_jdk(signature))
            break;
    }
    if (still)
        return DOES_NATIVE;
    return DOES_COMPUTE;
}

/* --- both --------------------------------------------------------------------------------------
 */

static struct place leaf_of(const struct trace *t, stack_id stack)
{
    struct place top, app;
    sites_name(t, stack, &top, &app);
    return top;
}

struct does does_of_stack(const struct resources *all, stack_id stack, bool still,
                          struct place *leaf)
{
    const struct trace *t = all->program.trace;
    struct place at = program_place(&all->program, stack);
    *leaf = leaf_of(t, stack);
    return (struct does){doing_of_stack(t, trace_stack(t, stack), still), at.method.v, at.line, 0};
}

struct does does_of_wait(const struct resources *all, const struct analysis *a, uint32_t context,
                         struct place *leaf)
{
    const struct context *x = timeline_context(&a->timeline, context);
    struct place at = program_place(&all->program, x->stack);
    struct does d = {DOES_WAIT, at.method.v, at.line, all->of_context[context]};
    *leaf = leaf_of(a->trace, x->stack);
    if (d.other)
        d.does = all->v[d.other - 1].kind == RESOURCE_ANSWERS ? DOES_ANSWER : DOES_BLOCKED;
    else if (x->what == STATE_SLEEPING)
        d.does = DOES_SLEEP;
    else if (x->what == STATE_JOINING)
        d.does = DOES_JOIN;
    else if (x->what == STATE_UNKNOWN)
        d.does = DOES_UNKNOWN;
    else if (a->purposes.of_context[context] == PURPOSE_ANSWER)
        d.does = DOES_ANSWER;
    else if (x->what == STATE_PARKED) { /* a virtual thread parks until its socket is ready */
        enum holder_does io = doing_of_stack(a->trace, trace_stack(a->trace, x->stack), true);
        d.does = io == DOES_NATIVE ? DOES_WAIT : io;
    }
    return d;
}
