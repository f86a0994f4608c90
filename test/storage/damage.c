/*
 * Damaged and hostile files by the thousand: whatever a file holds, every call ends soon, with a code that
 * its comment names, and a write to one session leaves the rows of the others alone.
 *
 * Each file has a number, which alone decides how it is made. From the environment:
 *     SESLITE_DAMAGE_FILES   how many (400; with the thread sanitizer 50)
 *     SESLITE_DAMAGE_FIRST   the number of the first (0)
 *     SESLITE_DAMAGE_JOBS    processes at work (1)
 *     SESLITE_DAMAGE_LIMITED how many with a time limit for each call (40; with sanitizers fewer)
 * Files are driven in child processes, so that a crash or a call without an end can be told with its number.
 */
#include "storage/damage.h"
#include "storage/damage_bytes.h"
#include "storage/damage_rows.h"
#include "seslite_draft.h"
#include "seslite_inbox.h"
#include "seslite_erase.h"
#include "seslite_usage.h"
#include "storage/work_clock.h"

#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

/* A call may take so much of the processor's time, however busy the machine is with other work, and may wait
 * for so long. */
enum { MOST_WORK_S = 10, MOST_WAIT_S = 300 };

enum { BATCH = 200, MOST_JOBS = 64, BUSY_MS = 2000 };

/* The time limit of each call in the second test, and how late a call may return: by the work clock, so the
 * machine's load does not matter. A log is so long that calls which do not look at their limit are later than
 * that. Sanitizers make all work slower. The clock does count the time that the host of a virtual machine
 * gives to others: so a file on which a call was late is made and driven again. Only what is late each time
 * is the call's own doing. */
enum { LIMIT_MS = 1, LONG_LOG = 7500, MOST_LATE_US = 10000 * (UNDER_TSAN ? 20 : UNDER_ASAN ? 5 : 1) };
enum { TRIES = 3 };

/* How late the calls return that have used up their time. */
enum { LATE_CLASSES = 5 };
static const long late_below_us[LATE_CLASSES] = {1000, 3000, 10000, 100000, LONG_MAX};

/* The progress of a child, for its parent to see. */
struct progress {
    volatile long number;
    const char *volatile way;
    const char *volatile store;
    const char *volatile call;           /* NULL: none is under way; all texts are static */
    volatile int64_t call_began_us;      /* by the steady clock, which may be the work clock */
    volatile int64_t call_began_wall_us; /* for the watchdog */
    volatile int64_t longest_us;
    const char *volatile longest_call;
    volatile long longest_number;
    volatile long findings;
    volatile long ok;
    volatile long corrupt;
    volatile long others;
    volatile long late[LATE_CLASSES];
    volatile int tries; /* of this file */
    volatile bool is_late;
    volatile int64_t latest_us;
    const char *volatile latest_call;
    volatile long latest_number;
};

static long timeout_ms; /* of each call; 0: none */

/* ------------------------------------------------------------------------------------ the sound stores */

enum { STORES = 7 };

struct damage_test {
    char *folder;
    struct store_files stores[STORES];
    char *sound_paths[STORES]; /* those without a log or journal, else NULL */
};

static const ses_key victim = {"app", "u0", "s0"};

static const ses_point last_turn = {.size = sizeof last_turn, .kind = SES_POINT_LAST_TURN};

static void add_events(ses_store *store, const ses_key *key, int first, int last)
{
    char event[8192];

    for (int i = first; i <= last; i++) {
        int len = i % 40 == 7 ? 6000 : 60 + i % 7 * 20;
        snprintf(event, sizeof event,
                 "{\"id\":\"e%d\",\"invocationId\":\"i%d\",\"author\":\"%s\",\"timestamp\":%d,\"content\":{"
                 "\"parts\":"
                 "[{\"text\":\"%0*d\"}]},\"actions\":{\"stateDelta\":{\"k%d\":%d,\"user:k%d\":\"v\",\"app:"
                 "k\":[%d],"
                 "\"temp:t\":1}}}",
                 i, i / 4, i % 2 ? "agent" : "user", 1700000000 + i * 60 - i % 5 * 400, len, i, i % 9, i,
                 i % 5, i);
        must_append_by_key(store, key, event);
    }
}

static void add_labels(ses_store *store, const ses_key *key, int number)
{
    static const ses_label labels[] = {{"kind", "common"}, {"l", "another value"}};
    ses_error error;

    assert_ok(ses_labels_set_by_key(store, key, labels, number % 3 ? 1 : 2, NULL, &error));
    if (number % 2 == 0)
        assert_ok(ses_title_set_by_key(store, key, "A title", NULL, &error));
}

static void add_sessions(ses_store *store, const char *app, int users, int sessions, int events)
{
    char state[1024];
    char user[16];
    char name[16];

    for (int i = 0; i < users * sessions; i++) {
        const ses_key key = {app, user, name};
        snprintf(user, sizeof user, "u%d", i / sessions);
        snprintf(name, sizeof name, "s%d", i);
        snprintf(state, sizeof state,
                 "{\"app:a%d\":{\"b\":[1,2,\"c\"]},\"user:u%d\":\"two\",\"own\":%d,\"text\":\"some \\u00e9 "
                 "text\"}",
                 i, i, i);
        must_create(store, &key, state);
        add_events(store, &key, 1, events);
        add_labels(store, &key, i);
    }
}

/* The calls of two sessions take several rows. */
static void add_tally(ses_store *store)
{
    const ses_key other = {"app", "u1", "s10"};
    char event[200];
    ses_error error;

    for (int i = 0; i < 200; i++) {
        snprintf(event, sizeof event,
                 "{\"timestamp\":%d,\"modelVersion\":\"m%d\",\"usageMetadata\":{\"totalTokenCount\":%d}}",
                 1800000000 + i, i % 2, i);
        must_append_by_key(store, i % 2 ? &victim : &other, event);
    }
    assert_ok(ses_store_tally(store, NULL, NULL, &error));
}

static void add_lease(ses_store *store, const ses_key *key)
{
    ses_lease lease;
    ses_error error;
    assert_ok(ses_lease_take(store, key, "owner", NULL, &lease, &error));
    assert_ok(ses_draft_set(store, key, "a draft", SES_NUL, NULL, &error));
    assert_ok(ses_inbox_add(store, key, "request", "{}", SES_NUL, NULL, &error));
}

static int64_t steady_clock_of_the_stores(void *context)
{
    (void)context;
    return INT64_C(1700000000000000);
}

static ses_store *make_store(const char *path, bool is_large, int journal)
{
    const ses_open_options options = {.size = sizeof options,
                                      .synchronous = SES_SYNC_NORMAL,
                                      .journal = journal,
                                      .clock = steady_clock_of_the_stores,
                                      .checkpoint = SES_CHECKPOINT_EXTERNAL};
    ses_error error;

    ses_store *store = must_open(path, &options);
    add_sessions(store, "app", is_large ? 8 : 2, is_large ? 10 : 2, is_large ? 2 : 3);
    add_sessions(store, "other", 1, 1, 2);
    add_events(store, &victim, 4, is_large ? (timeout_ms > 0 ? LONG_LOG : 120) : 12);
    assert_ok(ses_rewind_by_key(store, &victim, &last_turn, NULL, NULL, &error));
    assert_ok(ses_redo_by_key(store, &victim, NULL, NULL, &error));
    assert_ok(ses_rewind_by_key(store, &victim, &last_turn, NULL, NULL, &error));
    add_lease(store, &victim);
    add_lease(store, &(ses_key){"other", "u0", "s0"});
    if (is_large)
        add_tally(store);
    return store;
}

/* Some pages of the log are also in the file, some are newer in the log, and some are not in the file at
 * all. */
static void leave_log(struct damage_test *test, const char *path, int which)
{
    sqlite3 *db;
    ses_store *store = make_store(path, test->stores[which].is_large, SES_JOURNAL_WAL);

    db = raw_open(path);
    assert_int_equal(sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    add_sessions(store, "later", 2, 2, 2);
    add_events(store, &victim, LONG_LOG + 1, LONG_LOG + 20);
    store_files_read(&test->stores[which], path);
    ses_close(store);
}

/* As a crash in the middle of a transaction leaves it. */
static void leave_journal(struct damage_test *test, const char *path, int which)
{
    ses_close(make_store(path, test->stores[which].is_large, SES_JOURNAL_ROLLBACK));
    sqlite3 *db = raw_open(path);
    raw_run(
        db,
        "PRAGMA cache_size = 2; BEGIN; UPDATE apps SET name = name || 'x'; UPDATE events SET author = 'x';"
        "INSERT INTO apps (name) VALUES ('more')");
    store_files_read(&test->stores[which], path);
    raw_run(db, "ROLLBACK");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

enum { LEAVE_NOTHING, LEAVE_LOG, LEAVE_JOURNAL };

static const struct {
    const char *name;
    bool is_large;
    int journal;
    int leave;
} kinds_of_stores[STORES] = {
    {"small, WAL", false, SES_JOURNAL_WAL, LEAVE_NOTHING},
    {"small, rollback journal", false, SES_JOURNAL_ROLLBACK, LEAVE_NOTHING},
    {"large, WAL", true, SES_JOURNAL_WAL, LEAVE_NOTHING},
    {"large, rollback journal", true, SES_JOURNAL_ROLLBACK, LEAVE_NOTHING},
    {"small, with its log", false, SES_JOURNAL_WAL, LEAVE_LOG},
    {"large, with its log", true, SES_JOURNAL_WAL, LEAVE_LOG},
    {"large, with a hot journal", true, SES_JOURNAL_ROLLBACK, LEAVE_JOURNAL},
};

static void make_stores(struct damage_test *test)
{
    for (int i = 0; i < STORES; i++) {
        char name[32];
        snprintf(name, sizeof name, "sound-%d.db", i);
        char *path = support_path(test->folder, name);
        test->stores[i].name = kinds_of_stores[i].name;
        test->stores[i].is_large = kinds_of_stores[i].is_large;
        if (kinds_of_stores[i].leave == LEAVE_LOG) {
            leave_log(test, path, i);
        } else if (kinds_of_stores[i].leave == LEAVE_JOURNAL) {
            leave_journal(test, path, i);
        } else {
            ses_close(make_store(path, kinds_of_stores[i].is_large, kinds_of_stores[i].journal));
            store_files_read(&test->stores[i], path);
            test->sound_paths[i] = path;
        }
        if (!test->sound_paths[i])
            free(path);
    }
}

/* ------------------------------------------------------------------------------------------ the damage */

/* Which file of the store is damaged by bytes; NULL functions are those that work on rows. */
struct way {
    const char *name;
    int part;
    void (*bytes)(struct bytes *bytes, struct chance *chance);
    void (*rows)(const char *path, struct chance *chance);
};

static const struct way ways[] = {
    {"bytes", STORE_FILE, damage_some_bytes, NULL},
    {"pages", STORE_FILE, damage_pages, NULL},
    {"pages", STORE_FILE, damage_pages, NULL},
    {"length", STORE_FILE, damage_length, NULL},
    {"header", STORE_FILE, damage_header, NULL},
    {"tree", STORE_FILE, damage_tree, NULL},
    {"tree", STORE_FILE, damage_tree, NULL},
    {"tree", STORE_FILE, damage_tree, NULL},
    {"log", STORE_LOG, damage_log, NULL},
    {"log", STORE_LOG, damage_log, NULL},
    {"journal", STORE_JOURNAL, damage_journal, NULL},
    {"rows", STORE_FILE, NULL, damage_rows},
    {"rows", STORE_FILE, NULL, damage_rows},
    {"rows", STORE_FILE, NULL, damage_rows},
    {"schema", STORE_FILE, NULL, damage_schema},
};

/* Only in some of the files, because calls that meet this work for a while before they give up. */
enum { FLOORS_EVERY = 400 };
static const struct way floors = {"floors", STORE_FILE, damage_by_floors, NULL};

static const struct way *choose_way(long number)
{
    return number % FLOORS_EVERY == FLOORS_EVERY - 1 ? &floors
                                                     : &ways[(size_t)number % (sizeof ways / sizeof ways[0])];
}

/* A store that has what the way damages. Damage to rows needs a store that is nothing but its file. */
static int choose_store(const struct way *way, struct chance *chance)
{
    static const int with_log[] = {4, 5};
    int store = (int)chance_below(chance, STORES);

    if (way->part == STORE_LOG)
        store = with_log[chance_below(chance, 2)];
    else if (way->part == STORE_JOURNAL)
        store = 6;
    else if (way->rows)
        store = (int)chance_below(chance, 4);
    return store;
}

/* --------------------------------------------------------------------------------------------- calls */

struct drive {
    struct progress *progress;
    const char *path;
    ses_store *store;
};

static void find_fault(struct progress *progress, const char *call, const char *what, const char *message)
{
    progress->findings++;
    print_error("file %ld (%s; %s): %s: %s%s%s\n", progress->number, progress->store, progress->way, call,
                what, message[0] ? ": " : "", message);
}

/* Opening and closing have no limit. */
static bool is_limited(const char *call, int64_t us)
{
    return timeout_ms > 0 && us >= timeout_ms * 1000 && strncmp(call, "ses_open", 8) != 0 &&
           strcmp(call, "ses_close") != 0;
}

static void count_late(struct progress *progress, const char *call, int64_t us)
{
    const int64_t late_us = us - timeout_ms * 1000;
    size_t i = 0;

    while (late_us >= late_below_us[i])
        i++;
    progress->late[i]++;
    if (late_us > progress->latest_us) {
        progress->latest_us = late_us;
        progress->latest_call = call;
        progress->latest_number = progress->number;
    }
    if (late_us >= MOST_LATE_US)
        progress->is_late = true;
    if (late_us >= MOST_LATE_US && progress->tries == TRIES) {
        char what[64];
        snprintf(what, sizeof what, "returned %ld us after its time limit", (long)late_us);
        find_fault(progress, call, what, "");
    }
}

static int64_t wall_us(void)
{
    struct timespec now;
    (void)__real_clock_gettime(CLOCK_MONOTONIC, &now);
    return work_clock_ns(&now) / 1000;
}

static void begin_call(struct progress *progress, const char *call)
{
    const struct itimerval most = {.it_value = {.tv_sec = MOST_WORK_S}};

    assert_int_equal(setitimer(ITIMER_PROF, &most, NULL), 0); /* at its end SIGPROF ends the process */
    progress->call_began_us = support_steady_us();
    progress->call_began_wall_us = wall_us();
    progress->call = call;
}

/* Zero ends the list of codes. */
static int end_call(struct progress *progress, int code, const ses_error *error, const int *allowed)
{
    const char *call = progress->call;
    int64_t us = support_steady_us() - progress->call_began_us;
    bool good = code >= 0 || code == SES_CORRUPT || code == SES_UNSUPPORTED; /* no call lists the second */

    progress->call = NULL;
    if (is_limited(call, us))
        count_late(progress, call, us);
    if (timeout_ms > 0) /* a cursor also returns such a failure when it is closed */
        good = good || code == SES_INTERRUPTED || code == SES_BUSY;
    if (us > progress->longest_us) {
        progress->longest_us = us;
        progress->longest_call = call;
        progress->longest_number = progress->number;
    }
    for (; *allowed != 0; allowed++)
        good = good || code == *allowed;
    /* Damage that SQLite calls NOMEM (3.54.1 still does): in accessPayload() the number of overflow pages of
     * a record of 2^32 - 1 bytes overflows to 0, and realloc() of none is NULL. */
    good = good || (code == SES_NOMEM && error->engine_code == SQLITE_NOMEM);
    if (!good)
        find_fault(progress, call, ses_code_name(code), error->message);
    if (code < 0 && (error->code != code || error->message[0] == '\0'))
        find_fault(progress, call, ses_code_name(code), "without a message, or with another code in it");
    progress->ok += code >= 0;
    progress->corrupt += code == SES_CORRUPT;
    progress->others += code < 0 && code != SES_CORRUPT;
    return code;
}

/* Makes the call; beside CORRUPT it may return the codes in brackets. */
#define CODES(...) ((const int[]){__VA_ARGS__})
#define CALL(drive, name, allowed, call) \
    (begin_call((drive)->progress, name), end_call((drive)->progress, (call), &error, allowed))

/* The header of a file can say that it must not be written, or that it is as large as a file can be. Without
 * one the file may look like one that needs a key. The header of a log can say that it is of another
 * version. */
#define OPEN_CODES CODES(SES_NOTASTORE, SES_TOONEW, SES_READONLY, SES_CANTOPEN, SES_KEY, 0)
#define READ_CODES CODES(SES_NOTFOUND, 0)
#define LIST_CODES CODES(0)
#define CHECK_CODES CODES(SES_READONLY, SES_FULL, 0)
#define VALUE_CODES CODES(SES_NOTFOUND, SES_TYPE, SES_RANGE, 0)
#define RENDER_CODES CODES(SES_NOTFOUND, SES_RANGE, 0)
#define CONTENT_CODES CODES(SES_JSON, SES_INVALID, SES_RANGE, SES_LIMIT, 0)
#define APPEND_CODES CODES(SES_NOTFOUND, SES_EXISTS, SES_STALE, SES_LIMIT, SES_READONLY, SES_FULL, 0)
#define CREATE_CODES CODES(SES_EXISTS, SES_LIMIT, SES_READONLY, SES_FULL, 0)
#define LOAD_CODES CODES(SES_EXISTS, SES_INVALID, SES_JSON, SES_LIMIT, SES_READONLY, SES_FULL, 0)
#define REWIND_CODES CODES(SES_NOTFOUND, SES_INVALID, SES_STALE, SES_LIMIT, SES_READONLY, SES_FULL, 0)
#define CUT_CODES CODES(SES_NOTFOUND, SES_STALE, SES_LIMIT, SES_READONLY, SES_FULL, 0)
#define FORK_CODES CODES(SES_NOTFOUND, SES_EXISTS, SES_LIMIT, SES_READONLY, SES_FULL, 0)
#define DELETE_CODES CODES(SES_READONLY, SES_FULL, 0)
#define LABEL_CODES CODES(SES_NOTFOUND, SES_LIMIT, SES_READONLY, SES_FULL, 0)
#define WRITE_CODES CODES(SES_NOTFOUND, SES_READONLY, SES_FULL, 0)
#define LEASE_CODES CODES(SES_NOTFOUND, SES_BUSY, SES_LEASED, SES_READONLY, SES_FULL, 0)

/* ------------------------------------------------------------------------------------------- driving */

static void look_at_json(struct drive *drive, const ses_session *session)
{
    const char *json = NULL;
    ses_error error;
    begin_call(drive->progress, "ses_state_json");
    int code = ses_state_json(session, &json, NULL, &error);
    if (code == SES_OK && !json)
        find_fault(drive->progress, "ses_state_json", "no text", "");
    (void)end_call(drive->progress, code, &error, CODES(0));
}

static void look_at_state(struct drive *drive, ses_session *session)
{
    static const char *const names[] = {"k1",      "own",   "text",   "user:u0",
                                        "user:k1", "app:k", "app:a0", "app:forged"};
    const char *text = NULL;
    const char *json = NULL;
    size_t len = 0;
    int64_t number = 0;
    ses_error error;

    look_at_json(drive, session);
    char *whole = NULL;
    (void)CALL(drive, "ses_session_json", CODES(0), ses_session_json(session, &whole, &len, &error));
    ses_free(whole);
    for (size_t i = 0; i < ses_state_count(session); i++)
        (void)CALL(drive, "ses_state_at", VALUE_CODES, ses_state_at(session, i, &text, &json, &len, &error));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)CALL(drive, "ses_state_get", VALUE_CODES,
                   ses_state_get(session, names[i], &json, &len, &error));
        (void)CALL(drive, "ses_state_get_string", VALUE_CODES,
                   ses_state_get_string(session, names[i], &text, &len, &error));
        (void)CALL(drive, "ses_state_get_int64", VALUE_CODES,
                   ses_state_get_int64(session, names[i], &number, &error));
    }
}

static void render(struct drive *drive, ses_session *session)
{
    static const char *const templates[] = {"{k1?} {user:u0?} {app:k?} {app:a0?} {text?}", "{own} {user:k1}"};
    ses_error error;

    for (size_t i = 0; i < sizeof templates / sizeof templates[0]; i++) {
        char *text = NULL;
        (void)CALL(drive, "ses_render", RENDER_CODES,
                   ses_render(session, templates[i], SES_NUL, NULL, &text, NULL, &error));
        ses_free(text);
    }
}

static void look_at_events(struct drive *drive, ses_session *session)
{
    int64_t before = 0;
    ses_error error;

    for (size_t i = 0; i < ses_session_event_count(session); i++) {
        const ses_event *event = ses_session_event(session, i);
        ses_content *content = NULL;
        if (event->seq <= before || event->seq > ses_session_last_seq(session) || event->json_len == 0)
            find_fault(drive->progress, "ses_get", "an event out of order, or empty", event->id);
        before = event->seq;
        if (i % 16 == 0)
            (void)CALL(drive, "ses_content_open", CONTENT_CODES,
                       ses_content_open(drive->store, event->json, event->json_len, &content, &error));
        ses_content_close(content);
    }
}

static void get_some(struct drive *drive)
{
    static const ses_range ranges[] = {
        {.size = sizeof(ses_range), .which = SES_RANGE_NEWEST, .newest = 3},
        {.size = sizeof(ses_range), .which = SES_RANGE_SINCE, .since_us = INT64_C(1700003600000000)},
        {.size = sizeof(ses_range), .which = SES_RANGE_SEQ, .first_seq = 2, .last_seq = 5},
    };
    ses_error error;

    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        ses_session *session = NULL;
        (void)CALL(drive, "ses_get", READ_CODES,
                   ses_get(drive->store, &victim, GET_RANGE(&ranges[i]), &session, &error));
        if (session)
            look_at_events(drive, session);
        ses_session_close(session);
    }
}

static void list_all(struct drive *drive, const char *user, int order)
{
    char token[2 * SES_ID_MAX + 200] = "";
    bool more = true;
    ses_error error;

    for (int pages = 0; more; pages++) {
        const ses_list_options options = {
            .size = sizeof options, .order = order, .limit = 30, .token = token[0] ? token : NULL};
        ses_page *page = NULL;
        (void)CALL(drive, "ses_list", LIST_CODES,
                   ses_list(drive->store, "app", user, &options, &page, &error));
        more = page && ses_page_token(page);
        if (more)
            snprintf(token, sizeof token, "%s", ses_page_token(page));
        for (size_t i = 0; page && i < ses_page_count(page); i++)
            look_at_json(drive, ses_page_session(page, i));
        ses_page_close(page);
        if (pages > 100) {
            find_fault(drive->progress, "ses_list", "there is no last page", "");
            more = false;
        }
    }
}

static void list_filtered(struct drive *drive, const char *user, int order, const char *label,
                          const char *value)
{
    const int64_t since = INT64_C(1600000000000000);
    const ses_filter filter = {
        .size = sizeof filter, .label = label, .label_value = value, .updated_since_us = &since};
    const ses_list_options options = {
        .size = sizeof options, .order = order, .filter = &filter, .flags = SES_LIST_NO_STATE};
    ses_page *page = NULL;
    int64_t count = 0;
    ses_error error;

    (void)CALL(drive, "ses_list, filtered", LIST_CODES,
               ses_list(drive->store, "app", user, &options, &page, &error));
    ses_page_close(page);
    (void)CALL(drive, "ses_list_count", LIST_CODES,
               ses_list_count(drive->store, "app", user, &filter, NULL, &count, &error));
}

static void list_all_filtered(struct drive *drive, const char *user)
{
    for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CHANGED; order++) {
        list_filtered(drive, user, order, "kind", "common");
        list_filtered(drive, user, order, "l", NULL);
        list_filtered(drive, user, order, NULL, NULL);
    }
}

static void set_labels(struct drive *drive)
{
    static const ses_label labels[] = {{"kind", NULL}, {"fresh", "1"}};
    ses_error error;

    (void)CALL(drive, "ses_labels_set_by_key", LABEL_CODES,
               ses_labels_set_by_key(drive->store, &victim, labels, 2, NULL, &error));
    (void)CALL(drive, "ses_title_set_by_key", WRITE_CODES,
               ses_title_set_by_key(drive->store, &victim, "Another title", NULL, &error));
}

static void share(struct drive *drive, const char *user)
{
    char *json = NULL;
    ses_error error;

    (void)CALL(drive, "ses_shared_state_json", LIST_CODES,
               ses_shared_state_json(drive->store, "app", user, NULL, &json, NULL, &error));
    ses_free(json);
    (void)CALL(drive, "ses_shared_state_change", DELETE_CODES,
               ses_shared_state_change(drive->store, "app", user, Q("{'shared':1}"), SES_NUL, NULL, &error));
}

static void walk(struct drive *drive, int backward, const ses_range *range)
{
    const ses_cursor_options options = {
        .size = sizeof options, .flags = backward ? SES_CURSOR_BACKWARD : 0, .range = range};
    ses_cursor *cursor = NULL;
    const ses_event *event = NULL;
    int64_t before = backward ? INT64_MAX : 0;
    ses_error error;
    int code = CALL(drive, "ses_cursor_open", READ_CODES,
                    ses_cursor_open(drive->store, &victim, &options, &cursor, &error));

    while (code >= 0 && (code = CALL(drive, "ses_cursor_next", READ_CODES,
                                     ses_cursor_next(cursor, &event, &error))) == SES_ROW) {
        if (backward ? event->seq >= before : event->seq <= before)
            find_fault(drive->progress, "ses_cursor_next", "an event out of order", event->id);
        before = event->seq;
    }
    if (cursor)
        (void)CALL(drive, "ses_cursor_close", READ_CODES, ses_cursor_close(cursor, &error));
}

static void walk_all(struct drive *drive)
{
    const ses_range since = {
        .size = sizeof since, .which = SES_RANGE_SINCE, .since_us = INT64_C(1700003600000000)};

    for (int backward = 0; backward < 2; backward++) {
        walk(drive, backward, NULL);
        walk(drive, backward, &since);
    }
}

/* To the end, or to a failure. */
static void follow(struct drive *drive, const ses_key *key)
{
    ses_follower *follower = NULL;
    const ses_event *event = NULL;
    ses_error error;
    int code = CALL(drive, "ses_follower_open", READ_CODES,
                    ses_follower_open(drive->store, key, NULL, &follower, &error));

    for (int given = 0; code >= 0; given++) {
        code = CALL(drive, "ses_follower_next", READ_CODES, ses_follower_next(follower, 0, &event, &error));
        if (code == SES_OK)
            break;
        if (given > 100000) {
            find_fault(drive->progress, "ses_follower_next", "there is no end", "");
            break;
        }
    }
    ses_follower_close(follower);
}

static void follow_all(struct drive *drive)
{
    const ses_key user = {victim.app, victim.user, NULL};

    follow(drive, &victim);
    follow(drive, &user);
}

static void add_up(struct drive *drive, const ses_key *scope, unsigned flags)
{
    const ses_usage_options options = {.size = sizeof options, .flags = flags, .limit = 3};
    ses_usage_rows *rows = NULL;
    ses_error error;

    (void)CALL(drive, "ses_store_usage", READ_CODES,
               ses_store_usage(drive->store, scope, &options, &rows, &error));
    ses_usage_rows_close(rows);
}

static void read_values(struct drive *drive)
{
    static const char *const names[] = {"k1", "user:k1", "app:k", "app:forged"};
    char *json = NULL;
    ses_error error;

    (void)CALL(drive, "ses_state_json_by_key", READ_CODES,
               ses_state_json_by_key(drive->store, &victim, NULL, &json, NULL, &error));
    ses_free(json);
    json = NULL;
    add_up(drive, &victim, SES_USAGE_BY_DAY | SES_USAGE_BY_MODEL);
    add_up(drive, &victim, SES_USAGE_BY_INVOCATION);
    (void)CALL(drive, "ses_event_get_by_key", READ_CODES,
               ses_event_get_by_key(drive->store, &victim, "e3", NULL, NULL, &json, NULL, &error));
    ses_free(json);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        json = NULL;
        (void)CALL(drive, "ses_state_get_by_key", READ_CODES,
                   ses_state_get_by_key(drive->store, &victim, names[i], NULL, &json, NULL, &error));
        ses_free(json);
    }
}

/* Pages to the end. A value that is found there was written with its `v` by add_events, or is damage. */
static void find_all(struct drive *drive, const ses_key *scope)
{
    ses_find_options options = {.size = sizeof options, .limit = 20};
    char token[12 * SES_ID_MAX] = "";
    bool more = true;
    ses_error error;

    for (int pages = 0; more; pages++) {
        ses_findings *page = NULL;
        options.token = token[0] ? token : NULL;
        (void)CALL(drive, "ses_store_find", READ_CODES,
                   ses_store_find(drive->store, scope, "v", SES_NUL, &options, &page, &error));
        more = page && ses_findings_token(page);
        if (more)
            snprintf(token, sizeof token, "%s", ses_findings_token(page));
        for (size_t i = 0; page && i < ses_findings_count(page); i++)
            if (!ses_findings_at(page, i)->app)
                find_fault(drive->progress, "ses_store_find", "a finding in no app", "");
        ses_findings_close(page);
        if (more && pages > 20000) {
            find_fault(drive->progress, "ses_store_find", "there is no last page", "");
            break;
        }
    }
}

static int find_digit(void *context, const char *text, size_t len, size_t from, size_t *begin, size_t *end,
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

static void redact_names(struct drive *drive)
{
    const ses_redact_options options = {.size = sizeof options,
                                        .flags = SES_REDACT_STATE | SES_REDACT_NAMES | SES_REDACT_FORKS |
                                                 SES_SECURE,
                                        .find = find_digit,
                                        .find_context = "7"};
    ses_error error;

    (void)CALL(drive, "ses_redact_by_key", LABEL_CODES,
               ses_redact_by_key(drive->store, &victim, NULL, 0, &options, NULL, &error));
}

static void append_some(struct drive *drive, ses_session *session)
{
    static const char event[] =
        "{\"actions\":{\"stateDelta\":{\"k1\":-1,\"new\":2,\"user:k1\":3,\"app:k\":4,\"k2\":"
        "\"__ADK_SENTINEL_REMOVED__\"}},\"timestamp\":1800000000}";
    static const char repeated[] = "{\"id\":\"e3\",\"author\":\"agent\"}";
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};
    ses_error error;

    (void)CALL(drive, "ses_append_by_key", APPEND_CODES,
               ses_append_by_key(drive->store, &victim, event, SES_NUL, NULL, NULL, &error));
    (void)CALL(drive, "ses_append_by_key", APPEND_CODES,
               ses_append_by_key(drive->store, &victim, repeated, SES_NUL, NULL, NULL, &error));
    if (session) {
        (void)CALL(drive, "ses_append", APPEND_CODES,
                   ses_append(session, event, SES_NUL, NULL, NULL, &error));
        (void)CALL(drive, "ses_append", APPEND_CODES,
                   ses_append(session, event, SES_NUL, &anyway, NULL, &error));
        (void)CALL(drive, "ses_append", APPEND_CODES,
                   ses_append_by_key(drive->store, &victim, event, SES_NUL, NULL, NULL, &error));
        (void)CALL(drive, "ses_refresh", READ_CODES, ses_refresh(session, NULL, &error));
        look_at_state(drive, session);
    }
}

static const ses_point points[] = {
    {.size = sizeof(ses_point), .kind = SES_POINT_NOW},
    {.size = sizeof(ses_point), .kind = SES_POINT_SEQ, .seq = 9},
    {.size = sizeof(ses_point), .kind = SES_POINT_EVENT, .id = "e7"},
    {.size = sizeof(ses_point), .kind = SES_POINT_INVOCATION, .id = "i2"},
    {.size = sizeof(ses_point), .kind = SES_POINT_LAST_TURN},
    {.size = sizeof(ses_point), .kind = SES_POINT_SEQ, .seq = 0},
};

enum { POINTS = sizeof points / sizeof points[0] };

static void read_history(struct drive *drive)
{
    const ses_as_of_options shared = {.size = sizeof shared, .flags = SES_AS_OF_SHARED};
    char *json = NULL;
    ses_error error;

    for (size_t i = 0; i < POINTS; i++) {
        json = NULL;
        (void)CALL(drive, "ses_state_json_as_of_by_key", READ_CODES,
                   ses_state_json_as_of_by_key(drive->store, &victim, &points[i], i % 2 ? &shared : NULL,
                                               &json, NULL, &error));
        ses_free(json);
    }
    (void)CALL(drive, "ses_state_json_initial_by_key", READ_CODES,
               ses_state_json_initial_by_key(drive->store, &victim, NULL, &json, NULL, &error));
    ses_free(json);
}

/* Forks first, as a cut ends it. */
static void change_history(struct drive *drive, ses_session *session)
{
    ses_error error;

    for (size_t i = 0; i < POINTS; i++) {
        ses_session *fork = NULL;
        (void)CALL(drive, "ses_fork_by_key", FORK_CODES,
                   ses_fork_by_key(drive->store, &victim, &points[i], NULL, NULL, &fork, &error));
        if (fork)
            look_at_events(drive, fork);
        ses_session_close(fork);
    }
    for (size_t i = POINTS; i-- > 0;) {
        (void)CALL(drive, "ses_rewind_by_key", REWIND_CODES,
                   ses_rewind_by_key(drive->store, &victim, &points[i], NULL, NULL, &error));
        (void)CALL(drive, "ses_redo_by_key", REWIND_CODES,
                   ses_redo_by_key(drive->store, &victim, NULL, NULL, &error));
    }
    if (session) {
        (void)CALL(drive, "ses_refresh", READ_CODES, ses_refresh(session, NULL, &error));
        (void)CALL(drive, "ses_rewind", REWIND_CODES, ses_rewind(session, &points[1], NULL, NULL, &error));
        (void)CALL(drive, "ses_cut", CUT_CODES, ses_cut(session, &points[1], NULL, NULL, &error));
        look_at_state(drive, session);
    }
    for (size_t i = 0; i < POINTS; i++)
        (void)CALL(drive, "ses_cut_by_key", CUT_CODES,
                   ses_cut_by_key(drive->store, &victim, &points[i], NULL, NULL, &error));
}

static void use_session(struct drive *drive)
{
    ses_session *session = NULL;
    ses_error error;

    (void)CALL(drive, "ses_get", READ_CODES, ses_get(drive->store, &victim, NULL, &session, &error));
    if (session) {
        look_at_state(drive, session);
        render(drive, session);
        look_at_events(drive, session);
    }
    get_some(drive);
    read_values(drive);
    walk_all(drive);
    follow_all(drive);
    for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CHANGED; order++) {
        list_all(drive, NULL, order);
        list_all(drive, victim.user, order);
    }
    read_history(drive);
    find_all(drive, NULL);
    find_all(drive, &victim);
    append_some(drive, session);
    change_history(drive, session);
    ses_session_close(session);
}

static void use_lease(struct drive *drive)
{
    const ses_lease_options at_once = {.size = sizeof at_once, .wait_ms = -1};
    ses_lease lease = {.token = 1};
    ses_error error;

    (void)CALL(drive, "ses_lease_take", LEASE_CODES,
               ses_lease_take(drive->store, &victim, "other", &at_once, &lease, &error));
    (void)CALL(drive, "ses_lease_renew", LEASE_CODES,
               ses_lease_renew(drive->store, &victim, lease.token, NULL, NULL, &error));
    (void)CALL(drive, "ses_lease_release", LEASE_CODES,
               ses_lease_release(drive->store, &victim, lease.token, NULL, &error));
    (void)CALL(drive, "ses_lease_take", LEASE_CODES,
               ses_lease_take(drive->store, &victim, "other", &at_once, &lease, &error));
}

static void use_draft(struct drive *drive)
{
    char *body = NULL;
    ses_error error;

    (void)CALL(drive, "ses_draft_get", READ_CODES,
               ses_draft_get(drive->store, &victim, NULL, &body, NULL, NULL, &error));
    ses_free(body);
    (void)CALL(drive, "ses_draft_set", WRITE_CODES,
               ses_draft_set(drive->store, &victim, "another", SES_NUL, NULL, &error));
    (void)CALL(drive, "ses_draft_clear", WRITE_CODES, ses_draft_clear(drive->store, &victim, NULL, &error));
}

static void use_inbox(struct drive *drive)
{
    const ses_key app = {victim.app, NULL, NULL};
    const ses_append_options answer = {.size = sizeof answer, .answers = "another"};
    ses_inputs *inputs = NULL;
    ses_lease lease;
    ses_error error;

    (void)CALL(drive, "ses_inbox_list", READ_CODES,
               ses_inbox_list(drive->store, &app, NULL, &inputs, &error));
    ses_inputs_close(inputs);
    (void)CALL(drive, "ses_inbox_add", WRITE_CODES,
               ses_inbox_add(drive->store, &victim, "another", "{}", SES_NUL, NULL, &error));
    (void)CALL(drive, "ses_inbox_take", WRITE_CODES,
               ses_inbox_take(drive->store, &victim, "owner", NULL, &inputs, &lease, &error));
    ses_inputs_close(inputs);
    (void)CALL(drive, "ses_append_by_key", APPEND_CODES,
               ses_append_by_key(drive->store, &victim, "{}", SES_NUL, &answer, NULL, &error));
    (void)CALL(drive, "ses_inbox_remove", WRITE_CODES,
               ses_inbox_remove(drive->store, &victim, "request", NULL, &error));
}

static void read_pending(struct drive *drive)
{
    ses_pending *pending = NULL;
    ses_error error;

    (void)CALL(drive, "ses_pending_open_by_key", READ_CODES,
               ses_pending_open_by_key(drive->store, &victim, NULL, &pending, &error));
    ses_pending_close(pending);
}

static void look_at_family(struct drive *drive)
{
    const ses_filter children = {.size = sizeof children, .child_of = &victim};
    ses_family *family = NULL;
    int64_t count = 0;
    ses_error error;

    (void)CALL(drive, "ses_family_open", READ_CODES,
               ses_family_open(drive->store, &victim, NULL, &family, &error));
    for (size_t i = 0; family && i < ses_family_count(family); i++) {
        if (strlen(ses_family_at(family, i)->session) > SES_ID_MAX)
            find_fault(drive->progress, "ses_family_at", "a name is too long", "");
    }
    ses_family_close(family);
    (void)CALL(drive, "ses_list_count, children", LIST_CODES,
               ses_list_count(drive->store, "app", NULL, &children, NULL, &count, &error));
}

/* Nothing of others is due. */
static void retain(struct drive *drive)
{
    const int64_t early = INT64_C(-62167219200000000);
    const int64_t late = INT64_C(4102444800000000);
    const ses_prune_options covered = {.size = sizeof covered, .which = SES_PRUNE_COMPACTED};
    const ses_prune_options old = {.size = sizeof old, .which = SES_PRUNE_KEEP, .keep = 3, .limit = 2};
    const ses_expire_options due = {.size = sizeof due, .now_us = &early, .sessions_per_user = 100000};
    ses_space space = {.size = sizeof space};
    ses_error error;

    (void)CALL(drive, "ses_expiry_set_by_key", WRITE_CODES,
               ses_expiry_set_by_key(drive->store, &victim, &late, NULL, &error));
    (void)CALL(drive, "ses_prune_by_key", WRITE_CODES,
               ses_prune_by_key(drive->store, &victim, &covered, NULL, &error));
    for (int i = 0; i < 2; i++)
        (void)CALL(drive, "ses_prune_by_key", WRITE_CODES,
                   ses_prune_by_key(drive->store, &victim, &old, NULL, &error));
    (void)CALL(drive, "ses_store_expire", DELETE_CODES,
               ses_store_expire(drive->store, NULL, &due, NULL, &error));
    (void)CALL(drive, "ses_store_space", READ_CODES, ses_store_space(drive->store, NULL, &space, &error));
    (void)CALL(drive, "ses_store_maintain", DELETE_CODES, ses_store_maintain(drive->store, NULL, &error));
}

static int pass_lines(void *context, const char *data, size_t len, ses_error *error)
{
    (void)context, (void)data, (void)len, (void)error;
    return 0;
}

/* The first events of the victim, and then others. */
struct given_events {
    const ses_event *known[12];
    size_t next;
    char text[64];
};

static int give_event(void *context, ses_loaded_event *event, ses_error *error)
{
    enum { GIVEN = 20 };
    struct given_events *given = context;
    const size_t at = given->next++;
    const ses_event *known = at < 12 ? given->known[at] : NULL;

    (void)error;
    snprintf(given->text, sizeof given->text, "{\"id\":\"other%d\",\"timestamp\":1}", (int)at);
    event->json = known ? known->json : given->text;
    event->json_len = known ? known->json_len : SES_NUL;
    return at < GIVEN;
}

static void load_over(struct drive *drive)
{
    static const unsigned flags[] = {0, SES_LOAD_UPDATE, SES_LOAD_RENAME, SES_LOAD_RENAME, SES_LOAD_REPLACE};
    struct given_events given = {.next = 0};
    ses_session *session = NULL;
    ses_error error;

    (void)CALL(drive, "ses_get", READ_CODES, ses_get(drive->store, &victim, NULL, &session, &error));
    for (size_t i = 0; session && i < 12; i++)
        given.known[i] = ses_session_event(session, i);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        const ses_load_options options = {.size = sizeof options, .flags = flags[i]};
        const int64_t created = session ? ses_session_created_us(session) : 1;
        const ses_loaded loaded = {
            .size = sizeof loaded, .created_us = &created, .next = give_event, .next_context = &given};
        given.next = 0;
        (void)CALL(drive, "ses_load", LOAD_CODES,
                   ses_load(drive->store, &victim, &loaded, &options, NULL, &error));
    }
    ses_session_close(session);
}

static void export_all(struct drive *drive)
{
    const ses_export_options one = {
        .size = sizeof one, .app = victim.app, .user = victim.user, .session = victim.session};
    const ses_export_options user = {.size = sizeof user, .app = victim.app, .user = victim.user};
    ses_names *names = NULL;
    ses_error error;

    (void)CALL(drive, "ses_store_export", READ_CODES,
               ses_store_export(drive->store, NULL, pass_lines, NULL, &error));
    (void)CALL(drive, "ses_store_export", READ_CODES,
               ses_store_export(drive->store, &user, pass_lines, NULL, &error));
    (void)CALL(drive, "ses_store_export", READ_CODES,
               ses_store_export(drive->store, &one, pass_lines, NULL, &error));
    (void)CALL(drive, "ses_list_apps", LIST_CODES, ses_list_apps(drive->store, NULL, &names, &error));
    ses_names_close(names);
    names = NULL;
    (void)CALL(drive, "ses_list_users", LIST_CODES,
               ses_list_users(drive->store, victim.app, NULL, &names, &error));
    ses_names_close(names);
}

static void create_and_delete(struct drive *drive)
{
    const ses_delete_options secure = {.size = sizeof secure, .flags = SES_SECURE};
    const ses_key fresh = {victim.app, victim.user, "fresh"};
    ses_session *session = NULL;
    ses_error error;

    (void)CALL(drive, "ses_create", CREATE_CODES,
               ses_create(drive->store, &fresh, Q("{'user:k1':5,'own':6}"), SES_NUL, NULL, &session, &error));
    ses_session_close(session);
    session = NULL;
    (void)CALL(drive, "ses_get_or_create", CREATE_CODES,
               ses_get_or_create(drive->store, &victim, Q("{'own':7}"), SES_NUL, NULL, &session, &error));
    ses_session_close(session);
    use_lease(drive);
    use_draft(drive);
    use_inbox(drive);
    read_pending(drive);
    look_at_family(drive);
    retain(drive);
    set_labels(drive);
    list_all_filtered(drive, NULL);
    list_all_filtered(drive, victim.user);
    export_all(drive);
    redact_names(drive);
    load_over(drive);
    (void)CALL(drive, "ses_delete", DELETE_CODES, ses_delete(drive->store, &victim, &secure, NULL, &error));
}

static void keep_tally(struct drive *drive)
{
    const ses_tally_options rebuild = {.size = sizeof rebuild, .flags = SES_TALLY_REBUILD};
    ses_error error;

    add_up(drive, NULL, SES_USAGE_BY_APP | SES_USAGE_BY_USER | SES_USAGE_BY_SESSION);
    (void)CALL(drive, "ses_store_tally", CODES(SES_EXISTS, SES_READONLY, SES_FULL, 0),
               ses_store_tally(drive->store, &rebuild, NULL, &error));
    add_up(drive, NULL, 0);
}

/* A check tells of damage in its report, not by its code. */
static void check_and_copy(struct drive *drive)
{
    const ses_check_options check = {.size = sizeof check, .level = SES_CHECK_LOG};
    const ses_backup_options compact = {.size = sizeof compact, .flags = SES_BACKUP_COMPACT};
    char target[1024];
    int64_t problems = 0;
    ses_store *copy = NULL;
    ses_error error;

    if (CALL(drive, "ses_store_check", CHECK_CODES,
             ses_store_check(drive->store, &check, &problems, &error)) == SES_CORRUPT)
        find_fault(drive->progress, "ses_store_check", "returned CORRUPT", error.message);
    (void)CALL(drive, "ses_open_copy", CHECK_CODES, ses_open_copy(drive->store, NULL, &copy, &error));
    ses_close(copy);
    snprintf(target, sizeof target, "%s.copy", drive->path);
    (void)CALL(drive, "ses_store_backup", CHECK_CODES,
               ses_store_backup(drive->store, target, drive->progress->number % 2 ? &compact : NULL, &error));
    (void)unlink(target);
}

/* ------------------------------------------------------------------------------------------- judging */

/* Looks for rows of other sessions that the sound file has and this one has lost or changed. */
static void judge_others(struct drive *drive, const char *sound, const char *whose, const char *after)
{
    static const char *const tables[][2] = {{"sessions", "id"},
                                            {"session_details", "session_id"},
                                            {"session_state", "session_id"},
                                            {"events", "session_id"},
                                            {"event_marks", "session_id"},
                                            {"base_state", "session_id"},
                                            {"session_leases", "session_id"},
                                            {"session_drafts", "session_id"},
                                            {"session_inbox", "session_id"},
                                            {"session_labels", "session_id"},
                                            {"derived", "session_id"}};
    sqlite3 *db = raw_open(drive->path);
    char sql[1024];

    snprintf(sql, sizeof sql, "ATTACH '%s' AS sound", sound);
    raw_run(db, sql);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        struct text count = {NULL, 0};
        snprintf(
            sql, sizeof sql,
            "SELECT count(*) FROM (SELECT * FROM sound.%s WHERE %s NOT IN (%s) EXCEPT SELECT * FROM main.%s)",
            tables[i][0], tables[i][1], whose, tables[i][0]);
        raw_query(db, sql, &count);
        if (strcmp(count.data, "0\n") != 0)
            find_fault(drive->progress, after, "has changed rows of other sessions in", tables[i][0]);
        free(count.data);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* `sound`: the file as it was before, when only rows of one session were damaged. */
static void drive_file(struct drive *drive, const char *sound)
{
    const ses_open_options options = {.size = sizeof options,
                                      .synchronous = SES_SYNC_NORMAL,
                                      .busy_timeout_ms = BUSY_MS,
                                      .timeout_ms = timeout_ms};
    ses_error error;

    (void)CALL(drive, "ses_open", OPEN_CODES, ses_open(drive->path, &options, &drive->store, &error));
    if (drive->store) {
        check_and_copy(drive);
        use_session(drive);
        create_and_delete(drive);
        if (sound)
            judge_others(drive, sound, "SELECT 1", "ses_delete, or an append,");
        (void)CALL(drive, "ses_delete_user", DELETE_CODES,
                   ses_delete_user(drive->store, victim.app, victim.user, NULL, NULL, NULL, &error));
        if (sound)
            judge_others(drive, sound, "SELECT id FROM sound.sessions WHERE user_id = 1", "ses_delete_user");
        share(drive, NULL);
        share(drive, "u1");
        keep_tally(drive);
        begin_call(drive->progress, "ses_close");
        ses_close(drive->store);
        (void)end_call(drive->progress, SES_OK, &error, CODES(0));
        drive->store = NULL;
    }
}

static void make_and_drive(struct damage_test *test, struct progress *progress, long number, const char *path)
{
    struct chance chance = {UINT64_C(0x5e551173) * (uint64_t)(number + 1)};
    const struct way *way = choose_way(number);
    int which = choose_store(way, &chance);
    struct store_files files = {.name = NULL};
    struct drive drive = {.progress = progress, .path = path};

    progress->number = number;
    progress->way = way->name;
    progress->store = test->stores[which].name;
    store_files_copy(&files, &test->stores[which]);
    for (size_t i = 1 + chance_below(&chance, 3); i > 0 && way->bytes && files.parts[way->part].len >= PAGE;
         i--)
        way->bytes(&files.parts[way->part], &chance);
    store_files_write(&files, path);
    if (way->rows)
        way->rows(path, &chance);
    drive_file(&drive, way->rows == damage_rows ? test->sound_paths[which] : NULL);
    store_files_remove(path);
    store_files_free(&files);
}

/* ------------------------------------------------------------------------------------------ children */

struct worker {
    struct damage_test *test;
    struct progress *progress; /* shared with its child */
    pid_t child;               /* 0: none */
    bool ended;                /* by the watchdog */
    long next;
    long stride;
    char *path;
};

static void drive_until_in_time(struct worker *worker)
{
    struct progress *progress = worker->progress;

    progress->tries = 0;
    do {
        progress->tries++;
        progress->is_late = false;
        make_and_drive(worker->test, progress, worker->next, worker->path);
    } while (progress->is_late && progress->tries < TRIES);
}

/* In the child. It ends by exit, for the leaks to be looked for. */
static void run_batch(struct worker *worker, long end)
{
    long findings = worker->progress->findings;

    atomic_store(&work_clock_on, timeout_ms > 0);
    for (int i = 0; i < BATCH && worker->next < end; i++, worker->next += worker->stride)
        drive_until_in_time(worker);
    for (int i = 0; i < STORES; i++) {
        store_files_free(&worker->test->stores[i]);
        free(worker->test->sound_paths[i]);
    }
    exit(worker->progress->findings > findings ? 1 : 0);
}

static void start_batch(struct worker *worker, long end)
{
    fflush(NULL);
    worker->progress->number = worker->next;
    worker->progress->call = NULL;
    worker->child = fork();
    assert_int_not_equal(worker->child, -1);
    if (worker->child == 0)
        run_batch(worker, end);
}

/* The watchdog: a call that waits too long ends the child. */
static void watch(struct worker *worker)
{
    struct progress *progress = worker->progress;
    const char *call = progress->call;

    if (call && !worker->ended && wall_us() - progress->call_began_wall_us > MOST_WAIT_S * 1000000LL) {
        find_fault(progress, call, "still not over after 300 s", "");
        (void)kill(worker->child, SIGKILL);
        worker->ended = true;
    }
}

static void end_batch(struct worker *worker, int status)
{
    struct progress *progress = worker->progress;
    const char *call = progress->call;

    worker->child = 0;
    if ((WIFSIGNALED(status) && !worker->ended) || (WIFEXITED(status) && WEXITSTATUS(status) > 1)) {
        char what[64];
        snprintf(what, sizeof what, "the process ended with %s %d", WIFSIGNALED(status) ? "signal" : "code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        find_fault(progress, call ? call : "(between calls, or leaks of the batch)", what, "");
    }
    worker->ended = false;
    worker->next = progress->number + worker->stride; /* after a crash it goes on with the next file */
}

static void run_workers(struct worker *workers, size_t count, long end)
{
    size_t running;

    do {
        running = 0;
        for (size_t i = 0; i < count; i++) {
            struct worker *worker = &workers[i];
            int status = 0;
            if (worker->child == 0 && worker->next < end)
                start_batch(worker, end);
            else if (worker->child != 0 && waitpid(worker->child, &status, WNOHANG) == worker->child)
                end_batch(worker, status);
            else if (worker->child != 0)
                watch(worker);
            running += worker->child != 0 || worker->next < end;
        }
        support_pause_us(5000);
    } while (running > 0);
}

/* ---------------------------------------------------------------------------------------------- test */

static int damage_setup(void **state)
{
    struct damage_test *test = calloc(1, sizeof *test);

    assert_non_null(test);
    if (!getenv("TMPDIR") && access("/dev/shm", W_OK) == 0)
        assert_int_equal(setenv("TMPDIR", "/dev/shm", 1), 0); /* thousands of files are written there */
    test->folder = support_folder_make();
    /* SQLite puts random numbers into logs and journals. They must be the same in each run. */
    (void)sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 1, NULL);
    make_stores(test);
    *state = test;
    return 0;
}

static int limited_setup(void **state)
{
    timeout_ms = LIMIT_MS;
    return damage_setup(state);
}

static int damage_teardown(void **state)
{
    struct damage_test *test = *state;
    for (int i = 0; i < STORES; i++) {
        store_files_free(&test->stores[i]);
        free(test->sound_paths[i]);
    }
    support_folder_remove(test->folder);
    free(test);
    timeout_ms = 0;
    return 0;
}

static long sum_up(const struct progress *progress, size_t count, long files)
{
    struct progress sum = {.findings = 0, .longest_call = "none", .latest_call = "none"};

    for (size_t i = 0; i < count; i++) {
        sum.findings += progress[i].findings;
        sum.ok += progress[i].ok;
        sum.corrupt += progress[i].corrupt;
        sum.others += progress[i].others;
        for (size_t k = 0; k < LATE_CLASSES; k++)
            sum.late[k] += progress[i].late[k];
        if (progress[i].latest_us > sum.latest_us) {
            sum.latest_us = progress[i].latest_us;
            sum.latest_call = progress[i].latest_call;
            sum.latest_number = progress[i].latest_number;
        }
        if (progress[i].longest_us > sum.longest_us) {
            sum.longest_us = progress[i].longest_us;
            sum.longest_call = progress[i].longest_call;
            sum.longest_number = progress[i].longest_number;
        }
    }
    print_message(
        "%ld files: %ld calls went well, %ld said CORRUPT, %ld something else; the longest took %ld ms "
        "(%s, file %ld); %ld findings\n",
        files, sum.ok, sum.corrupt, sum.others, (long)(sum.longest_us / 1000), sum.longest_call,
        sum.longest_number, sum.findings);
    support_figure("damaged-files", files);
    if (timeout_ms > 0)
        print_message(
            "late by less than 1 ms: %ld, 3 ms: %ld, 10 ms: %ld, 100 ms: %ld, more: %ld; the latest by %ld "
            "us (%s, file %ld)\n",
            sum.late[0], sum.late[1], sum.late[2], sum.late[3], sum.late[4], (long)sum.latest_us,
            sum.latest_call, sum.latest_number);
    return sum.findings;
}

static void drive_files(struct damage_test *test, long files)
{
    long first = support_setting("SESLITE_DAMAGE_FIRST", 0);
    long jobs = support_setting("SESLITE_DAMAGE_JOBS", 1);
    struct worker workers[MOST_JOBS] = {{.next = 0}};
    size_t count = (size_t)(jobs < 1 ? 1 : jobs > MOST_JOBS ? MOST_JOBS : jobs);
    struct progress *progress =
        mmap(NULL, sizeof *progress * count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_true(progress != MAP_FAILED);
    for (size_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "damaged-%zu.db", i);
        workers[i] = (struct worker){.test = test,
                                     .progress = &progress[i],
                                     .next = first + (long)i,
                                     .stride = (long)count,
                                     .path = support_path(test->folder, name)};
    }
    run_workers(workers, count, first + files);
    long findings = sum_up(progress, count, files);
    assert_true(progress[0].ok > 0);
    assert_int_equal(munmap(progress, sizeof *progress * count), 0);
    for (size_t i = 0; i < count; i++)
        free(workers[i].path);
    assert_int_equal(findings, 0);
}

TEST_WITH(struct damage_test *test, damage_setup, damage_teardown, damaged_files)
{
    drive_files(test, support_setting("SESLITE_DAMAGE_FILES", UNDER_TSAN ? 50 : 400));
}

TEST_WITH(struct damage_test *test, limited_setup, damage_teardown,
          calls_on_damaged_files_return_at_their_time_limit)
{
    drive_files(test, support_setting("SESLITE_DAMAGE_LIMITED", UNDER_TSAN ? 5 : UNDER_ASAN ? 10 : 40));
}
