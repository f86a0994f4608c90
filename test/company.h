/*
 * Company for the steps of a scene: a call that writes shares its commit with two neighbours, and fails
 * between them. The group is made, not hoped for: another connection holds the lock of the file until all
 * three stand in the queue.
 *
 * A test that includes this is linked with the wraps of COMPANY_WRAPS in flags.mk.
 */
#ifndef SESLITE_TEST_COMPANY_H
#define SESLITE_TEST_COMPANY_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "base/limits.h"
#include "scenario.h"
#include "storage/sqlite/connection/connection.h"

enum company_kind { COMPANY_ERROR, COMPANY_DISK, COMPANY_CANCEL, COMPANY_TIME, COMPANY_MEMORY };

enum { COMPANY_EVENTS = FAULT_STEPS + 1, COMPANY_TABLES = 64, COMPANY_NAMES = 100 };

/* Their sessions are the first of the store. */
static const ses_key company_near = {"company", "user", "near"};
static const ses_key company_far = {"company", "user", "far"};
#define COMPANY_SESSIONS "(1, 2)"

/* The content of the file without the neighbours' sessions: a hash of each table. */
struct company_picture {
    char names[COMPANY_TABLES][64];
    uint64_t hashes[COMPANY_TABLES];
    int count;
};

static struct {
    enum company_kind kind;
    ses_store *store;
    sqlite3 *holder;      /* of the lock */
    ses_session *handle;  /* on the session that is near */
    int64_t appended;     /* to that session */
    int64_t cut;          /* from the other */
    bool recording;       /* nothing fails, and each step has company */
    bool has_company;     /* this step */
    bool appends_first;   /* the neighbour ahead appends, and the one behind cuts; else the other way round */
    bool third_comes;     /* the neighbour behind has been started */
    atomic_bool asks;     /* the one ahead asks for the lock */
    atomic_bool returned; /* the call between them has */
    pthread_t threads[3];
    char wrong[512];
    struct company_picture before;

    /* The thread that leads the group. */
    bool writes; /* its transaction has begun */
    int starts;  /* jobs begun and ended since then */
    int windows; /* in which the call between ran */
    bool is_open;
    int commits;
    int jobs; /* in the transaction that was committed */
    struct ses_cancel cancel;
    struct limits limits; /* of the call between: they pass when it is to fail */

    char shared[COMPANY_NAMES][64]; /* the calls that have shared a commit */
    int shared_count;
} company;

enum company_role { ROLE_OTHER, ROLE_AHEAD, ROLE_BEHIND };
static _Thread_local enum company_role company_role;
static atomic_int company_own_begins; /* transactions that the neighbour behind began itself */

static void company_complain(const char *what)
{
    if (!company.wrong[0])
        snprintf(company.wrong, sizeof company.wrong, "%s", what);
}

/* ---------------------------------------------------------------------------------------- what is wrapped */

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);
void __real_ses__connection_start_call(struct connection *db, int64_t deadline_us, bool interruptible,
                                       const struct limits *limits);
void __wrap_ses__connection_start_call(struct connection *db, int64_t deadline_us, bool interruptible,
                                       const struct limits *limits);

/* The second job of the group is that of the call between. */
enum { SECOND_BEGINS = 3, SECOND_HAS_ENDED = 4 };

void __wrap_ses__connection_start_call(struct connection *db, int64_t deadline_us, bool interruptible,
                                       const struct limits *limits)
{
    if (company_role == ROLE_AHEAD && company.writes) {
        company.starts++;
        company.is_open = company.starts == SECOND_BEGINS && company.windows == 0;
        company.windows += company.is_open;
        if (company.is_open)
            limits = &company.limits;
    }
    __real_ses__connection_start_call(db, deadline_us, interruptible, limits);
}

static int company_fail(sqlite3_stmt *statement)
{
    int rc = SQLITE_OK;

    switch (company.kind) {
    case COMPANY_ERROR:
        rc = SQLITE_IOERR;
        break;
    case COMPANY_DISK: /* which rolls everything back */
        (void)sqlite3_exec(sqlite3_db_handle(statement), "ROLLBACK", NULL, NULL, NULL);
        rc = SQLITE_FULL;
        break;
    case COMPANY_CANCEL:
        atomic_store(&company.cancel.pulled, true);
        break;
    case COMPANY_TIME:
        company.limits.deadline_us = 1;
        break;
    case COMPANY_MEMORY:
        break;
    }
    return rc;
}

static void company_look(const char *sql)
{
    const bool begins = strncmp(sql, "BEGIN IMMEDIATE", 15) == 0;

    if (company_role == ROLE_BEHIND && begins)
        atomic_fetch_add(&company_own_begins, 1);
    if (company_role != ROLE_AHEAD)
        return;
    if (begins) {
        company.writes = true;
        company.starts = 0;
        atomic_store(&company.asks, true);
    } else if (company.writes && strncmp(sql, "COMMIT", 6) == 0) {
        company.writes = false;
        if (company.commits++ ==
            0) /* a cut whose plan was used up by the run that was undone makes another */
            company.jobs = company.starts / 2;
    }
}

int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    int rc = SQLITE_OK;

    if (company.has_company)
        company_look(sqlite3_sql(statement));
    if (company_role == ROLE_AHEAD && company.is_open && company.kind != COMPANY_MEMORY && fault_now())
        rc = company_fail(statement);
    return rc == SQLITE_OK ? __real_sqlite3_step(statement) : rc;
}

static bool company_lacks_memory(void)
{
    return company_role == ROLE_AHEAD && company.is_open && company.kind == COMPANY_MEMORY && fault_now();
}

static void *company_allocate(void *context, size_t bytes)
{
    (void)context;
    return company_lacks_memory() ? NULL : malloc(bytes);
}

static void *company_resize(void *context, void *memory, size_t bytes)
{
    (void)context;
    return company_lacks_memory() ? NULL : realloc(memory, bytes);
}

static void company_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static const ses_allocator company_allocator = {sizeof company_allocator, NULL, company_allocate,
                                                company_resize, company_release};

/* ---------------------------------------------------------------------------------------------- pictures */

static void company_add(uint64_t *hash, const void *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        *hash = (*hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(1099511628211);
}

static void company_add_row(uint64_t *hash, sqlite3_stmt *row)
{
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        const int type = sqlite3_column_type(row, i);
        const void *bytes = sqlite3_column_blob(row, i);
        const int len = sqlite3_column_bytes(row, i);
        company_add(hash, &type, sizeof type);
        company_add(hash, &len, sizeof len);
        company_add(hash, bytes, (size_t)len);
    }
}

/* The rows of a statement, whose text is freed. */
static uint64_t company_hash(char *sql)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    sqlite3_stmt *row = NULL;

    assert_int_equal(sqlite3_prepare_v2(company.holder, sql, -1, &row, NULL), SQLITE_OK);
    while (sqlite3_step(row) == SQLITE_ROW)
        company_add_row(&hash, row);
    assert_int_equal(sqlite3_finalize(row), SQLITE_OK);
    sqlite3_free(sql);
    return hash;
}

static void company_take_picture(struct company_picture *picture)
{
    static const char tables[] =
        "SELECT name, CASE WHEN name = 'sessions' THEN 'id' ELSE"
        " (SELECT name FROM pragma_table_info(m.name) WHERE name = 'session_id') END"
        " FROM sqlite_schema AS m WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name";
    sqlite3_stmt *row = NULL;

    picture->count = 1;
    strcpy(picture->names[0], "the schema");
    picture->hashes[0] = company_hash(sqlite3_mprintf("SELECT type, name, sql FROM sqlite_schema"));
    assert_int_equal(sqlite3_prepare_v2(company.holder, tables, -1, &row, NULL), SQLITE_OK);
    while (sqlite3_step(row) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(row, 0);
        const char *session = (const char *)sqlite3_column_text(row, 1);
        assert_true(picture->count < COMPANY_TABLES);
        snprintf(picture->names[picture->count], sizeof picture->names[0], "%s", name);
        picture->hashes[picture->count++] = company_hash(
            session
                ? sqlite3_mprintf("SELECT * FROM \"%w\" WHERE \"%w\" NOT IN " COMPANY_SESSIONS, name, session)
                : sqlite3_mprintf("SELECT * FROM \"%w\"", name));
    }
    assert_int_equal(sqlite3_finalize(row), SQLITE_OK);
}

/* After a call that failed, the file must be as if only its neighbours had been there. */
static void company_compare(const char *call)
{
    struct company_picture now;
    char text[512];

    company_take_picture(&now);
    if (now.count != company.before.count)
        company_complain("a failed call has left a table, or dropped one");
    for (int i = 0; i < now.count && now.count == company.before.count; i++) {
        if (now.hashes[i] != company.before.hashes[i] || strcmp(now.names[i], company.before.names[i]) != 0) {
            snprintf(text, sizeof text, "%.60s has failed, and changed %.60s", call, now.names[i]);
            company_complain(text);
        }
    }
}

/* --------------------------------------------------------------------------------------------- neighbours */

/* To the handle, which must have it afterwards. */
static void company_append(void)
{
    ses_appended appended = {0};
    const char *value = NULL;
    char event[200];
    ses_error error;

    company.appended++;
    snprintf(event, sizeof event,
             "{\"id\":\"n%d\",\"actions\":{\"stateDelta\":{\"n\":\"%d\",\"temp:t\":\"%d\"}}}",
             (int)company.appended, (int)company.appended, (int)company.appended);
    const int code = ses_append(company.handle, event, SES_NUL, NULL, &appended, &error);
    if (code != SES_OK || appended.seq != company.appended || appended.version != company.appended)
        company_complain(code < 0 ? error.message : "a neighbour's event has another number");
    else if (ses_session_version(company.handle) != company.appended ||
             ses_session_event_count(company.handle) != (size_t)company.appended ||
             ses_state_get_string(company.handle, "temp:t", &value, NULL, &error) != SES_OK ||
             atoi(value) != company.appended)
        company_complain("a neighbour's handle is not as it should be");
}

/* One event, for which it gets a receipt. */
static void company_cut(void)
{
    ses_erased erased = {.size = sizeof erased};
    const ses_cut_options options = {.size = sizeof options, .erased = &erased};
    const ses_point end = {.size = sizeof end, .kind = SES_POINT_SEQ, .seq = COMPANY_EVENTS - ++company.cut};
    int64_t deleted = 0;
    ses_error error;

    if (ses_cut_by_key(company.store, &company_far, &end, &options, &deleted, &error) != SES_OK)
        company_complain(error.message);
    else if (deleted != 1 || erased.events != 1 || erased.sessions != 0)
        company_complain("a neighbour's receipt is wrong");
}

static void *company_go_ahead(void *context)
{
    (void)context;
    company_role = ROLE_AHEAD;
    if (company.recording && fault_calls.outermost == NULL) {
        void *frames[FAULT_FRAMES];
        const int depth = fault_walk(frames);
        fault_calls.outermost = depth > 0 ? frames[depth - 1] : NULL;
    }
    company.appends_first ? company_append() : company_cut();
    return NULL;
}

static void *company_go_behind(void *context)
{
    (void)context;
    company_role = ROLE_BEHIND;
    company.appends_first ? company_cut() : company_append();
    return NULL;
}

/* ------------------------------------------------------------------------------------------ around a step */

static int64_t company_waits(void)
{
    ses_stats stats = {.size = sizeof stats};
    (void)ses_store_stats(company.store, &stats, NULL);
    return stats.write_waits;
}

/* Until so many calls stand in the queue, or the call between has returned; what waits for the turn in
 * another way is not waited for. */
static bool company_await(int64_t waits)
{
    const int64_t until = support_steady_us() + (company.recording ? 200000 : 20000000);

    while (company_waits() < waits && !atomic_load(&company.returned) && support_steady_us() < until)
        support_pause_us(10);
    return company_waits() >= waits;
}

/* Lets the group begin when all stand in the queue. */
static void *company_watch(void *context)
{
    const int64_t waits = *(int64_t *)context;

    if (company_await(waits + 1)) {
        company.third_comes = true;
        assert_int_equal(pthread_create(&company.threads[1], NULL, company_go_behind, NULL), 0);
        (void)company_await(waits + 2);
    }
    (void)sqlite3_exec(company.holder, "ROLLBACK", NULL, NULL, NULL);
    return NULL;
}

static void company_begin_step(struct faults *faults, const char *call)
{
    static int64_t waits;
    const int64_t until = support_steady_us() + 20000000;
    (void)faults;
    (void)call;

    if (!company.store || (!company.recording && fault_calls.fail_at == 0))
        return;
    company_take_picture(&company.before);
    assert_int_equal(sqlite3_exec(company.holder, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    company.appends_first = (fault_calls.run + (size_t)fault_calls.step) % 2 == 0;
    company.third_comes = false;
    company.windows = company.commits = company.jobs = 0;
    company.limits = (struct limits){.cancel = &company.cancel};
    atomic_store(&company.cancel.pulled, false);
    atomic_store(&company_own_begins, 0);
    atomic_store(&company.asks, false);
    atomic_store(&company.returned, false);
    company.has_company = true;
    assert_int_equal(pthread_create(&company.threads[0], NULL, company_go_ahead, NULL), 0);
    while (!atomic_load(&company.asks) && support_steady_us() < until)
        support_pause_us(10);
    waits = company_waits();
    assert_int_equal(pthread_create(&company.threads[2], NULL, company_watch, &waits), 0);
}

static void company_note(const char *call)
{
    const size_t len = strcspn(call, "(");

    for (int i = 0; i < company.shared_count; i++)
        if (strlen(company.shared[i]) == len && strncmp(company.shared[i], call, len) == 0)
            return;
    assert_true(company.shared_count < COMPANY_NAMES && len < sizeof company.shared[0]);
    memcpy(company.shared[company.shared_count++], call, len);
}

/* All three were in one transaction, but for the one between if it failed. */
static void company_check_shared(int code)
{
    if (company.windows != 1 || company.commits == 0 || atomic_load(&company_own_begins) != 0)
        company_complain("the three have not shared one commit");
    else if (company.recording && code >= 0 && company.jobs != 3)
        company_complain("the commit was not that of the three");
    else if (company.jobs != 2 && company.jobs != 3)
        company_complain("the neighbours have not shared one commit");
}

static void company_end_step(struct faults *faults, const char *call, int code)
{
    (void)faults;
    if (!company.has_company)
        return;
    atomic_store(&company.returned, true);
    (void)pthread_join(company.threads[2], NULL);
    (void)pthread_join(company.threads[0], NULL);
    if (company.third_comes)
        (void)pthread_join(company.threads[1], NULL);
    company.has_company = false;
    company.is_open = false;
    if (company.windows > 0 || !company.recording) {
        company_check_shared(code);
        if (company.recording)
            company_note(call);
    }
    if (code < 0)
        company_compare(call);
}

/* ------------------------------------------------------------------------------------------- around a run */

static void company_furnish(ses_store *store)
{
    static char texts[COMPANY_EVENTS][40];
    ses_text events[COMPANY_EVENTS];
    ses_error error;

    for (int i = 0; i < COMPANY_EVENTS; i++) {
        snprintf(texts[i], sizeof texts[i], "{\"id\":\"f%d\"}", i);
        events[i] = (ses_text){texts[i], SES_NUL};
    }
    must_create(store, &company_near, NULL);
    must_create(store, &company_far, NULL);
    assert_ok(ses_append_batch_by_key(store, &company_far, events, COMPANY_EVENTS, NULL, NULL, &error));
}

static void company_opened(struct faults *faults, ses_store *store)
{
    assert_int_equal(sqlite3_open(faults->path, &company.holder), SQLITE_OK);
    assert_int_equal(sqlite3_busy_timeout(company.holder, 20000), SQLITE_OK);
    company.handle = must_get(store, &company_near);
    company.appended = company.cut = 0;
    company.wrong[0] = '\0';
    company.store = store;
}

static int company_report(void *context, const ses_problem *problem)
{
    (void)context;
    company_complain(problem->message);
    return 0;
}

static void company_played(struct faults *faults, ses_store *store)
{
    const ses_check_options log = {.size = sizeof log, .level = SES_CHECK_LOG, .report = company_report};
    ses_session *far = must_get(store, &company_far);
    int64_t problems = -1;
    ses_error error;

    (void)faults;
    company.store = NULL;
    if (ses_session_event_count(far) != (size_t)(COMPANY_EVENTS - company.cut))
        company_complain("a neighbour's cut is not stored, or twice");
    ses_refresh(company.handle, NULL, &error);
    if (ses_session_event_count(company.handle) != (size_t)company.appended)
        company_complain("a neighbour's event is not stored, or twice");
    if (ses_store_check(store, &log, &problems, &error) != SES_OK || problems != 0)
        company_complain("the store is not sound");
    ses_session_close(far);
    ses_session_close(company.handle);
    (void)sqlite3_close(company.holder);
}

static const struct faults_hooks company_hooks = {company_opened, company_begin_step, company_end_step,
                                                  company_played};

#endif
