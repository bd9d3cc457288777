#include "agent/program_name.h"

#include <stddef.h>
#include <string.h>

/* `java Prices.java` runs this, with the source file as its first argument. */
static const char *const launchers[] = {
    "jdk.compiler/com.sun.tools.javac.launcher.Main ",
    "jdk.compiler/com.sun.tools.javac.launcher.SourceLauncher "};

void program_name_cut(char *command, const char *class_path)
{
    size_t n = strlen(class_path), skip = 0;
    if (n > 0 && strncmp(command, class_path, n) == 0 && (command[n] == ' ' || !command[n])) {
        command[n] = 0;
        return;
    }
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (strncmp(command, launchers[i], strlen(launchers[i])) == 0)
            skip = strlen(launchers[i]);
    n = strcspn(command + skip, " ");
    memmove(command, command + skip, n);
    command[n] = 0;
}
