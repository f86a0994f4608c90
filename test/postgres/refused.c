/* Refusals of a server: another encoding, a user without rights, and a full disk. */
#include <sys/stat.h>
#include <unistd.h>

#include "database.h"
#include "seslite_postgres.h"

static const ses_key one = {.app = "app", .user = "user", .session = "s"};

static int open_place(const char *place, unsigned flags, ses_store **store, ses_error *error)
{
    const ses_open_options options = {.size = sizeof options, .flags = flags};
    return ses_open_postgres(place, &options, NULL, store, error);
}

static ses_store *open_fresh(const struct database *database, const char *name, char place[600])
{
    ses_store *store = NULL;
    ses_error error;

    assert_ok(open_place(database_fresh(database, name, "", place), 0, &store, &error));
    return store;
}

/* ----------------------------------------------------------------------------------- what is refused */

#define REFUSED_TEST(name) GROUP_TEST(struct database *database, name)

REFUSED_TEST(text_without_an_encoding_is_refused)
{
    ses_store *store = NULL;
    char place[600];

    database_fresh(database, "bytes", "ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'", place);
    assert_code(SES_CANTOPEN, open_place(place, 0, &store, &error));
    assert_message("UTF8");
    database_run_in(place, "SET client_encoding = 'SQL_ASCII'; CREATE TABLE theirs (n int)");
}

REFUSED_TEST(a_role_that_may_only_read_reads)
{
    char place[600];
    char as_reader[700];
    ses_store *store = open_fresh(database, "readable", place);

    must_create(store, &one, "{\"a\":1}");
    ses_close(store);
    database_run_in(place, "CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA seslite TO reader; "
                           "GRANT SELECT ON ALL TABLES IN SCHEMA seslite TO reader");
    snprintf(as_reader, sizeof as_reader, "%s user=reader", place);
    for (int i = 0; i < 2; i++) {
        assert_ok(open_place(as_reader, i == 0 ? 0 : SES_OPEN_READ_ONLY, &store, &error));
        ses_session *session = must_get(store, &one);
        assert_string_equal(support_state(session, NULL), "{\"a\":1}");
        assert_code(SES_READONLY, ses_append(session, "{}", SES_NUL, NULL, NULL, &error));
        must_refresh(session);
        assert_int_equal(ses_session_stored(session), 0);
        assert_code(SES_READONLY, ses_delete(store, &one, NULL, NULL, &error));
        ses_session_close(session);
        ses_close(store);
    }
}

REFUSED_TEST(a_role_without_rights_is_refused)
{
    char place[600];
    char as_nobody[700];
    ses_store *store = open_fresh(database, "closed", place);

    ses_close(store);
    database_run_in(place, "CREATE ROLE nobody LOGIN");
    snprintf(as_nobody, sizeof as_nobody, "%s user=nobody", place);
    assert_code(SES_CANTOPEN, open_place(as_nobody, 0, &store, &error));
    assert_message("permission denied");
    assert_code(SES_CANTOPEN, open_place(as_nobody, SES_OPEN_READ_ONLY, &store, &error));

    snprintf(as_nobody, sizeof as_nobody, "%s user=nobody", database_fresh(database, "empty", "", place));
    assert_code(SES_READONLY, open_place(as_nobody, 0, &store, &error));
    assert_message("permission denied");
    assert_message("0002_initial.sql");
    assert_code(SES_NOTFOUND, open_place(as_nobody, SES_OPEN_MUST_EXIST, &store, &error));
    snprintf(as_nobody, sizeof as_nobody, "%s user=stranger", place);
    assert_code(SES_CANTOPEN, open_place(as_nobody, 0, &store, &error));
    snprintf(as_nobody, sizeof as_nobody, "%s dbname=missing", place);
    assert_code(SES_CANTOPEN, open_place(as_nobody, 0, &store, &error));
}

/* ------------------------------------------------------------------------------------------ a full disk */

enum { PIECE = 200 * 1000 };

/* Nothing that compresses. */
static char *large_event(int number)
{
    char *event = malloc(PIECE + 100);
    const int begun = sprintf(event, "{\"id\":\"%d\",\"author\":\"", number);

    for (int i = 0; i < PIECE; i++)
        event[begun + i] = (char)('a' + rand() % 26);
    strcpy(event + begun + PIECE, "\"}");
    return event;
}

/* It belongs to the server's user. */
static bool mount_small(const char *folder)
{
    char line[300];

    return geteuid() == 0 &&
           database_shell(
               line, sizeof line,
               "sh -c 'mount -t tmpfs -o size=20m none \"$0\" && chown --reference=\"$0/../data\" \"$0\"'",
               folder) == 0;
}

static void fill(ses_store *store)
{
    int code = SES_OK;
    int stored = 0;
    ses_error error;

    while (code == SES_OK && stored < 300) {
        char *event = large_event(stored);
        code = ses_append_by_key(store, &one, event, SES_NUL, NULL, NULL, &error);
        stored += code == SES_OK;
        free(event);
    }
    support_assert_code(SES_FULL, code, &error, "append", __FILE__, __LINE__);
    ses_session *session = must_get(store, &one);
    assert_int_equal(ses_session_stored(session), stored);
    ses_session_close(session);
}

REFUSED_TEST(a_full_disk_takes_nothing_more)
{
    char *folder = support_path(database->folder, "small");
    const ses_check_options log = {.size = sizeof log, .level = SES_CHECK_LOG};
    ses_store *store = NULL;
    int64_t problems = -1;
    char text[600];
    char line[300];

    assert_int_equal(mkdir(folder, 0777), 0);
    if (!mount_small(folder)) {
        printf("skipped: a full disk, for want of the right to mount one\n");
        free(folder);
        skip();
    }
    snprintf(text, sizeof text, "CREATE TABLESPACE small LOCATION '%s'", folder);
    database_run(database, text);
    assert_ok(open_place(database_fresh(database, "small", "TABLESPACE small", text), 0, &store, &error));
    must_create(store, &one, NULL);
    fill(store);
    assert_int_equal(database_shell(line, sizeof line, "mount -o remount,size=60m", folder), 0);
    must_append_by_key(store, &one, "{}");
    must_delete(store, &one);
    assert_ok(ses_store_check(store, &log, &problems, &error));
    assert_int_equal(problems, 0);
    ses_close(store);
    database_run(database, "DROP DATABASE small");
    database_run(database, "DROP TABLESPACE small");
    free(folder);
}

static int teardown(void **state)
{
    char *folder = support_path(((const struct database *)*state)->folder, "small");
    char line[300];

    (void)database_shell(line, sizeof line, "umount -l", folder);
    free(folder);
    return database_teardown(state);
}

TEST_GROUP(database_setup, teardown)
