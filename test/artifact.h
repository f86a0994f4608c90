/* Shared by the tests of artifacts. */
#ifndef SESLITE_TEST_ARTIFACT_H
#define SESLITE_TEST_ARTIFACT_H

#include <sqlite3.h>

#include "seslite_artifact.h"
#include "support.h"

static const ses_key key = {"app", "user", "session"};

/* Saves a text as bytes and returns its version. */
static inline int64_t must_save(ses_store *store, const ses_key *of, const char *name, const char *text)
{
    ses_error error;
    int64_t version = -1;

    assert_ok(ses_artifact_save_by_key(store, of, name, text, strlen(text), NULL, &version, &error));
    return version;
}

/* The version (NULL: the newest) has these bytes. */
static inline void assert_artifact(ses_store *store, const ses_key *of, const char *name,
                                   const int64_t *version, const char *expected)
{
    const ses_artifact_open_options options = {.size = sizeof options, .version = version};
    ses_artifact *artifact;
    ses_error error;
    char bytes[1000];
    size_t len;

    assert_ok(ses_artifact_open_by_key(store, of, name, &options, &artifact, &error));
    assert_ok(ses_artifact_read(artifact, 0, bytes, sizeof bytes - 1, &len, &error));
    bytes[len] = '\0';
    assert_string_equal(bytes, expected);
    assert_int_equal(ses_artifact_info_of(artifact)->size, len);
    ses_artifact_close(artifact);
}

static inline void assert_no_artifact(ses_store *store, const ses_key *of, const char *name)
{
    ses_artifact *artifact = (ses_artifact *)1;
    ses_error error;

    assert_code(SES_NOTFOUND, ses_artifact_open_by_key(store, of, name, NULL, &artifact, &error));
    assert_null(artifact);
}

static inline size_t count_versions(ses_store *store, const ses_key *of, const char *name)
{
    ses_artifact_list *list;
    ses_error error;

    assert_ok(ses_artifact_versions_by_key(store, of, name, NULL, &list, &error));
    const size_t count = ses_artifact_list_count(list);
    ses_artifact_list_close(list);
    return count;
}

static inline void assert_no_row(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;

    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    if (sqlite3_step(statement) == SQLITE_ROW)
        fail_msg("%s: %s", sql, (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
}

/* All bytes belong to an artifact, and each content knows how many have it. */
static inline void assert_sound(const struct fixture *fixture)
{
    sqlite3 *db;

    if (support_on_server())
        return;
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    assert_no_row(
        db, "SELECT 'uses of ' || c.id FROM artifact_contents AS c WHERE c.uses = 0 OR c.uses <>"
            " (SELECT count(*) FROM artifacts AS f WHERE f.content_id = c.id AND f.user_id = c.user_id)");
    assert_no_row(
        db,
        "SELECT 'size of ' || c.id FROM artifact_contents AS c WHERE c.hash IS NULL OR c.size <>"
        " (SELECT coalesce(sum(length(k.bytes)), 0) FROM artifact_chunks AS k WHERE k.position >> 20 = c.id)");
    assert_no_row(db, "SELECT 'chunk ' || position FROM artifact_chunks"
                      " WHERE position >> 20 NOT IN (SELECT id FROM artifact_contents)");
    assert_no_row(db, "SELECT 'artifact ' || name FROM artifacts"
                      " WHERE content_id NOT IN (SELECT id FROM artifact_contents)");
    sqlite3_close(db);
}

#endif
