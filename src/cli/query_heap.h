/* query_heap.h - the answers of orca query about objects, as text: what is in one, who refers to
 * it. */
#ifndef ORCA_CLI_QUERY_HEAP_H
#define ORCA_CLI_QUERY_HEAP_H

#include "attach/jvm.h"

#include <jansson.h>

/* Replace the ids of thread and stack in the answer about an object by what they are, as far as the
 * trace of the recording says so. */
void query_heap_name(const struct jvm *jvm, json_t *answer);

int query_heap_print_object(const struct jvm *jvm, const json_t *answer);
int query_heap_print_refs(const struct jvm *jvm, const json_t *answer);

/* What was found out about a class by JVMTI: its instances and fields. */
void query_heap_print_class(const json_t *class_);

#endif
