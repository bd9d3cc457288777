#include "analyze/io_calls.h"

#include "analyze/sites.h"
#include "base/util.h"

#include <string.h>

/* By the beginning of the class's signature and of the name.  The innermost that is on a stack says
 * which.  To change a folder, or what it says of a file, is output. */
static const struct {
    const char *class_, *name;
    enum io io;
} io_methods[] = {
    {"Ljava/io/FileOutputStream;", "write", IO_OUTPUT},
    {"Ljava/io/FileDescriptor;", "sync", IO_OUTPUT},
    {"Ljava/io/RandomAccessFile;", "write", IO_OUTPUT},
    {"Ljava/io/FileOutputStream;", "open", IO_OUTPUT},
    {"Ljava/io/RandomAccessFile;", "", IO_INPUT},
    {"Ljava/io/FileInputStream;", "", IO_INPUT},
    {"Ljava/io/UnixFileSystem;", "delete", IO_OUTPUT},
    {"Ljava/io/UnixFileSystem;", "rename", IO_OUTPUT},
    {"Ljava/io/UnixFileSystem;", "create", IO_OUTPUT},
    {"Ljava/io/UnixFileSystem;", "set", IO_OUTPUT},
    {"Ljava/io/UnixFileSystem;", "", IO_INPUT},
    {"Ljava/net/Socket", "", IO_INPUT},
    {"Ljava/net/Plain", "", IO_INPUT},
    {"Ljava/net/Inet", "", IO_INPUT},
    {"Ljava/net/NetworkInterface;", "", IO_INPUT},
    {"Lsun/net/", "", IO_INPUT},
    {"Lsun/nio/ch/NioSocketImpl;", "write", IO_OUTPUT},
    {"Lsun/nio/ch/NioSocketImpl;", "implWrite", IO_OUTPUT},
    {"Lsun/nio/ch/SocketChannelImpl;", "write", IO_OUTPUT},
    {"Lsun/nio/ch/SocketDispatcher;", "write", IO_OUTPUT},
    {"Lsun/nio/ch/FileDispatcherImpl;", "write", IO_OUTPUT},
    {"Lsun/nio/ch/FileDispatcherImpl;", "force", IO_OUTPUT},
    {"Lsun/nio/ch/UnixFileDispatcherImpl;", "write", IO_OUTPUT},
    {"Lsun/nio/ch/UnixFileDispatcherImpl;", "force", IO_OUTPUT},
    {"Lsun/nio/ch/FileChannelImpl;", "write", IO_OUTPUT},
    {"Lsun/nio/ch/FileChannelImpl;", "force", IO_OUTPUT},
    {"Lsun/nio/ch/FileChannelImpl;", "implCloseChannel", IO_OUTPUT},
    {"Lsun/nio/ch/EventFD;", "set", IO_OUTPUT}, /* to wake a selector */
    {"Lsun/nio/ch/IOUtil;", "write", IO_OUTPUT},
    {"Lsun/nio/ch/Poller", "", IO_NONE}, /* for both: the caller shows which */
    {"Lsun/nio/ch/", "", IO_INPUT},
    {"Lsun/nio/fs/UnixNativeDispatcher;", "unlink", IO_OUTPUT},
    {"Lsun/nio/fs/UnixNativeDispatcher;", "rename", IO_OUTPUT},
    {"Lsun/nio/fs/UnixNativeDispatcher;", "mkdir", IO_OUTPUT},
    {"Lsun/nio/fs/UnixNativeDispatcher;", "rmdir", IO_OUTPUT},
    {"Lsun/nio/fs/UnixNativeDispatcher;", "link", IO_OUTPUT},
    {"Lsun/nio/fs/UnixNativeDispatcher;", "symlink", IO_OUTPUT},
    {"Lsun/nio/fs/UnixNativeDispatcher;", "mknod", IO_OUTPUT},
    {"Lsun/nio/fs/UnixNativeDispatcher;", "chmod", IO_OUTPUT},
    {"Lsun/nio/fs/UnixNativeDispatcher;", "fchmod", IO_OUTPUT},
    {"Lsun/nio/fs/UnixNativeDispatcher;", "chown", IO_OUTPUT},
    {"Lsun/nio/fs/UnixNativeDispatcher;", "lchown", IO_OUTPUT},
    {"Lsun/nio/fs/UnixNativeDispatcher;", "fchown", IO_OUTPUT},
    {"Lsun/nio/fs/UnixNativeDispatcher;", "utimes", IO_OUTPUT},
    {"Lsun/nio/fs/UnixNativeDispatcher;", "futime", IO_OUTPUT},
    {"Lsun/nio/fs/UnixNativeDispatcher;", "lutimes", IO_OUTPUT},
    {"Lsun/nio/fs/UnixCopyFile;", "transfer", IO_OUTPUT},
    {"Lsun/nio/fs/UnixFileSystem;", "bufferedCopy", IO_OUTPUT},
    {"Lsun/nio/fs/LinuxFileSystem;", "directCopy", IO_OUTPUT},
    {"Lsun/nio/fs/", "", IO_INPUT},
    {"Ljava/lang/ProcessImpl;", "waitFor", IO_NONE}, /* for its end */
    {"Ljava/lang/ProcessImpl;", "", IO_INPUT},
};

/* By the end of the class's signature and the beginning of the name: of the JDK, and of Netty's own
 * native transports. */
static const struct {
    const char *class_end, *name;
} selects[] = {
    {"SelectorImpl;", "doSelect"}, {"Lsun/nio/ch/EPoll;", "wait"}, {"/Native;", "epollWait"},
    {"/Native;", "epollBusyWait"}, {"/Native;", "keventWait"},     {"/Native;", "ioUringEnter"},
};

static bool begins(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

enum io io_of_method(const struct trace *t, method_id method)
{
    const struct trace_method *m = trace_method(t, method);
    const char *signature = trace_class(t, m->class_)->signature;
    for (size_t i = 0; i < ARRAY_LEN(io_methods); i++)
        if (begins(signature, io_methods[i].class_) && begins(m->name, io_methods[i].name))
            return io_methods[i].io;
    return IO_NONE;
}

enum io io_of_call(const struct trace *t, stack_id stack)
{
    const struct trace_stack *s = trace_stack(t, stack);
    for (uint32_t i = 0; i < s->n_frames; i++) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        if (!trace_method_is_java(m))
            continue;
        enum io io = io_of_method(t, s->frames[i].method);
        if (io != IO_NONE || !sites_is_jdk(trace_class(t, m->class_)->signature))
            return io;
    }
    return IO_NONE;
}

bool io_is_native(const struct trace *t, method_id method)
{
    return trace_method(t, method)->flags & METHOD_NATIVE && io_of_method(t, method) != IO_NONE;
}

bool io_is_select(const struct trace *t, method_id method)
{
    const struct trace_method *m = trace_method(t, method);
    const char *signature = trace_class(t, m->class_)->signature;
    size_t n = strlen(signature);
    for (size_t i = 0; i < ARRAY_LEN(selects); i++) {
        size_t end = strlen(selects[i].class_end);
        if (end <= n && strcmp(signature + n - end, selects[i].class_end) == 0 &&
            begins(m->name, selects[i].name))
            return true;
    }
    return false;
}

bool io_in_select(const struct trace *t, stack_id stack)
{
    const struct trace_stack *s = trace_stack(t, stack);
    for (uint32_t i = 0; i < s->n_frames; i++) {
        if (io_is_select(t, s->frames[i].method))
            return true;
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        if (!sites_is_jdk(trace_class(t, m->class_)->signature))
            break;
    }
    return false;
}

bool io_in_poller(const struct trace *t, stack_id stack)
{
    const struct trace_stack *s = trace_stack(t, stack);
    for (uint32_t i = 0; i < s->n_frames; i++) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        const char *signature = trace_class(t, m->class_)->signature;
        if (begins(signature, "Lsun/nio/ch/Poller"))
            return true;
        if (!sites_is_jdk(signature))
            return false;
    }
    return true;
}

bool io_waits_for_work(const struct trace *t, stack_id stack)
{
    const struct trace_stack *s = trace_stack(t, stack);
    for (uint32_t i = 0; i < s->n_frames; i++) {
        method_id m = s->frames[i].method;
        if (!trace_method_is_java(trace_method(t, m)))
            continue;
        if (io_is_select(t, m) ||
            (io_of_method(t, m) != IO_NONE && begins(trace_method(t, m)->name, "accept")))
            return true;
        if (io_of_method(t, m) == IO_NONE)
            break;
    }
    return false;
}

bool io_of_stack(const struct trace *t, stack_id stack, bool *is_io)
{
    const struct trace_stack *s = trace_stack(t, stack);
    *is_io = false;
    for (uint32_t i = 0; i < s->n_frames; i++) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        if (!trace_method_is_java(m))
            continue;
        *is_io = io_is_native(t, s->frames[i].method) ||
                 (m->flags & METHOD_NATIVE && io_is_select(t, s->frames[i].method));
        return m->flags & METHOD_NATIVE;
    }
    return false;
}
