/*
 * A damaged store under calls in any order: the input says which bytes and values of a sound file are
 * replaced, and then which calls are made, with what. Each returns a code with a message, and none crashes or
 * goes on without end.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "fuzz.h"
#include "seslite_artifact.h"
#include "seslite_erase.h"
#include "seslite_search.h"
#include "seslite_usage.h"

enum { MAX_BYTES_REPLACED = 16, MAX_VALUES_REPLACED = 4, MAX_CALLS = 24 };

static const ses_key keys[] = {{"a", "u", "s"}, {"a", "u", "t"}, {"a", "v", "s"}, {"b", "u", "s"}};
enum { KEYS = sizeof keys / sizeof keys[0] };

/* ---------------------------------------------------------------------------------------- the sound store */

static int64_t fixed_clock(void *context)
{
    (void)context;
    return INT64_C(1700000000000000);
}

static ses_store *open_store(const char *path)
{
    const ses_open_options options = {.size = sizeof options,
                                      .synchronous = SES_SYNC_NORMAL,
                                      .busy_timeout_ms = 10,
                                      .clock = fixed_clock,
                                      .checkpoint = SES_CHECKPOINT_EXTERNAL};
    ses_store *store = NULL;
    ses_error error;
    int code = ses_open(path, &options, &store, &error);

    must_tell(code, &error);
    must((code >= 0) == (store != NULL));
    return store;
}

static void fill_session(ses_store *store, const ses_key *key)
{
    char event[512];
    int64_t version = 0;

    must(ses_create(store, key, "{\"app:k\":1,\"user:k\":[2],\"k\":\"three\"}", SES_NUL, NULL, NULL, NULL) ==
         SES_OK);
    for (int i = 1; i <= 6; i++) {
        snprintf(event, sizeof event,
                 "{\"id\":\"e%d\",\"invocationId\":\"i%d\",\"author\":\"user\",\"timestamp\":%d,"
                 "\"modelVersion\":\"m\",\"usageMetadata\":{\"totalTokenCount\":%d},"
                 "\"content\":{\"parts\":[{\"text\":\"some words %d\"}]},"
                 "\"actions\":{\"stateDelta\":{\"k%d\":%d,\"user:k\":%d,\"temp:t\":1}}}",
                 i, i / 2, 1700000000 + i, i, i, i % 3, i, i);
        must(ses_append_by_key(store, key, event, SES_NUL, NULL, NULL, NULL) == SES_OK);
    }
    must(ses_title_set_by_key(store, key, "A title", NULL, NULL) == SES_OK);
    must(ses_labels_set_by_key(store, key, (const ses_label[]){{"l", "v"}}, 1, NULL, NULL) == SES_OK);
    must(ses_artifact_save_by_key(store, key, "file", "some bytes", 10, NULL, &version, NULL) == SES_OK);
}

static void fill(const char *path)
{
    const ses_point last = {.size = sizeof last, .kind = SES_POINT_LAST_TURN};
    const ses_key fork = {"a", "u", "fork"};
    ses_store *store = open_store(path);
    ses_lease lease;

    must(store != NULL);
    for (size_t i = 0; i < KEYS; i++)
        fill_session(store, &keys[i]);
    must(ses_fork_by_key(store, &keys[0], &last, &fork, NULL, NULL, NULL) == SES_OK);
    must(ses_rewind_by_key(store, &keys[0], &last, NULL, NULL, NULL) == SES_OK);
    must(ses_lease_take(store, &keys[1], "owner", NULL, &lease, NULL) == SES_OK);
    must(ses_store_index(store, NULL, NULL, NULL) == SES_OK);
    must(ses_store_tally(store, NULL, NULL, NULL) == SES_OK);
    ses_close(store);
}

/* --------------------------------------------------------------------------------------------- the damage */

/* Replaces single bytes of the file. */
static void damage_bytes(struct fuzz_input *input, struct fuzz_file *file)
{
    for (size_t count = fuzz_take(input, 1) % MAX_BYTES_REPLACED; count > 0; count--) {
        size_t at = (size_t)fuzz_take(input, 3) % file->len;
        file->data[at] = (unsigned char)fuzz_take(input, 1);
    }
}

static void bind_value(sqlite3_stmt *statement, struct fuzz_input *input)
{
    static const int64_t numbers[] = {0, 1, -1, INT32_MAX, INT64_MAX, INT64_MIN, 1700000000000000};
    const unsigned kind = (unsigned)fuzz_take(input, 1);
    char text[64];

    if (kind % 4 == 0) {
        (void)sqlite3_bind_int64(statement, 1, numbers[kind / 4 % (sizeof numbers / sizeof numbers[0])]);
    } else if (kind % 4 == 1) {
        (void)sqlite3_bind_int64(statement, 1, (int64_t)fuzz_take(input, 8));
    } else {
        size_t len = fuzz_take_text(input, text, sizeof text);
        if (kind % 4 == 2)
            (void)sqlite3_bind_text(statement, 1, text, (int)len, SQLITE_TRANSIENT);
        else
            (void)sqlite3_bind_blob(statement, 1, text, (int)len, SQLITE_TRANSIENT);
    }
}

/* The columns of all tables of the store, as SQL that sets the value of one row. */
static const char find_column[] =
    "SELECT printf('UPDATE \"%w\" SET \"%w\" = ?1 WHERE _rowid_ = (SELECT _rowid_ FROM \"%w\" LIMIT 1 OFFSET %d)',"
    " t.name, c.name, t.name, ?2) FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS c"
    " WHERE t.type = 'table' AND NOT t.wr AND t.name NOT LIKE 'sqlite%' ORDER BY t.name, c.cid LIMIT 1 OFFSET ?1";

static void damage_value(sqlite3 *db, struct fuzz_input *input)
{
    sqlite3_stmt *find = NULL;
    sqlite3_stmt *change = NULL;

    if (sqlite3_prepare_v2(db, find_column, -1, &find, NULL) != SQLITE_OK)
        return;
    (void)sqlite3_bind_int(find, 1, (int)fuzz_take(input, 1) % 120);
    (void)sqlite3_bind_int(find, 2, (int)fuzz_take(input, 1) % 16);
    if (sqlite3_step(find) == SQLITE_ROW &&
        sqlite3_prepare_v2(db, (const char *)sqlite3_column_text(find, 0), -1, &change, NULL) == SQLITE_OK) {
        bind_value(change, input);
        (void)sqlite3_step(change);
    }
    (void)sqlite3_finalize(change);
    (void)sqlite3_finalize(find);
}

/* Replaces values of rows, as a program does that writes without the library and turns off the rules of the
 * schema. */
static void damage_values(struct fuzz_input *input, const char *path)
{
    sqlite3 *db = NULL;
    const size_t count = (size_t)fuzz_take(input, 1) % (MAX_VALUES_REPLACED + 1);

    if (count == 0)
        return;
    if (sqlite3_open(path, &db) == SQLITE_OK) {
        (void)sqlite3_exec(db, "PRAGMA ignore_check_constraints = 1; PRAGMA foreign_keys = 0", NULL, NULL,
                           NULL);
        (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
        for (size_t i = 0; i < count; i++)
            damage_value(db, input);
    }
    (void)sqlite3_close(db);
}

/* ---------------------------------------------------------------------------------------------- the calls */

struct drive {
    ses_store *store;
    const ses_key *key;
    struct fuzz_input *input;
    ses_error error;
};

typedef int call(struct drive *drive);

static ses_point point_of(struct drive *drive)
{
    const unsigned choice = (unsigned)fuzz_take(drive->input, 1);

    return choice % 4 == 0 ? (ses_point){.size = sizeof(ses_point), .kind = SES_POINT_LAST_TURN}
           : choice % 4 == 1
               ? (ses_point){.size = sizeof(ses_point), .kind = SES_POINT_INVOCATION, .id = "i1"}
               : (ses_point){.size = sizeof(ses_point), .kind = SES_POINT_SEQ, .seq = choice / 4};
}

static int read_session(struct drive *drive)
{
    ses_session *session = NULL;
    char *json = NULL;
    char *rendered = NULL;
    unsigned char live[64];
    int code = ses_get(drive->store, drive->key, NULL, &session, &drive->error);

    if (code != SES_OK)
        return code;
    code = ses_session_json(session, &json, NULL, &drive->error);
    ses_free(json);
    json = NULL;
    if (code == SES_OK)
        code = ses_session_markdown(session, NULL, &json, NULL, &drive->error);
    ses_free(json);
    if (code == SES_OK && ses_session_event_count(session) <= sizeof live)
        code = ses_session_live(session, NULL, live, sizeof live, &drive->error);
    if (code == SES_OK)
        code = ses_render(session, "{k} {user:k?} {app:k?}", SES_NUL, NULL, &rendered, NULL, &drive->error);
    ses_free(rendered);
    ses_session_close(session);
    return code;
}

static int walk(struct drive *drive)
{
    const ses_event *event = NULL;
    ses_cursor *cursor = NULL;
    int code = ses_cursor_open(drive->store, drive->key, NULL, &cursor, &drive->error);

    while (code >= 0 && (code = ses_cursor_next(cursor, &event, &drive->error)) == SES_ROW)
        ;
    return cursor ? ses_cursor_close(cursor, &drive->error) : code;
}

static int list(struct drive *drive)
{
    const unsigned order = (unsigned)fuzz_take(drive->input, 1);
    const ses_filter filter = {.size = sizeof filter, .label = "l"};
    ses_list_options options = {
        .size = sizeof options, .order = (int)(order % 4), .limit = 2, .filter = order & 4 ? &filter : NULL};
    ses_page *page = NULL;
    ses_page *next = NULL;
    int code = ses_list(drive->store, drive->key->app, order & 8 ? drive->key->user : NULL, &options, &page,
                        &drive->error);

    if (code == SES_OK && (options.token = ses_page_token(page)) != NULL)
        code = ses_list(drive->store, drive->key->app, order & 8 ? drive->key->user : NULL, &options, &next,
                        &drive->error);
    ses_page_close(next);
    ses_page_close(page);
    return code;
}

static int names(struct drive *drive)
{
    ses_names *apps = NULL;
    ses_names *users = NULL;
    int code = ses_list_apps(drive->store, NULL, &apps, &drive->error);

    if (code == SES_OK)
        code = ses_list_users(drive->store, drive->key->app, NULL, &users, &drive->error);
    ses_names_close(apps);
    ses_names_close(users);
    return code;
}

static int append(struct drive *drive)
{
    char value[64];
    char event[512];
    const int number = (int)fuzz_take(drive->input, 1);

    for (size_t i = 0, len = fuzz_take_text(drive->input, value, sizeof value); i <= len; i++)
        value[i] = i == len ? '\0' : (char)('a' + (unsigned char)value[i] % 26);
    snprintf(
        event, sizeof event,
        "{\"id\":\"e%d\",\"invocationId\":\"i%d\",\"timestamp\":%d,\"content\":{\"parts\":[{\"text\":\"%s\"}]},"
        "\"actions\":{\"stateDelta\":{\"k%d\":\"%s\",\"app:k\":%d}}}",
        number, number, 1700000000 + number, value, number % 3, value, number);
    return ses_append_by_key(drive->store, drive->key, event, SES_NUL, NULL, NULL, &drive->error);
}

static int rewind_session(struct drive *drive)
{
    const ses_point point = point_of(drive);
    return ses_rewind_by_key(drive->store, drive->key, &point, NULL, NULL, &drive->error);
}

static int redo(struct drive *drive)
{
    return ses_redo_by_key(drive->store, drive->key, NULL, NULL, &drive->error);
}

static int cut(struct drive *drive)
{
    const ses_point point = point_of(drive);
    return ses_cut_by_key(drive->store, drive->key, &point, NULL, NULL, &drive->error);
}

static int fork_session(struct drive *drive)
{
    const ses_point point = point_of(drive);
    const ses_key to = {drive->key->app, drive->key->user, "made"};
    return ses_fork_by_key(drive->store, drive->key, &point, &to, NULL, NULL, &drive->error);
}

static int state_as_of(struct drive *drive)
{
    const ses_point point = point_of(drive);
    char *json = NULL;
    int code =
        ses_state_json_as_of_by_key(drive->store, drive->key, &point, NULL, &json, NULL, &drive->error);

    ses_free(json);
    return code;
}

static int prune(struct drive *drive)
{
    const ses_prune_options options = {
        .size = sizeof options, .which = SES_PRUNE_KEEP, .keep = (int64_t)fuzz_take(drive->input, 1) % 8};
    return ses_prune_by_key(drive->store, drive->key, &options, NULL, &drive->error);
}

static int expire(struct drive *drive)
{
    const ses_expire_options options = {.size = sizeof options, .sessions_per_user = 1};
    return ses_store_expire(drive->store, drive->key->app, &options, NULL, &drive->error);
}

static int check(struct drive *drive)
{
    const ses_check_options options = {.size = sizeof options, .level = SES_CHECK_LOG};
    int64_t problems = 0;
    return ses_store_check(drive->store, &options, &problems, &drive->error);
}

static int maintain(struct drive *drive)
{
    ses_space space = {.size = sizeof space};
    int code = ses_store_maintain(drive->store, NULL, &drive->error);
    return code >= 0 ? ses_store_space(drive->store, NULL, &space, &drive->error) : code;
}

static int drop(void *context, const char *data, size_t len, ses_error *error)
{
    (void)context, (void)data, (void)len, (void)error;
    return 0;
}

static int export(struct drive *drive)
{
    return ses_store_export(drive->store, NULL, drop, NULL, &drive->error);
}

static int search(struct drive *drive)
{
    ses_hits *hits = NULL;
    int code = ses_store_search(drive->store, drive->key, "words", SES_NUL, NULL, &hits, &drive->error);

    ses_hits_close(hits);
    return code;
}

static int make_index(struct drive *drive)
{
    const ses_index_options options = {.size = sizeof options,
                                       .flags = (unsigned)fuzz_take(drive->input, 1) % 3};
    return ses_store_index(drive->store, &options, NULL, &drive->error);
}

static int usage(struct drive *drive)
{
    const ses_usage_options options = {
        .size = sizeof options, .flags = (unsigned)fuzz_take(drive->input, 1) & 0x1F, .limit = 3};
    ses_usage_rows *rows = NULL;
    int code = ses_store_usage(drive->store, NULL, &options, &rows, &drive->error);

    ses_usage_rows_close(rows);
    return code;
}

static int make_tally(struct drive *drive)
{
    const ses_tally_options options = {.size = sizeof options,
                                       .flags = (unsigned)fuzz_take(drive->input, 1) % 3};
    return ses_store_tally(drive->store, &options, NULL, &drive->error);
}

static int redact(struct drive *drive)
{
    const ses_redact_options options = {.size = sizeof options,
                                        .flags = (unsigned)fuzz_take(drive->input, 1) &
                                                 (SES_REDACT_STATE | SES_REDACT_FORKS)};
    return ses_redact_by_key(drive->store, drive->key, NULL, 0, &options, NULL, &drive->error);
}

/* One letter, which names hold, too. */
static int find_letter(void *context, const char *text, size_t len, size_t from, size_t *begin, size_t *end,
                       ses_error *error)
{
    const char *at = memchr(text + from, *(const char *)context, len - from);
    (void)error;

    if (!at)
        return 0;
    *begin = (size_t)(at - text);
    *end = *begin + 1;
    return 1;
}

static int redact_names(struct drive *drive)
{
    static const char letters[] = "klmtuv12";
    const unsigned chosen = (unsigned)fuzz_take(drive->input, 1);
    char letter = letters[chosen % (sizeof letters - 1)];
    const ses_redact_options options = {.size = sizeof options,
                                        .flags = SES_REDACT_STATE | SES_REDACT_NAMES |
                                                 (chosen & 0x80 ? SES_SECURE : 0) |
                                                 (chosen & 0x40 ? SES_REDACT_FORKS : 0),
                                        .text = "[x]",
                                        .find = find_letter,
                                        .find_context = &letter};
    return ses_redact_by_key(drive->store, drive->key, NULL, 0, &options, NULL, &drive->error);
}

/* All pages, to the end. */
static int find(struct drive *drive)
{
    const unsigned chosen = (unsigned)fuzz_take(drive->input, 1);
    const ses_key user = {drive->key->app, drive->key->user, NULL};
    const ses_key *const scopes[] = {NULL, drive->key, &user};
    ses_find_options options = {.size = sizeof options, .limit = 1 + chosen / 4 % 8};
    char token[12 * SES_ID_MAX] = "";
    int code = SES_OK;
    int pages = 0;

    do {
        ses_findings *page = NULL;
        options.token = token[0] ? token : NULL;
        code = ses_store_find(drive->store, scopes[chosen % 3], chosen & 0x80 ? "s" : "k", 1, &options, &page,
                              &drive->error);
        snprintf(token, sizeof token, "%s", page && ses_findings_token(page) ? ses_findings_token(page) : "");
        ses_findings_close(page);
        must(++pages < 5000);
    } while (code == SES_OK && token[0]);
    return code;
}

static int read_artifact(struct drive *drive)
{
    ses_artifact_list *versions = NULL;
    ses_artifact *artifact = NULL;
    char buffer[64];
    size_t len = 0;
    int code = ses_artifact_versions_by_key(drive->store, drive->key, "file", NULL, &versions, &drive->error);

    ses_artifact_list_close(versions);
    if (code == SES_OK)
        code = ses_artifact_open_by_key(drive->store, drive->key, "file", NULL, &artifact, &drive->error);
    if (code == SES_OK)
        code = ses_artifact_read(artifact, 0, buffer, sizeof buffer, &len, &drive->error);
    ses_artifact_close(artifact);
    return code;
}

static int save_artifact(struct drive *drive)
{
    int64_t version = 0;
    return ses_artifact_save_by_key(drive->store, drive->key, "file", "other", 5, NULL, &version,
                                    &drive->error);
}

static int delete_artifact(struct drive *drive)
{
    return ses_artifact_delete_by_key(drive->store, drive->key, "file", NULL, NULL, &drive->error);
}

static int label(struct drive *drive)
{
    int code = ses_labels_set_by_key(drive->store, drive->key, (const ses_label[]){{"l", NULL}, {"m", "w"}},
                                     2, NULL, &drive->error);
    return code >= 0 ? ses_title_set_by_key(drive->store, drive->key, NULL, NULL, &drive->error) : code;
}

static int lease(struct drive *drive)
{
    const ses_lease_options options = {.size = sizeof options, .wait_ms = -1};
    ses_lease taken;
    return ses_lease_take(drive->store, drive->key, "other", &options, &taken, &drive->error);
}

static int follow(struct drive *drive)
{
    const ses_event *event = NULL;
    ses_follower *follower = NULL;
    int code = ses_follower_open(drive->store, drive->key, NULL, &follower, &drive->error);

    for (int i = 0; code >= 0 && i < 20; i++)
        if ((code = ses_follower_next(follower, 0, &event, &drive->error)) == 0)
            break;
    ses_follower_close(follower);
    return code;
}

static int change_shared(struct drive *drive)
{
    return ses_shared_state_change(drive->store, drive->key->app, drive->key->user, "{\"k\":5,\"l\":null}",
                                   SES_NUL, NULL, &drive->error);
}

static int pending(struct drive *drive)
{
    ses_pending *calls = NULL;
    int code = ses_pending_open_by_key(drive->store, drive->key, NULL, &calls, &drive->error);

    ses_pending_close(calls);
    return code;
}

static int context(struct drive *drive)
{
    const ses_context_options budget = {
        .size = sizeof budget, .flags = SES_CONTEXT_FIRST_TURN, .max_turns = 2};
    ses_context *contents = NULL;
    int code = ses_context_open_by_key(drive->store, drive->key, NULL, &contents, &drive->error);

    ses_context_close(contents);
    contents = NULL;
    if (code == SES_OK)
        code = ses_context_open_by_key(drive->store, drive->key, &budget, &contents, &drive->error);
    ses_context_close(contents);
    return code;
}

static int delete_one(struct drive *drive)
{
    return ses_delete(drive->store, drive->key, NULL, NULL, &drive->error);
}

static int delete_user(struct drive *drive)
{
    return ses_delete_user(drive->store, drive->key->app, drive->key->user, NULL, NULL, NULL, &drive->error);
}

static int create(struct drive *drive)
{
    return ses_create(drive->store, drive->key, "{\"k\":1,\"app:k\":2}", SES_NUL, NULL, NULL, &drive->error);
}

static call *const calls[] = {
    read_session, walk,     list,          names,         append,          rewind_session,
    redo,         cut,      fork_session,  state_as_of,   prune,           expire,
    check,        maintain, export,        search,        make_index,      usage,
    make_tally,   redact,   read_artifact, save_artifact, delete_artifact, label,
    lease,        follow,   change_shared, pending,       context,         delete_one,
    delete_user,  create,   find,          redact_names};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* Damage may make a call fail, but with one of the library's codes and a message. */
static void drive_calls(ses_store *store, struct fuzz_input *input)
{
    struct drive drive = {.store = store, .input = input};

    for (int i = 0; i < MAX_CALLS && input->at < input->size; i++) {
        const size_t choice = (size_t)fuzz_take(input, 1);
        drive.key = &keys[fuzz_take(input, 1) % KEYS];
        drive.error = (ses_error){.code = 0};
        int code = calls[choice % CALLS](&drive);
        must_tell(code, &drive.error);
        must(code != SES_MISUSE && code != SES_NOMEM);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_file sound;
    struct fuzz_input input = {data, size, 0};
    struct fuzz_file file = {NULL, 0};
    const char *path = fuzz_path("store.db");

    if (!sound.data) {
        fuzz_remove(path);
        fill(path);
        sound = fuzz_file_read(path);
    }
    file = (struct fuzz_file){fuzz_copy(sound.data, sound.len), sound.len};
    damage_bytes(&input, &file);
    fuzz_remove(path);
    fuzz_file_write(path, file.data, file.len);
    damage_values(&input, path);
    ses_store *store = open_store(path);
    if (store)
        drive_calls(store, &input);
    ses_close(store);
    fuzz_remove(path);
    free(file.data);
    return 0;
}
