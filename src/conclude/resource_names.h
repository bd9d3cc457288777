/* resource_names.h - what a resource is called: by the names of its pool's threads where the
 * library is known (resources.def); by its class where that is not the JDK's; by the field that
 * holds it (resource_field.h); else by the method that takes it. */
#ifndef ORCA_CONCLUDE_RESOURCE_NAMES_H
#define ORCA_CONCLUDE_RESOURCE_NAMES_H

#include "analyze/lock_order.h"
#include "conclude/resource.h"
#include "conclude/resource_field.h"

/* "HikariPool-1", "shop.Stock", "IndexWriter.commitLock", "ConcurrentBag.borrow". */
void resource_name(const struct resource *r, const struct analysis *a, char *out, size_t n);

/* What is at the other end of nearly all that its holders do, where they do it in the library that
 * it is of: connections to a server, a file that is written.  0: it has none. */
lock_id resource_leads_to(const struct resource *r, const struct analysis *a);

/* The same with its role: "HikariPool-1 (connection pool)", "lock of Stock.reserve", "shop.Stock",
 * "class initialisation". */
void resource_title(const struct resource *r, const struct analysis *a, char *out, size_t n);

/* The same without where it leads ("to 10.0.0.7:5432"), which depends on what its holders happened
 * to do: for who looks for it in another recording. */
void resource_key(const struct resource *r, const struct analysis *a, char *out, size_t n);

/* The field, whether it is the name or not: "org.apache.lucene.index.IndexWriter.commitLock".
 * False: it is not known. */
bool resource_field(const struct resource *r, char *out, size_t n);

/* A lock at a place where a thread waits for it; at 0: unknown. */
struct lock_wait {
    lock_id lock;
    stack_id at;
    bool called; /* a method of it is called there: what that locks inside is something else */
};

/* That of a place of a lock order; 0 where it does not name the lock. */
struct lock_wait resource_order_wait(const struct trace *t, lock_id lock,
                                     struct lock_order_place at);

/* A lock that is no resource, or of which only one wait is looked at, by the same rules: by the
 * field that holds it, else by its class: "Ledger.accounts[] (ReentrantLock)", "shop.Stock", "class
 * initialisation".  numbered: with the number of its object, "shop.Stock (object 3)". */
void resource_lock_label(const struct analysis *a, const struct field_sites *fields,
                         struct lock_wait w, bool numbered, char *out, size_t n);

/* "connection pool", "lock", "limit", ...: stable words. */
const char *resource_role(const struct resource *r, const struct analysis *a);

/* Whether who waits in this method of a library waits for one of a pool's things. */
bool resource_is_known_pool(method_id take, const struct trace *t);

/* What the names of those who wait for it have in common: "http-nio-8081-exec-#"; "" when they are
 * of several pools. */
void resource_pool_name(const struct analysis *a, const struct resource *r, char *out, size_t n);

/* The same of one thread: "http-nio-exec" of "http-nio-exec-7"; "" of a thread without a name. */
void resource_thread_pool(const struct analysis *a, uint32_t thread, char *out, size_t n);

/* The same, but "" of names that the JDK gives: "Thread-7" says nothing. */
void resource_called_pool(const struct analysis *a, uint32_t thread, char *out, size_t n);

/* "input" or "output": what a RESOURCE_IO is. */
const char *resource_io_word(const struct resource *r);

/* Whether each thread of a pool waits for answers, and none came: no thread is left to run what
 * would give them, unless that is elsewhere. */
bool resource_is_unanswered(const struct analysis *a, const struct resource *r);

/* Whether most of what a pool's threads wait for is given by that pool itself, or nothing is: who
 * waits keeps busy who should answer.  Threads of a ForkJoinPool do so themselves while they
 * wait. */
bool resource_is_of_own_pool(const struct analysis *a, const struct resource *r);

/* The lock of one entry of a map, while it is computed: of the JDK's map, or a library's copy of
 * that. */
bool resource_is_of_entry(const struct resource *r, const struct analysis *a);
bool resource_class_of_entry(const char *signature);

/* Whether it is the lock under which the JVM loads or initialises a class. */
bool resource_is_of_classes(const struct resource *r, const struct analysis *a);

/* Whether a thread is of the JDK's common pool, which all that is asynchronous shares by default. */
bool resource_is_common_pool(const struct analysis *a, uint32_t thread);

/* Whether the program itself sleeps there: time passes, and no library lets it. */
bool resource_is_sleep(const struct resource *r);

/* Whether it is a limit of calls per second. */
bool resource_is_rate(const struct resource *r, const struct analysis *a);

/* Whether the library that it is of is known (resources.def). */
bool resource_is_known(const struct resource *r, const struct analysis *a);

/* Whether it is a pipe between threads (PipedWriter, PipedOutputStream). */
bool resource_is_pipe(const struct resource *r, const struct analysis *a);

/* Whether it is a lock that a transaction of a database has until its end. */
bool resource_is_of_transactions(const struct resource *r, const struct analysis *a);

/* Whether it is a lock inside the JDK, which a program can only use less; whether it limits how many
 * do something at once. */
bool resource_is_of_jdk(const struct resource *r, const struct analysis *a);
bool resource_is_limit(const struct resource *r, const struct analysis *a);

/* "RocksDB.put" */
void resource_method_name(const struct trace *t, method_id method, char *out, size_t n);

/* Whether threads wait until another one has loaded an entry of a cache, or a class. */
bool resource_is_loading(const struct resource *r, const struct analysis *a);

/* Whether several things are taken and given back: what one thread does once for all waiters is not
 * such a thing. */
bool resource_is_taken(const struct resource *r, const struct analysis *a);

/* Whether its source is a child process: not an answer, but its end. */
bool resource_is_of_child(const struct resource *r, const struct analysis *a);

/* Whether the names of two threads are those of one pool. */
bool resource_same_pool(const struct analysis *a, uint32_t x, uint32_t y);

#endif
