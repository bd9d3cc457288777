/* heap_make.c - heap_make FILE SIZE: a heap dump of about SIZE (64m, 4g), as a server's heap looks.
 *
 * Customers in a hash map by name, each with a list of orders of lines, which share products; long
 * linked lists; caches with buffers.  An object takes 40 to 45 bytes, as in many programs. */
#include "../hprof_writer.h"

#include <inttypes.h>

enum class_id {
    OBJECT = 1,
    CLASS,
    STRING,
    BYTES,
    MAP,
    NODE,
    NODES,
    LIST,
    OBJECTS,
    INTEGER,
    CUSTOMER,
    ORDER,
    LINE,
    PRODUCT,
    LINK,
    BUFFER,
    LAST
};

static struct hprof_writer w;
static uint64_t next = UINT64_C(0x700000000), written, seed = 42;

static uint64_t klass(int c)
{
    return UINT64_C(0x6ffff0000) + (uint64_t)c * 128;
}

static uint32_t random_below(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 33) % n);
}

static uint64_t place(uint64_t size)
{
    uint64_t at = next;
    next += (size + 7) & ~UINT64_C(7);
    return at;
}

static uint64_t instance(int c, uint64_t size, const uint64_t *values)
{
    uint64_t id = place(size);
    hw_instance(&w, id, klass(c), values);
    return id;
}

static uint64_t array(int c, const uint64_t *ids, uint32_t n)
{
    uint64_t id = place(16 + 4 * (uint64_t)n);
    hw_objects(&w, id, klass(c), ids, n);
    return id;
}

static uint64_t bytes(uint32_t n)
{
    static const char text[65536] = "The quick brown fox jumps over the lazy dog";
    uint64_t id = place(16 + (uint64_t)n);
    hw_primitives(&w, id, 'B', text, n);
    return id;
}

static uint64_t string(uint32_t len)
{
    uint64_t value = bytes(len);
    return instance(STRING, 24, (uint64_t[]){value, 12345, 0, 0});
}

static uint64_t integer(uint32_t v)
{
    return instance(INTEGER, 16, (uint64_t[]){v});
}

static uint64_t list(const uint64_t *ids, uint32_t n)
{
    uint64_t elements = array(OBJECTS, ids, n);
    return instance(LIST, 24, (uint64_t[]){n, elements, n});
}

/* A customer, a few kilobytes with all that is its own. */
static uint64_t customer(const uint64_t *products, uint32_t n_products)
{
    uint64_t orders[12], lines[10];
    uint32_t n_orders = 1 + random_below(12);
    for (uint32_t o = 0; o < n_orders; o++) {
        uint32_t n_lines = 1 + random_below(10);
        for (uint32_t l = 0; l < n_lines; l++) {
            uint64_t count = integer(random_below(100));
            lines[l] = instance(LINE, 24, (uint64_t[]){products[random_below(n_products)], count});
        }
        uint64_t all = list(lines, n_lines);
        orders[o] = instance(ORDER, 32, (uint64_t[]){all, string(20 + random_below(280)), 1, 2});
    }
    uint64_t name = string(8 + random_below(24)), mail = string(200 + random_below(1000));
    return instance(CUSTOMER, 32, (uint64_t[]){name, mail, list(orders, n_orders), 7});
}

/* A map of n customers, with chains as a hash map has them. */
static uint64_t map_of(uint32_t n, const uint64_t *products, uint32_t n_products)
{
    uint64_t *table = calloc(n, sizeof *table);
    if (!table)
        abort();
    for (uint32_t i = 0; i < n; i++) {
        uint64_t key = string(10 + random_below(10)), value = customer(products, n_products);
        uint32_t slot = random_below(n);
        table[slot] = instance(NODE, 32, (uint64_t[]){slot, key, value, table[slot]});
    }
    uint64_t nodes = array(NODES, table, n);
    free(table);
    return instance(MAP, 48, (uint64_t[]){nodes, n, n, n});
}

static uint64_t linked(uint32_t n)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < n; i++)
        last = instance(LINK, 24, (uint64_t[]){last, integer(i)});
    return last;
}

static void classes(uint64_t roots)
{
    static const struct {
        const char *name, *fields;
    } all[LAST] = {
        [OBJECT] = {"java/lang/Object", ""},
        [CLASS] = {"java/lang/Class", ""},
        [STRING] = {"java/lang/String", "value:L hash:I coder:B hashIsZero:Z"},
        [BYTES] = {"[B", ""},
        [MAP] = {"java/util/HashMap", "table:L size:I modCount:I threshold:I"},
        [NODE] = {"java/util/HashMap$Node", "hash:I key:L value:L next:L"},
        [NODES] = {"[Ljava/util/HashMap$Node;", ""},
        [LIST] = {"java/util/ArrayList", "size:I elementData:L modCount:I"},
        [OBJECTS] = {"[Ljava/lang/Object;", ""},
        [INTEGER] = {"java/lang/Integer", "value:I"},
        [CUSTOMER] = {"shop/Customer", "name:L mail:L orders:L id:J"},
        [ORDER] = {"shop/Order", "lines:L number:L time:J state:I"},
        [LINE] = {"shop/Line", "product:L count:L"},
        [PRODUCT] = {"shop/Product", "name:L price:J"},
        [LINK] = {"shop/Journal$Entry", "next:L value:L"},
        [BUFFER] = {"shop/Cache", "buffer:L"},
    };
    for (int i = 1; i < LAST; i++) {
        char statics[64] = "";
        if (i == CUSTOMER)
            snprintf(statics, sizeof statics, "all:L=%" PRIu64, roots);
        hw_class_full(&w, klass(i), all[i].name, i == OBJECT ? 0 : klass(OBJECT), all[i].fields,
                      statics, 0);
    }
}

static uint64_t size_of(const char *text)
{
    char *end;
    uint64_t n = strtoull(text, &end, 10);
    return *end == 'g' ? n << 30 : *end == 'm' ? n << 20 : *end == 'k' ? n << 10 : n;
}

enum { PRODUCTS = 20000, PARTS = 100000 };

int main(int argc, char **argv)
{
    static uint64_t products[PRODUCTS], parts[PARTS];
    uint64_t size = argc == 3 ? size_of(argv[2]) : 0, roots = UINT64_C(0x6ff000000);
    uint32_t n = 0;
    FILE *f = size ? fopen(argv[1], "wb") : NULL;
    if (!f) {
        fprintf(stderr, "heap_make FILE SIZE\n");
        return 2;
    }
    hw_begin(&w, f, 8);
    classes(roots);
    for (uint32_t i = 0; i < PRODUCTS && next - UINT64_C(0x700000000) < size / 8; i++) {
        products[i] = instance(PRODUCT, 24, (uint64_t[]){string(20), i});
        n = i + 1;
    }
    for (uint32_t k = 0; written < size; k++) {
        uint64_t part = k % 8 == 7   ? linked(100000)
                        : k % 8 == 5 ? instance(BUFFER, 16, (uint64_t[]){bytes(60000)})
                                     : map_of(1000, products, n);
        parts[k % PARTS] = part;
        long at = ftell(f);
        written = at < 0 ? size : (uint64_t)at;
    }
    hw_objects(&w, roots, klass(OBJECTS), parts, PARTS);
    hw_end(&w);
    return fclose(f) == 0 ? 0 : 1;
}
