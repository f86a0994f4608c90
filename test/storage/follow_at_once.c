/*
 * Followers beside writers: threads, and processes of which some are killed. Each follower keeps a copy of
 * the logs by what it is given, and reads a session again when it is told to. In the end the copies are the
 * logs.
 */
#include "open.h"
#include "random.h"

#include <signal.h>
#include <stdatomic.h>

enum { LOGS = 4, MOST_EVENTS = 40000, ID_ROOM = 24 };

static const char *const names[LOGS] = {"a", "b", "c", "d"};

static ses_key key_of(int log)
{
    return (ses_key){"app", "user", names[log]};
}

/* ------------------------------------------------------------------------------------------- the copies */

struct copied {
    int64_t seq;
    char id[ID_ROOM];
};

struct copy {
    struct copied *events;
    size_t count;
};

struct reader {
    ses_store *store;
    int log; /* -1: all of the user */
    struct copy copies[LOGS];
    sqlite3 *db; /* sees what is committed; NULL: does not look */
    long given;
    atomic_long resets;
    atomic_bool stops;
    bool resets_expected;
    char problem[640];
    pthread_t thread;
};

static void note(struct reader *reader, const char *what, int code, const ses_error *error)
{
    if (!reader->problem[0])
        snprintf(reader->problem, sizeof reader->problem, "%s: %s %s", what, ses_code_name(code),
                 error ? error->message : "");
}

static struct copy *copy_of(struct reader *reader, const char *name)
{
    for (int i = 0; i < LOGS; i++) {
        if (name && strcmp(names[i], name) == 0)
            return &reader->copies[i];
    }
    note(reader, "an event of no session", 0, NULL);
    return &reader->copies[0];
}

static void copy_add(struct reader *reader, struct copy *copy, const ses_event *event)
{
    if (!copy->events)
        copy->events = malloc(MOST_EVENTS * sizeof *copy->events);
    if (!copy->events || copy->count == MOST_EVENTS) {
        note(reader, "no room", 0, NULL);
        return;
    }
    struct copied *added = &copy->events[copy->count++];
    added->seq = event->seq;
    snprintf(added->id, sizeof added->id, "%s", event->id);
}

/* True if every other connection sees it at this very moment. (Unless it was cut or pruned since.) */
static void look_whether_committed(struct reader *reader, const char *name, const ses_event *event)
{
    sqlite3_stmt *statement = NULL;

    (void)sqlite3_prepare_v2(reader->db,
                             "SELECT count(*) FROM events WHERE position = "
                             "(SELECT id FROM sessions WHERE name = ?1) << 32 | ?2",
                             -1, &statement, NULL);
    (void)sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(statement, 2, event->seq);
    if (sqlite3_step(statement) != SQLITE_ROW || sqlite3_column_int(statement, 0) != 1)
        note(reader, "an event before its commit", 0, NULL);
    (void)sqlite3_finalize(statement);
}

/* After a reset the session may have been read further than the follower noticed. */
static void take_event(struct reader *reader, const char *name, const ses_event *event)
{
    struct copy *copy = copy_of(reader, name);
    const int64_t last = copy->count > 0 ? copy->events[copy->count - 1].seq : 0;

    reader->given++;
    if (reader->db)
        look_whether_committed(reader, name, event);
    if (!reader->resets_expected && event->seq != last + 1)
        note(reader, "an event out of order, twice, or not at all", 0, NULL);
    if (event->seq > last)
        copy_add(reader, copy, event);
}

static void read_again(struct reader *reader, const char *name)
{
    const ses_key key = {"app", "user", name};
    ses_session *session = NULL;
    ses_error error;
    int code = ses_get(reader->store, &key, NULL, &session, &error);

    atomic_fetch_add(&reader->resets, 1);
    if (!reader->resets_expected || code != SES_OK) {
        note(reader, "a reset", code, &error);
        return;
    }
    struct copy *copy = copy_of(reader, name);
    copy->count = 0;
    for (size_t i = 0; i < ses_session_event_count(session); i++)
        copy_add(reader, copy, ses_session_event(session, i));
    ses_session_close(session);
}

static void *run_reader(void *context)
{
    struct reader *reader = context;
    const ses_key key = {"app", "user", reader->log < 0 ? NULL : names[reader->log]};
    ses_follower *follower = NULL;
    const ses_event *event = NULL;
    ses_error error;
    int result = ses_follower_open(reader->store, &key, NULL, &follower, &error);

    if (result != SES_OK)
        note(reader, "open", result, &error);
    while (result >= 0) {
        const bool last = atomic_load(&reader->stops);
        result = ses_follower_next(follower, last ? 0 : 50, &event, &error);
        if (result == SES_ROW)
            take_event(reader, ses_follower_session(follower), event);
        else if (result == SES_RESET)
            read_again(reader, ses_follower_session(follower));
        else if (result < 0)
            note(reader, "next", result, &error);
        else if (last)
            break;
    }
    ses_follower_close(follower);
    return NULL;
}

static void start_readers(struct reader *readers, int count, ses_store *store, bool resets, const char *path)
{
    for (int i = 0; i < count; i++) {
        readers[i] =
            (struct reader){.store = store, .log = i % 2 ? -1 : i / 2 % LOGS, .resets_expected = resets};
        if (path)
            readers[i].db = raw_open(path);
        assert_int_equal(pthread_create(&readers[i].thread, NULL, run_reader, &readers[i]), 0);
    }
}

/* The events that are there now must be the last of the copy, which may still hold some that were pruned. */
static void assert_copy(ses_store *store, int log, const struct copy *copy)
{
    const ses_key key = key_of(log);
    ses_session *session = must_get(store, &key);
    const size_t count = ses_session_event_count(session);

    assert_true(copy->count >= count);
    for (size_t i = 0; i < count; i++) {
        const struct copied *copied = &copy->events[copy->count - count + i];
        assert_int_equal(copied->seq, ses_session_event(session, i)->seq);
        assert_string_equal(copied->id, ses_session_event(session, i)->id);
    }
    if (copy->count > count)
        assert_true(copy->events[copy->count - count - 1].seq <= ses_session_base_seq(session));
    ses_session_close(session);
}

static void end_readers(struct reader *readers, int count, ses_store *store)
{
    for (int i = 0; i < count; i++)
        atomic_store(&readers[i].stops, true);
    for (int i = 0; i < count; i++) {
        assert_int_equal(pthread_join(readers[i].thread, NULL), 0);
        assert_string_equal(readers[i].problem, "");
        for (int log = 0; log < LOGS; log++) {
            if (readers[i].log < 0 || readers[i].log == log)
                assert_copy(store, log, &readers[i].copies[log]);
            free(readers[i].copies[log].events);
        }
        if (readers[i].db)
            assert_int_equal(sqlite3_close(readers[i].db), SQLITE_OK);
    }
}

/* ---------------------------------------------------------------------------------------------- writers */

struct writer {
    const char *path;
    ses_store *store;
    int number;
    int events;
    bool changes_history;
    int problem;
    pthread_t thread;
};

static int change_history(struct writer *writer, int log, uint64_t *random)
{
    const ses_key key = key_of(log);
    const ses_prune_options prune = {.size = sizeof prune, .which = SES_PRUNE_KEEP, .keep = 20};
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    ses_session *session = NULL;
    ses_error error;
    int code = ses_get(writer->store, &key, GET_RANGE(&none), &session, &error);

    if (code == SES_OK) {
        const int64_t last = ses_session_last_seq(session);
        const ses_point point = {
            .size = sizeof point, .kind = SES_POINT_SEQ, .seq = last > 3 ? last - 3 : last};
        code = random_below(random, 2) == 0 ? ses_cut_by_key(writer->store, &key, &point, NULL, NULL, &error)
                                            : ses_prune_by_key(writer->store, &key, &prune, NULL, &error);
    }
    ses_session_close(session);
    return code == SES_NOTFOUND ? SES_OK : code; /* the point was pruned meanwhile */
}

static void *run_writer(void *context)
{
    struct writer *writer = context;
    uint64_t random = (uint64_t)writer->number + 1;
    char event[80];
    ses_error error;

    for (int i = 0; i < writer->events && writer->problem == SES_OK; i++) {
        const int log = (int)random_below(&random, LOGS);
        const ses_key key = key_of(log);
        snprintf(event, sizeof event, "{\"id\":\"%d-%d\"}", writer->number, i);
        int code = ses_append_by_key(writer->store, &key, event, SES_NUL, NULL, NULL, &error);
        if (code == SES_OK && writer->changes_history && i % 20 == 19)
            code = change_history(writer, log, &random);
        if (code < 0) {
            fprintf(stderr, "writer %d: %s\n", writer->number, error.message);
            writer->problem = code;
        }
    }
    return NULL;
}

static bool all_were_told(struct reader *readers, int count)
{
    for (int i = 0; i < count; i++) {
        if (atomic_load(&readers[i].resets) == 0)
            return false;
    }
    return true;
}

/*
 * A reader that was always behind the writers was told of no change: what was cut had not come to it yet. So
 * events are added that it has time to reach, and cut again.
 */
static void cut_until_all_were_told(struct reader *readers, int count, ses_store *store)
{
    ses_point last_kept = {.size = sizeof last_kept, .kind = SES_POINT_SEQ};
    ses_appended appended[LOGS];
    ses_error error;

    for (int attempt = 0; attempt < 200 && !all_were_told(readers, count); attempt++) {
        for (int log = 0; log < LOGS; log++) {
            const ses_key key = key_of(log);
            assert_ok(ses_append_by_key(store, &key, "{}", SES_NUL, NULL, &appended[log], &error));
        }
        support_pause_us(100000);
        for (int log = 0; log < LOGS; log++) {
            const ses_key key = key_of(log);
            last_kept.seq = appended[log].seq - 1;
            assert_ok(ses_cut_by_key(store, &key, &last_kept, NULL, NULL, &error));
        }
        support_pause_us(100000);
    }
    assert_true(all_were_told(readers, count));
}

static void create_logs(const char *path)
{
    ses_store *store = must_open(path, NULL);
    for (int i = 0; i < LOGS; i++) {
        const ses_key key = key_of(i);
        must_create(store, &key, NULL);
    }
    ses_close(store);
}

static void follow_threads(const char *path, bool changes_history)
{
    enum { WRITERS = 4, READERS = 4, EVENTS = 400 };
    const ses_open_options options = {.size = sizeof options, .synchronous = SES_SYNC_NORMAL};
    struct writer writers[WRITERS];
    struct reader readers[READERS];

    create_logs(path);
    ses_store *store = must_open(path, &options);
    start_readers(readers, READERS, store, changes_history, changes_history ? NULL : path);
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){
            .store = store, .number = i, .events = EVENTS, .changes_history = changes_history && i == 0};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, run_writer, &writers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
        assert_int_equal(writers[i].problem, SES_OK);
    }
    if (changes_history)
        cut_until_all_were_told(readers, READERS, store);
    end_readers(readers, READERS, store);
    ses_close(store);
    for (int i = 0; i < READERS; i++) {
        if (!changes_history && readers[i].log < 0)
            assert_int_equal(readers[i].given, WRITERS * EVENTS);
    }
}

FOLDER_TEST(followers_beside_threads)
{
    follow_threads(folder->path, false);
}

FOLDER_TEST(followers_beside_threads_that_cut_and_prune)
{
    follow_threads(folder->path, true);
}

/* ------------------------------------------------------------------------------------------- processes */

/* In a child. */
static int run_writing_process(void *context)
{
    struct writer *writer = context;
    const ses_open_options options = {.size = sizeof options, .synchronous = SES_SYNC_NORMAL};
    ses_error error;

    if (ses_open(writer->path, &options, &writer->store, &error) != SES_OK)
        return 1;
    (void)run_writer(writer);
    ses_close(writer->store);
    return writer->problem == SES_OK ? 0 : 1;
}

static void follow_processes(const char *path, const ses_open_options *options, bool changes_history)
{
    enum { ROUNDS = 3, WRITERS = 3, READERS = 4 };

    create_logs(path);
    for (int round = 0; round < ROUNDS; round++) {
        struct writer killed = {.path = path, .number = 1000 * round, .events = 1000000};
        struct writer writers[WRITERS];
        struct reader readers[READERS];
        pid_t children[WRITERS];
        ses_store *store = NULL;
        ses_error error;
        pid_t victim = child_start(run_writing_process, &killed);
        for (int i = 0; i < WRITERS; i++) {
            writers[i] = (struct writer){.path = path,
                                         .number = 1000 * round + 1 + i,
                                         .events = 150,
                                         .changes_history = changes_history && i == 0};
            children[i] = child_start(run_writing_process, &writers[i]);
        }
        assert_ok(ses_open(path, options, &store, &error));
        start_readers(readers, READERS, store, changes_history, changes_history ? NULL : path);
        support_pause_us(40000 + round * 3000);
        assert_int_equal(kill(victim, SIGKILL), 0);
        assert_int_equal(child_end(victim), -1);
        for (int i = 0; i < WRITERS; i++)
            assert_int_equal(child_end(children[i]), 0);
        end_readers(readers, READERS, store);
        ses_close(store);
    }
}

FOLDER_TEST(followers_beside_processes_that_are_killed)
{
    const ses_open_options options = {.size = sizeof options};
    follow_processes(folder->path, &options, false);
}

FOLDER_TEST(followers_beside_processes_that_cut_and_prune)
{
    const ses_open_options options = {.size = sizeof options};
    follow_processes(folder->path, &options, true);
}

FOLDER_TEST(followers_of_a_store_that_is_read_only)
{
    const ses_open_options options = {.size = sizeof options, .flags = SES_OPEN_READ_ONLY};
    follow_processes(folder->path, &options, false);
}

FOLDER_TEST(followers_with_a_rollback_journal)
{
    const ses_open_options options = {.size = sizeof options, .journal = SES_JOURNAL_ROLLBACK};
    const char *path = folder->path;

    ses_store *store = must_open(path, &options);
    ses_close(store);
    follow_threads(path, false);
}

/* ------------------------------------------------------------------------------- going on elsewhere */

struct leg {
    const char *path;
    const char *place_path;
    int events;
};

/* In a child: some more events, from the place that is written down to the one that will be. */
static int run_leg(void *context)
{
    const struct leg *leg = context;
    const ses_key key = key_of(0);
    char *place = support_read_file(leg->place_path, NULL);
    const ses_follow_options options = {.size = sizeof options, .place = place};
    ses_store *store = NULL;
    ses_follower *follower = NULL;
    const ses_event *event = NULL;
    ses_error error;
    int64_t last = 0;

    if (ses_open(leg->path, NULL, &store, &error) != SES_OK ||
        ses_follower_open(store, &key, &options, &follower, &error) != SES_OK)
        return 1;
    for (int i = 0; i < leg->events; i++) {
        if (ses_follower_next(follower, 10000, &event, &error) != SES_ROW || (last && event->seq != last + 1))
            return 2;
        last = event->seq;
    }
    FILE *file = fopen(leg->place_path, "w");
    if (!file || fputs(ses_follower_place(follower), file) < 0 || fclose(file) != 0)
        return 3;
    free(place);
    _exit((int)last); /* as a process that is killed: nothing is closed */
}

FOLDER_TEST(other_processes_go_on_from_a_place)
{
    enum { EVENTS = 60 };
    const ses_key key = key_of(0);
    char *place_path = support_path(folder->folder, "place");
    struct leg leg = {.path = folder->path, .place_path = place_path};
    int last = 0;

    create_logs(folder->path);
    ses_store *store = must_open(folder->path, NULL);
    for (int i = 0; i < EVENTS; i++)
        must_append_by_key(store, &key, "{}");
    ses_session *session = must_get(store, &key);
    ses_follower *follower = NULL;
    assert_ok(ses_follower_open(store, &key, NULL, &follower, &error));
    write_file(place_path, ses_follower_place(follower), strlen(ses_follower_place(follower)));
    ses_follower_close(follower);
    ses_session_close(session);
    ses_close(store);
    for (leg.events = 1; last + leg.events <= EVENTS; leg.events++) {
        last += leg.events;
        assert_int_equal(child_run(run_leg, &leg), last);
    }
    assert_int_equal(last, 55);
    free(place_path);
}

/* ------------------------------------------------------------------------------------------------ fork */

static atomic_int notified;

static void count_call(void *context)
{
    (void)context;
    atomic_fetch_add(&notified, 1);
}

static int use_in_child(void *context)
{
    ses_follower *follower = context;
    const ses_event *event = NULL;
    ses_error error;

    if (ses_follower_next(follower, -1, &event, &error) != SES_MISUSE)
        return 1;
    ses_follower_wake(follower);
    if (!ses_follower_session(follower) || !ses_follower_place(follower))
        return 2;
    ses_follower_close(follower);
    return atomic_load(&notified) == 0 ? 0 : 3;
}

FOLDER_TEST(a_follower_does_not_survive_a_fork)
{
    const ses_follow_options options = {.size = sizeof options, .notify = count_call};
    const ses_key key = key_of(0);
    const ses_event *event = NULL;
    ses_follower *follower = NULL;

    create_logs(folder->path);
    ses_store *store = must_open(folder->path, NULL);
    assert_ok(ses_follower_open(store, &key, &options, &follower, &error));
    assert_ok(ses_follower_next(follower, 0, &event, &error));
    assert_int_equal(child_run(use_in_child, follower), 0);
    must_append_by_key(store, &key, "{}");
    assert_int_equal(atomic_load(&notified), 1);
    assert_code(SES_ROW, ses_follower_next(follower, -1, &event, &error));
    ses_follower_close(follower);
    ses_close(store);
}
