/*
 * A store that has everything is changed behind the library's back, one value or row at a time: every check
 * must find it, but for the changes that are listed as meaning nothing.
 */
#include "../session/history.h"
#include "../check.h"
#include "seslite_draft.h"
#include "seslite_inbox.h"

/* ------------------------------------------------------------------------------------------- the store */

static const ses_key full = {"app", "user", "full"};
static const ses_key forked = {"app", "user", "forked"};
static const ses_key pruned = {"app", "other", "pruned"};
static const ses_key plain = {"app", "other", "plain"};
static const ses_key gone = {"app", "user", "gone"};

static void annotate(ses_store *store)
{
    static const ses_label labels[] = {{"kind", "a"}, {"team", ""}};
    const int64_t expires = INT64_C(1900000000000000);
    ses_lease lease;
    ses_error error;

    assert_ok(ses_title_set_by_key(store, &full, "A title", NULL, &error));
    assert_ok(ses_labels_set_by_key(store, &full, labels, 2, NULL, &error));
    assert_ok(ses_title_set_by_key(store, &pruned, "Another", NULL, &error));
    assert_ok(ses_expiry_set_by_key(store, &pruned, &expires, NULL, &error));
    assert_ok(ses_lease_take(store, &full, "owner", NULL, &lease, &error));
    assert_ok(ses_lease_take(store, &plain, "owner", NULL, &lease, &error));
    assert_ok(ses_draft_set(store, &full, "a draft", SES_NUL, NULL, &error));
    assert_ok(ses_inbox_add(store, &full, "request", "{\"x\":1}", SES_NUL, NULL, &error));
    assert_ok(ses_shared_state_change(store, "app", NULL, Q("{'config':1}"), SES_NUL, NULL, &error));
    assert_ok(ses_shared_state_change(store, "empty", NULL, Q("{'config':1}"), SES_NUL, NULL, &error));
    assert_ok(ses_shared_state_change(store, "app", "nobody", Q("{'lang':'en'}"), SES_NUL, NULL, &error));
}

static void say(ses_store *store, const ses_key *of, int from, int to)
{
    char event[400];

    for (int i = from; i <= to; i++) {
        snprintf(event, sizeof event,
                 "{\"id\":\"%s-%d\",\"invocationId\":\"i%d\",\"author\":\"user\",\"branch\":\"b\","
                 "\"timestamp\":%d,"
                 "\"content\":{\"parts\":[{\"text\":\"x\"}]},\"actions\":{\"stateDelta\":{\"k%d\":%d,"
                 "\"app:%s-%d\":%d,\"user:%s-%d\":1}}}",
                 of->session, i, i, 1700000000 + (i == 2 ? -5 : i), i % 3, i, of->session, i % 2, i,
                 of->session, i % 3);
        must_append_by_key(store, of, event);
    }
}

static void make_everything(ses_store *store)
{
    const ses_prune_options some = {.size = sizeof some, .which = SES_PRUNE_SEQ, .last_seq = 3};
    ses_error error;

    must_create(store, &full, Q("{'i':1,'k0':0,'app:init':1,'user:init':2}"));
    must_create(store, &pruned, Q("{'i':1,'app:p':1}"));
    must_create(store, &plain, NULL);
    must_create(store, &gone, Q("{'app:of gone':1}"));
    say(store, &gone, 1, 2);
    must_delete(store, &gone);
    say(store, &full, 1, 5);
    must_append_by_key(store, &full,
                       Q("{'id':'\\u0063','author':'a','timestamp':1700000100,'actions':{'compaction':{"
                         "'startTimestamp':1,'endTimestamp':2,'compactedContent':{}}}}"));
    must_rewind(store, &full, AFTER_SEQ(4));
    assert_ok(ses_redo_by_key(store, &full, NULL, NULL, &error));
    assert_ok(ses_fork_by_key(store, &full, AFTER_SEQ(7), &forked, NULL, NULL, &error));
    say(store, &forked, 8, 9);
    say(store, &full, 9, 10);
    assert_ok(ses_cut_by_key(store, &full, AFTER_SEQ(9), NULL, NULL, &error));
    say(store, &full, 11, 12);
    say(store, &pruned, 1, 6);
    assert_ok(ses_prune_by_key(store, &pruned, &some, NULL, &error));
    annotate(store);
}

/* ----------------------------------------------------------------------------------------- the changes */

static const struct {
    const char *name;
    const char *key;
} tables[] = {{"apps", "id"},
              {"users", "id"},
              {"sessions", "id"},
              {"version_floor", "id"},
              {"session_details", "session_id"},
              {"session_labels", "session_id, name"},
              {"session_leases", "token"},
              {"session_drafts", "session_id"},
              {"session_inbox", "id"},
              {"app_state", "app_id, key"},
              {"user_state", "user_id, key"},
              {"session_state", "session_id, key"},
              {"base_state", "session_id, key"},
              {"events", "position"},
              {"event_marks", "session_id, seq"},
              {"sqlite_sequence", "name"}};

/* The new value of a column; %s is its name. */
static const struct {
    const char *name;
    const char *value;
    bool is_text; /* else a number */
} ways[] = {
    {"more", "%s + 1", false},
    {"much more", "%s + 7200000000", false},
    {"less", "%s - 1", false},
    {"negative", "-5 - %s", false},
    {"other", "%s || 'x'", true},
    {"good", "'77'", true}, /* only of a value */
    {"reworded", "replace(%s, '\"x\"', '\"y\"')", true},
    {"empty", "substr(%s, 1, 0)", true},
    {"long", "printf('%%.2000c', 'x') || substr(%s, 1, 0)", true},
    {"torn", "CAST(x'ff' AS TEXT) || %s", true},
    {"null", "nullif(%s, %s)", false},
    {"null", "nullif(%s, %s)", true},
    {"set", "coalesce(%s, 5)", false},
    {"set", "coalesce(%s, 'x')", true},
};

/*
 * Changes that no check can find, since the store is a good one after them, too; where `rows` holds (NULL: in
 * all rows), of the row as it was.
 */
static const struct {
    const char *change;
    const char *rows;
} meaningless[] = {
    /* Names and texts are what the application says. */
    {"apps.name other", NULL},
    {"users.name other", NULL},
    {"sessions.name other", NULL},
    {"sessions.details much more", NULL}, /* bits of a later version */
    {"session_details.title other", NULL},
    {"session_details.parent_user other", NULL}, /* the parent may have been deleted */
    {"session_details.parent_session other", NULL},
    /* A random number. All others that had it may have been deleted, and so may a fork of one that has
     * none. */
    {"session_details.origin set", NULL},
    {"session_details.origin more", NULL},
    {"session_details.origin much more", NULL},
    {"session_details.origin less", NULL},
    {"session_details.origin null", NULL},
    {"session_labels.name other", NULL},
    {"session_labels.value other", NULL},
    {"session_labels.value empty", NULL},
    {"session_labels.value good", NULL},
    {"session_leases.owner other", NULL},
    {"events.body reworded", NULL},

    /* It may have been set, added or removed by a call. */
    {"sessions.expires_us more", NULL},
    {"sessions.expires_us much more", NULL},
    {"sessions.expires_us less", NULL},
    {"sessions.expires_us negative", NULL},
    {"sessions.expires_us null", NULL},
    {"sessions.expires_us set", NULL},
    {"sessions.changed_us more", NULL},
    {"sessions.changed_us much more", NULL},
    {"sessions.changed_us less", NULL},
    {"sessions.ahead_hour set", NULL}, /* it is only to be early enough */
    {"session_labels deleted",
     "(SELECT count(*) FROM sound.session_labels AS l WHERE l.session_id = r.session_id) > 1"},
    {"session_labels doubled", NULL},
    {"session_leases deleted", NULL},
    {"session_leases.session_id more", "r.session_id + 1 IN (SELECT id FROM sessions)"},
    {"session_leases.session_id less", "r.session_id - 1 IN (SELECT id FROM sessions)"},
    {"session_leases.taken_us more", NULL},
    {"session_leases.taken_us much more", NULL},
    {"session_leases.taken_us less", NULL},
    {"session_leases.taken_us negative", NULL},
    {"session_leases.until_us more", NULL},
    {"session_leases.until_us much more", NULL},
    {"session_leases.until_us less", NULL},
    {"session_leases.until_us negative", NULL},
    {"session_inbox deleted", NULL},
    {"session_inbox.id more", NULL},
    {"session_inbox.id much more", NULL},
    {"session_inbox.session_id more", "r.session_id + 1 IN (SELECT id FROM sessions)"},
    {"session_inbox.request other", NULL},
    {"session_inbox.added_us more", NULL},
    {"session_inbox.added_us much more", NULL},
    {"session_inbox.added_us less", NULL},
    {"session_inbox.added_us negative", NULL},
    {"session_inbox.body reworded", NULL},
    {"session_drafts deleted", NULL},
    {"session_drafts.session_id more", "r.session_id + 1 IN (SELECT id FROM sessions)"},
    {"session_drafts.updated_us more", NULL},
    {"session_drafts.updated_us much more", NULL},
    {"session_drafts.updated_us less", NULL},
    {"session_drafts.updated_us negative", NULL},
    {"session_drafts.body other", NULL},
    {"session_drafts.body empty", NULL},
    {"session_drafts.body long", NULL},
    {"app_state deleted", NULL},
    {"user_state deleted", NULL},
    {"apps doubled", NULL},  /* without users */
    {"users doubled", NULL}, /* without sessions */
    {"users.app_id more", "r.name = 'nobody'"},
    {"sessions doubled", "r.name = 'plain'"}, /* nothing else tells of it */
    {"sessions.user_id more", "r.name = 'plain'"},
    {"sessions.user_id less", "r.name = 'plain'"},

    /* Where versions and numbers begin, and what was cut or deleted, is not known any more. */
    {"sessions.version more", NULL},
    {"sessions.version much more", NULL},
    {"sessions.version less", "r.version > 0"},
    {"sessions.last_seq more", NULL},
    {"version_floor.floor more", NULL},
    {"version_floor.floor much more", NULL},
    {"version_floor.floor less", "r.floor > 0"},
    {"sqlite_sequence.seq more", NULL},
    {"sqlite_sequence.seq much more", NULL},

    /* Times before the first event; a session that was loaded may have been updated after its last event. */
    {"sessions.created_us less", NULL},
    {"sessions.created_us negative", NULL},
    {"sessions.created_us more", "r.updated_us > r.created_us"},
    {"sessions.updated_us more", NULL},

    /* A fork inherits times, and when the parent was changed in between is not known. */
    {"session_details.parent_seq more", NULL},
    {"session_details.parent_seq less", NULL},
    {"events.high_us more", "r.session_id = (SELECT id FROM sessions WHERE name = 'forked')"},

    /* Shared state that was set by the application itself, or by a session that was deleted; or that now says
     * so. */
    {"app_state.key other", "r.session_id NOT IN (SELECT id FROM sessions)"},
    {"app_state.key empty", "r.session_id NOT IN (SELECT id FROM sessions)"},
    {"app_state.value good", "r.session_id NOT IN (SELECT id FROM sessions)"},
    {"app_state doubled", "r.session_id NOT IN (SELECT id FROM sessions)"},
    {"app_state.app_id more", "r.session_id NOT IN (SELECT id FROM sessions)"},
    {"app_state.seq more", "r.session_id NOT IN (SELECT id FROM sessions)"},
    {"app_state.seq much more", "r.session_id NOT IN (SELECT id FROM sessions)"},
    {"app_state.seq less", "r.session_id NOT IN (SELECT id FROM sessions)"},
    {"app_state.session_id less", "r.session_id - 1 NOT IN (SELECT id FROM sessions)"},
    {"user_state.key other", "r.session_id NOT IN (SELECT id FROM sessions)"},
    {"user_state.key empty", "r.session_id NOT IN (SELECT id FROM sessions)"},
    {"user_state.value good", "r.session_id NOT IN (SELECT id FROM sessions)"},
    {"user_state doubled", "r.session_id NOT IN (SELECT id FROM sessions)"},
    {"user_state.user_id more", "r.session_id NOT IN (SELECT id FROM sessions)"},
    {"user_state.user_id less", "r.session_id NOT IN (SELECT id FROM sessions)"},
    {"user_state.seq more", "r.session_id NOT IN (SELECT id FROM sessions)"},
    {"user_state.seq much more", "r.session_id NOT IN (SELECT id FROM sessions)"},
    {"user_state.seq less", "r.session_id NOT IN (SELECT id FROM sessions)"},
    {"user_state.session_id less", "r.session_id - 1 NOT IN (SELECT id FROM sessions)"},
    /* The event was cut, which shared state survives. */
    {"user_state.key other", "r.key = 'full-1'"},
    {"user_state.key empty", "r.key = 'full-1'"},
    {"user_state doubled", "r.key = 'full-1'"},
    {"user_state.value good", "r.key = 'full-1'"},
    {"app_state.seq less", "r.seq - 1 = 10 AND r.session_id = 1"},
    {"user_state.seq less", "r.seq - 1 = 10 AND r.session_id = 1"},
    /* The event was pruned, and may have been cut before. */
    {"app_state.seq more", "r.seq < (SELECT base_seq FROM sessions AS s WHERE s.id = r.session_id)"},
    {"user_state.seq less", "r.seq - 1 <= (SELECT base_seq FROM sessions AS s WHERE s.id = r.session_id)"},

    /* Later events, or other sessions, have replaced what pruned events had set. */
    {"base_state deleted", "r.key <> 'i'"},
    {"base_state doubled", "r.seq > 0 AND r.key LIKE '%:%'"},
    {"base_state.value good", "r.seq > 0"},
    {"base_state.key other", "r.seq > 0"},
    {"base_state.seq more", "r.key <> 'i'"},
    {"base_state.seq less", "r.key <> 'i'"},
};

enum { MEANINGLESS = sizeof meaningless / sizeof meaningless[0], WAYS = sizeof ways / sizeof ways[0] };

struct tampering {
    sqlite3 *db; /* with a copy of the store as it was, `sound` */
    ses_store *store;
    const char *table;
    const char *key;
    int row;
    int changes;
    int unfound;
    bool used[MEANINGLESS];
};

static int64_t number_of(sqlite3 *db, const char *sql)
{
    struct text text = {NULL, 0};
    raw_query(db, sql, &text);
    int64_t number = atoll(text.data);
    free(text.data);
    return number;
}

static bool is_meaningless(struct tampering *tampering, const char *change)
{
    char sql[1000];
    bool is = false;

    for (size_t i = 0; i < MEANINGLESS && !is; i++) {
        if (strcmp(meaningless[i].change, change) != 0)
            continue;
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM (SELECT * FROM sound.%s ORDER BY %s LIMIT 1 OFFSET %d) AS r WHERE %s",
                 tampering->table, tampering->key, tampering->row,
                 meaningless[i].rows ? meaningless[i].rows : "1");
        is = number_of(tampering->db, sql) == 1;
        tampering->used[i] = tampering->used[i] || is;
    }
    return is;
}

static void restore(const struct tampering *tampering)
{
    char sql[400];
    snprintf(sql, sizeof sql,
             "DELETE FROM main.%s; INSERT INTO main.%s SELECT * FROM sound.%s;"
             "DELETE FROM main.sqlite_sequence; INSERT INTO main.sqlite_sequence SELECT * FROM "
             "sound.sqlite_sequence",
             tampering->table, tampering->table, tampering->table);
    raw_run(tampering->db, sql);
}

/* A change that the schema does not permit does not count. */
static void tamper(struct tampering *tampering, const char *change, const char *sql)
{
    int64_t problems = 0;
    ses_error error;
    int rc = sqlite3_exec(tampering->db, sql, NULL, NULL, NULL);

    if ((rc & 0xFF) == SQLITE_CONSTRAINT || rc == SQLITE_MISMATCH)
        return;
    if (rc != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(tampering->db));
    if (sqlite3_changes(tampering->db) == 0)
        return;
    tampering->changes++;
    const ses_check_options options = {.size = sizeof options, .level = SES_CHECK_LOG};
    assert_ok(ses_store_check(tampering->store, &options, &problems, &error));
    if (problems == 0 && !is_meaningless(tampering, change)) {
        print_error("not found: %s (row %d): %s\n", change, tampering->row, sql);
        tampering->unfound++;
    }
    restore(tampering);
}

static void tamper_value(struct tampering *tampering, const char *column, bool is_text, const char *where)
{
    for (size_t i = 0; i < WAYS; i++) {
        char value[300];
        char change[100];
        char sql[1500];
        if (ways[i].is_text != is_text || (strcmp(ways[i].name, "good") == 0 && strcmp(column, "value") != 0))
            continue;
        snprintf(value, sizeof value, ways[i].value, column, column);
        snprintf(change, sizeof change, "%s.%s %s", tampering->table, column, ways[i].name);
        snprintf(sql, sizeof sql, "UPDATE main.%s SET %s = %s WHERE %s AND %s IS NOT (%s)", tampering->table,
                 column, value, where, column, value);
        tamper(tampering, change, sql);
    }
}

/* Under another key, and another name where names are unique. */
static const char *copied_value(const struct tampering *tampering, const char *column, char out[64])
{
    static const char *const numbers[] = {"apps.id",
                                          "users.id",
                                          "sessions.id",
                                          "events.id_key",
                                          "session_leases.token",
                                          "events.position",
                                          "session_details.session_id",
                                          "session_leases.session_id",
                                          "session_inbox.id",
                                          "event_marks.seq"};
    static const char *const texts[] = {"apps.name",           "users.name",    "sessions.name",
                                        "session_labels.name", "app_state.key", "user_state.key",
                                        "session_state.key",   "base_state.key"};
    char name[64];

    snprintf(name, sizeof name, "%s.%s", tampering->table, column);
    snprintf(out, 64, "%s", column);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(name, numbers[i]) == 0)
            snprintf(out, 64, "%s + 1000", column);
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(name, texts[i]) == 0)
            snprintf(out, 64, "%s || 'z'", column);
    }
    return out;
}

static void tamper_row(struct tampering *tampering)
{
    struct text values = {NULL, 0};
    char about[200];
    char where[400];
    char change[100];
    char sql[2000];
    sqlite3_stmt *column = NULL;

    snprintf(where, sizeof where, "(%s) = (SELECT %s FROM sound.%s ORDER BY %s LIMIT 1 OFFSET %d)",
             tampering->key, tampering->key, tampering->table, tampering->key, tampering->row);
    snprintf(about, sizeof about, "SELECT name FROM pragma_table_info('%s')", tampering->table);
    assert_int_equal(sqlite3_prepare_v2(tampering->db, about, -1, &column, NULL), SQLITE_OK);
    while (sqlite3_step(column) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(column, 0);
        char out[64];
        snprintf(
            sql, sizeof sql,
            "SELECT CASE typeof(%s) WHEN 'text' THEN 1 WHEN 'integer' THEN 0 ELSE (SELECT type <> 'INTEGER' "
            "FROM pragma_table_info('%s') WHERE name = '%s') END FROM sound.%s ORDER BY %s LIMIT 1 OFFSET %d",
            name, tampering->table, name, tampering->table, tampering->key, tampering->row);
        tamper_value(tampering, name, number_of(tampering->db, sql) != 0, where);
        text_printf(&values, "%s%s", values.len ? ", " : "", copied_value(tampering, name, out));
    }
    sqlite3_finalize(column);
    snprintf(sql, sizeof sql, "DELETE FROM main.%s WHERE %s", tampering->table, where);
    snprintf(change, sizeof change, "%s deleted", tampering->table);
    tamper(tampering, change, sql);
    snprintf(sql, sizeof sql, "INSERT INTO main.%s SELECT %s FROM main.%s WHERE %s", tampering->table,
             values.data, tampering->table, where);
    snprintf(change, sizeof change, "%s doubled", tampering->table);
    tamper(tampering, change, sql);
    free(values.data);
}

TEST(every_change_is_found)
{
    struct tampering tampering = {.store = fixture->store};
    char *copy = support_path(fixture->folder, "sound.db");
    char sql[1100];

    make_everything(fixture->store);
    assert_no_problems(fixture->store);
    assert_ok(ses_store_backup(fixture->store, copy, NULL, &error));
    tampering.db = raw_open(fixture->path);
    raw_run(tampering.db, SUPPORT_DROP_VIEWS);
    sqlite3_db_config(tampering.db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    snprintf(sql, sizeof sql, "PRAGMA synchronous = OFF; ATTACH '%s' AS sound", copy);
    raw_run(tampering.db, sql);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        tampering.table = tables[i].name;
        tampering.key = tables[i].key;
        snprintf(sql, sizeof sql, "SELECT count(*) FROM sound.%s", tables[i].name);
        const int rows = (int)number_of(tampering.db, sql);
        assert_true(rows > 0);
        for (tampering.row = 0; tampering.row < rows; tampering.row++)
            tamper_row(&tampering);
    }
    assert_int_equal(sqlite3_close(tampering.db), SQLITE_OK);
    assert_no_problems(fixture->store);
    free(copy);
    if (tampering.unfound)
        fail_msg("%d of %d changes were not found", tampering.unfound, tampering.changes);
    assert_true(tampering.changes > 1000);
    for (size_t i = 0; i < MEANINGLESS; i++) {
        if (!tampering.used[i])
            fail_msg("found after all: %s", meaningless[i].change);
    }
}
