/* A file that `orca doctor` takes for a libjvm.so. */
#include "cli/elf_symbol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    elf_symbol_in(data, size, "gHotSpotVMStructs");
    return 0;
}
