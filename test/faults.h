/* Runs the scenes of scenario.h: steps that may fail, the result at the end, a store to begin with. */
#ifndef SESLITE_TEST_FAULTS_H
#define SESLITE_TEST_FAULTS_H

#include <sqlite3.h>

#include "fault_calls.h"
#include "seslite_artifact.h"
#include "seslite_search.h"
#include "seslite_usage.h"
#include "support.h"

enum scene {
    SCENE_OPENING,
    SCENE_HANDLES,
    SCENE_READS,
    SCENE_LISTS,
    SCENE_LABELS,
    SCENE_HISTORY,
    SCENE_RETENTION,
    SCENE_ERASURE,
    SCENE_REDACTION,
    SCENE_LEASES,
    SCENE_DRAFTS,
    SCENE_INBOX,
    SCENE_FOLLOWING,
    SCENE_LOADING,
    SCENE_LINES,
    SCENE_UPKEEP,
    SCENE_ARTIFACTS,
    SCENE_LONG_ARTIFACT,
    SCENE_FORMS,
    SCENE_INDEX,
    SCENE_FINDING,
    SCENE_NAMES,
    SCENE_MEMORY,
    SCENE_FAMILY,
    SCENES
};

struct faults;

/* Hooks around a scene and each of its steps. */
struct faults_hooks {
    void (*opened)(struct faults *faults, ses_store *store);
    void (*begin_step)(struct faults *faults, const char *call);
    void (*end_step)(struct faults *faults, const char *call, int code);
    void (*played)(struct faults *faults, ses_store *store);
};

struct faults {
    bool (*expected)(int code); /* may a step fail so? */
    const ses_allocator *allocator;
    const char *path;
    const struct faults_hooks *hooks; /* NULL: none */
    enum scene scene;
    int steps;        /* begun, but for opening, which is left to its own scene */
    bool retrying;    /* what is done is part of the step before */
    int failures;     /* steps that failed */
    char dump[4096];  /* what the store held in the end */
    char wrong[1024]; /* the first thing that was not as it should be */
};

static void faults_complain(struct faults *faults, const char *step, int code, const ses_error *error)
{
    if (!faults->wrong[0])
        snprintf(faults->wrong, sizeof faults->wrong, "%s: %s %s", step, ses_code_name(code), error->message);
}

/* Looks at a failed step, and lifts the fault. */
static void faults_failed(struct faults *faults, const char *step, int code, const ses_error *error)
{
    faults->failures++;
    if (!faults->expected(code) || error->code != code || error->message[0] == '\0')
        faults_complain(faults, step, code, error);
    fault_lift();
}

static void faults_begin_step(struct faults *faults, const char *call)
{
    if (!faults->retrying)
        fault_begin_step(faults->steps++);
    if (faults->hooks && !faults->retrying)
        faults->hooks->begin_step(faults, call);
}

static void faults_end_step(struct faults *faults, const char *call, int code)
{
    if (faults->hooks && !faults->retrying)
        faults->hooks->end_step(faults, call, code);
}

#define STEP(wanted, call)                                 \
    do {                                                   \
        faults_begin_step(faults, #call);                  \
        int code_ = (call);                                \
        faults_end_step(faults, #call, code_);             \
        if (code_ < 0 && code_ != (wanted)) {              \
            faults_failed(faults, #call, code_, &error);   \
            code_ = (call);                                \
        }                                                  \
        if (code_ != (wanted))                             \
            faults_complain(faults, #call, code_, &error); \
    } while (0)

static int64_t faults_clock(void *context)
{
    (void)context;
    return INT64_C(1700000000000000);
}

/* The sessions of the scenes, and whether they are there at the end. */
static const struct {
    enum scene scene;
    int found;
    ses_key key;
} faults_left[] = {{SCENE_HANDLES, SES_OK, {"app", "user", "one"}},
                   {SCENE_READS, SES_OK, {"app", "user", "two"}},
                   {SCENE_READS, SES_OK, {"app", "user", "three"}},
                   {SCENE_LISTS, SES_OK, {"app", "user", "one"}},
                   {SCENE_LISTS, SES_NOTFOUND, {"app", "user", "two"}},
                   {SCENE_LISTS, SES_NOTFOUND, {"app", "other", "three"}},
                   {SCENE_LABELS, SES_OK, {"app", "labels", "one"}},
                   {SCENE_LABELS, SES_OK, {"app", "labels", "two"}},
                   {SCENE_HISTORY, SES_OK, {"app", "history", "h"}},
                   {SCENE_HISTORY, SES_OK, {"app", "history", "copy"}},
                   {SCENE_RETENTION, SES_OK, {"kept", "user", "kept"}},
                   {SCENE_RETENTION, SES_NOTFOUND, {"kept", "user", "expiring"}},
                   {SCENE_ERASURE, SES_OK, {"kept", "user", "kept"}},
                   {SCENE_ERASURE, SES_NOTFOUND, {"kept", "user", "pruned"}},
                   {SCENE_ERASURE, SES_NOTFOUND, {"short", "user", "other"}},
                   {SCENE_REDACTION, SES_OK, {"app", "user", "redacted"}},
                   {SCENE_LEASES, SES_OK, {"app", "user", "leased"}},
                   {SCENE_LEASES, SES_NOTFOUND, {"app", "user", "gone"}},
                   {SCENE_DRAFTS, SES_OK, {"app", "user", "written"}},
                   {SCENE_INBOX, SES_OK, {"app", "user", "asked"}},
                   {SCENE_FOLLOWING, SES_OK, {"app", "user", "one"}},
                   {SCENE_FOLLOWING, SES_OK, {"app", "user", "two"}},
                   {SCENE_FOLLOWING, SES_NOTFOUND, {"app", "user", "gone"}},
                   {SCENE_LOADING, SES_OK, {"app", "user", "load"}},
                   {SCENE_LOADING, SES_OK, {"app", "user", "load~2"}},
                   {SCENE_LOADING, SES_OK, {"app", "user", "pruned"}},
                   {SCENE_LINES, SES_OK, {"app", "user", "one"}},
                   {SCENE_LINES, SES_OK, {"copy", "user", "one"}},
                   {SCENE_LINES, SES_OK, {"copy", "user", "pruned"}},
                   {SCENE_UPKEEP, SES_OK, {"app", "user", "one"}},
                   {SCENE_ARTIFACTS, SES_OK, {"app", "user", "one"}},
                   {SCENE_ARTIFACTS, SES_NOTFOUND, {"app", "user", "gone"}},
                   {SCENE_LONG_ARTIFACT, SES_OK, {"app", "user", "one"}},
                   {SCENE_FORMS, SES_OK, {"app", "forms", "one"}},
                   {SCENE_FORMS, SES_OK, {"app", "forms", "copy"}},
                   {SCENE_INDEX, SES_OK, {"app", "user", "one"}},
                   {SCENE_FINDING, SES_OK, {"app", "user", "one"}},
                   {SCENE_NAMES, SES_OK, {"app", "user", "named"}}};

static void faults_dump_session(struct faults *faults, ses_session *session)
{
    const char *json = NULL;
    ses_error error;
    size_t len = strlen(faults->dump);

    STEP(SES_OK, ses_state_json(session, &json, NULL, &error));
    len += (size_t)snprintf(faults->dump + len, sizeof faults->dump - len, "%s version %d base %d\n%s\n",
                            ses_session_id(session), (int)ses_session_version(session),
                            (int)ses_session_base_seq(session), json);
    for (size_t i = 0; i < ses_session_event_count(session); i++) {
        const ses_event *event = ses_session_event(session, i);
        len +=
            (size_t)snprintf(faults->dump + len, sizeof faults->dump - len, "%d %s %s %d\n", (int)event->seq,
                             event->author, event->branch ? event->branch : "-", (int)event->json_len);
    }
}

/* The versions of an artifact; there may be none. */
static void faults_dump_artifact(struct faults *faults, ses_store *store, const ses_key *key,
                                 const char *name)
{
    ses_artifact_list *list = NULL;
    size_t len = strlen(faults->dump);
    ses_error error;

    STEP(SES_OK, ses_artifact_versions_by_key(store, key, name, NULL, &list, &error));
    for (size_t i = 0; list && i < ses_artifact_list_count(list); i++) {
        const ses_artifact_info *info = ses_artifact_list_at(list, i);
        len += (size_t)snprintf(faults->dump + len, sizeof faults->dump - len, "%s %d %d %s %s\n", info->name,
                                (int)info->version, (int)info->size, info->hash,
                                info->metadata ? info->metadata : "-");
    }
    ses_artifact_list_close(list);
}

static void faults_dump_artifacts(struct faults *faults, ses_store *store)
{
    static const char *const names[] = {"a", "user:b", "long", "reference"};
    const ses_key key = {"app", "user", "one"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        faults_dump_artifact(faults, store, &key, names[i]);
}

/* The result of the scene. */
static void faults_dump(struct faults *faults, ses_store *store)
{
    faults->dump[0] = '\0';
    for (size_t i = 0; i < sizeof faults_left / sizeof faults_left[0]; i++)
        if (faults_left[i].scene == faults->scene) {
            ses_session *session = NULL;
            ses_error error;
            STEP(faults_left[i].found, ses_get(store, &faults_left[i].key, NULL, &session, &error));
            if (session)
                faults_dump_session(faults, session);
            ses_session_close(session);
        }
    if (faults->scene == SCENE_ARTIFACTS || faults->scene == SCENE_LONG_ARTIFACT)
        faults_dump_artifacts(faults, store);
}

/* An empty store, which opening finds in all scenes but its own: to make the tables takes longer than a
 * scene. */
static struct {
    sqlite3 *made;
    void (*furnish)(ses_store *store); /* what else it begins with; NULL: nothing */
    bool in_memory;                    /* opening finds it in memory as well */
} faults_empty;

static int faults_copy(sqlite3 *handle)
{
    sqlite3_backup *backup = sqlite3_backup_init(handle, "main", faults_empty.made, "main");
    if (backup)
        (void)sqlite3_backup_step(backup, -1);
    return backup ? sqlite3_backup_finish(backup) : SQLITE_ERROR;
}

static int faults_on_open(sqlite3 *handle, char **message, const struct sqlite3_api_routines *routines)
{
    const char *name = sqlite3_db_filename(handle, "main");
    (void)message;
    (void)routines;
    if (!faults_empty.in_memory || (name && name[0]))
        return SQLITE_OK;
    const long fail_at = fault_calls.fail_at; /* the test's own calls do not fail */
    fault_lift();
    const int rc = faults_copy(handle);
    fault_calls.fail_at = fail_at;
    return rc;
}

/* The store was made with a rollback journal so that it can be copied from its file alone; its copies may
 * have a log. */
static const char faults_forget_journal[] = "DELETE FROM features WHERE name = 'rollback_journal'";

static void faults_make_empty(void)
{
    const ses_open_options options = {
        .size = sizeof options, .clock = faults_clock, .journal = SES_JOURNAL_ROLLBACK};
    char *folder = support_folder_make();
    char *path = support_path(folder, "empty.db");
    sqlite3 *file = NULL;
    ses_store *store = NULL;
    ses_error error;

    assert_int_equal(ses_open(path, &options, &store, &error), SES_OK);
    if (faults_empty.furnish)
        faults_empty.furnish(store);
    ses_close(store);
    assert_int_equal(sqlite3_open(path, &file), SQLITE_OK);
    assert_int_equal(sqlite3_exec(file, SUPPORT_DROP_VIEWS, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(file, faults_forget_journal, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_open(":memory:", &faults_empty.made), SQLITE_OK);
    sqlite3_backup *backup = sqlite3_backup_init(faults_empty.made, "main", file, "main");
    assert_non_null(backup);
    assert_int_equal(sqlite3_backup_step(backup, -1), SQLITE_DONE);
    assert_int_equal(sqlite3_backup_finish(backup), SQLITE_OK);
    assert_int_equal(sqlite3_close(file), SQLITE_OK);
    assert_int_equal(sqlite3_auto_extension((void (*)(void))faults_on_open), SQLITE_OK);
    free(path);
    support_folder_remove(folder);
}

static void faults_remove_files(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char name[1024];
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        (void)remove(name);
    }
}

/* The beginning of every run, before anything fails. */
static void faults_prepare(const struct faults *faults)
{
    const bool is_memory = strcmp(faults->path, ":memory:") == 0;
    sqlite3 *file = NULL;

    if (!faults_empty.made)
        faults_make_empty();
    faults_empty.in_memory = is_memory && faults->scene != SCENE_OPENING;
    if (is_memory)
        return;
    faults_remove_files(faults->path);
    if (faults->scene == SCENE_OPENING)
        return;
    assert_int_equal(sqlite3_open(faults->path, &file), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(file, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF", NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(faults_copy(file), SQLITE_OK);
    assert_int_equal(sqlite3_close(file), SQLITE_OK);
}

#endif
