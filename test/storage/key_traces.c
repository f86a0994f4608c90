/*
 * With a key no piece of 8 bytes of what is stored reaches a file: the store, its log, journals, temporary
 * files, and backups. The functions by which SQLite writes are replaced (-Wl,--wrap), so files are seen that
 * are gone at once, too.
 */
#include "key.h"

#include <stdatomic.h>

#include "seslite_artifact.h"
#include "seslite_search.h"

enum { PIECE = 8, SESSIONS = 6, EVENTS = 60, TEXT_BYTES = 600, TEXTS = SESSIONS * EVENTS + 1 };

/* Texts without order, so that no piece is in the schema, or comes by chance. */
static char texts[TEXTS][TEXT_BYTES + 1];
static unsigned char filter[1 << 23]; /* a bit for some pieces; few of the bits are set */
static bool is_watching;
static long writes;
static long found;

static unsigned hash_of(const void *bytes)
{
    uint64_t piece;
    memcpy(&piece, bytes, sizeof piece);
    return (unsigned)(piece * UINT64_C(0x9E3779B97F4A7C15) >> 38);
}

static void make_texts(void)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .";
    uint64_t state = 88172645463325252u;

    for (int i = 0; i < TEXTS; i++) {
        for (int k = 0; k < TEXT_BYTES; k++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            texts[i][k] = letters[state >> 32 & 63];
        }
        for (int k = 0; k + PIECE <= TEXT_BYTES; k++) {
            const unsigned bit = hash_of(texts[i] + k);
            filter[bit / 8] |= (unsigned char)(1 << bit % 8);
        }
    }
}

static bool is_piece(const unsigned char *bytes)
{
    const unsigned bit = hash_of(bytes);

    if (!(filter[bit / 8] >> bit % 8 & 1))
        return false;
    for (int i = 0; i < TEXTS; i++)
        if (memmem(texts[i], TEXT_BYTES, bytes, PIECE))
            return true;
    return false;
}

static void look_at(const void *written, size_t len)
{
    const unsigned char *bytes = written;

    writes++;
    for (size_t i = 0; is_watching && i + PIECE <= len; i++)
        found += is_piece(bytes + i);
}

ssize_t __wrap_write(int descriptor, const void *bytes, size_t len);
ssize_t __real_write(int descriptor, const void *bytes, size_t len);
ssize_t __wrap_pwrite(int descriptor, const void *bytes, size_t len, off_t at);
ssize_t __real_pwrite(int descriptor, const void *bytes, size_t len, off_t at);
ssize_t __wrap_pwrite64(int descriptor, const void *bytes, size_t len, off_t at);
ssize_t __real_pwrite64(int descriptor, const void *bytes, size_t len, off_t at);

ssize_t __wrap_write(int descriptor, const void *bytes, size_t len)
{
    look_at(bytes, len);
    return __real_write(descriptor, bytes, len);
}

ssize_t __wrap_pwrite(int descriptor, const void *bytes, size_t len, off_t at)
{
    look_at(bytes, len);
    return __real_pwrite(descriptor, bytes, len, at);
}

ssize_t __wrap_pwrite64(int descriptor, const void *bytes, size_t len, off_t at)
{
    look_at(bytes, len);
    return __real_pwrite64(descriptor, bytes, len, at);
}

/* ------------------------------------------------------------------------------------------ what is done */

static void append_all(ses_store *store)
{
    char id[20];
    char event[TEXT_BYTES + 200];

    for (int i = 0; i < SESSIONS; i++) {
        snprintf(id, sizeof id, "session-%d", i);
        const ses_key key = {"app", "user", id};
        must_create(store, &key, "{}");
        for (int k = 0; k < EVENTS; k++) {
            snprintf(event, sizeof event,
                     "{\"invocationId\":\"i%d\",\"content\":{\"parts\":[{\"text\":\"%.300s\"}]},"
                     "\"actions\":{\"stateDelta\":{\"k%d\":\"%s\"}}}",
                     k, texts[i * EVENTS + k], k % 20, texts[i * EVENTS + k] + 300);
            must_append_by_key(store, &key, event);
        }
    }
}

/* A large transaction, with what a statement may have to undo. */
static void rewrite_all(ses_store *store)
{
    const ses_key key = {"app", "user", "session-0"};
    const ses_key copy = {"app", "user", "copy"};
    const ses_point half = {.size = sizeof half, .kind = SES_POINT_SEQ, .seq = EVENTS / 2};
    const ses_delete_options secure = {.size = sizeof secure, .flags = SES_SECURE};
    ses_error error;

    assert_ok(ses_fork_by_key(store, &key, &half, &copy, NULL, NULL, &error));
    assert_ok(ses_rewind_by_key(store, &key, &half, NULL, NULL, &error));
    assert_ok(ses_cut_by_key(store, &copy, &(ses_point){.size = sizeof half, .kind = SES_POINT_SEQ, .seq = 5},
                             NULL, NULL, &error));
    assert_ok(ses_delete(store, &copy, &secure, NULL, &error));
    must_delete(store, &(ses_key){"app", "user", "session-1"});
}

static void use_parts(ses_store *store)
{
    const ses_key key = {"app", "user", "session-2"};
    ses_hits *hits = NULL;
    int64_t problems = -1;
    ses_error error;

    assert_ok(ses_artifact_save_by_key(store, &key, "letter.txt", texts[TEXTS - 1], TEXT_BYTES, NULL, NULL,
                                       &error));
    const int searched = ses_store_search(store, &key, "nothing", SES_NUL, NULL, &hits, &error);
    assert_true(searched >= 0 || searched == SES_UNSUPPORTED);
    ses_hits_close(hits);
    assert_true(ses_store_maintain(store, NULL, &error) >= 0);
    assert_ok(ses_store_check(store, NULL, &problems, &error));
    assert_int_equal(problems, 0);
}

static void back_up_all(ses_store *store, const char *copy)
{
    static const unsigned flags[] = {0, SES_BACKUP_COMPACT};
    ses_error error;

    for (int i = 0; i < 4; i++) {
        const ses_backup_options options = {.size = sizeof options,
                                            .flags = flags[i % 2] | SES_BACKUP_REPLACE,
                                            .key = i < 2 ? first_key : second_key,
                                            .key_len = SES_KEY_BYTES};
        assert_ok(ses_store_backup(store, copy, &options, &error));
    }
}

static void run_all(const struct folder *folder, int journal, const void *key)
{
    ses_open_options options = key_options(key);
    char *copy = support_path(folder->folder, "copy.db");
    ses_store *memory = NULL;
    ses_error error;

    options.journal = journal;
    options.synchronous = SES_SYNC_NORMAL;
    ses_store *store = must_open(folder->path, &options);
    append_all(store);
    rewrite_all(store);
    use_parts(store);
    if (key) {
        back_up_all(store, copy);
        assert_ok(ses_open_copy(store, NULL, &memory, &error));
        ses_close(memory);
    }
    ses_close(store);
    (void)unlink(copy);
    free(copy);
}

FOLDER_TEST(no_piece_reaches_a_file)
{
    static const int journals[] = {SES_JOURNAL_WAL, SES_JOURNAL_ROLLBACK};

    key_need();
    for (size_t i = 0; i < sizeof journals / sizeof journals[0]; i++) {
        writes = found = 0;
        run_all(folder, journals[i], first_key);
        assert_true(writes > 1000);
        assert_int_equal(found, 0);
        assert_int_equal(unlink(folder->path), 0);
    }
}

/* Otherwise nothing would be shown by not finding a piece. */
FOLDER_TEST(without_a_key_pieces_are_found)
{
    key_need();
#ifdef ON_ENCRYPTED_STORES
    print_message("skipped: stores without a key, where each has one\n");
    skip();
#endif
    found = 0;
    run_all(folder, SES_JOURNAL_WAL, NULL);
    assert_true(found > 100000);
}

static int group_setup(void **state)
{
    (void)state;
    make_texts();
    is_watching = true;
    return 0;
}

TEST_GROUP(group_setup, NULL)
