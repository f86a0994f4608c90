/*
 * The program stops at a disk operation of a secure redaction, at each of them in turn, until the file is
 * opened again by an ordinary program. Then the event is redacted everywhere or nowhere. The redaction that
 * is called again leaves nothing of what it replaced in the file or its log. SESLITE_TEST_SEED=1 gives events
 * of other lengths, and other torn writes.
 */
#include "seslite_erase.h"
#include "seslite_search.h"
#include "stopping_disk.h"
#include "unused_bytes.h"

#define SECRET "xyzzy4711"

static const ses_key key = {"app", "user", "session"};
static const int64_t seqs[] = {0, 2, 3};

/* ------------------------------------------------------------------------------------------- the store */

static void append_about(ses_store *store, const char *word, int number)
{
    static char event[20000];

    snprintf(
        event, sizeof event,
        "{\"id\":\"e%d\",\"timestamp\":%d,\"content\":{\"parts\":[{\"text\":\"a %s%0*d\"}]},\"actions\":{"
        "\"stateDelta\":{\"k%d\":\"%s\",\"user:u%d\":\"%s\"}}}",
        number, number, word, disk_length(number, 9000, number == 3 ? 9000 : 20), 0, number, word, number,
        word);
    must_append_by_key(store, &key, event);
}

/* Events 2 and 3, and the initial state, have the secret, as do unused bytes. */
static void fill(const char *path, int journal)
{
    const ses_open_options options = {.size = sizeof options, .journal = journal};
    ses_error error;

    disk_remove_files(path);
    ses_store *store = must_open(path, &options);
    must_create(store, &key, Q("{'first':'" SECRET "'}"));
    for (int i = 1; i <= 5; i++)
        append_about(store, i == 2 || i == 3 ? SECRET : "harmless", i);
    assert_ok(ses_store_index(store, NULL, NULL, &error));
    leave_copies(store, SECRET);
    ses_close(store);
    raw_exec(path, SUPPORT_DROP_VIEWS);
}

static int redact(const char *path, int journal, ses_error *error)
{
    const ses_redact_options secure = {.size = sizeof secure, .flags = SES_REDACT_STATE | SES_SECURE};
    const ses_open_options options = {.size = sizeof options, .journal = journal, .busy_timeout_ms = -1};
    ses_store *store = NULL;
    int code = ses_open(path, &options, &store, error);

    if (code == SES_OK)
        code = ses_redact_by_key(store, &key, seqs, sizeof seqs / sizeof seqs[0], &secure, NULL, error);
    ses_close(store);
    return code;
}

/* All of the redaction happened, or nothing. */
static bool is_redacted(const char *path, int journal)
{
    const ses_open_options options = {.size = sizeof options, .journal = journal};
    int secrets = 0;

    ses_store *store = must_open(path, &options);
    ses_session *session = must_get(store, &key);
    assert_int_equal(ses_session_event_count(session), 5);
    for (size_t i = 0; i < 5; i++)
        secrets += strstr(ses_session_event(session, i)->json, SECRET) != NULL;
    assert_int_equal(strstr(support_state(session, NULL), SECRET) != NULL, secrets > 0);
    assert_true(secrets == 0 || secrets == 2);
    assert_int_equal(ses_session_version(session), secrets ? 5 : 6);
    ses_session_close(session);
    ses_close(store);
    assert_sound(path);
    return secrets == 0;
}

static size_t count_secrets(const char *path)
{
    return support_count_in_files(path, SECRET);
}

/* ------------------------------------------------------------------------------------------------ tests */

static int redact_until_it_stops(const char *path, int journal, long stop_at)
{
    ses_error error;

    disk_begin(stop_at);
    const int code = redact(path, journal, &error);
    disk_end();
    assert_stopped(code, &error);
    return code;
}

static void stop_everywhere(const struct folder *folder, int journal)
{
    int before = 0;
    int after = 0;
    size_t len = 0;
    ses_error error;

    fill(folder->path, journal);
    assert_true(count_secrets(folder->path) > 0);
    char *filled = support_read_file(folder->path, &len);
    assert_int_equal(redact_until_it_stops(folder->path, journal, 0), SES_OK);
    assert_int_equal(count_secrets(folder->path), 0);
    const long operations = disk.operations;
    assert_in_range(operations, 10, 1000);
    for (long n = 1; n <= operations; n += disk_apart) {
        disk_remove_files(folder->path);
        write_file(folder->path, filled, len); /* the store is made only once */
        const int code = redact_until_it_stops(folder->path, journal, n);
        const bool redacted = is_redacted(folder->path, journal);
        if (code < 0 && code != SES_UNKNOWN)
            assert_false(redacted);
        before += !redacted;
        after += redacted;
        const int again = redact(folder->path, journal, &error);
        assert_int_equal(again, redacted ? SES_UNCHANGED : SES_OK);
        assert_int_equal(count_secrets(folder->path), 0);
        assert_true(is_redacted(folder->path, journal));
    }
    free(filled);
    support_figure("cut-states", before + after);
    assert_true(before > 0 && after > 0);
}

FOLDER_TEST(a_redaction_that_stops_anywhere)
{
    stop_everywhere(folder, SES_JOURNAL_WAL);
}

FOLDER_TEST(a_redaction_that_stops_anywhere_with_a_rollback_journal)
{
    stop_everywhere(folder, SES_JOURNAL_ROLLBACK);
}

BEFORE_TESTS()
{
    disk_make();
    support_folders_in_memory();
}
