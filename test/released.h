/* Stores that released versions made, and their JSON lines: test/fixtures/VERSION.sql and VERSION.jsonl. */
#ifndef SESLITE_TEST_RELEASED_H
#define SESLITE_TEST_RELEASED_H

#include "session/lines_text.h"

/* The versions are those of the files. A release adds its own (test/fixtures/make.sh). */
static const char *const released_versions[] = {"0.2.0"};

enum { RELEASED_VERSIONS = sizeof released_versions / sizeof released_versions[0] };

static inline char *released_file(const char *version, const char *suffix)
{
    char path[64];
    assert_true(snprintf(path, sizeof path, "test/fixtures/%s.%s", version, suffix) < (int)sizeof path);
    char *text = support_read_file(path, NULL);

    assert_non_null(text);
    return text;
}

/* Makes the store in a new file. */
static inline void released_make(const char *version, const char *path)
{
    char *script = released_file(version, "sql");
    sqlite3 *handle = NULL;
    char *message = NULL;

    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    if (sqlite3_exec(handle, script, NULL, NULL, &message) != SQLITE_OK) {
        print_error("%s.sql: %s\n", version, message);
        fail();
    }
    assert_int_equal(sqlite3_close(handle), SQLITE_OK);
    free(script);
}

/* Takes the member out of the lines. Returns how many there were. */
static inline int released_leave_out(char *lines, const char *member)
{
    int count = 0;

    for (char *at = lines; (at = strstr(at, member)) != NULL; count++) {
        const char *end = at + strlen(member);
        memmove(at, end + strcspn(end, ",}\n"), strlen(end + strcspn(end, ",}\n")) + 1);
    }
    return count;
}

/* Numbers of origin are random, and so are the sums of lines with them. */
static inline int released_leave_out_random(char *lines)
{
    (void)released_leave_out(lines, ",\"crc\":");
    return released_leave_out(lines, ",\"origin\":");
}

/* The store holds what that version wrote of it as lines. A later version may write more into the lines, so
 * an import of the old ones is written again, too. */
static inline void released_assert_same(const char *version, ses_store *store)
{
    char *lines = released_file(version, "jsonl");
    ses_store *copy = empty_store();
    ses_import_report report;
    ses_error error;

    assert_ok(import_text(copy, lines, strlen(lines), 0, &report, &error));
    struct text expected = exported(copy, NULL);
    struct text found = exported(store, NULL);
    text_add(&expected, "", 1);
    text_add(&found, "", 1);
    assert_int_equal(released_leave_out_random(found.data), released_leave_out_random(expected.data));
    assert_string_equal(found.data, expected.data);
    assert_int_equal(report.made, 7);
    assert_int_equal(report.events, 20);
    free(found.data);
    free(expected.data);
    free(lines);
    ses_close(copy);
}

#endif
