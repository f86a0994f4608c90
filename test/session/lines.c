/* JSON lines: what goes out comes in again, byte for byte; and what is no such text is refused, nothing half
 * of it. */
#include <limits.h>
#include <pthread.h>

#include "check.h"
#include "lines.h"

/* ------------------------------------------------------------------------------------------- out and in */

TEST_FILE_AND_MEMORY(a_store_that_goes_out_and_in_is_the_same)
{
    ses_import_report report;

    fill_store(fixture->store);
    struct text first = exported(fixture->store, NULL);
    for (size_t piece = 0; piece < 4; piece++) {
        ses_store *other = empty_store();
        struct piecewise text = {.data = first.data, .len = first.len, .piece = piece};
        report.size = sizeof report;
        assert_ok(ses_store_import(other, give_lines, &text, NULL, &report, &error));
        assert_int_equal(report.made, 4);
        assert_int_equal(report.events, 10);
        assert_int_equal(report.keys, 5);
        assert_same_store(fixture->store, other);
        ses_close(other);
    }
    free(first.data);
}

/* Facts that lines do not contain are the same, too. */
TEST(the_rows_are_the_same)
{
    static const char *const queries[] = {
        "SELECT name FROM apps ORDER BY name",
        "SELECT a.name, u.name FROM users u JOIN apps a ON a.id = u.app_id ORDER BY 1, 2",
        "SELECT s.name, created_us, updated_us, active_30s, version, last_seq, event_count, expires_us, "
        "base_seq, "
        "details, title, parent_user, parent_session, parent_seq, initial_state FROM sessions s "
        "LEFT JOIN session_details d ON d.session_id = s.id ORDER BY s.name",
        "SELECT s.name, l.name, l.value FROM session_labels l JOIN sessions s ON s.id = l.session_id ORDER "
        "BY 1, 2",
        "SELECT s.name, key, value, seq FROM session_state t JOIN sessions s ON s.id = t.session_id ORDER BY "
        "1, 2",
        "SELECT s.name, key, value, seq FROM base_state t JOIN sessions s ON s.id = t.session_id ORDER BY 1, "
        "2",
        "SELECT key, value FROM app_state ORDER BY key",
        "SELECT key, value FROM user_state ORDER BY key",
        "SELECT s.name, seq, kind, target_seq FROM event_marks m JOIN sessions s ON s.id = m.session_id "
        "ORDER BY 1, 2",
        "SELECT s.name, position & 4294967295, id_key, id_at, invocation_at, author, branch, time_us, "
        "high_us, body "
        "FROM events e JOIN sessions s ON s.id = e.session_id ORDER BY 1, 2",
        "SELECT name FROM sessions WHERE app_id IN (SELECT id FROM apps WHERE name = 'app') ORDER BY id"};
    char *path = support_path(fixture->folder, "other.db");
    ses_import_report report;

    fill_store(fixture->store);
    struct text text = exported(fixture->store, NULL);
    ses_store *other = must_open(path, NULL);
    assert_ok(import_text(other, text.data, text.len, 0, &report, &error));
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        char *expected = raw_text(fixture->path, queries[i]);
        assert_query(path, queries[i], expected);
        free(expected);
    }
    assert_sound(path);
    ses_close(other);
    free(path);
    free(text.data);
}

TEST(a_part_of_a_store_can_go_out)
{
    ses_store *store = fixture->store;
    const ses_export_options user = {.size = sizeof user, .app = "app", .user = "user"};
    const ses_export_options session = {
        .size = sizeof session, .app = "app", .user = "user", .session = "cut"};
    const ses_export_options bare = {.size = sizeof bare,
                                     .flags = SES_EXPORT_ONLY_SESSIONS,
                                     .app = "app",
                                     .user = "user",
                                     .session = "cut"};
    const ses_export_options *const parts[] = {&user, &session, &bare};
    static const int counts[] = {3, 1, 1};

    fill_store(store);
    for (int i = 0; i < 3; i++) {
        struct text text = exported(store, parts[i]);
        ses_store *other = empty_store();
        ses_import_report report;
        assert_ok(import_text(other, text.data, text.len, 0, &report, &error));
        assert_int_equal(report.made, counts[i]);
        assert_int_equal(report.keys, i < 2 ? 3 : 0);
        struct text again = exported(other, i == 2 ? &bare : NULL);
        assert_same_text(&text, &again);
        free(text.data);
        free(again.data);
        ses_close(other);
    }
}

TEST(absent_or_wrong_filters_export_nothing)
{
    ses_store *store = fixture->store;
    const ses_export_options app = {.size = sizeof app, .app = "none"};
    const ses_export_options user = {.size = sizeof user, .app = "app", .user = "none"};
    const ses_export_options session = {
        .size = sizeof session, .app = "app", .user = "user", .session = "none"};
    static const ses_export_options wrong[] = {
        {.size = sizeof *wrong, .user = "user"},
        {.size = sizeof *wrong, .app = "app", .session = "one"},
        {.size = sizeof *wrong, .app = ""},
        {.size = sizeof *wrong, .app = "app", .user = ""},
        {.size = sizeof *wrong, .app = "app", .user = "user", .session = ""},
    };
    struct text text = {NULL, 0};

    fill_store(store);
    assert_code(SES_NOTFOUND, ses_store_export(store, &app, collect_lines, &text, &error));
    assert_code(SES_NOTFOUND, ses_store_export(store, &user, collect_lines, &text, &error));
    assert_code(SES_NOTFOUND, ses_store_export(store, &session, collect_lines, &text, &error));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_code(i < 2 ? SES_MISUSE : SES_INVALID,
                    ses_store_export(store, &wrong[i], collect_lines, &text, &error));
    assert_code(SES_MISUSE, ses_store_export(store, NULL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_store_import(store, NULL, NULL, NULL, NULL, &error));
    free(text.data);
}

/* They are sorted by their numbers, so many at a time. */
TEST(a_user_with_very_many_sessions_goes_out)
{
    const ses_export_options user = {.size = sizeof user, .app = "app", .user = "user"};
    char expected[64];
    long number = 0;

    must_create(fixture->store, &key, NULL);
    raw_exec(fixture->path,
             "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 20005) "
             "INSERT INTO sessions SELECT i, 1, 1, 'n' || (30000 - i), i, i, 0, 0, 0, 0, NULL, 0, 0, i, NULL "
             "FROM n");
    struct text text = exported(fixture->store, &user);
    for (char *line = strtok(text.data, "\n"); line; line = strtok(NULL, "\n")) {
        const char *at = strstr(line, "\"session\":\"n");
        if (!at)
            continue;
        snprintf(expected, sizeof expected, "\"session\":\"n%ld\"", 30000 - (number + 2));
        assert_memory_equal(at, expected, strlen(expected));
        number++;
    }
    assert_int_equal(number, 20004);
    free(text.data);
}

TEST(an_empty_store_goes_out_and_in)
{
    ses_store *store = fixture->store;
    struct text text = exported(store, NULL);
    ses_import_report report;

    assert_ok(import_text(store, text.data, text.len, 0, &report, &error));
    assert_int_equal(report.lines, 2);
    free(text.data);
}

/* Within the object a space is no obstacle. Around it, JSON would not keep it. */
MEMORY_TEST(a_body_with_spaces_goes_out_with_them)
{
    ses_store *store = fixture->store;

    fixture->now = 0;
    must_create(store, &key, NULL);
    must_append_by_key(store, &key, "{\"id\":\"a\",\"timestamp\":1.5 }");
    must_append_by_key(store, &key, "{\"id\":\"b\",\"timestamp\":2.5} ");
    struct text text = exported(store, NULL);
    assert_non_null(strstr(text.data, "\"created_us\":0"));
    assert_non_null(strstr(text.data, "\"body\":{\"id\":\"a\",\"timestamp\":1.5 }"));
    assert_non_null(strstr(text.data, "\"body_text\":\"{\\\"id\\\":\\\"b\\\",\\\"timestamp\\\":2.5} \""));
    free(text.data);
}

TEST(a_body_as_deep_as_can_be_goes_out_and_in)
{
    enum { DEPTH = 999 };
    ses_store *store = fixture->store;
    ses_store *other = empty_store();
    struct text event = {NULL, 0};
    ses_import_report report;

    text_printf(&event, "{\"id\":\"deep\",\"timestamp\":1,\"x\":");
    for (int i = 0; i < DEPTH; i++)
        text_add(&event, "[", 1);
    for (int i = 0; i < DEPTH; i++)
        text_add(&event, "]", 1);
    text_add(&event, "}", 1);
    must_create(store, &key, NULL);
    must_append_by_key(store, &key, event.data);
    struct text text = exported(store, NULL);
    assert_ok(import_text(other, text.data, text.len, 0, &report, &error));
    assert_same_store(store, other);
    ses_close(other);
    free(event.data);
    free(text.data);
}

/* Its update times begin before it was created. */
TEST(a_fork_that_is_younger_than_its_events_goes_out_and_in)
{
    const ses_key young = {"app", "user", "young"};
    const ses_key bare = {"app", "user", "bare"};
    const ses_create_options early = {.size = sizeof early, .created_us = &(int64_t){7}};
    const ses_fork_options late = {.size = sizeof late, .created_us = &(int64_t){INT64_C(90000000)}};
    ses_store *store = fixture->store;
    ses_store *other = empty_store();
    ses_import_report report;

    assert_ok(ses_create(store, &key, NULL, 0, &early, NULL, &error));
    must_append_by_key(store, &key, "{\"id\":\"1\",\"timestamp\":20,\"invocationId\":\"a\"}");
    must_append_by_key(store, &key, "{\"id\":\"2\",\"timestamp\":10,\"invocationId\":\"b\"}");
    assert_ok(ses_fork_by_key(store, &key, AFTER_SEQ(2), &bare, &late, NULL, &error));
    assert_ok(ses_fork_by_key(store, &key, AFTER_SEQ(2), &young, &late, NULL, &error));
    must_append_by_key(store, &young, "{\"id\":\"own\",\"timestamp\":80,\"invocationId\":\"y\"}");
    struct text text = exported(store, NULL);
    assert_ok(import_text(other, text.data, text.len, 0, &report, &error));
    assert_same_store(store, other);
    assert_no_problems(other);
    ses_close(other);
    free(text.data);
}

/* ---------------------------------------------------------------------------------- stores that have some */

TEST(reading_twice_changes_nothing)
{
    ses_store *store = fixture->store;
    ses_import_report report;

    fill_store(store);
    struct text text = exported(store, NULL);
    assert_ok(import_text(store, text.data, text.len, SES_IMPORT_RENAME, &report, &error));
    assert_int_equal(report.equal, 4);
    assert_int_equal(report.events, 0);
    assert_int_equal(report.keys, 0);
    struct text again = exported(store, NULL);
    assert_same_text(&text, &again);
    free(text.data);
    free(again.data);
}

/* The result of each, as "name=outcome ". */
static int note_item(void *context, const ses_import_item *item)
{
    text_printf(context, "%s=%d ",
                item->session ? item->loaded_as ? item->loaded_as : item->session : item->key, item->outcome);
    assert_true(item->line > 0);
    assert_true((item->outcome == SES_IMPORTED_REFUSED) == (item->error != NULL));
    return 0;
}

static void assert_outcomes(ses_store *store, const struct text *lines, unsigned flags, const char *expected)
{
    struct piecewise text = {.data = lines->data, .len = lines->len};
    struct text notes = {NULL, 0};
    const ses_import_options options = {
        .size = sizeof options, .flags = flags, .report = note_item, .report_context = &notes};
    ses_error error;

    text_add(&notes, "", 0);
    assert_ok(ses_store_import(store, give_lines, &text, &options, NULL, &error));
    assert_string_equal(notes.data, expected);
    free(notes.data);
}

TEST(the_report_names_what_became_of_each)
{
    ses_store *store = fixture->store;
    const ses_key one = {"app", "user", "one"};
    const ses_key cut = {"app", "user", "cut"};
    ses_store *other = empty_store();
    ses_import_report report;

    fill_store(store);
    struct text text = exported(store, NULL);
    assert_outcomes(other, &text, SES_IMPORT_DRY_RUN, "one=0 cut=0 fork=0 empty=0 ");
    struct text nothing = exported(other, NULL);
    assert_null(strstr(nothing.data, "\"app\""));
    free(nothing.data);
    assert_outcomes(other, &text, 0, "one=0 cut=0 fork=0 empty=0 ");
    must_append_by_key(store, &one, "{\"id\":\"more\",\"timestamp\":1}");
    must_append_by_key(other, &cut, "{\"id\":\"theirs\",\"timestamp\":1}");
    must_delete(other, &(ses_key){"app", "user", "empty"});
    assert_ok(ses_shared_state_change(other, "app", "user", "{\"u\":7}", SES_NUL, NULL, &error));
    free(text.data);
    text = exported(store, NULL);
    assert_code(SES_EXISTS, import_text(other, text.data, text.len, 0, &report, &error));
    assert_message("one");
    assert_int_equal(report.refused, 1);
    assert_int_equal(report.keys_kept, 1);
    assert_outcomes(other, &text, SES_IMPORT_SKIP, "u=11 one=10 cut=10 fork=1 empty=0 ");
    assert_outcomes(other, &text, SES_IMPORT_SKIP | SES_IMPORT_UPDATE, "u=11 one=2 cut=10 fork=1 empty=1 ");
    assert_outcomes(other, &text, SES_IMPORT_RENAME, "u=11 one=1 cut~2=4 fork=1 empty=1 ");
    assert_outcomes(other, &text, SES_IMPORT_RENAME, "u=11 one=1 cut~2=1 fork=1 empty=1 ");
    must_delete(other, &(ses_key){"app", "user", "cut~2"});
    assert_outcomes(other, &text, SES_IMPORT_REPLACE | SES_IMPORT_REPLACE_KEYS,
                    "u=12 one=1 cut=3 fork=1 empty=1 ");
    assert_outcomes(other, &text, 0, "one=1 cut=1 fork=1 empty=1 ");
    ses_close(other);
    free(text.data);
}

TEST(everything_can_be_put_into_another_app_and_user)
{
    ses_store *store = fixture->store;
    const ses_export_options user = {.size = sizeof user, .app = "app", .user = "user"};
    const ses_import_options options = {.size = sizeof options, .app = "new", .user = "me"};

    fill_store(store);
    struct text lines = exported(store, &user);
    struct piecewise text = {.data = lines.data, .len = lines.len};
    assert_ok(ses_store_import(store, give_lines, &text, &options, NULL, &error));
    ses_session *session = must_get(store, &(ses_key){"new", "me", "one"});
    assert_int_equal(ses_session_event_count(session), 5);
    assert_string_equal(support_state(session, NULL),
                        "{\"app:a\":[1,\n 2],\"app:user:x\":0,\"user:u\":{\"z\":\n1},\"l\":-0.0}");
    free(lines.data);
}

/* ----------------------------------------------------------------------------------- what is no such text */

/* After a failure there are whole sessions at most. */
static void assert_whole_sessions(ses_store *store, const struct text *sound)
{
    ses_import_report report;
    ses_error error;

    assert_ok(import_text(store, sound->data, sound->len, SES_IMPORT_SKIP, &report, &error));
    assert_int_equal(report.refused, 0);
    assert_int_equal(report.made + report.equal, 2);
}

/* To make a store takes longer than to empty one. */
static void empty_again(ses_store *store)
{
    ses_names *apps = NULL;
    ses_error error;

    assert_ok(ses_list_apps(store, NULL, &apps, &error));
    for (size_t i = 0; i < ses_names_count(apps); i++)
        assert_ok(ses_delete_app(store, ses_names_at(apps, i), NULL, NULL, &error));
    ses_names_close(apps);
}

static struct text small_export(ses_store *store)
{
    const ses_key other = {"app", "user", "second"};

    must_create(store, &key, Q("{'app:a':1,'user:b':2,'k':1}"));
    must_append_by_key(store, &key, Q("{'id':'1','timestamp':1,'actions':{'stateDelta':{'k':2}}}"));
    must_append_by_key(store, &key, Q("{'id':'2',\n'timestamp':1}"));
    must_create(store, &other, NULL);
    must_append_by_key(store, &other, Q("{'id':'1','timestamp':1,'actions':{'stateDelta':{'n':1}}}"));
    must_append_by_key(store, &other, Q("{'id':'2','timestamp':1}"));
    must_prune_to(store, &other, 1);
    return exported(store, NULL);
}

MEMORY_TEST(a_text_that_was_cut_short_is_told)
{
    struct text text = small_export(fixture->store);
    ses_store *other = empty_store();
    ses_import_report report;

    for (size_t len = 0; len < text.len - 1; len += support_stride()) {
        int code = import_text(other, text.data, len, 0, &report, &error);
        assert_true(code == SES_INVALID || code == SES_JSON || (code == SES_NOTASTORE && len < 40));
        assert_true(error.message[0] != '\0');
        assert_whole_sessions(other, &text);
        empty_again(other);
    }
    assert_ok(
        import_text(other, text.data, text.len - 1, 0, &report, &error)); /* without the last line's end */
    ses_close(other);
    free(text.data);
}

static void assert_imports_the_same(ses_store *store, const struct text *text)
{
    ses_store *other = empty_store();
    ses_import_report report;
    ses_error error;

    assert_ok(import_text(other, text->data, text->len, 0, &report, &error));
    assert_same_store(store, other);
    ses_close(other);
}

MEMORY_TEST(a_byte_that_was_changed_is_told_or_changes_nothing)
{
    static const char others[] = {'0', '"', '\n', ' ', 'x', '}'};
    ses_store *store = fixture->store;
    struct text text = small_export(store);
    ses_store *other = empty_store();
    size_t told = 0;

    for (size_t at = 0; at < text.len; at += support_stride()) {
        const char before = text.data[at];
        ses_import_report report;
        text.data[at] = others[at % sizeof others] == before ? '#' : others[at % sizeof others];
        int code = import_text(other, text.data, text.len, 0, &report, &error);
        if (code == SES_OK)
            assert_imports_the_same(store, &text);
        told += code != SES_OK ? support_stride() : 0;
        text.data[at] = before;
        empty_again(other);
    }
    assert_true(told > text.len * 9 / 10);
    ses_close(other);
    free(text.data);
}

static uint32_t crc_32(uint32_t crc, const char *text, size_t len)
{
    crc = ~crc;
    for (size_t i = 0; i < len; i++) {
        crc ^= (unsigned char)text[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xEDB88320) : 0);
    }
    return ~crc;
}

/* That of gzip and PNG, over the lines of a session with their ends. */
MEMORY_TEST(the_check_sum_is_one_that_others_can_make)
{
    ses_store *store = fixture->store;
    struct text text = small_export(store);
    uint32_t crc = 0;
    int ends = 0;

    for (const char *line = text.data; *line; line = strchr(line, '\n') + 1) {
        char expected[32];
        if (strncmp(line, "{\"kind\":\"session\"", 17) == 0)
            crc = 0;
        snprintf(expected, sizeof expected, "\"crc\":%lu", (unsigned long)crc);
        if (strncmp(line, "{\"kind\":\"end\"", 13) == 0) {
            const char *found = strstr(line, "\"crc\":");
            assert_non_null(found);
            assert_memory_equal(found, expected, strlen(expected));
            ends++;
        }
        crc = crc_32(crc, line, (size_t)(strchr(line, '\n') + 1 - line));
    }
    assert_true(ends > 0);
    free(text.data);
}

/* Adds lines, whose single quotes become double ones. The last is NULL. */
static void join_lines(struct text *text, const char *const lines[])
{
    for (size_t i = 0; lines[i]; i++)
        text_printf(text, "%s\n", Q(lines[i]));
}

/* Lines as for join_lines. */
static int import_lines_of(ses_store *store, const char *const *lines, unsigned flags, ses_error *error)
{
    struct text text = {NULL, 0};
    ses_import_report report;

    join_lines(&text, lines);
    int code = import_text(store, text.data, text.len, flags, &report, error);
    free(text.data);
    return code;
}

#define HEAD "{'kind':'seslite','format':1}"
#define SESSION "{'kind':'session','app':'a','user':'u','session':'s'}"
#define EVENT "{'kind':'event','body':{'id':'e'}}"
#define END "{'kind':'end'}"
#define TOTAL "{'kind':'total'}"
#define SIXTEEN "0123456789abcdef"
#define SIXTY_FOUR SIXTEEN SIXTEEN SIXTEEN SIXTEEN
#define LONGEST_ID SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR

PLAIN_TEST(lines_out_of_their_place_are_refused)
{
    static const struct {
        const char *lines[8];
        int code;
        const char *words;
    } cases[] = {
        {{"{}"}, SES_NOTASTORE, "begin"},
        {{"[]"}, SES_NOTASTORE, "begin"},
        {{"SQLite format 3"}, SES_NOTASTORE, "begin"},
        {{"{'kind':'seslite','format':0}"}, SES_NOTASTORE, "begin"},
        {{"{'kind':'seslite','format':3}", TOTAL}, SES_TOONEW, "format 3"},
        {{HEAD, EVENT, TOTAL}, SES_INVALID, "line 2"},
        {{HEAD, END, TOTAL}, SES_INVALID, "line 2"},
        {{HEAD, HEAD, TOTAL}, SES_INVALID, "line 2"},
        {{HEAD, "{'a':1}", TOTAL}, SES_INVALID, "line 2"},
        {{HEAD, TOTAL, TOTAL}, SES_INVALID, "line 3"},
        {{HEAD, TOTAL, ""}, SES_JSON, "line 3"},
        {{HEAD, "{'kind':'key','key':'k','value':1}", TOTAL}, SES_INVALID, "line 2"},
        {{HEAD, "{'kind':'app'}", TOTAL}, SES_INVALID, "line 2"},
        {{HEAD, "{'kind':'user','app':'a'}", TOTAL}, SES_INVALID, "line 2"},
        {{HEAD, "{'kind':'app','app':''}", TOTAL}, SES_INVALID, "line 2"},
        {{HEAD, "{'kind':'app','app':'a'}", "{'kind':'key','key':'k'}", TOTAL}, SES_INVALID, "line 3"},
        {{HEAD, "{'kind':'app','app':'a'}", "{'kind':'key','key':'k','value':'__ADK_SENTINEL_REMOVED__'}",
          TOTAL},
         SES_INVALID,
         "line 3"},
        {{HEAD, "{'kind':'app','app':'a'}", "{'kind':'key','key':'app:k','value':1}", TOTAL}, SES_OK, ""},
        {{HEAD, "{'kind':'app','app':'a'}", "{'kind':'key','key':'\\u0000','value':1}", TOTAL},
         SES_INVALID,
         "line 3"},
        {{HEAD, "{'kind':'app','app':'a'}", "{'kind':'key','key':'app:" LONGEST_ID "','value':1}", TOTAL},
         SES_INVALID,
         "has more than 512 bytes"},
        {{HEAD, SESSION, SESSION, END, TOTAL}, SES_INVALID, "line 3"},
        {{HEAD, SESSION, TOTAL, END, TOTAL}, SES_INVALID, "line 3"},
        {{HEAD, SESSION, HEAD, END, TOTAL}, SES_INVALID, "line 3"},
        {{HEAD, SESSION, "{'kind':'app','app':'a'}", END, TOTAL}, SES_INVALID, "line 3"},
        {{HEAD, SESSION, "{'kind':'user','app':'a','user':'u'}", END, TOTAL}, SES_INVALID, "line 3"},
        {{HEAD, SESSION, "{'kind':'key','key':'k','value':1}", END, TOTAL}, SES_INVALID, "line 3"},
        {{HEAD, SESSION, "{'a':1}", END, TOTAL}, SES_INVALID, "line 3"},
        {{HEAD, SESSION, EVENT, "{'kind':'base','key':'k','value':1}", END, TOTAL}, SES_INVALID, "line 4"},
        {{HEAD, SESSION, "{'kind':'event','seq':1}", END, TOTAL}, SES_INVALID, "line 3"},
        {{HEAD, SESSION, "{'kind':'event','body':[]}", END, TOTAL}, SES_INVALID, "line 3"},
        {{HEAD, SESSION, "{'kind':'event','body':{'id':1}}", END, TOTAL}, SES_INVALID, "line 2"},
        {{HEAD, SESSION, "{'kind':'event','body':{'id':}}", END, TOTAL}, SES_JSON, "line 2"},
        {{HEAD, SESSION, "{'kind':'event','seq':'1','body':{}}", END, TOTAL},
         SES_INVALID,
         "seq must be a number"},
        {{HEAD, SESSION, "{'kind':'event','seq':1.5,'body':{}}", END, TOTAL}, SES_INVALID, "integer"},
        {{HEAD, SESSION, "{'kind':'event','seq':null,'body':{}}", END, TOTAL}, SES_INVALID, "a number"},
        {{HEAD, SESSION, EVENT, "{'kind':'end','crc':null}", TOTAL}, SES_INVALID, "a number"},
        {{HEAD, SESSION, "{'kind':'event','body':{},'body_text':null}", END, TOTAL}, SES_INVALID, "a string"},
        {{HEAD, SESSION, "{'kind':'event','seq':1,'seq':1,'body':{}}", END, TOTAL}, SES_INVALID, "twice"},
        {{HEAD, SESSION, EVENT, "{'kind':'end','events':2}", TOTAL}, SES_INVALID, "line 4"},
        {{HEAD, SESSION, EVENT, "{'kind':'end','crc':1}", TOTAL}, SES_INVALID, "check sum"},
        {{HEAD, SESSION, EVENT, END, "{'kind':'total','events':2}"}, SES_INVALID, "line 5"},
        {{HEAD, SESSION, EVENT, END, "{'kind':'total','sessions':2}"}, SES_INVALID, "line 5"},
        {{HEAD, SESSION, EVENT, END, "{'kind':'total','crc':2}"}, SES_INVALID, "line 5"},
        {{HEAD, "{'kind':'session','app':'a','user':'','session':'s'}", END, TOTAL}, SES_INVALID, "line 2"},
        {{HEAD, "{'kind':'session','app':'a','session':'s'}", END, TOTAL}, SES_INVALID, "line 2"},
        {{HEAD, "{'kind':'session','app':'a','user':'u\\u0000','session':'s'}", END, TOTAL},
         SES_INVALID,
         "NUL"},
        {{HEAD, "{'kind':'session','app':'a','user':'u','session':'s','labels':{'a':1}}", END, TOTAL},
         SES_INVALID,
         "label"},
        {{HEAD, "{'kind':'session','app':'a','user':'u','session':'s','labels':{'a':}}", END, TOTAL},
         SES_JSON,
         "line 2"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ses_store *store = empty_store();
        ses_session *session = NULL;
        assert_code(cases[i].code, import_lines_of(store, cases[i].lines, 0, &error));
        assert_message(cases[i].words);
        int found = ses_get(store, &(ses_key){"a", "u", "s"}, NULL, &session, &error);
        assert_true(found == SES_NOTFOUND || strcmp(cases[i].words, "line 5") == 0);
        ses_session_close(session);
        ses_close(store);
    }
}

TEST(lines_and_members_that_are_not_known_are_passed_over)
{
    static const char *const lines[] = {"{'format':1,'by':{'x':[1]},'kind':'seslite'}",
                                        "{'kind':'comment','text':'x'}",
                                        "{'session':'s','user':'u','app':'a','kind':'session','colour':7}",
                                        "{'kind':'comment'}",
                                        EVENT,
                                        "{'kind':'comment'}",
                                        END,
                                        "{'kind':'comment'}",
                                        TOTAL,
                                        NULL};
    ses_store *store = fixture->store;
    ses_import_report report = {.size = sizeof report};
    struct text text = {NULL, 0};

    join_lines(&text, lines);
    assert_ok(import_text(store, text.data, text.len, 0, &report, &error));
    assert_int_equal(report.unknown, 6);
    assert_string_equal(stored_seqs(store, &(ses_key){"a", "u", "s"}), "1");
    free(text.data);
}

TEST(a_session_that_is_refused_can_be_passed_over)
{
    static const char *const lines[] = {
        HEAD,
        "{'kind':'session','app':'a','user':'u','session':'one'}",
        EVENT,
        EVENT,
        EVENT,
        END,
        "{'kind':'session','app':'a','user':'u','session':''}",
        "{'kind':'base','key':'k','value':1}",
        EVENT,
        END,
        "{'kind':'session','app':'a','user':'u','session':'two','last_seq':-1}",
        EVENT,
        END,
        "{'kind':'session','app':'a','user':'u','session':'three'}",
        EVENT,
        "{'kind':'end','crc':7}",
        "{'kind':'session','app':'a','user':'u','session':'four'}",
        EVENT,
        END,
        TOTAL,
        NULL};
    ses_store *store = fixture->store;

    assert_code(SES_INVALID, import_lines_of(store, lines, 0, &error));
    assert_message("line 2, session a/u/one");
    assert_ok(import_lines_of(store, lines, SES_IMPORT_SKIP, &error));
    assert_query(fixture->path, "SELECT name FROM sessions", "four\n");
}

/* A line that never ends. */
static int read_endless(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    int *calls = context;
    (void)error;

    memset(buffer, 'x', capacity);
    *len = capacity;
    if ((*calls)++ == 0) {
        *len = (size_t)snprintf(buffer, capacity, "%s\n{\"kind\":\"app\",\"app\":\"", Q(HEAD));
    }
    return 0;
}

TEST(a_line_that_is_too_long_is_refused)
{
    struct text text = {NULL, 0};
    ses_import_report report;

    fixture->options.max_event_bytes = 1000;
    fixture_reopen(fixture);
    report.size = sizeof report;
    assert_code(SES_LIMIT, ses_store_import(fixture->store, read_endless, &(int){0}, NULL, &report, &error));
    assert_message("line 2");
    text_printf(&text, "%s\n%s\n{\"kind\":\"event\",\"body\":{\"id\":\"e\",\"x\":\"%01000d\"}}\n%s\n%s\n",
                Q(HEAD), Q(SESSION), 1, Q(END), Q(TOTAL));
    assert_code(SES_LIMIT, import_text(fixture->store, text.data, text.len, 0, &report, &error));
    assert_message("max_event_bytes");
    assert_ok(import_text(fixture->store, text.data, text.len, SES_IMPORT_SKIP, &report, &error));
    assert_int_equal(report.refused, 1);
    free(text.data);
}

static int fail_to_read(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    (void)context, (void)buffer, (void)capacity, (void)len, (void)error;
    return SES_IO;
}

static int return_it(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    (void)buffer, (void)capacity, (void)len, (void)error;
    return *(const int *)context;
}

static int return_it_for_data(void *context, const char *data, size_t len, ses_error *error)
{
    (void)data, (void)len, (void)error;
    return *(const int *)context;
}

static int fail_to_write(void *context, const char *data, size_t len, ses_error *error)
{
    (void)context, (void)data, (void)len;
    *error = (ses_error){.code = SES_FULL, .offset = -1, .index = -1, .message = "no room"};
    return SES_FULL;
}

TEST(the_functions_can_end_the_calls)
{
    static const int odd[] = {-1000, INT_MIN, 1, INT_MAX};
    ses_store *store = fixture->store;

    assert_code(SES_IO, ses_store_import(store, fail_to_read, NULL, NULL, NULL, &error));
    assert_message("has ended the call");
    assert_code(SES_FULL, ses_store_export(store, NULL, fail_to_write, NULL, &error));
    assert_message("no room");
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        int returned = odd[i];
        const int expected = returned < 0 ? SES_IO : SES_MISUSE;
        assert_code(expected, ses_store_import(store, return_it, &returned, NULL, NULL, &error));
        assert_message("returned");
        assert_code(expected, ses_store_export(store, NULL, return_it_for_data, &returned, &error));
        assert_message("returned");
    }
}

/* A program of a later header asks for more than this library counts. */
TEST(a_longer_report_is_filled_with_zeros)
{
    static const char *const lines[] = {HEAD, SESSION, EVENT, END, TOTAL, NULL};
    ses_store *store = fixture->store;
    struct text text = {NULL, 0};
    struct {
        ses_import_report known;
        int64_t later[2];
    } report;

    join_lines(&text, lines);
    memset(&report, 0x55, sizeof report);
    report.known.size = sizeof report;
    struct piecewise from = {.data = text.data, .len = text.len};
    assert_ok(ses_store_import(store, give_lines, &from, NULL, &report.known, &error));
    assert_int_equal(report.known.made, 1);
    assert_int_equal(report.later[0], 0);
    assert_int_equal(report.later[1], 0);
    free(text.data);
}

static int end_import(void *context, const ses_import_item *item)
{
    (void)item;
    return --*(int *)context == 0;
}

/* Sessions that were reported stay. */
TEST(the_report_can_end_an_import)
{
    static const char *const lines[] = {
        HEAD, SESSION, EVENT, END, "{'kind':'session','app':'a','user':'u','session':'t'}", EVENT, END, NULL};
    ses_store *store = fixture->store;
    struct text text = {NULL, 0};
    int left = 1;
    const ses_import_options options = {
        .size = sizeof options, .report = end_import, .report_context = &left};
    ses_import_report report = {.size = sizeof report};
    ses_session *session;

    join_lines(&text, lines);
    struct piecewise from = {.data = text.data, .len = text.len};
    assert_code(SES_INTERRUPTED, ses_store_import(store, give_lines, &from, &options, &report, &error));
    assert_message("ended the import");
    assert_int_equal(report.made, 1);
    assert_string_equal(stored_seqs(store, &(ses_key){"a", "u", "s"}), "1");
    assert_code(SES_NOTFOUND, ses_get(store, &(ses_key){"a", "u", "t"}, NULL, &session, &error));
    free(text.data);
}

/* Counts down to the piece that cannot be written; all others can. */
static int fail_once(void *context, const char *data, size_t len, ses_error *error)
{
    int *left = context;
    return --*left == 0 ? fail_to_write(context, data, len, error) : SES_OK;
}

/* The session's first line is longer than what is written at once, and it has a base. */
TEST(each_piece_that_cannot_be_written_ends_an_export)
{
    enum { LARGE = 100000 };
    const ses_prune_options options = {.size = sizeof options, .which = SES_PRUNE_SEQ, .last_seq = 1};
    const ses_key large = {"app", "user", "large"};
    ses_store *store = fixture->store;
    char *initial = malloc(LARGE + 20);
    int left = -1;

    assert_non_null(initial);
    snprintf(initial, LARGE + 20, "{\"k\":\"%0*d\"}", LARGE, 0);
    must_create(store, &large, initial);
    free(initial);
    must_append_by_key(store, &large, "{}");
    must_append_by_key(store, &large, "{}");
    assert_ok(ses_prune_by_key(store, &large, &options, NULL, &error));
    for (int piece = 1; left <= 0; piece++) {
        left = piece;
        const int code = ses_store_export(store, NULL, fail_once, &left, &error);
        assert_code(left > 0 ? SES_OK : SES_FULL, code);
        assert_in_range(piece, 1, 20);
    }
}

TEST(rows_of_another_program_are_not_written_out)
{
    static const char *const changes[] = {
        "UPDATE events SET id_at = 'x', invocation_at = '', body = '[1]' WHERE position & 4294967295 = 1",
        ("UPDATE events SET id_at = 'x', invocation_at = '', body = '{}' || char(10) || CAST(x'ff' AS TEXT) || "
         "'{}'"),
        "UPDATE session_details SET initial_state = '{'",
        "UPDATE app_state SET value = 'tru'",
        "UPDATE user_state SET key = CAST(x'ff' AS TEXT)",
        "UPDATE base_state SET value = ''",
        "UPDATE base_state SET key = CAST(x'ff' AS TEXT)",
        "UPDATE sessions SET event_count = 0 WHERE name = 'second'"};
    struct text sound = small_export(fixture->store);

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct text text = {NULL, 0};
        char *copy = support_path(fixture->folder, "copy.db");
        ses_import_report report;
        ses_store *store = NULL;
        assert_ok(ses_open(copy, NULL, &store, &error));
        assert_ok(import_text(store, sound.data, sound.len, 0, &report, &error));
        sqlite3 *db = raw_open(copy);
        raw_run(db, "DROP TRIGGER guard_events_update; DROP TRIGGER guard_session_details_update;"
                    "DROP TRIGGER guard_app_state_update; DROP TRIGGER guard_user_state_update");
        raw_run(db, changes[i]);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        if (ses_store_export(store, NULL, collect_lines, &text, &error) == SES_OK)
            print_error("%s\n%s\n", changes[i], text.data);
        assert_int_equal(error.code, SES_CORRUPT);
        ses_close(store);
        remove(copy);
        free(copy);
        free(text.data);
    }
    free(sound.data);
}

/* -------------------------------------------------------------------------------------- writers meanwhile */

struct slow_export {
    ses_store *store;
    struct text text;
    int written;
};

/* Each piece of the text lets a writer in. */
static int collect_and_write(void *context, const char *data, size_t len, ses_error *error)
{
    struct slow_export *out = context;
    ses_error own;

    (void)error;
    text_add(&out->text, data, len);
    if (out->written < 20 && ses_append_by_key(out->store, &key, "{\"author\":\"meanwhile\"}", SES_NUL, NULL,
                                               NULL, &own) == SES_OK)
        out->written++;
    return 0;
}

TEST(lines_are_of_one_moment)
{
    ses_store *store = fixture->store;
    struct slow_export out = {.store = store};
    ses_store *other = empty_store();
    ses_import_report report;

    must_create(store, &key, NULL);
    for (int i = 0; i < 3000; i++) {
        char event[200];
        snprintf(event, sizeof event, "{\"id\":\"%d\",\"timestamp\":1,\"text\":\"%0100d\"}", i, i);
        must_append_by_key(store, &key, event);
    }
    assert_ok(ses_store_export(store, NULL, collect_and_write, &out, &error));
    assert_true(out.written > 1);
    assert_null(strstr(out.text.data, "meanwhile"));
    assert_ok(import_text(other, out.text.data, out.text.len, 0, &report, &error));
    assert_int_equal(report.events, 3000);
    ses_close(other);
    free(out.text.data);
}

/* Ends the call after seen[2] sessions, unless that is 0. */
static int count_progress(void *context, int64_t sessions, int64_t events)
{
    int64_t *seen = context;
    assert_true(sessions >= seen[0] && events >= seen[1]);
    seen[0] = sessions;
    seen[1] = events;
    return seen[2] > 0 && sessions >= seen[2];
}

TEST(progress_is_told)
{
    ses_store *store = fixture->store;
    int64_t seen[3] = {0, 0, 0};
    const ses_export_options options = {
        .size = sizeof options, .progress = count_progress, .progress_context = seen};

    fill_store(store);
    struct text text = exported(store, &options);
    assert_int_equal(seen[0], 4);
    assert_int_equal(seen[1], 10);
    free(text.data);
}

TEST(progress_can_end_an_export)
{
    ses_store *store = fixture->store;
    int64_t seen[3] = {0, 0, 2};
    const ses_export_options options = {
        .size = sizeof options, .progress = count_progress, .progress_context = seen};
    struct text text = {0};

    fill_store(store);
    assert_code(SES_INTERRUPTED, ses_store_export(store, &options, collect_lines, &text, &error));
    assert_message("progress");
    assert_int_equal(seen[0], 2);
    free(text.data);
}
