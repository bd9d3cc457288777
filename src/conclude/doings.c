#include "conclude/doings.h"

#define GIVE_IT_A_PROCESSOR                                                                        \
    "run fewer threads at a time, or give the program more processors or a larger quota"
#define STOP_LESS "make the stops of the JVM shorter or rarer: orca report --gc lists them"
#define KEEP_THE_PAGES "read the mapped file before, or give the machine more memory"
#define SYNC_LESS "sync once for all threads that wait, or after releasing the lock"
#define SEE_WHERE "record with --time --wall 5ms: samples show where the holder is"

const struct doing doings[DOES_LIMIT] = {
    [DOES_UNKNOWN] = {"unknown", "in activity that Orca did not record", NULL, NULL, false},
    [DOES_COMPUTE] = {"computes", "computing", "do this work outside the lock, or split the lock",
                      "release it before this work", false},
    [DOES_INPUT] = {"input", "waiting for input",
                    "read before taking the lock, or after releasing it",
                    "make the call before taking one, or release it first", false},
    [DOES_OUTPUT] = {"output", "writing output",
                     "write after releasing the lock, or let one thread write for all", NULL,
                     false},
    [DOES_NATIVE] = {"native", "paused in native code", NULL, NULL, false},
    [DOES_SLEEP] = {"sleeps", "sleeping", "sleep without the lock", "release it before sleeping",
                    false},
    [DOES_JOIN] = {"joins", "waiting for a thread to end", NULL, NULL, false},
    [DOES_ANSWER] = {"answer", "waiting for an answer",
                     "wait for the answer before taking the lock",
                     "wait for the answer before taking one, or release it first", false},
    [DOES_WAIT] = {"waits", "waiting", NULL, NULL, false},
    [DOES_BLOCKED] = {"blocked", "blocked", NULL, NULL, false},
    [DOES_SYNC] = {"syncs", "syncing", SYNC_LESS, NULL, false},
    [DOES_READY] = {"ready", "waiting for a processor", GIVE_IT_A_PROCESSOR, GIVE_IT_A_PROCESSOR,
                    true},
    [DOES_STOPPED] = {"stopped", "stopped by the JVM", STOP_LESS, STOP_LESS, true},
    [DOES_FAULT] = {"fault", "in page faults", KEEP_THE_PAGES, KEEP_THE_PAGES, true},
    [DOES_OFF] = {"off", "off the processor, cause unknown", SEE_WHERE, SEE_WHERE, true},
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
