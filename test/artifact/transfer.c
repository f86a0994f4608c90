/* Artifacts as JSON lines: what goes out comes in again, and what is no such text is refused, nothing half of
 * it. */
#include "../random.h"
#include "../session/lines_text.h"

#define assert_sound assert_artifacts_sound /* the other one is about any file */
#include "artifact.h"

static const ses_key user_key = {"app", "user", NULL};

/* ------------------------------------------------------------------------------------------ what there is */

static char *made_bytes(size_t len, unsigned which)
{
    char *bytes = malloc(len + 1);

    assert_non_null(bytes);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(unsigned char)((i * 31 + (i >> 9) + which) >> 1);
    return bytes;
}

static void must_save_bytes(ses_store *store, const ses_key *of, const char *name, size_t len, unsigned which,
                            const ses_artifact_save_options *options)
{
    char *bytes = made_bytes(len, which);
    ses_error error;

    assert_ok(ses_artifact_save_by_key(store, of, name, bytes, len, options, NULL, &error));
    free(bytes);
}

/* Sessions with artifacts of all kinds, of equal and of many bytes; a user without sessions; artifacts whose
 * session does not exist. */
static void fill_artifacts(ses_store *store)
{
    const ses_key lone = {"app", "lone", NULL};
    const ses_key gone = {"app", "user", "not a session"};
    const ses_key second = {"app", "user", "second"};
    const int64_t early = INT64_C(-1000000);
    const ses_artifact_save_options anyway = {.size = sizeof anyway, .flags = SES_ARTIFACT_WITHOUT_SESSION};
    const ses_artifact_save_options text = {.size = sizeof text,
                                            .kind = SES_ARTIFACT_TEXT,
                                            .mime_type = "text/\"plain\"",
                                            .display_name = "A \xC3\xA9 name",
                                            .metadata = "{ \"a\":\n1e400 }",
                                            .metadata_len = SES_NUL,
                                            .created_us = &early};
    const ses_artifact_save_options uri = {
        .size = sizeof uri, .kind = SES_ARTIFACT_URI, .metadata = "{}", .metadata_len = 2};
    ses_error error;

    must_create(store, &key, "{\"user:k\":1}");
    must_create(store, &second, NULL);
    must_append_by_key(store, &key, "{\"id\":\"e\",\"timestamp\":1}");
    must_save(store, &key, "a.txt", "one");
    must_save(store, &key, "a.txt", "two");
    must_save(store, &key, "a.txt", "one");
    must_save(store, &second, "a.txt", "one");
    assert_ok(ses_artifact_save_by_key(store, &key, "A text", "\xC3\xA9\n", 3, &text, NULL, &error));
    assert_ok(ses_artifact_save_by_key(store, &key, "uri", "gs://bucket/file", SES_NUL, &uri, NULL, &error));
    assert_ok(ses_artifact_save_by_key(store, &key, "same text", "one", 3, &text, NULL, &error));
    must_save_bytes(store, &key, "chunk", 65536, 1, NULL);
    must_save_bytes(store, &key, "chunks", 3 * 65536 + 1, 2, NULL);
    must_save_bytes(store, &second, "many", 5 * 1024 * 1024 + 77, 3, NULL);
    must_save(store, &key, "empty", "");
    must_save(store, &user_key, "logo", "1");
    must_save(store, &user_key, "logo", "2");
    must_save_bytes(store, &user_key, "big", 65537, 4, NULL);
    must_save(store, &lone, "only", "x");
    assert_ok(ses_artifact_save_by_key(store, &gone, "stray", "s", 1, &anyway, NULL, &error));
}

static void import_ok(ses_store *store, const struct text *text, unsigned flags, ses_import_report *report)
{
    ses_error error;
    assert_ok(import_text(store, text->data, text->len, flags, report, &error));
}

static void assert_sound_store(ses_store *store)
{
    const ses_check_options options = {.size = sizeof options, .level = SES_CHECK_LOG};
    int64_t problems = -1;
    ses_error error;

    assert_ok(ses_store_check(store, &options, &problems, &error));
    assert_int_equal(problems, 0);
}

/* ------------------------------------------------------------------------------------------- out and in */

TEST(an_export_can_be_imported)
{
    ses_import_report report;

    fill_artifacts(fixture->store);
    struct text first = exported(fixture->store, NULL);
    ses_store *other = empty_store();
    import_ok(other, &first, 0, &report);
    assert_int_equal(report.made, 2);
    assert_int_equal(report.artifacts, 16);
    assert_int_equal(report.artifacts_kept, 0);
    assert_same_store(fixture->store, other);
    assert_sound_store(other);
    assert_artifact(other, &key, "a.txt", NULL, "one");
    assert_artifact(other, &key, "user:logo", NULL, "2");
    assert_artifact(other, &(ses_key){"app", "lone", NULL}, "only", NULL, "x");
    import_ok(other, &first, 0, &report);
    assert_int_equal(report.equal, 2);
    assert_int_equal(report.artifacts, 0);
    assert_int_equal(report.artifacts_kept, 0);
    assert_same_store(fixture->store, other);
    ses_close(other);
    free(first.data);
}

/* One line has at most one chunk, and each content of a session is there once. */
TEST(lines_are_short_and_contents_come_once)
{
    size_t lines_of_bytes = 0;

    fill_artifacts(fixture->store);
    struct text text = exported(fixture->store, NULL);
    for (const char *line = text.data; line < text.data + text.len; line = strchr(line, '\n') + 1) {
        assert_true(strchr(line, '\n') - line < 90000);
        lines_of_bytes += strncmp(line, Q("{'kind':'bytes'"), 15) == 0;
    }
    /* one, two, the text, its copy of "one", uri, 1 + 4 chunks; one, 81; 1, 2, 2 chunks, x, s */
    assert_int_equal(lines_of_bytes, 5 + 5 + 1 + 81 + 4 + 1 + 1);
    free(text.data);
}

TEST(a_part_has_its_artifacts)
{
    const ses_export_options session = {
        .size = sizeof session, .app = "app", .user = "user", .session = "second"};
    const ses_export_options bare = {.size = sizeof bare,
                                     .flags = SES_EXPORT_ONLY_SESSIONS,
                                     .app = "app",
                                     .user = "user",
                                     .session = "second"};
    const ses_key second = {"app", "user", "second"};
    ses_import_report report;

    fill_artifacts(fixture->store);
    struct text text = exported(fixture->store, &session);
    ses_store *other = empty_store();
    import_ok(other, &text, 0, &report);
    assert_int_equal(report.artifacts, 2 + 3);
    assert_artifact(other, &second, "user:logo", NULL, "2");
    assert_no_artifact(other, &(ses_key){"app", "user", "not a session"}, "stray");
    ses_close(other);
    free(text.data);
    text = exported(fixture->store, &bare);
    other = empty_store();
    import_ok(other, &text, 0, &report);
    assert_int_equal(report.artifacts, 2);
    assert_artifact(other, &second, "a.txt", NULL, "one");
    assert_no_artifact(other, &second, "user:logo");
    ses_close(other);
    free(text.data);
}

TEST(random_artifacts_go_round)
{
    uint64_t seed = 26;

    for (int i = 0; i < support_steps(300); i++) {
        static const size_t sizes[] = {0, 1, 2, 3, 100, 65535, 65536, 65537, 200000};
        static const char *const names[] = {"a", "b", "user:a", "\xF0\x9F\x98\x80", "a\x01", "A"};
        char session[20];
        const ses_key of = {"app", random_below(&seed, 2) ? "u" : "v", session};
        ses_artifact_save_options options = {.size = sizeof options,
                                             .flags = SES_ARTIFACT_WITHOUT_SESSION,
                                             .mime_type = random_below(&seed, 2) ? "image/png" : NULL};
        snprintf(session, sizeof session, "s%zu", random_below(&seed, 8));
        if (random_below(&seed, 10) == 0) {
            must_delete(fixture->store, &of);
            if (random_below(&seed, 2))
                must_create(fixture->store, &of, NULL);
        }
        must_save_bytes(fixture->store, &of, names[random_below(&seed, 6)], sizes[random_below(&seed, 9)],
                        (unsigned)random_below(&seed, 4), &options);
    }
    struct text text = exported(fixture->store, NULL);
    ses_store *other = empty_store();
    ses_import_report report;
    import_ok(other, &text, 0, &report);
    assert_same_store(fixture->store, other);
    assert_sound_store(other);
    import_ok(other, &text, 0, &report);
    assert_int_equal(report.artifacts, 0);
    assert_same_store(fixture->store, other);
    /* And back, which may be another engine; only the versions of sessions are higher then. */
    assert_ok(ses_delete_app(fixture->store, "app", NULL, NULL, &error));
    import_ok(fixture->store, &text, 0, &report);
    const int64_t made = report.made;
    free(text.data);
    text = exported(fixture->store, NULL);
    import_ok(other, &text, 0, &report);
    assert_int_equal(report.equal, made);
    assert_int_equal(report.artifacts + report.artifacts_kept, 0);
    assert_sound_store(fixture->store);
    ses_close(other);
    free(text.data);
}

/* Made as it is saved: all chunks differ. */
static int read_made(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    int64_t *left = context;
    const size_t count = (int64_t)capacity < *left ? capacity : (size_t)*left;

    for (size_t i = 0; i < count; i++)
        buffer[i] =
            (char)(unsigned char)((uint64_t)(*left - (int64_t)i) * UINT64_C(0x9E3779B97F4A7C15) >> 40);
    *left -= (int64_t)count;
    *len = count;
    (void)error;
    return SES_OK;
}

/* A text, and the most bytes that the library held meanwhile. */
struct watched {
    struct text text;
    struct piecewise given;
    const struct counting_memory *memory;
    long most;
};

static void watch(struct watched *watched)
{
    if (watched->memory->bytes > watched->most)
        watched->most = watched->memory->bytes;
}

static int collect_watched(void *context, const char *data, size_t len, ses_error *error)
{
    struct watched *watched = context;

    watch(watched);
    return collect_lines(&watched->text, data, len, error);
}

static int give_watched(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    struct watched *watched = context;

    watch(watched);
    return give_lines(&watched->given, buffer, capacity, len, error);
}

TEST(memory_does_not_grow_with_an_artifact)
{
    int64_t left = 40 << 20;
    const ses_artifact_save_options made = {.size = sizeof made, .read = read_made, .read_context = &left};
    struct counting_memory memory;
    const ses_allocator allocator = counting_allocator(&memory);
    const ses_open_options options = {.size = sizeof options, .allocator = &allocator};
    struct watched watched = {.memory = &memory};
    ses_import_report report = {.size = sizeof report};
    ses_store *stores[2];

    for (int i = 0; i < 2; i++)
        assert_ok(ses_open(":memory:", &options, &stores[i], &error));
    must_create(stores[0], &key, NULL);
    assert_ok(ses_artifact_save_by_key(stores[0], &key, "a", NULL, SES_NUL, &made, NULL, &error));
    assert_ok(ses_store_export(stores[0], NULL, collect_watched, &watched, &error));
    watched.given = (struct piecewise){.data = watched.text.data, .len = watched.text.len};
    assert_ok(ses_store_import(stores[1], give_watched, &watched, NULL, &report, &error));
    assert_int_equal(report.artifacts, 1);
    assert_in_range(watched.most, 100000, 2000000);
    assert_same_store(stores[0], stores[1]);
    for (int i = 0; i < 2; i++)
        ses_close(stores[i]);
    assert_no_blocks(&memory);
    free(watched.text.data);
}

static int collect_slowly(void *context, const char *data, size_t len, ses_error *error)
{
    support_pause_us(30000);
    return collect_lines(context, data, len, error);
}

/* The time that the application takes is not that of waiting for a lock, or for a server. */
TEST(a_slow_writer_does_not_end_an_export)
{
    struct text text = {NULL, 0};

    fixture->options.busy_timeout_ms = 500;
    fixture_reopen(fixture);
    must_create(fixture->store, &key, NULL);
    for (unsigned i = 0; i < 2; i++)
        must_save_bytes(fixture->store, &key, "many", (size_t)1 << 20, i, NULL);
    assert_ok(ses_store_export(fixture->store, NULL, collect_slowly, &text, &error));
    free(text.data);
}

/* ------------------------------------------------------------------------------ those that are there */

/* The store has less than the text, more, or something else. */
TEST(an_existing_session_counts_with_its_artifacts)
{
    ses_import_report report;

    must_create(fixture->store, &key, NULL);
    must_save(fixture->store, &key, "a", "1");
    must_append_by_key(fixture->store, &key, "{\"id\":\"e\",\"timestamp\":1}");
    ses_store *other = empty_store();
    struct text old = exported(fixture->store, NULL);
    import_ok(other, &old, 0, &report);
    must_save(fixture->store, &key, "a", "2");
    must_save(fixture->store, &key, "b", "1");
    struct text text = exported(fixture->store, NULL);

    assert_code(SES_EXISTS, import_text(other, text.data, text.len, 0, &report, &error));
    assert_non_null(strstr(error.message, "artifacts"));
    import_ok(other, &text, SES_IMPORT_UPDATE | SES_IMPORT_DRY_RUN, &report);
    assert_int_equal(report.updated, 1);
    assert_int_equal(report.artifacts, 2);
    assert_no_artifact(other, &key, "b");
    import_ok(other, &text, SES_IMPORT_UPDATE, &report);
    assert_int_equal(report.updated, 1);
    assert_int_equal(report.artifacts, 2);
    assert_same_store(fixture->store, other);

    assert_code(SES_EXISTS, import_text(other, old.data, old.len, SES_IMPORT_UPDATE, &report, &error));
    import_ok(other, &old, SES_IMPORT_RENAME, &report);
    assert_int_equal(report.renamed, 1);
    const ses_key renamed = {"app", "user", "session~2"};
    assert_int_equal(count_versions(other, &renamed, "a"), 1);
    assert_int_equal(count_versions(other, &key, "a"), 2);
    import_ok(other, &old, SES_IMPORT_RENAME, &report);
    assert_int_equal(report.equal, 1);
    must_delete(other, &renamed);
    import_ok(other, &old, SES_IMPORT_REPLACE, &report);
    assert_int_equal(report.replaced, 1);
    assert_no_artifact(other, &key, "b");
    assert_artifact(other, &key, "a", NULL, "1");
    assert_sound_store(other);
    ses_close(other);
    free(old.data);
    free(text.data);
}

/* The session grows in both ways at once. */
TEST(an_update_adds_events_and_artifacts)
{
    ses_import_report report;

    must_create(fixture->store, &key, NULL);
    must_save(fixture->store, &key, "a", "1");
    ses_store *other = empty_store();
    struct text text = exported(fixture->store, NULL);
    import_ok(other, &text, 0, &report);
    free(text.data);
    must_append_by_key(fixture->store, &key, "{\"id\":\"e\",\"timestamp\":1}");
    must_save(fixture->store, &key, "a", "2");
    text = exported(fixture->store, NULL);
    import_ok(other, &text, SES_IMPORT_UPDATE, &report);
    assert_int_equal(report.updated, 1);
    assert_int_equal(report.events, 1);
    assert_int_equal(report.artifacts, 1);
    assert_artifact(other, &key, "a", NULL, "2");
    must_save(other, &key, "other", "o");
    must_append_by_key(fixture->store, &key, "{\"id\":\"f\",\"timestamp\":2}");
    free(text.data);
    text = exported(fixture->store, NULL);
    assert_code(SES_EXISTS, import_text(other, text.data, text.len, SES_IMPORT_UPDATE, &report, &error));
    assert_artifact(other, &key, "other", NULL, "o");
    ses_close(other);
    free(text.data);
}

static int note_artifact(void *context, const ses_import_item *item)
{
    if (item->artifact)
        *(int *)context = item->outcome;
    return 0;
}

static void import_noting(ses_store *store, const struct text *text, unsigned flags, int *outcome,
                          ses_import_report *report)
{
    struct piecewise piecewise = {.data = text->data, .len = text->len};
    const ses_import_options options = {
        .size = sizeof options, .flags = flags, .report = note_artifact, .report_context = outcome};
    ses_error error;

    *outcome = -1;
    report->size = sizeof *report;
    assert_ok(ses_store_import(store, give_lines, &piecewise, &options, report, &error));
}

TEST(a_users_artifact_is_kept_unless_it_is_asked_for)
{
    ses_import_report report;
    int outcome;

    must_save(fixture->store, &user_key, "logo", "1");
    must_save(fixture->store, &user_key, "logo", "2");
    struct text text = exported(fixture->store, NULL);
    ses_store *other = empty_store();
    fixture->now += 1;
    must_save(other, &user_key, "logo", "other");
    must_save(other, &user_key, "own", "o");
    import_noting(other, &text, 0, &outcome, &report);
    assert_int_equal(outcome, SES_IMPORTED_KEY_KEPT);
    assert_int_equal(report.artifacts_kept, 1);
    assert_artifact(other, &user_key, "logo", NULL, "other");
    import_noting(other, &text, SES_IMPORT_REPLACE_KEYS, &outcome, &report);
    assert_int_equal(outcome, SES_IMPORTED_KEY_REPLACED);
    assert_int_equal(report.artifacts, 2);
    assert_artifact(other, &user_key, "logo", NULL, "2");
    assert_artifact(other, &user_key, "own", NULL, "o");
    must_save(fixture->store, &user_key, "logo", "3");
    free(text.data);
    text = exported(fixture->store, NULL);
    import_noting(other, &text, 0, &outcome, &report);
    assert_int_equal(outcome, SES_IMPORTED_KEY_KEPT);
    import_noting(other, &text, SES_IMPORT_UPDATE, &outcome, &report);
    assert_int_equal(report.artifacts, 1);
    assert_artifact(other, &user_key, "logo", NULL, "3");
    assert_sound_store(other);
    ses_close(other);
    free(text.data);
}

/* They would become the session's. */
TEST(artifacts_that_wait_for_a_session_are_not_mixed_with_its_own)
{
    const ses_artifact_save_options anyway = {.size = sizeof anyway, .flags = SES_ARTIFACT_WITHOUT_SESSION};
    ses_import_report report;

    must_create(fixture->store, &key, NULL);
    must_save(fixture->store, &key, "a", "1");
    struct text text = exported(fixture->store, NULL);
    ses_store *other = empty_store();
    assert_ok(ses_artifact_save_by_key(other, &key, "b", "b", 1, &anyway, NULL, &error));
    assert_code(SES_EXISTS, import_text(other, text.data, text.len, 0, &report, &error));
    import_ok(other, &text, SES_IMPORT_REPLACE, &report);
    assert_same_store(fixture->store, other);
    ses_close(other);
    free(text.data);
}

/* Another version of the format may have more kinds and members. */
TEST(unknown_lines_between_them_are_ignored)
{
    ses_import_report report;
    struct text text = {NULL, 0};

    static const char lines[] =
        "{'kind':'seslite','format':1}\n{'kind':'user','app':'app','user':'user'}\n"
        "{'kind':'artifact','name':'user:x','version':0,'created_us':5,'size':3,'more':[1],"
        "'hash':'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'}\n"
        "{'kind':'new','name':7}\n{'kind':'bytes','data':'YWJj','more':1}\n{'kind':'new'}\n{'kind':'total'}\n";
    text_add(&text, support_json(lines), strlen(lines));
    ses_store *other = empty_store();
    import_ok(other, &text, 0, &report);
    assert_artifact(other, &user_key, "x", NULL, "abc");
    ses_close(other);
    free(text.data);
}

/* ------------------------------------------------------------------------------------------ what is wrong */

#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define ARTIFACT(name, version, size, hash, more) \
    "{'kind':'artifact','name':'" name "','version':" version ",'size':" size ",'hash':'" hash "'" more "}\n"
#define BYTES(offset, data) "{'kind':'bytes','offset':" offset ",'data':'" data "'}\n"

#define TEXT(text, json) text_add((text), Q(json), strlen(json))

static struct text in_session(const char *lines)
{
    struct text text = {NULL, 0};

    TEXT(&text,
         "{'kind':'seslite','format':1}\n{'kind':'session','app':'app','user':'user','session':'session'}\n");
    text_add(&text, support_json(lines), strlen(lines));
    TEXT(&text, "{'kind':'event','body':{'id':'e','timestamp':1}}\n{'kind':'end'}\n{'kind':'total'}\n");
    return text;
}

static struct text of_user(const char *lines)
{
    struct text text = {NULL, 0};

    TEXT(&text, "{'kind':'seslite','format':1}\n{'kind':'user','app':'app','user':'user'}\n");
    text_add(&text, support_json(lines), strlen(lines));
    TEXT(&text, "{'kind':'total'}\n");
    return text;
}

static void assert_refused(struct text text, const char *words)
{
    ses_store *store = empty_store();
    ses_artifact_list *list;
    ses_import_report report;
    ses_error error;

    assert_code(SES_INVALID, import_text(store, text.data, text.len, 0, &report, &error));
    if (!strstr(error.message, words) || !strstr(error.message, "line "))
        fail_msg("\"%s\", and not \"%s\": %s", error.message, words, text.data);
    assert_ok(ses_artifact_names_by_key(store, &key, NULL, &list, &error));
    assert_int_equal(ses_artifact_list_count(list), 0);
    ses_artifact_list_close(list);
    assert_sound_store(store);
    ses_close(store);
    free(text.data);
}

TEST(wrong_input_is_refused_with_its_line)
{
    static const struct {
        const char *lines;
        const char *words;
    } wrong[] = {
        {ARTIFACT("a", "0", "3", ABC, "") BYTES("0", "YWJk"), "hash"},
        {ARTIFACT("a", "0", "3", ABC, "") BYTES("0", "YWI="), "65,536"},
        {ARTIFACT("a", "0", "2", ABC, "") BYTES("0", "YWJj"), "more bytes"},
        {ARTIFACT("a", "0", "3", ABC, "") BYTES("0", "YWJj") BYTES("3", "YQ=="), "more bytes"},
        {ARTIFACT("a", "0", "3", ABC, "") BYTES("1", "YWJj"), "out of order"},
        {ARTIFACT("a", "0", "3", ABC, "") BYTES("0", "YW*j"), "base64"},
        {ARTIFACT("a", "0", "3", ABC, "") BYTES("0", ""), "65,536"},
        {ARTIFACT("a", "0", "3", ABC, "") "{'kind':'bytes'}\n", "no data"},
        {ARTIFACT("a", "0", "3", ABC, "") "{'kind':'bytes','offset':0.5,'data':'YWJj'}\n", "integer"},
        {ARTIFACT("a", "0", "3", ABC, ""), "missing"},
        {ARTIFACT("a", "0", "3", ABC, "") BYTES("0", "YWJj")
             ARTIFACT("a", "1", "3", ABC, ",'content':'text'"),
         "missing"},
        {ARTIFACT("a", "0", "0", ABC, ""), "no bytes"},
        {ARTIFACT("a", "0", "3", "ba", ""), "SHA-256"},
        {ARTIFACT("a", "0", "3", NOTHING, ""), "missing"},
        {ARTIFACT("a", "-1", "0", NOTHING, ""), "version"},
        {ARTIFACT("a", "4294967295", "0", NOTHING, ""), "version"},
        {ARTIFACT("a", "0", "-1", NOTHING, ""), "size"},
        {ARTIFACT("a", "0", "68719476737", ABC, ""), "size"},
        {ARTIFACT("a", "0", "1.5", ABC, ""), "size"},
        {ARTIFACT("a", "0", "'3'", ABC, ""), "size"},
        {ARTIFACT("", "0", "0", NOTHING, ""), "artifact"},
        {"{'kind':'artifact','version':0,'size':0,'hash':'" NOTHING "'}\n", "artifact"},
        {"{'kind':'artifact','name':'a','size':0,'hash':'" NOTHING "'}\n", "version"},
        {"{'kind':'artifact','name':'a','version':0,'size':0}\n", "SHA-256"},
        {ARTIFACT("a", "0", "0", NOTHING, ",'content':'file'"), "content"},
        {ARTIFACT("a", "0", "0", NOTHING, ",'metadata':[]"), "metadata"},
        {ARTIFACT("a", "0", "0", NOTHING, ",'metadata_text':'1'"), "metadata"},
        {ARTIFACT("a", "0", "0", NOTHING, ",'metadata_text':'{'"), "metadata"},
        {ARTIFACT("a", "0", "0", NOTHING, ",'created_us':9223372036854775807"), "time"},
        {ARTIFACT("a", "0", "0", NOTHING, ",'mime_type':1"), "mime_type"},
        {ARTIFACT("a", "0", "0", NOTHING, ",'mime_type':null"), "mime_type"},
        {ARTIFACT("a", "1", "0", NOTHING, "") ARTIFACT("a", "1", "0", NOTHING, ""), "order of versions"},
        {ARTIFACT("a", "1", "0", NOTHING, "") ARTIFACT("a", "0", "0", NOTHING, ""), "order of versions"},
        {ARTIFACT("a", "0", "1", "76be8b528d0075f7aae98d6fa57a6d3c83ae480a8469e668d7b0af968995ac71",
                  ",'content':'text'") BYTES("0", "gA=="),
         "UTF-8"},
        {ARTIFACT("a", "0", "4194305", ABC, ",'content':'uri'"), "4 MiB"},
        {BYTES("0", "YWJj"), ""},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_refused(in_session(wrong[i].lines), wrong[i].words);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct text text = {NULL, 0};
        for (const char *at = wrong[i].lines; *at; at++) { /* the same for a user */
            const bool named = strncmp(at, "'name':'a'", 10) == 0;
            text_add(&text, named ? "'name':'user:" : at, named ? 13 : 1);
            at += named ? 7 : 0;
        }
        assert_refused(of_user(text.data), wrong[i].words);
        free(text.data);
    }
}

TEST(names_out_of_place_are_refused)
{
    char name[514];
    char lines[1000];

    memset(name, 'n', 513);
    name[513] = '\0';
    snprintf(lines, sizeof lines,
             "{'kind':'artifact','name':'%s','version':0,'size':0,'hash':'" NOTHING "'}\n", name);
    assert_refused(in_session(lines), "artifact");
    assert_refused(in_session(ARTIFACT("user:a", "0", "0", NOTHING, "")), "user:");
    assert_refused(of_user(ARTIFACT("a", "0", "0", NOTHING, "")), "user:");
    assert_refused(of_user(ARTIFACT("user:a", "0", "0", NOTHING, ",'session':'s'")), "user:");
    assert_refused(of_user(ARTIFACT("a", "0", "0", NOTHING, ",'session':''")), "session");
    assert_refused(in_session(ARTIFACT("b", "0", "0", NOTHING, "") ARTIFACT("a", "0", "0", NOTHING, "")),
                   "order of names");
    assert_refused(in_session("{'kind':'event','body':{'id':'d'}}\n" ARTIFACT("a", "0", "0", NOTHING, "")),
                   "after an event");
    struct text text = {NULL, 0};
    TEXT(&text, "{'kind':'seslite','format':1}\n{'kind':'app','app':'app'}\n" ARTIFACT(
                    "user:a", "0", "0", NOTHING, "") "{'kind':'total'}\n");
    assert_refused(text, "before the user");
}

/* Wherever it ends: sessions before are whole. */
TEST(a_text_that_ends_early_leaves_nothing_of_half)
{
    must_create(fixture->store, &key, NULL);
    must_save_bytes(fixture->store, &key, "a", 70000, 1, NULL);
    must_save(fixture->store, &key, "a", "2");
    must_save_bytes(fixture->store, &user_key, "u", 70000, 2, NULL);
    must_save(fixture->store, &user_key, "u", "2");
    struct text text = exported(fixture->store, NULL);
    ses_store *store = empty_store();
    for (size_t len = 40; len < text.len; len += 1 + text.len / (size_t)support_steps(400)) {
        ses_import_report report;
        ses_session *session = NULL;
        const int code = import_text(store, text.data, len, 0, &report, &error);
        if (code != SES_JSON)
            assert_code(SES_INVALID, code);
        const size_t users = count_versions(store, &user_key, "user:u");
        assert_true(users == 0 || users == 2);
        const bool is_there = ses_get(store, &key, NULL, &session, NULL) == SES_OK;
        ses_session_close(session);
        assert_int_equal(count_versions(store, &key, "a"), is_there ? 2 : 0);
        assert_sound_store(store);
        assert_ok(ses_delete_app(store, "app", NULL, NULL, &error)); /* faster than a store for each */
    }
    ses_close(store);
    free(text.data);
}

/* One that is refused is passed over, with its bytes. */
TEST(a_refused_session_is_skipped_with_its_artifacts)
{
    const ses_key second = {"app", "user", "tail"};
    ses_import_report report;

    must_create(fixture->store, &key, NULL);
    must_save_bytes(fixture->store, &key, "a", 200000, 1, NULL);
    must_create(fixture->store, &second, NULL);
    must_save(fixture->store, &second, "b", "b");
    struct text text = exported(fixture->store, NULL);
    char *data = strstr(text.data, Q("'data':'"));
    assert_non_null(data);
    data[20] = data[20] == 'A' ? 'B' : 'A';
    ses_store *other = empty_store();
    import_ok(other, &text, SES_IMPORT_SKIP, &report);
    assert_int_equal(report.refused, 1);
    assert_int_equal(report.made, 1);
    assert_int_equal(report.artifacts, 1);
    assert_no_artifact(other, &key, "a");
    assert_artifact(other, &second, "b", NULL, "b");
    assert_sound_store(other);
    ses_close(other);
    free(text.data);
}
