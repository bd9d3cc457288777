/* stub_agent.c - an agent that prints the options it was given, to test how they travel. */
#include <stdio.h>

int Agent_OnLoad(void *vm, char *options, void *reserved);

__attribute__((visibility("default"))) int Agent_OnLoad(void *vm, char *options, void *reserved)
{
    (void)vm;
    (void)reserved;
    fprintf(stderr, "stub: %s\n", options ? options : "(none)");
    return 0;
}
