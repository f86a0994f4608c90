/*
 * Damaged files of stores with artifacts: every call ends, with a code that its comment names. Bytes that are
 * read match their hash, and where a check finds nothing, all of them can be read.
 *
 * Each file has a number, which alone decides how it is made. From the environment:
 *     SESLITE_DAMAGE_FILES   how many
 *     SESLITE_DAMAGE_FIRST   the number of the first (0)
 */
#include "base/sha256/sha256.h"
#include "seslite_artifact.h"
#include "seslite_erase.h"
#include "session/lines_text.h"
#include "storage/damage.h"
#include "storage/damage_bytes.h"
#include "storage/damage_rows.h"

enum { LARGEST = 200000 };

static const ses_key one = {"app", "user", "one"};
static const ses_key two = {"app", "user", "two"};
static const ses_key user = {"app", "user", NULL};
static const ses_key stranger = {"app", "stranger", "one"};

struct artifacts_test {
    char *folder;
    char *path;
    struct store_files sound;
    ses_store *store;
    int64_t problems; /* that the check found */
    long number;
    long findings;
    long read;
    long carried; /* files whose lines came in elsewhere */
    long corrupt;
};

/* ------------------------------------------------------------------------------------------- the store */

static char bytes_of[LARGEST];

static void save(ses_store *store, const ses_key *of, const char *name, size_t len,
                 const ses_artifact_save_options *options)
{
    ses_error error;

    for (size_t i = 0; i < len; i++)
        bytes_of[i] = (char)(i * 7 + (i >> 9) + len);
    assert_ok(ses_artifact_save_by_key(store, of, name, bytes_of, len, options, NULL, &error));
}

static void append_with(ses_store *store, const char *id, const char *name)
{
    ses_append_options options = {.size = sizeof options};
    char event[200];
    ses_error error;

    snprintf(event, sizeof event, "{\"id\":\"%s\",\"invocationId\":\"i-%s\",\"author\":\"user\"}", id, id);
    assert_ok(ses_artifacts_open(store, &one, &options.artifacts, &error));
    assert_ok(ses_artifacts_add(options.artifacts, name, id, SES_NUL, NULL, &error));
    assert_ok(ses_append_by_key(store, &one, event, SES_NUL, &options, NULL, &error));
    ses_artifacts_close(options.artifacts);
}

static void fill(ses_store *store)
{
    static const char address[] = "artifact://apps/app/users/user/sessions/one/artifacts/text/versions/0";
    const ses_artifact_save_options reference = {.size = sizeof reference, .kind = SES_ARTIFACT_URI};
    const ses_artifact_save_options described = {.size = sizeof described,
                                                 .mime_type = "image/png",
                                                 .display_name = "A chart",
                                                 .metadata = "{\"dpi\":300}",
                                                 .metadata_len = SES_NUL};
    ses_error error;

    must_create(store, &one, NULL);
    must_create(store, &two, NULL);
    must_create(store, &stranger, NULL);
    for (size_t i = 0; i < 12; i++)
        save(store, i % 2 ? &one : &two, "text", i % 5 * 300 + 7, NULL);
    save(store, &one, "chart", 70000, &described);
    save(store, &two, "chart", LARGEST, NULL);
    save(store, &user, "logo", 70000, NULL);
    save(store, &stranger, "text", 307, NULL);
    save(store, &one, "empty", 0, NULL);
    assert_ok(ses_artifact_save_by_key(store, &one, "reference", address, SES_NUL, &reference, NULL, &error));
    for (int i = 0; i < 6; i++)
        append_with(store, (char[]){'e', (char)('0' + i), 0}, i % 2 ? "odd" : "even");
}

static int damaged_setup(void **state)
{
    const ses_open_options options = {.size = sizeof options, .journal = SES_JOURNAL_ROLLBACK};
    struct artifacts_test *test = calloc(1, sizeof *test);
    ses_error error;

    assert_non_null(test);
    if (!getenv("TMPDIR") && access("/dev/shm", W_OK) == 0)
        assert_int_equal(setenv("TMPDIR", "/dev/shm", 1), 0); /* many files are written there */
    test->folder = support_folder_make();
    test->path = support_path(test->folder, "store.db");
    assert_ok(ses_open(test->path, &options, &test->store, &error));
    fill(test->store);
    ses_close(test->store);
    /* and one that is being written */
    sqlite3 *db = open_unguarded(test->path);
    raw_run(db, "INSERT INTO artifact_contents VALUES (90, 1, NULL, 65536, 0, 1700000000000000);"
                "INSERT INTO artifact_chunks VALUES (90 << 20, zeroblob(65536))");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    store_files_read(&test->sound, test->path);
    *state = test;
    return 0;
}

static int damaged_teardown(void **state)
{
    struct artifacts_test *test = *state;

    store_files_free(&test->sound);
    support_folder_remove(test->folder);
    free(test->path);
    free(test);
    return 0;
}

/* ------------------------------------------------------------------------------------------- the damage */

static const char *const columns[][2] = {
    {"artifacts", "user_id"},         {"artifacts", "session"},        {"artifacts", "name"},
    {"artifacts", "version"},         {"artifacts", "created_us"},     {"artifacts", "kind"},
    {"artifacts", "mime_type"},       {"artifacts", "display_name"},   {"artifacts", "metadata"},
    {"artifacts", "content_id"},      {"artifacts", "content_id"},     {"artifact_contents", "id"},
    {"artifact_contents", "user_id"}, {"artifact_contents", "hash"},   {"artifact_contents", "size"},
    {"artifact_contents", "size"},    {"artifact_contents", "uses"},   {"artifact_contents", "written_us"},
    {"artifact_chunks", "position"},  {"artifact_chunks", "position"}, {"artifact_chunks", "bytes"},
    {"artifact_chunks", "bytes"},     {"sqlite_sequence", "seq"},      {"users", "id"},
};

static const char *const values[] = {
    "-1",
    "1 << 43",
    "(1 << 43) + 1",
    "1 << 44",
    "(1 << 44) + 1",
    "1 << 20",
    "(1 << 20) - 1",
    "1 << 36",
    "(1 << 36) + 1",
    "3",
    "4",
    "%1$s + 1",
    "%1$s - 1",
    "%1$s + 1048576",
    "'user:text'",
    "'text'",
    "'one'",
    "'application/octet-stream'",
    "substr(%1$s, 2)",
    "%1$s || x'00'",
    "zeroblob(65536)",
    "upper(%1$s)",
    "CAST('artifact://apps/app/users/user/sessions/one/artifacts/reference/versions/0' AS BLOB)",
};

static void damage_a_column(sqlite3 *db, struct chance *chance)
{
    static const char *const which[] = {"", " WHERE abs(random()) % 2", " LIMIT 1"};
    const char *const *column = columns[chance_below(chance, sizeof columns / sizeof columns[0])];
    const size_t own = sizeof values / sizeof values[0];
    const size_t all = own + sizeof damaged_values / sizeof damaged_values[0];
    const size_t value = chance_below(chance, all);
    const bool has_key = strcmp(column[0], "artifacts") == 0;
    const char *place = has_key ? "name || session || version" : "rowid";
    char expression[300];
    char sql[1024];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(expression, sizeof expression, value < own ? values[value] : damaged_values[value - own],
             column[1]);
#pragma GCC diagnostic pop
    snprintf(sql, sizeof sql,
             "UPDATE OR IGNORE %s SET %s = %s WHERE %s IN (SELECT %s FROM %s ORDER BY (%s) %% %d%s)",
             column[0], column[1], expression, place, place, column[0], has_key ? "content_id" : "rowid",
             (int)chance_below(chance, 5) + 2, which[chance_below(chance, 2) * 2]);
    try_sql(db, sql);
}

static void damage_artifact_rows(const char *path, struct chance *chance)
{
    sqlite3 *db = open_unguarded(path);
    const bool aside = chance_below(chance, 3) == 0;

    if (aside)
        put_schema_aside(db, without_types);
    for (size_t i = 1 + chance_below(chance, 2); i > 0; i--)
        damage_a_column(db, chance);
    if (aside)
        put_schema_back(db);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void make_file(struct artifacts_test *test)
{
    static void (*const ways[])(struct bytes *, struct chance *) = {damage_some_bytes,
                                                                    damage_some_bytes,
                                                                    damage_pages,
                                                                    damage_tree,
                                                                    damage_tree,
                                                                    NULL,
                                                                    NULL,
                                                                    NULL,
                                                                    NULL,
                                                                    NULL};
    struct chance chance = {UINT64_C(0x5e551174) * (uint64_t)(test->number + 1)};
    struct store_files files = {.name = NULL};
    void (*const way)(struct bytes *, struct chance *) =
        ways[(size_t)test->number % (sizeof ways / sizeof ways[0])];

    store_files_copy(&files, &test->sound);
    if (way)
        way(&files.parts[STORE_FILE], &chance);
    store_files_write(&files, test->path);
    store_files_free(&files);
    if (!way)
        damage_artifact_rows(test->path, &chance);
}

/* -------------------------------------------------------------------------------------------- the calls */

static void find(struct artifacts_test *test, const char *call, const char *what, const char *message)
{
    test->findings++;
    print_error("file %ld: %s: %s: %s\n", test->number, call, what, message);
}

/* Damage may be met in any call; the other codes are those that end with a 0. */
static int took(struct artifacts_test *test, const char *call, int code, const ses_error *error,
                const int *allowed)
{
    bool good = code >= 0 || code == SES_CORRUPT;

    for (; *allowed != 0; allowed++)
        good = good || code == *allowed;
    if (!good || (code < 0 && (error->code != code || error->message[0] == '\0')))
        find(test, call, ses_code_name(code), error->message);
    test->corrupt += code == SES_CORRUPT;
    return code;
}

#define CODES(...) ((const int[]){__VA_ARGS__, 0})
#define CALL(test, name, allowed, call) took(test, name, call, &error, allowed)

/* All bytes, in portions that are not whole chunks. */
static int read_all(struct artifacts_test *test, ses_artifact *artifact, char hash[SHA256_HEX + 1])
{
    static char buffer[LARGEST];
    struct sha256 sum;
    ses_error error;
    size_t len = 1;
    int code = SES_OK;

    ses__sha256_init(&sum);
    for (int64_t at = 0; code == SES_OK && len > 0; at += (int64_t)len) {
        code = CALL(test, "ses_artifact_read", CODES(SES_NOTFOUND),
                    ses_artifact_read(artifact, at, buffer, 100000, &len, &error));
        if (code == SES_OK)
            ses__sha256_add(&sum, buffer, len);
        if (at > 10 * LARGEST)
            return SES_CORRUPT; /* it claims to be long, and its last bytes need not be read */
    }
    ses__sha256_end(&sum, hash);
    return code;
}

static void read_one(struct artifacts_test *test, const ses_key *of, const char *name, const int64_t *version,
                     unsigned flags)
{
    const ses_artifact_open_options options = {.size = sizeof options, .flags = flags, .version = version};
    ses_artifact *artifact = NULL;
    char hash[SHA256_HEX + 1];
    ses_error error;
    int code = CALL(test, "ses_artifact_open_by_key", CODES(SES_NOTFOUND, SES_INVALID),
                    ses_artifact_open_by_key(test->store, of, name, &options, &artifact, &error));

    if (code == SES_OK) {
        code = read_all(test, artifact, hash);
        if (code == SES_OK && strcmp(hash, ses_artifact_info_of(artifact)->hash) != 0)
            find(test, "ses_artifact_read", "bytes without their hash", name);
    }
    if (code != SES_OK && flags && test->problems == 0)
        find(test, "ses_store_check", "found nothing, but there is no reading", error.message);
    test->read += code == SES_OK;
    ses_artifact_close(artifact);
}

static void read_versions(struct artifacts_test *test, const ses_key *of, const char *name)
{
    ses_artifact_list *list = NULL;
    ses_error error;

    (void)CALL(test, "ses_artifact_versions_by_key", CODES(0),
               ses_artifact_versions_by_key(test->store, of, name, NULL, &list, &error));
    for (size_t i = 0; list && i < ses_artifact_list_count(list); i++) {
        const ses_artifact_info *info = ses_artifact_list_at(list, i);
        read_one(test, of, name, &info->version, SES_ARTIFACT_OPEN_STORED);
        read_one(test, of, name, &info->version, 0);
    }
    ses_artifact_list_close(list);
}

static void read_names(struct artifacts_test *test, const ses_key *of)
{
    static const char *const names[] = {"text", "chart", "reference", "odd", "even", "empty", "user:logo"};
    ses_artifact_list *list = NULL;
    ses_error error;

    (void)CALL(test, "ses_artifact_names_by_key", CODES(0),
               ses_artifact_names_by_key(test->store, of, NULL, &list, &error));
    for (size_t i = 0; list && i < ses_artifact_list_count(list); i++)
        read_versions(test, of, ses_artifact_list_at(list, i)->name);
    ses_artifact_list_close(list);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        read_one(test, of, names[i], NULL, 0);
}

#define WRITE_CODES CODES(SES_READONLY, SES_FULL, SES_NOTFOUND, SES_LIMIT)

/* A saved artifact is there, whatever else the file holds. */
static void save_some(struct artifacts_test *test, const ses_key *of, size_t len)
{
    static char buffer[LARGEST];
    ses_artifact *artifact = NULL;
    int64_t version = -1;
    ses_error error;
    size_t got = 0;

    for (size_t i = 0; i < len; i++)
        bytes_of[i] = (char)(i * 7 + (i >> 9) + len);
    if (CALL(test, "ses_artifact_save_by_key", WRITE_CODES,
             ses_artifact_save_by_key(test->store, of, "text", bytes_of, len, NULL, &version, &error)) !=
        SES_OK)
        return;
    const ses_artifact_open_options options = {.size = sizeof options, .version = &version};
    int code = CALL(test, "ses_artifact_open_by_key, after a save", CODES(0),
                    ses_artifact_open_by_key(test->store, of, "text", &options, &artifact, &error));
    if (code == SES_OK)
        code = CALL(test, "ses_artifact_read, after a save", CODES(0),
                    ses_artifact_read(artifact, 0, buffer, sizeof buffer, &got, &error));
    if (code == SES_OK && (got != len || memcmp(buffer, bytes_of, len) != 0))
        find(test, "ses_artifact_read", "other bytes than were saved", "");
    ses_artifact_close(artifact);
}

static void append_some(struct artifacts_test *test)
{
    ses_append_options options = {.size = sizeof options};
    ses_error error;

    if (CALL(test, "ses_artifacts_open", CODES(0),
             ses_artifacts_open(test->store, &one, &options.artifacts, &error)) != SES_OK)
        return;
    (void)CALL(test, "ses_artifacts_add", CODES(0),
               ses_artifacts_add(options.artifacts, "even", "new", 3, NULL, &error));
    (void)CALL(test, "ses_append_by_key", WRITE_CODES,
               ses_append_by_key(test->store, &one, "{\"id\":\"new\"}", SES_NUL, &options, NULL, &error));
    (void)CALL(test, "ses_append_by_key, again",
               CODES(SES_EXISTS, SES_READONLY, SES_FULL, SES_NOTFOUND, SES_LIMIT),
               ses_append_by_key(test->store, &one, "{\"id\":\"e3\"}", SES_NUL, &options, NULL, &error));
    ses_artifacts_close(options.artifacts);
}

static void change_history(struct artifacts_test *test)
{
    static const ses_point points[] = {{.size = sizeof(ses_point), .kind = SES_POINT_NOW},
                                       {.size = sizeof(ses_point), .kind = SES_POINT_SEQ, .seq = 3}};
    static const ses_key forks[] = {{"app", "user", "fork"}, {"app", "another", "fork"}};
    ses_error error;

    for (size_t i = 0; i < 2; i++) {
        const ses_fork_options options = {.size = sizeof options, .flags = SES_FORK_OTHER_USER};
        (void)CALL(test, "ses_fork_by_key",
                   CODES(SES_READONLY, SES_FULL, SES_NOTFOUND, SES_LIMIT, SES_EXISTS),
                   ses_fork_by_key(test->store, &one, &points[i], &forks[i], &options, NULL, &error));
        read_names(test, &forks[i]);
    }
    (void)CALL(test, "ses_rewind_by_key",
               CODES(SES_READONLY, SES_FULL, SES_NOTFOUND, SES_LIMIT, SES_INVALID, SES_BUSY),
               ses_rewind_by_key(test->store, &one, &points[1], NULL, NULL, &error));
    (void)CALL(test, "ses_cut_by_key", WRITE_CODES,
               ses_cut_by_key(test->store, &one, &points[1], NULL, NULL, &error));
}

/* Pages of the places that hold an `a`, to the end. */
static void find_all(struct artifacts_test *test)
{
    ses_find_options options = {.size = sizeof options, .limit = 20};
    char token[12 * SES_ID_MAX] = "";
    bool more = true;
    ses_error error;

    for (int pages = 0; more; pages++) {
        ses_findings *page = NULL;
        options.token = token[0] ? token : NULL;
        (void)CALL(test, "ses_store_find", CODES(SES_NOTFOUND),
                   ses_store_find(test->store, NULL, "a", 1, &options, &page, &error));
        more = page && ses_findings_token(page);
        if (more)
            snprintf(token, sizeof token, "%s", ses_findings_token(page));
        ses_findings_close(page);
        if (more && pages > 1000) {
            find(test, "ses_store_find", "there is no last page", "");
            break;
        }
    }
}

/* The export of a sound file can be imported elsewhere; that of another one may be refused. Either way the
 * other store is sound. */
static void carry_over(struct artifacts_test *test)
{
    const ses_check_options check = {.size = sizeof check, .level = SES_CHECK_LOG};
    struct text text = {NULL, 0};
    ses_import_report report;
    ses_store *other;
    int64_t problems = -1;
    ses_error error;

    if (CALL(test, "ses_store_export", CODES(SES_NOTFOUND),
             ses_store_export(test->store, NULL, collect_lines, &text, &error)) == SES_OK) {
        other = empty_store();
        const int code = import_text(other, text.data, text.len, 0, &report, &error);
        if (code != SES_OK && test->problems == 0)
            find(test, "ses_store_import", "what a sound store had sent is refused", error.message);
        assert_ok(ses_store_check(other, &check, &problems, &error));
        if (problems > 0)
            find(test, "ses_store_import", "the store has problems", "");
        test->carried += code == SES_OK;
        ses_close(other);
    }
    free(text.data);
}

static void remove_all(struct artifacts_test *test)
{
    const ses_delete_options secure = {.size = sizeof secure, .flags = SES_SECURE};
    ses_error error;

    (void)CALL(test, "ses_artifact_delete_by_key", WRITE_CODES,
               ses_artifact_delete_by_key(test->store, &one, "text", NULL, NULL, &error));
    (void)CALL(test, "ses_delete", WRITE_CODES, ses_delete(test->store, &two, &secure, NULL, &error));
    (void)CALL(test, "ses_delete_user", WRITE_CODES,
               ses_delete_user(test->store, "app", "user", NULL, NULL, NULL, &error));
}

static void use_file(struct artifacts_test *test)
{
    static const ses_key *const all[] = {&one, &two, &user, &stranger};
    const ses_check_options check = {.size = sizeof check, .level = SES_CHECK_LOG};
    const ses_open_options options = {.size = sizeof options, .busy_timeout_ms = 2000};
    ses_error error;

    test->problems = -1;
    (void)CALL(test, "ses_open", CODES(SES_NOTASTORE, SES_TOONEW, SES_READONLY, SES_CANTOPEN),
               ses_open(test->path, &options, &test->store, &error));
    if (!test->store)
        return;
    (void)CALL(test, "ses_store_check", CODES(SES_READONLY, SES_FULL),
               ses_store_check(test->store, &check, &test->problems, &error));
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        read_names(test, all[i]);
    find_all(test);
    carry_over(test);
    test->problems = -1; /* what follows may meet damage of its own making */
    save_some(test, &one, 607);
    save_some(test, &one, 70000);
    save_some(test, &stranger, 4321);
    append_some(test);
    change_history(test);
    remove_all(test);
    ses_close(test->store);
    test->store = NULL;
}

/* ------------------------------------------------------------------------------------------ their hash */

static ses_artifact *open_damaged(struct artifacts_test *test, const ses_key *of, const char *name,
                                  const char *sql)
{
    ses_artifact *artifact = NULL;
    ses_error error;

    store_files_write(&test->sound, test->path);
    sqlite3 *db = open_unguarded(test->path);
    raw_run(db, sql);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_ok(ses_open(test->path, NULL, &test->store, &error));
    assert_ok(ses_artifact_open_by_key(test->store, of, name, NULL, &artifact, &error));
    return artifact;
}

#define ARTIFACTS_TEST(name) TEST_WITH(struct artifacts_test *test, damaged_setup, damaged_teardown, name)

ARTIFACTS_TEST(bytes_that_differ_are_corrupt_each_time)
{
    size_t len = 7;

    ses_artifact *artifact = open_damaged(
        test, &two, "chart",
        "UPDATE artifact_chunks SET bytes = zeroblob(65536) WHERE position IN (SELECT (content_id << 20) + 1 "
        "FROM artifacts WHERE session = 'two' AND name = 'chart')");
    assert_code(SES_CORRUPT, ses_artifact_read(artifact, 0, bytes_of, SIZE_MAX, &len, &error));
    assert_message("do not have its hash");
    assert_int_equal(len, 7);
    assert_ok(ses_artifact_read(artifact, 0, bytes_of, 100000, &len, &error));
    for (int i = 0; i < 2; i++)
        assert_code(SES_CORRUPT, ses_artifact_read(artifact, 100000, bytes_of, 100000, &len, &error));
    assert_ok(ses_artifact_read(artifact, 100000, bytes_of, 99999, &len, &error));
    ses_artifact_close(artifact);
    ses_close(test->store);
}

ARTIFACTS_TEST(no_bytes_have_a_hash_too)
{
    size_t len = 7;

    ses_artifact *artifact = open_damaged(test, &one, "chart", "UPDATE artifact_contents SET size = 0");
    assert_int_equal(ses_artifact_info_of(artifact)->size, 0);
    assert_code(SES_CORRUPT, ses_artifact_read(artifact, 0, bytes_of, 10, &len, &error));
    ses_artifact_close(artifact);
    ses_close(test->store);
    artifact = open_damaged(test, &one, "empty", "SELECT 1");
    assert_ok(ses_artifact_read(artifact, 0, bytes_of, 10, &len, &error));
    assert_int_equal(len, 0);
    ses_artifact_close(artifact);
    ses_close(test->store);
}

/* ------------------------------------------------------------------------------------------------ all */

ARTIFACTS_TEST(damaged_files)
{
    const long first = support_setting("SESLITE_DAMAGE_FIRST", 0);
    const long files = support_setting("SESLITE_DAMAGE_FILES", UNDER_TSAN ? 10 : 60);

    for (test->number = first; test->number < first + files; test->number++) {
        make_file(test);
        use_file(test);
    }
    print_message(
        "%ld files: %ld artifacts could be read, %ld files went out and in, %ld calls said CORRUPT; "
        "%ld findings\n",
        files, test->read, test->carried, test->corrupt, test->findings);
    assert_true(test->read > 0);
    assert_true(test->carried > 0);
    assert_true(test->corrupt > 0);
    assert_int_equal(test->findings, 0);
}
