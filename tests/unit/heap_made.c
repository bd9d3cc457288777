#include "heap_made.h"

#include <criterion/criterion.h>
#include <sys/mman.h>

void made_open(struct made *m, uint32_t id_size)
{
    int fd = memfd_create("dump", 0);
    m->f = fdopen(fd, "w+b");
    cr_assert(m->f);
    snprintf(m->path, sizeof m->path, "/proc/self/fd/%d", fd);
    m->next = 0x10000;
    hw_begin(&m->w, m->f, id_size);
}

void made_begin(struct made *m, uint32_t id_size, const char *node_fields)
{
    made_open(m, id_size);
    hw_class(&m->w, OBJECT, "java/lang/Object", 0, "");
    hw_class(&m->w, KLASS, "java/lang/Class", OBJECT, "");
    hw_class(&m->w, STRING, "java/lang/String", OBJECT, "value:L hash:I coder:B");
    hw_class(&m->w, BYTES, "[B", OBJECT, "");
    hw_class(&m->w, REFERENCE, "java/lang/ref/Reference", OBJECT, "referent:L queue:L");
    hw_class(&m->w, WEAK, "java/lang/ref/WeakReference", REFERENCE, "");
    hw_class(&m->w, NODE, "Node", OBJECT, node_fields);
    hw_class(&m->w, NODES, "[LNode;", OBJECT, "");
    hw_class(&m->w, THREAD, "java/lang/Thread", OBJECT, "name:L");
}

uint64_t made_place(struct made *m, uint64_t size)
{
    uint64_t id = m->next;
    m->next += (size + 7) & ~UINT64_C(7);
    return id;
}

uint64_t made_instance(struct made *m, uint64_t class_id, const uint64_t *values)
{
    uint64_t id = made_place(m, 64);
    hw_instance(&m->w, id, class_id, values);
    return id;
}

uint64_t made_bytes(struct made *m, const void *p, uint32_t n)
{
    uint64_t id = made_place(m, 16 + (uint64_t)n);
    hw_primitives(&m->w, id, 'B', p, n);
    return id;
}

uint64_t made_frame(struct made *m, const char *name, uint32_t class_serial, uint32_t line)
{
    uint64_t id = 0x500000 + line, method = hw_string(&m->w, name, strlen(name)),
             source = hw_string(&m->w, "Node.java", 9);
    hw_record(&m->w, HPROF_FRAME, 4 * 8 + 8);
    hw_number(&m->w.out, id, 8);
    hw_number(&m->w.out, method, 8);
    hw_number(&m->w.out, method, 8);
    hw_number(&m->w.out, source, 8);
    hw_number(&m->w.out, class_serial, 4);
    hw_number(&m->w.out, line, 4);
    return id;
}

void made_trace(struct made *m, uint32_t serial, const uint64_t *frames, uint32_t n)
{
    hw_record(&m->w, HPROF_TRACE, 12 + 8 * (size_t)n);
    hw_number(&m->w.out, serial, 4);
    hw_number(&m->w.out, 1, 4);
    hw_number(&m->w.out, n, 4);
    for (uint32_t i = 0; i < n; i++)
        hw_number(&m->w.out, frames[i], 8);
}
