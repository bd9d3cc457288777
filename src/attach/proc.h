/* proc.h - what /proc says of a process.
 *
 * A process may end between any two reads; every reader answers -ESRCH then.  The parsers take
 * text, make no system call, and trust nothing in it: names are chosen by the process itself. */
#ifndef ORCA_ATTACH_PROC_H
#define ORCA_ATTACH_PROC_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_status {
    char comm[64];
    char state; /* R S D T t Z X ... */
    pid_t pid, tgid, parent;
    pid_t ns_pid;     /* as the process itself knows it: in the innermost pid namespace */
    uid_t uid;        /* effective */
    gid_t gid;        /* effective */
    uint32_t threads; /* 0: not said */
    bool memory;      /* false: a kernel thread, or a process that has ended */
    bool catches_quit;
};

/* What a process has mapped, by the names of the files. */
enum proc_vm {
    PROC_VM_NONE,
    PROC_VM_LAUNCHER, /* libjli.so, and no JVM yet */
    PROC_VM_HOTSPOT,
    PROC_VM_OPENJ9,
};

struct proc_maps {
    enum proc_vm vm;
    char libjvm[1024];  /* path in the process's root; "" when it is none of HotSpot */
    char perfdata[512]; /* the performance counters' file, likewise */
    bool deleted;       /* libjvm is no longer at its path */
};

/* -EINVAL when the text lacks what every Linux prints. */
int proc_parse_status(const char *text, size_t n, struct proc_status *out);

/* The start time of /proc/PID/stat in clock ticks since boot: with the pid it names a process. */
int proc_parse_start(const char *text, size_t n, uint64_t *ticks);

/* What user `id` is inside of a user name space, by its uid_map as it is read from here; -1: nobody
 * there. */
int64_t proc_parse_id_map(const char *text, size_t n, uint32_t id);

/* ns_pid: for the name of the performance counters' file. */
void proc_parse_maps(const char *text, size_t n, pid_t ns_pid, struct proc_maps *out);

/* Copy what is printable, '?' for the rest; cut to the room there is. */
void proc_copy_text(char *to, size_t room, const char *from, size_t n);

/* Append a file of /proc/PID, or as much of it as `most` bytes. */
int proc_read(pid_t pid, const char *file, size_t most, struct buf *out);

int proc_read_status(pid_t pid, struct proc_status *out);

/* Whether all threads of a process have ended.  The first one may end before the others: then its
 * state is Z, and they have the memory, the files and the locks still. */
bool proc_has_ended(const struct proc_status *s);
int proc_read_start(pid_t pid, uint64_t *ticks);
int proc_read_maps(pid_t pid, pid_t ns_pid, struct proc_maps *out);

/* 'T' (a signal) or 't' (a debugger) when every thread of the process is stopped, PROC_FROZEN when
 * its cgroup is frozen (a container that is paused), else 0. */
enum { PROC_FROZEN = 'F' };
char proc_stopped(pid_t pid);

/* Whether one of its threads has this name (at most 15 bytes). */
bool proc_has_thread(pid_t pid, const char *comm);

/* Whether its executable is a native image: an ELF file with a section ".svm_heap". */
bool proc_is_native_image(pid_t pid);

#endif
