/*
 * Each write, flush, truncation and removal that a call makes fails in turn, in each way in which it can:
 * before it is done, half done, or after it. Then the same process looks; and so do processes that come after
 * this one has died at the failure, or after the look. A call that succeeds is in the file for all of them,
 * and a call that fails for none, unless its outcome is UNKNOWN. Then it is there or not, and the same event,
 * sent again with the id that was made, is there once.
 *
 * SESLITE_COMMIT_CASES=N repeats it with events of random length until there were N cases.
 */
#include "open.h"
#include "random.h"

#include "../../tools/bench/over_vfs.h"

/* ------------------------------------------------------------------------------------------ the disk */

enum way { WAY_NOT_DONE, WAY_HALF_DONE, WAY_DONE, WAY_FULL, WAYS };

static struct {
    bool armed;
    long operations;
    long fail_at; /* of those while it is armed */
    enum way way;
    bool for_good;
    bool failed;
    bool pads; /* a torn write may damage its neighbours */
} disk;

static bool fails_now(void)
{
    bool fails = disk.armed && (++disk.operations == disk.fail_at || (disk.failed && disk.for_good));
    disk.failed = disk.failed || fails;
    return fails;
}

static int disk_write(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 offset)
{
    bool fails = fails_now();
    int some = !fails || disk.way == WAY_DONE ? bytes : disk.way == WAY_NOT_DONE ? 0 : bytes / 2;
    int rc = some > 0 ? over_file_of(file)->real->xWrite(file, data, some, offset) : SQLITE_OK;

    return fails ? (disk.way == WAY_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE) : rc;
}

static int disk_sync(sqlite3_file *file, int flags)
{
    bool fails = fails_now();
    int rc = over_file_of(file)->real->xSync(file, flags);
    return fails ? SQLITE_IOERR_FSYNC : rc;
}

static int disk_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    bool fails = fails_now();
    int rc = fails && disk.way == WAY_NOT_DONE ? SQLITE_OK : over_file_of(file)->real->xTruncate(file, size);
    return fails ? SQLITE_IOERR_TRUNCATE : rc;
}

/* Either it cannot be removed, or the folder cannot be flushed. */
static int disk_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    bool fails = fails_now();
    bool done = !fails || disk.way != WAY_NOT_DONE;
    int rc = done ? over_below->xDelete(over_below, name, sync) : SQLITE_OK;

    (void)vfs;
    return !fails ? rc : done && sync ? SQLITE_IOERR_DIR_FSYNC : SQLITE_IOERR_DELETE;
}

static int disk_traits(sqlite3_file *file)
{
    int traits = over_file_of(file)->real->xDeviceCharacteristics(file);
    return disk.pads ? traits & ~SQLITE_IOCAP_POWERSAFE_OVERWRITE : traits;
}

/* ----------------------------------------------------------------------------------------- the calls */

static const ses_key key = {"app", "user", "one"};
static const ses_key other = {"app", "user", "two"};
static const ses_key fresh = {"app", "user", "new"};

static struct {
    char filler[20000]; /* of the events that are appended */
    int ids;
    ses_appended appended;
    ses_session *session;
} at;

static int64_t stopped_clock(void *context)
{
    (void)context;
    return INT64_C(1700000000000000);
}

static int make_id(void *context, char *id, size_t capacity)
{
    (void)context;
    return snprintf(id, capacity, "made-%d", ++at.ids) < 0;
}

static const char *event_text(const char *id)
{
    static char text[sizeof at.filler + 200];
    snprintf(text, sizeof text,
             "{%s%s%s\"author\":\"a\",\"actions\":{\"stateDelta\":{\"n\":2,\"user:n\":2,\"app:n\":2}},\"x\":"
             "\"%s\"}",
             id ? "\"id\":\"" : "", id ? id : "", id ? "\"," : "", at.filler);
    return text;
}

static int append(ses_store *store, ses_error *error)
{
    return ses_append_by_key(store, &key, event_text(NULL), SES_NUL, NULL, &at.appended, error);
}

static int append_to_handle(ses_store *store, ses_error *error)
{
    (void)store;
    return ses_append(at.session, event_text(NULL), SES_NUL, NULL, &at.appended, error);
}

static int append_batch(ses_store *store, ses_error *error)
{
    const ses_text events[] = {{event_text(NULL), SES_NUL}, {Q("{'author':'b'}"), SES_NUL}};
    return ses_append_batch_by_key(store, &key, events, 2, NULL, NULL, error);
}

static int create(ses_store *store, ses_error *error)
{
    return ses_create(store, &fresh, Q("{'a':1,'user:n':3}"), SES_NUL, NULL, NULL, error);
}

static int get_or_create(ses_store *store, ses_error *error)
{
    return ses_get_or_create(store, &fresh, "{}", SES_NUL, NULL, NULL, error);
}

static int delete_session(ses_store *store, ses_error *error)
{
    return ses_delete(store, &other, NULL, NULL, error);
}

static int delete_securely(ses_store *store, ses_error *error)
{
    const ses_delete_options options = {.size = sizeof options, .flags = SES_SECURE};
    return ses_delete(store, &other, &options, NULL, error);
}

static int delete_user(ses_store *store, ses_error *error)
{
    return ses_delete_user(store, "app", "user", NULL, NULL, NULL, error);
}

static int delete_app(ses_store *store, ses_error *error)
{
    return ses_delete_app(store, "app", NULL, NULL, error);
}

static const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 2};

static int cut(ses_store *store, ses_error *error)
{
    return ses_cut_by_key(store, &key, &first, NULL, NULL, error);
}

static int fork_session(ses_store *store, ses_error *error)
{
    return ses_fork_by_key(store, &key, &first, &fresh, NULL, NULL, error);
}

static int rewind_session(ses_store *store, ses_error *error)
{
    return ses_rewind_by_key(store, &key, &first, NULL, NULL, error);
}

static int redo(ses_store *store, ses_error *error)
{
    return ses_redo_by_key(store, &other, NULL, NULL, error);
}

static int prune(ses_store *store, ses_error *error)
{
    const ses_prune_options options = {.size = sizeof options, .which = SES_PRUNE_KEEP, .keep = 1};
    return ses_prune_by_key(store, &key, &options, NULL, error);
}

static int expire(ses_store *store, ses_error *error)
{
    const int64_t now = INT64_C(1800000000000000);
    const ses_expire_options options = {.size = sizeof options, .now_us = &now, .idle_us = 1};
    return ses_store_expire(store, NULL, &options, NULL, error);
}

static int set_expiry(ses_store *store, ses_error *error)
{
    const int64_t expires = INT64_C(1900000000000000);
    return ses_expiry_set_by_key(store, &key, &expires, NULL, error);
}

static int set_title(ses_store *store, ses_error *error)
{
    return ses_title_set_by_key(store, &key, "title", NULL, error);
}

static int set_label(ses_store *store, ses_error *error)
{
    const ses_label label = {"name", "value"};
    return ses_labels_set_by_key(store, &key, &label, 1, NULL, error);
}

static int change_shared(ses_store *store, ses_error *error)
{
    return ses_shared_state_change(store, "app", "user", Q("{'n':9}"), SES_NUL, NULL, error);
}

static int take_lease(ses_store *store, ses_error *error)
{
    ses_lease lease;
    return ses_lease_take(store, &key, "owner", NULL, &lease, error);
}

static int load_json(ses_store *store, ses_error *error)
{
    return ses_load_json(store, &fresh,
                         Q("{'id':'new','appName':'app','userId':'user','state':{},'events':[],"
                           "'lastUpdateTime':1}"),
                         SES_NUL, NULL, NULL, error);
}

static int maintain(ses_store *store, ses_error *error)
{
    return ses_store_maintain(store, NULL, error);
}

static const struct {
    const char *name;
    int (*call)(ses_store *store, ses_error *error);
    bool appends; /* one event, which can be sent again */
} calls[] = {
    {"append", append, true},
    {"append_to_handle", append_to_handle, true},
    {"append_batch", append_batch, false},
    {"create", create, false},
    {"get_or_create", get_or_create, false},
    {"delete_session", delete_session, false},
    {"delete_securely", delete_securely, false},
    {"delete_user", delete_user, false},
    {"delete_app", delete_app, false},
    {"cut", cut, false},
    {"fork_session", fork_session, false},
    {"rewind_session", rewind_session, false},
    {"redo", redo, false},
    {"prune", prune, false},
    {"expire", expire, false},
    {"set_expiry", set_expiry, false},
    {"set_title", set_title, false},
    {"set_label", set_label, false},
    {"change_shared", change_shared, false},
    {"take_lease", take_lease, false},
    {"load_json", load_json, false},
    {"maintain", maintain, false},
};

enum { CALLS = sizeof calls / sizeof calls[0] };

static const struct {
    const char *name;
    int journal;
    int synchronous;
    bool pads;
} files[] = {
    {"wal", SES_JOURNAL_WAL, SES_SYNC_FULL, false},
    {"rollback", SES_JOURNAL_ROLLBACK, SES_SYNC_FULL, false},
    {"wal, normal", SES_JOURNAL_WAL, SES_SYNC_NORMAL, false},
    {"wal, padded", SES_JOURNAL_WAL, SES_SYNC_FULL, true},
};

enum { FILES = sizeof files / sizeof files[0] };

/* ----------------------------------------------------------------------------------------- the files */

static struct {
    char *folder;
    char *made;     /* the store that each case begins with */
    char *live;     /* of this process */
    char *at_fault; /* as another finds it that comes after this one died at the failure */
    char *at_look;  /* or when it had looked */
    char *image;
} paths;

static const char *const parts[] = {"", "-wal", "-journal"};

enum { PARTS = sizeof parts / sizeof parts[0] };

struct part {
    char bytes[1 << 20];
    size_t len; /* SIZE_MAX: there is no such file */
};

static const char *part_path(const char *path, const char *suffix)
{
    static char name[1024];
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return name;
}

static void read_part(const char *path, const char *suffix, struct part *part)
{
    FILE *file = fopen(part_path(path, suffix), "rb");

    part->len = SIZE_MAX;
    if (file) {
        part->len = fread(part->bytes, 1, sizeof part->bytes, file);
        assert_in_range(part->len, 0, sizeof part->bytes - 1);
        fclose(file);
    }
}

static void copy_part(const char *from, const char *to, const char *suffix)
{
    static struct part part;

    read_part(from, suffix, &part);
    (void)unlink(part_path(to, suffix));
    if (part.len != SIZE_MAX) {
        FILE *file = fopen(part_path(to, suffix), "wb");
        assert_int_equal(fwrite(part.bytes, 1, part.len, file), part.len);
        assert_int_equal(fclose(file), 0);
    }
}

static bool is_part_equal(const char *left, const char *right, const char *suffix)
{
    static struct part parts_of[2];

    read_part(left, suffix, &parts_of[0]);
    read_part(right, suffix, &parts_of[1]);
    return parts_of[0].len == parts_of[1].len &&
           (parts_of[0].len == SIZE_MAX ||
            memcmp(parts_of[0].bytes, parts_of[1].bytes, parts_of[0].len) == 0);
}

/* The remains of a process that dies; the index of the log, which is in shared memory, is made anew. */
static void copy_store(const char *from, const char *to)
{
    (void)unlink(part_path(to, "-shm"));
    for (size_t i = 0; i < PARTS; i++)
        copy_part(from, to, parts[i]);
}

static bool is_store_equal(const char *left, const char *right)
{
    bool equal = true;
    for (size_t i = 0; i < PARTS; i++)
        equal = equal && is_part_equal(left, right, parts[i]);
    return equal;
}

static ses_store *open_store(const char *path, size_t file)
{
    const ses_open_options options = {.size = sizeof options,
                                      .journal = files[file].journal,
                                      .synchronous = files[file].synchronous,
                                      .clock = stopped_clock,
                                      .make_id = make_id};

    disk.pads = files[file].pads;
    ses_store *store = must_open(path, &options);
    return store;
}

static void make_store(size_t file)
{
    (void)unlink(part_path(paths.made, "-shm"));
    for (size_t i = 0; i < PARTS; i++)
        (void)unlink(part_path(paths.made, parts[i]));
    at.ids = 0;
    ses_store *store = open_store(paths.made, file);

    must_create(store, &key, Q("{'n':1}"));
    must_create(store, &other, Q("{'n':1}"));
    for (int i = 0; i < 4; i++) {
        char event[200];
        snprintf(event, sizeof event,
                 Q("{'id':'e%d','invocationId':'i%d','timestamp':%d,'actions':{'stateDelta':{'n':%d}}}"), i,
                 i / 2, i + 1, i);
        must_append_by_key(store, &key, event);
        must_append_by_key(store, &other, event);
    }
    ses_error error;
    assert_ok(ses_rewind_by_key(store, &other, &first, NULL, NULL, &error));
    ses_close(store);
}

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
    return hash;
}

/* A number for all that is stored, but for statistics. */
static uint64_t digest_rows(const char *path)
{
    struct text tables = {NULL, 0};
    uint64_t hash = 1;
    sqlite3 *db = raw_open(path);

    raw_query(db,
              "SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_schema WHERE type = 'table' "
              "AND name NOT LIKE 'sqlite_stat%' ORDER BY name)",
              &tables);
    for (char *name = strtok(tables.data, " \n"); name; name = strtok(NULL, " \n")) {
        struct text rows = {NULL, 0};
        char sql[200];
        snprintf(sql, sizeof sql, "SELECT * FROM %s", name);
        raw_query(db, sql, &rows);
        hash = hash_bytes(hash, rows.data, rows.len);
        free(rows.data);
    }
    free(tables.data);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return hash;
}

/* The same for its pages, which takes less: SQLite need not read the schema. */
static uint64_t digest_pages(const char *path)
{
    static struct part image;
    sqlite3 *from = raw_open(path);

    (void)unlink(paths.image);
    sqlite3 *to = raw_open(paths.image);
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    assert_non_null(backup);
    assert_int_equal(sqlite3_backup_step(backup, -1), SQLITE_DONE);
    assert_int_equal(sqlite3_backup_finish(backup), SQLITE_OK);
    assert_int_equal(sqlite3_close(to), SQLITE_OK);
    assert_int_equal(sqlite3_close(from), SQLITE_OK);
    read_part(paths.image, "", &image);
    memset(image.bytes + 24, 0, 4); /* how often the file was changed */
    memset(image.bytes + 92, 0, 8);
    return hash_bytes(1, image.bytes, image.len);
}

/* A state of the store: before a call, or after it. */
struct state {
    uint64_t pages;
    uint64_t rows;
};

static struct state state_of(const char *path)
{
    return (struct state){digest_pages(path), digest_rows(path)};
}

enum found { FOUND_BEFORE, FOUND_DONE, FOUND_SAME, FOUND_OTHER };

/* In which of the two states is it? They may be the same to us. */
static enum found find_state(const char *path, const struct state *before, const struct state *done)
{
    uint64_t pages = digest_pages(path);
    uint64_t rows = pages == before->pages ? before->rows
                    : pages == done->pages ? done->rows
                                           : digest_rows(path);

    return before->rows == done->rows && rows == done->rows ? FOUND_SAME
           : rows == before->rows                           ? FOUND_BEFORE
           : rows == done->rows                             ? FOUND_DONE
                                                            : FOUND_OTHER;
}

/* ----------------------------------------------------------------------------------------- one case */

static char where[200];
static char said[500]; /* by the call */
static struct {
    long cases;
    long failed;
    long unknown;
    long appeared; /* of the latter: another process found what this one did not */
} seen;

static int look(ses_store *store)
{
    ses_session *session = NULL;
    int code = ses_get(store, &key, NULL, &session, NULL);

    ses_session_close(session);
    return code;
}

/* The outcome of a call, and the findings of this process and of those after its death. */
struct outcome {
    int code;
    enum found live;
    enum found at_fault;
    enum found at_look;
};

/* The store that cases are made with, which is used again while nothing has changed in it. */
static struct {
    size_t file;
    size_t call;
    struct state before;
    struct state done;
    ses_store *store;
} scene;

static void open_scene(void)
{
    ses_error error;

    copy_store(paths.made, paths.live);
    scene.store = open_store(paths.live, scene.file);
    assert_ok(ses_get(scene.store, &key, NULL, &at.session, &error));
}

static void close_scene(void)
{
    if (scene.store) {
        ses_session_close(at.session);
        ses_close(scene.store);
    }
    scene.store = NULL;
}

static int make_call(void)
{
    ses_error error;

    if (!scene.store)
        open_scene();
    at.ids = 100; /* after those of the store that was made */
    at.appended = (ses_appended){0};
    disk.operations = 0;
    disk.failed = false;
    disk.armed = true;
    int code = calls[scene.call].call(scene.store, &error);
    disk.armed = false;
    snprintf(said, sizeof said, "%s", error.message);
    return code;
}

/* Sent again with its id, it is there once: that is all that was to be there. */
static void send_again(ses_store *store, const char *path)
{
    ses_error error;
    int code = ses_append_by_key(store, &key, event_text(at.appended.made_id), SES_NUL, NULL, NULL, &error);

    if (code != SES_OK)
        assert_int_equal(code, SES_DUPLICATE);
    assert_int_equal(find_state(path, &scene.before, &scene.done), FOUND_DONE);
}

static void send_again_everywhere(void)
{
    assert_int_equal(at.appended.status, SES_UNKNOWN);
    assert_string_equal(at.appended.made_id, "made-101");
    send_again(scene.store, paths.live);
    ses_store *store = open_store(paths.at_fault, scene.file);
    send_again(store, paths.at_fault);
    ses_close(store);
}

static struct outcome run_case(void)
{
    struct outcome outcome = {.code = make_call()};

    copy_store(paths.live, paths.at_fault);
    int looked = look(scene.store);
    assert_true(looked == SES_OK || looked == SES_NOTFOUND);
    outcome.live = find_state(paths.live, &scene.before, &scene.done);
    bool changed = !is_store_equal(paths.live, paths.at_fault); /* by the look */
    if (changed)
        copy_store(paths.live, paths.at_look);
    outcome.at_fault = find_state(paths.at_fault, &scene.before, &scene.done);
    outcome.at_look = changed ? find_state(paths.at_look, &scene.before, &scene.done) : outcome.at_fault;
    if (outcome.code == SES_UNKNOWN && calls[scene.call].appends)
        send_again_everywhere();
    return outcome;
}

static bool agrees(int code, enum found found)
{
    return found == FOUND_SAME || (code >= 0             ? found == FOUND_DONE
                                   : code != SES_UNKNOWN ? found == FOUND_BEFORE
                                                         : found != FOUND_OTHER);
}

static void judge(const struct outcome *outcome)
{
    if (!agrees(outcome->code, outcome->live) || !agrees(outcome->code, outcome->at_fault) ||
        !agrees(outcome->code, outcome->at_look)) {
        print_error("%s, and found %d, at the fault %d, after a look %d\n", ses_code_name(outcome->code),
                    (int)outcome->live, (int)outcome->at_fault, (int)outcome->at_look);
        fail();
    }
    seen.cases++;
    seen.failed += outcome->code < 0;
    seen.unknown += outcome->code == SES_UNKNOWN;
    seen.appeared += outcome->at_look != outcome->live || outcome->at_fault != outcome->live;
}

/* Without a fault, to see what it does, and how many operations it takes. */
static long run_undisturbed(void)
{
    close_scene();
    snprintf(where, sizeof where, "%s, %s", files[scene.file].name, calls[scene.call].name);
    copy_store(paths.made, paths.live);
    scene.before = state_of(paths.live);
    disk.fail_at = 0;
    assert_true(make_call() >= 0);
    scene.done = state_of(paths.live);
    close_scene();
    assert_true(disk.operations > 0);
    return disk.operations;
}

static void fail_in_turn(long *skip, long every)
{
    long operations = run_undisturbed();

    for (long n = 1; n <= operations; n++) {
        for (int i = 0; i < WAYS * 2; i++) {
            const int way = (int)(n + i) % (WAYS * 2);
            if ((*skip)++ % every != 0)
                continue;
            disk.fail_at = n;
            disk.way = (enum way)(way / 2);
            disk.for_good = way % 2 != 0;
            snprintf(where, sizeof where, "%s, %s: operation %ld of %ld, way %d, filler %zu",
                     files[scene.file].name, calls[scene.call].name, n, operations, way, strlen(at.filler));
            struct outcome outcome = run_case();
            judge(&outcome);
            if (outcome.code >= 0 || outcome.code == SES_UNKNOWN || i == WAYS * 2 - 1)
                close_scene();
        }
    }
    close_scene();
    where[0] = '\0';
}

static void fill(size_t len)
{
    memset(at.filler, 'x', len);
    at.filler[len] = '\0';
}

static int teardown(void **state)
{
    (void)state;
    if (where[0])
        print_error("%s\n%s\n", where, said);
    disk.armed = false;
    free(paths.made);
    free(paths.live);
    free(paths.at_fault);
    free(paths.at_look);
    free(paths.image);
    support_folder_remove(paths.folder);
    return 0;
}

static int setup(void **state)
{
    (void)state;
    paths.folder = support_folder_make();
    paths.made = support_path(paths.folder, "made.db");
    paths.live = support_path(paths.folder, "live.db");
    paths.at_fault = support_path(paths.folder, "at_fault.db");
    paths.at_look = support_path(paths.folder, "at_look.db");
    paths.image = support_path(paths.folder, "image.db");
    return 0;
}

TEST_WITH(void *no_state, setup, teardown, a_call_says_what_has_become_of_it)
{
    const char *cases = getenv("SESLITE_COMMIT_CASES");
    const long wanted = cases ? atol(cases) : 1;
    const long every = cases ? 1 : 97;
    uint64_t seed = 1;
    long skip = 0;

    while (seen.cases < wanted) {
        fill(seen.cases == 0 ? 5000 : random_below(&seed, sizeof at.filler));
        for (scene.file = 0; scene.file < FILES; scene.file++) {
            make_store(scene.file);
            for (scene.call = 0; scene.call < CALLS; scene.call++)
                fail_in_turn(&skip, every);
        }
        if (cases)
            print_message("%ld cases, %ld failed, %ld of them unknown, of which %ld appeared to others\n",
                          seen.cases, seen.failed, seen.unknown, seen.appeared);
    }
    support_figure("faults", seen.cases);
    assert_true(seen.unknown > 0 && seen.unknown < seen.failed && seen.failed < seen.cases);
}

BEFORE_TESTS()
{

    over_init("failing", (sqlite3_io_methods){.xWrite = disk_write,
                                              .xTruncate = disk_truncate,
                                              .xSync = disk_sync,
                                              .xDeviceCharacteristics = disk_traits});
    over_vfs.xDelete = disk_delete;
    assert_int_equal(sqlite3_vfs_register(&over_vfs, 1), SQLITE_OK);
    support_folders_in_memory();
}
