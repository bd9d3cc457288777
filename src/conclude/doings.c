#include "conclude/doings.h"

#define GIVE_IT_A_PROCESSOR                                                                        \
    "run fewer threads at a time, or give the program more processors or a larger quota"
#define STOP_LESS "make the stops of the JVM shorter or rarer: orca report --gc lists them"
#define KEEP_THE_PAGES "read the mapped file before, or give the machine more memory"
#define SEE_WHERE "record with --time --wall 5ms: samples show where the holder is"

/* The code of the holder has no part in it. */
#define ALL(text)                                                                                  \
    .of_lock = text, .of_things = text, .of_permits = text, .of_transaction = text,                \
    .of_queue = text, .nowhere = true

#define MORE "allow more at once, or "

const struct doing doings[DOES_LIMIT] = {
    [DOES_UNKNOWN] = {.name = "unknown", .words = "in activity that Orca did not record"},
    [DOES_COMPUTE] = {.name = "computes",
                      .words = "computing",
                      .of_lock = "do this work outside the lock, or split the lock",
                      .of_things = "release it before this work",
                      .of_permits = MORE "make this work cheaper",
                      .of_transaction = "do this work outside of the transaction",
                      .of_queue = "make this work cheaper",
                      .of_thread = "let other threads do this work"},
    [DOES_INPUT] = {.name = "input",
                    .words = "waiting for input",
                    .of_lock = "read before taking the lock, or after releasing it",
                    .of_things = "make the call before taking one, or release it first",
                    .of_permits = MORE "make the call without one",
                    .of_transaction = "make the call outside of the transaction",
                    .of_queue = "make the other end answer faster",
                    .of_thread = "let other threads make the call"},
    [DOES_OUTPUT] = {.name = "output",
                     .words = "writing output",
                     .of_lock = "write after releasing the lock, or let one thread write for all",
                     .of_queue = "write for many entries at once",
                     .of_thread = "let other threads write"},
    [DOES_NATIVE] = {.name = "native", .words = "paused in native code"},
    [DOES_SLEEP] = {.name = "sleeps",
                    .words = "sleeping",
                    .of_lock = "sleep without the lock",
                    .of_things = "release it before sleeping",
                    .of_permits = MORE "sleep without one",
                    .of_transaction = "sleep outside of the transaction",
                    .of_thread = "let a timer do this later, or other threads sleep"},
    [DOES_JOIN] = {.name = "joins", .words = "waiting for a thread to end"},
    [DOES_ANSWER] = {.name = "answer",
                     .words = "waiting for an answer",
                     .of_lock = "wait for the answer before taking the lock",
                     .of_things = "wait for the answer before taking one, or release it first",
                     .of_permits = MORE "wait for the answer without one",
                     .of_transaction = "wait for the answer outside of the transaction",
                     .of_queue = "make the other end answer faster",
                     .of_thread = "let other threads wait for the answer"},
    [DOES_WAIT] = {.name = "waits", .words = "waiting"},
    [DOES_BLOCKED] = {.name = "blocked",
                      .words = "blocked",
                      .of_thread = "let other threads wait for it"},
    [DOES_SYNC] = {.name = "syncs",
                   .words = "syncing",
                   .of_lock = "sync once for all threads that wait, or after releasing the lock",
                   .of_queue = "sync once for many entries",
                   .of_thread = "let other threads sync"},
    [DOES_READY] = {.name = "ready", .words = "waiting for a processor", ALL(GIVE_IT_A_PROCESSOR)},
    [DOES_STOPPED] = {.name = "stopped", .words = "stopped by the JVM", ALL(STOP_LESS)},
    [DOES_FAULT] = {.name = "fault", .words = "in page faults", ALL(KEEP_THE_PAGES)},
    [DOES_OFF] = {.name = "off", .words = "off the processor, cause unknown", ALL(SEE_WHERE)},
};

bool doing_is(enum holder_does does, enum holder_does what)
{
    return does == what || (does == DOES_SYNC && what == DOES_OUTPUT);
}

enum holder_does does_of_halt(const struct still *s)
{
    static const uint8_t of[HALT_LIMIT] = {[IO_KIND_sync] = DOES_SYNC,
                                           [HALT_READY] = DOES_READY,
                                           [HALT_STOPPED] = DOES_STOPPED,
                                           [HALT_OFF] = DOES_OFF};
    return s->fault ? DOES_FAULT : of[s->what];
}
