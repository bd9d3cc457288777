/* program_name.h - of the JVM's property sun.java.command, what may be recorded unasked: the
 * program, without its arguments, which may be passwords. */
#ifndef ORCA_AGENT_PROGRAM_NAME_H
#define ORCA_AGENT_PROGRAM_NAME_H

/* Cut what follows the main class ("shop.Main"), MODULE/CLASS, the jar or the source file.
 * `class_path`: the property java.class.path, which is the jar's path where one was started: only
 * that distinguishes a blank in the path from the one behind it.  Pure. */
void program_name_cut(char *command, const char *class_path);

#endif
