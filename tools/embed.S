/* embed.S - a file as read-only data: embed_NAME up to embed_NAME_end (base/embed.h). */
#ifdef __CET__
#include <cet.h> /* the mark that no code here breaks */
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define BEGIN JOIN(embed_, NAME)
#define END JOIN(BEGIN, _end)

    .section .rodata
    .balign 8
    .globl BEGIN
    .hidden BEGIN
    .globl END
    .hidden END
BEGIN:
    .incbin FILE
END:
    .byte 0
    .section .note.GNU-stack, "", %progbits
