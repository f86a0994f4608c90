/* SHA-256, by the processor's instructions and without them, in pieces of all lengths. */
#include "base/sha256/sha256.h"

#include "random.h"

/* https://csrc.nist.gov/projects/cryptographic-standards-and-guidelines/example-values, and the empty
 * text. */
static const struct {
    const char *text;
    const char *hash;
} known[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrst"
     "nopqrstu",
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
};

static void hash_at_once(const void *bytes, size_t len, char hex[SHA256_HEX + 1])
{
    struct sha256 hash;

    ses__sha256_init(&hash);
    ses__sha256_add(&hash, bytes, len);
    ses__sha256_end(&hash, hex);
}

PLAIN_TEST(known_hashes)
{
    char hex[SHA256_HEX + 1];

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        hash_at_once(known[i].text, strlen(known[i].text), hex);
        assert_string_equal(hex, known[i].hash);
    }
}

PLAIN_TEST(pieces)
{
    enum { MOST = 1000, ROUNDS = 2000 };
    unsigned char bytes[MOST];
    char expected[SHA256_HEX + 1];
    char hex[SHA256_HEX + 1];
    uint64_t seed = 1;

    for (int round = 0; round < ROUNDS; round++) {
        const size_t len = random_below(&seed, MOST + 1);
        struct sha256 hash;
        for (size_t i = 0; i < len; i++)
            bytes[i] = (unsigned char)random_below(&seed, 256);
        hash_at_once(bytes, len, expected);
        ses__sha256_init(&hash);
        for (size_t at = 0; at < len;) {
            const size_t piece = random_below(&seed, len - at) + 1;
            ses__sha256_add(&hash, bytes + at, piece);
            at += piece;
        }
        ses__sha256_end(&hash, hex);
        assert_string_equal(hex, expected);
    }
}

PLAIN_TEST(with_and_without_instructions)
{
    unsigned char blocks[64 * 20];
    uint32_t with[8];
    uint32_t without[8];
    uint64_t seed = 2;
    sha256_add_blocks *const x86 = ses__sha256_x86();

    if (!x86) {
        print_message("skipped: this processor has no instructions for SHA-256\n");
        skip();
    }
    for (size_t i = 0; i < sizeof blocks; i++)
        blocks[i] = (unsigned char)random_below(&seed, 256);
    for (size_t i = 0; i < 8; i++)
        with[i] = without[i] = (uint32_t)random_next(&seed);
    x86(with, blocks, 20);
    ses__sha256_portable(without, blocks, 20);
    assert_memory_equal(with, without, sizeof with);
}
