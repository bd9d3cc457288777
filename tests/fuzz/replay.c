/* replay.c - runs a fuzz target over saved inputs, so that every past finding is a test that needs
 * no fuzzer.  Linked with one <name>_fuzz.o; the arguments are the inputs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) {
        perror(path);
        return 1;
    }
    long size = ftell(f);
    rewind(f);
    /* Exactly as long as the input, so that a read beyond it is seen by the sanitizer. */
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    size_t n = data ? fread(data, 1, (size_t)size, f) : 0;
    fclose(f);
    if (!data || n != (size_t)size) {
        fprintf(stderr, "%s: cannot read\n", path);
        free(data);
        return 1;
    }
    LLVMFuzzerTestOneInput(data, n);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (replay(argv[i]) != 0)
            return 1;
    return 0;
}
