/* The hash table, held against a plain array. */
#include "base/table.h"

#include "base/hash.h"
#include "base/memory.h"
#include "random.h"

enum { KEYS = 200 };

/* The vectors of SipHash-1-3: the key is 0, 1, ... 15, and so are the bytes. */
PLAIN_TEST(keys_are_hashed_with_siphash)
{
    static const struct {
        size_t len;
        uint64_t hash;
    } vectors[] = {
        {0, UINT64_C(0xabac0158050fc4dc)},  {1, UINT64_C(0xc9f49bf37d57ca93)},
        {7, UINT64_C(0xd3927d989bb11140)},  {8, UINT64_C(0x369095118d299a8e)},
        {9, UINT64_C(0x25a48eb36c063de4)},  {15, UINT64_C(0xd320d86d2a519956)},
        {16, UINT64_C(0xcc4fdd1a7d908b66)}, {63, UINT64_C(0x9d199062b7bbb3a8)},
    };
    unsigned char bytes[64];
    const struct hash_seed seed = {{UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        assert_int_equal(ses__hash_keyed(&seed, (struct span){(const char *)bytes, vectors[i].len}),
                         vectors[i].hash);
}

/* Hashes that share slots, so that most entries stand apart from where they belong. */
static uint64_t hash_of_key(size_t key, size_t crowd)
{
    return crowd ? UINT64_MAX - key % crowd : key * UINT64_C(0x9E3779B97F4A7C15);
}

static void check_table(const struct hash_table *table, struct table_entry *entries,
                        struct table_entry *const *held)
{
    size_t count = 0;
    size_t seen = 0;
    size_t at = 0;

    for (size_t i = 0; i < KEYS; i++) {
        assert_ptr_equal(ses__table_find(table, &entries[i]), held[i]);
        count += held[i] != NULL;
    }
    assert_int_equal(table->count, count);
    for (struct table_entry *entry; (entry = ses__table_next(table, &at)) != NULL; seen++)
        assert_ptr_equal(ses__table_find(table, entry), entry);
    assert_int_equal(seen, count);
}

/* Each key has two entries, of which the one replaces the other. */
static void put_and_remove(const ses_allocator *allocator, size_t crowd, uint64_t *seed)
{
    struct hash_table table = {.count = 0};
    struct table_entry entries[2 * KEYS];
    struct table_entry *held[KEYS] = {NULL};
    char keys[2 * KEYS][8];

    for (size_t i = 0; i < 2 * KEYS; i++) {
        int len = snprintf(keys[i], sizeof keys[i], "%zu", i % KEYS);
        entries[i] = (struct table_entry){hash_of_key(i % KEYS, crowd), {keys[i], (size_t)len}};
    }
    for (int round = 0; round < 2000; round++) {
        size_t i = random_below(seed, 2 * KEYS);
        if (random_below(seed, 3) > 0) {
            assert_true(ses__table_reserve(&table, allocator, 1));
            assert_ptr_equal(ses__table_put(&table, &entries[i]), held[i % KEYS]);
            held[i % KEYS] = &entries[i];
        } else {
            assert_ptr_equal(ses__table_remove(&table, &entries[i]), held[i % KEYS]);
            held[i % KEYS] = NULL;
        }
        if (round % 50 == 0)
            check_table(&table, entries, held);
    }
    ses__table_free(&table, allocator);
    assert_null(ses__table_find(&table, &entries[0]));
    assert_null(ses__table_remove(&table, &entries[0]));
}

PLAIN_TEST(a_table_holds_what_was_put_and_not_removed)
{
    static const size_t crowds[] = {0, 1, 3, 40};
    ses_allocator allocator;
    uint64_t seed = 1;

    ses__memory_default(&allocator);
    for (size_t i = 0; i < sizeof crowds / sizeof crowds[0]; i++)
        put_and_remove(&allocator, crowds[i], &seed);
}
