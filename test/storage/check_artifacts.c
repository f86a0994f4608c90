/* The findings of a check in artifacts and their bytes, on a file that is changed behind the library's
 * back. */
#include <unistd.h>

#include "../check.h"
#include "seslite_artifact.h"

enum { LONG_SIZE = 2 * 65536 + 100 };

static const ses_key key = {"app", "user", "session"};
static const ses_key user = {"app", "user", NULL};
static const ses_key early = {"app", "user", "not yet"};

static void must_save(ses_store *store, const ses_key *of, const char *name, const char *text)
{
    ses_error error;
    assert_ok(ses_artifact_save_by_key(store, of, name, text, strlen(text), NULL, NULL, &error));
}

/* The contents 1 "one" (twice), 2 "two", 3 "" and 4, of three chunks. */
static void fill(ses_store *store)
{
    const ses_artifact_save_options anyway = {.size = sizeof anyway, .flags = SES_ARTIFACT_WITHOUT_SESSION};
    static char bytes[LONG_SIZE];
    ses_error error;

    must_create(store, &key, NULL);
    must_save(store, &key, "a", "one");
    must_save(store, &key, "a", "two");
    must_save(store, &user, "logo", "one");
    must_save(store, &key, "empty", "");
    memset(bytes, 'x', sizeof bytes);
    assert_ok(ses_artifact_save_by_key(store, &early, "long", bytes, sizeof bytes, &anyway, NULL, &error));
}

static void damage(const char *path, const char *sql)
{
    sqlite3 *db = raw_open(path);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    raw_run(db, "PRAGMA ignore_check_constraints = ON");
    raw_run(db, sql);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

#define A_FAULT(fault) "artifact app/user/session 0: artifact \"a\", version 0: " fault "\n"
#define CONTENT(number, fault) "artifact app/user/- 0: content number " number fault "\n"
#define FIRST " WHERE name = 'a' AND version = 0"
#define BYTES_OF(number, chunk) " WHERE position = (" number " << 20) + " chunk
#define NOT_ITS_CHUNK(chunk) ": chunk " chunk " is missing, has the wrong size, or is one too many"

static const struct {
    const char *sql;
    const char *problems; /* "": there are none */
} damages[] = {
    {"SELECT 1", ""},

    {"UPDATE artifacts SET version = -1" FIRST,
     "artifact app/user/session 0: artifact \"a\", version -1: its version cannot be\n"},
    {"UPDATE artifacts SET version = 4294967296" FIRST,
     "artifact app/user/session 0: artifact \"a\", version 4294967296: its version cannot be\n"},
    {"UPDATE artifacts SET created_us = 9e17" FIRST, A_FAULT("its time cannot be")},
    {"UPDATE artifacts SET kind = -1" FIRST, A_FAULT("its kind cannot be")},
    {"UPDATE artifacts SET mime_type = printf('%.600c', 'x')" FIRST,
     A_FAULT("its MIME type is too long, or not UTF-8")},
    {"UPDATE artifacts SET display_name = CAST(x'ff' AS TEXT)" FIRST,
     A_FAULT("its display name is too long, or not UTF-8")},
    {"UPDATE artifacts SET metadata = '[]'" FIRST, A_FAULT("its metadata is not a JSON object")},
    {"UPDATE artifacts SET metadata = '{'" FIRST, A_FAULT("its metadata is not a JSON object")},
    {"UPDATE artifacts SET metadata = '{}'" FIRST, ""},
    {"UPDATE artifacts SET session = ''" FIRST,
     "artifact app/user/- 0: artifact \"a\", version 0: its name contradicts whose it is\n"},
    {"UPDATE artifacts SET name = 'user:a'" FIRST,
     "artifact app/user/session 0: artifact \"user:a\", version 0: its name contradicts whose it is\n"},
    {"UPDATE artifacts SET name = ''" FIRST,
     "artifact app/user/session 0: artifact \"\", version 0: its name is not an id\n"},
    {"UPDATE artifacts SET session = CAST(x'ff' AS TEXT)" FIRST,
     "artifact app/user/- 0: artifact \"a\", version 0: the name of its session is not an id\n"},
    {"UPDATE artifacts SET name = printf('%.2000c', 'x')" FIRST,
     "artifact app/user/session 0: the artifacts of user number 1 are out of order, or a name is too long\n"},

    {"UPDATE artifacts SET content_id = 99 WHERE name = 'empty'",
     "artifact app/user/session 0: artifact \"empty\", version 0: it has no contents\n" CONTENT(
         "3", " is used by 0 artifacts, and says that it is by 1")},
    {"DELETE FROM artifact_contents WHERE id = 3",
     "artifact app/user/session 0: artifact \"empty\", version 0: it has no contents\n"},
    {"UPDATE artifact_contents SET uses = uses + 1 WHERE id = 1",
     CONTENT("1", " is used by 2 artifacts, and says that it is by 3")},
    {"UPDATE artifact_contents SET uses = CASE id WHEN 1 THEN 1 ELSE 2 END WHERE id < 3",
     CONTENT("2", " is used by 1 artifacts, and says that it is by 2")
         CONTENT("1", " is used by 2 artifacts, and says that it is by 1")},
    {"UPDATE artifact_contents SET hash = '' WHERE id = 3",
     "artifact app/user/session 0: artifact \"empty\", version 0: it has no contents\n"},
    {"DELETE FROM artifacts WHERE name = 'a' AND version = 1",
     CONTENT("2", " is used by 0 artifacts, and says that it is by 1")},
    {"DELETE FROM artifacts WHERE name = 'a' AND version = 1; UPDATE artifact_contents SET uses = 0 WHERE id = 2",
     CONTENT("2", " is used by no artifact")},
    {"UPDATE artifact_contents SET written_us = -9e17 WHERE id = 1",
     CONTENT("1", " has a time that cannot be")},
    {"UPDATE artifact_contents SET hash = 'X' || substr(hash, 2) WHERE id = 1",
     CONTENT("1", " has a hash that cannot be one")},
    {"UPDATE artifact_contents SET hash = replace(hash, '7', '8') WHERE id = 1",
     CONTENT("1", " has bytes that do not have its hash")},
    {"UPDATE artifact_contents SET size = 4 WHERE id = 1", CONTENT("1", NOT_ITS_CHUNK("0"))},
    {"UPDATE artifact_contents SET size = 0 WHERE id = 1", CONTENT("1", NOT_ITS_CHUNK("0"))},
    {"UPDATE artifact_contents SET size = -1 WHERE id = 1",
     CONTENT("1", " has a number or a size that cannot be")},
    {"UPDATE artifact_contents SET size = 1 << 40 WHERE id = 1",
     CONTENT("1", " has a number or a size that cannot be")},
    {"UPDATE artifact_contents SET hash = NULL WHERE id = 3",
     "artifact app/user/session 0: artifact \"empty\", version 0: it has no contents\n" CONTENT(
         "3", " is used before all of it is written")},

    {"UPDATE artifact_chunks SET bytes = x'6f6e66'" BYTES_OF("1", "0"),
     CONTENT("1", " has bytes that do not have its hash")},
    {"UPDATE artifact_chunks SET bytes = zeroblob(65536)" BYTES_OF("4", "1"),
     CONTENT("4", " has bytes that do not have its hash")},
    {"UPDATE artifact_chunks SET bytes = zeroblob(65535)" BYTES_OF("4", "1"),
     CONTENT("4", NOT_ITS_CHUNK("1"))},
    {"DELETE FROM artifact_chunks" BYTES_OF("4", "0"), CONTENT("4", NOT_ITS_CHUNK("0"))},
    {"DELETE FROM artifact_chunks" BYTES_OF("4", "1"), CONTENT("4", NOT_ITS_CHUNK("1"))},
    {"DELETE FROM artifact_chunks" BYTES_OF("4", "2"), CONTENT("4", " has fewer chunks than its size says")},
    {"INSERT INTO artifact_chunks VALUES ((4 << 20) + 3, x'00')", CONTENT("4", NOT_ITS_CHUNK("3"))},
    {"INSERT INTO artifact_chunks VALUES ((5 << 20) - 1, x'00')", CONTENT("4", NOT_ITS_CHUNK("3"))},
    {"INSERT INTO artifact_chunks VALUES (9 << 20, x'00'), ((9 << 20) + 1, x'00')",
     "reference -/-/- 0: 2 rows of artifact_chunks belong to row 9 of artifact_contents, which does not exist\n"},
    {"UPDATE sqlite_sequence SET seq = 1 WHERE name = 'artifact_contents'",
     "counter -/-/- 0: sqlite_sequence does not hold the highest number of artifact_contents that was ever given\n"},

    /* One that is being written, and one that was. */
    {"INSERT INTO artifact_contents VALUES (9, 1, NULL, 2, 0, strftime('%s', 'now') * 1000000);"
     "INSERT INTO artifact_chunks VALUES (9 << 20, x'0001')",
     ""},
    {"INSERT INTO artifact_contents VALUES (9, 1, NULL, 3, 0, strftime('%s', 'now') * 1000000);"
     "INSERT INTO artifact_chunks VALUES (9 << 20, x'0001')",
     CONTENT("9", NOT_ITS_CHUNK("0"))},
    {"INSERT INTO artifact_contents VALUES (9, 1, NULL, 2, 0, (strftime('%s', 'now') - 86400) * 1000000);"
     "INSERT INTO artifact_chunks VALUES (9 << 20, x'0001')",
     CONTENT("9", " was left by a save that did not end: the next save of the user removes it")},
};

FOLDER_TEST(damage_to_artifacts_is_found)
{
    ses_store *store = NULL;

    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        (void)unlink(folder->path);
        assert_ok(ses_open(folder->path, NULL, &store, &error));
        fill(store);
        damage(folder->path, damages[i].sql);
        char *problems = problems_of(store, SES_CHECK_LOG);
        if (strcmp(problems, damages[i].problems) != 0)
            fail_msg("%s: %s", damages[i].sql, problems);
        free(problems);
        ses_close(store);
    }
}

FOLDER_TEST(many_artifacts_are_all_looked_at)
{
    char name[20];

    ses_store *store = must_open(folder->path, NULL);
    must_create(store, &key, NULL);
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "%d", i / 3);
        must_save(store, &key, name, name);
    }
    assert_no_problems(store);
    damage(folder->path, "UPDATE artifacts SET kind = -7");
    char *problems = problems_of(store, SES_CHECK_LOG);
    int lines = 0;
    for (const char *at = problems; (at = strstr(at, "its kind cannot be")); at++)
        lines++;
    assert_int_equal(lines, 100);
    free(problems);
    ses_close(store);
}

FOLDER_TEST(a_check_of_long_bytes_can_be_ended)
{
    ses_cancel *cancel = NULL;
    int64_t problems = 7;

    ses_store *store = must_open(folder->path, NULL);
    fill(store);
    assert_ok(ses_cancel_open(store, &cancel, &error));
    ses_cancel_pull(cancel);
    const ses_check_options options = {.size = sizeof options, .level = SES_CHECK_LOG, .cancel = cancel};
    assert_code(SES_INTERRUPTED, ses_store_check(store, &options, &problems, &error));
    assert_int_equal(problems, 7);
    ses_cancel_close(cancel);
    ses_close(store);
}
