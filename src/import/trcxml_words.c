#include "import/trcxml_words.h"

#include "base/util.h"

#include <string.h>

const char *const trcxml_attr_names[ATTR_LIMIT] = {
#define X(name) #name,
    TRCXML_ATTRS(X)
#undef X
};

/* Length and both ends tell nearly all of the names apart. */
static size_t slot_of(const char *word)
{
    const unsigned char *p = (const void *)word;
    size_t n = strlen(word), first = p[0], middle = p[n / 2], last = n ? p[n - 1] : 0;
    return (n * 37 + first * 11 + last * 5 + middle * 3) % WORDS_SLOTS;
}

void words_init(struct words *w, const char *const *list, size_t n)
{
    memset(w, 0, sizeof *w);
    w->list = list;
    INVARIANT(n <= WORDS_MAX);
    for (size_t i = 0; i < n; i++) {
        size_t slot = slot_of(list[i]);
        while (w->slots[slot])
            slot = (slot + 1) % WORDS_SLOTS;
        w->slots[slot] = (uint8_t)(i + 1);
    }
}

int words_find(const struct words *w, const char *word)
{
    for (size_t slot = slot_of(word); w->slots[slot]; slot = (slot + 1) % WORDS_SLOTS)
        if (strcmp(w->list[w->slots[slot] - 1], word) == 0)
            return w->slots[slot] - 1;
    return -1;
}
