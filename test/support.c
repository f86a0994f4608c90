#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "seslite_search.h"

void support_assert_code(int expected, int code, const ses_error *error, const char *call, const char *file,
                         int line)
{
    if (code != expected) {
        print_error("%s:%d: %s\n    returned %s (%d), not %s: %s\n", file, line, call, ses_code_name(code),
                    code, ses_code_name(expected), code < 0 ? error->message : "");
        _fail(file, line);
    }
    if (code < 0 && error->code != code) {
        print_error("%s:%d: %s\n    returned %d, but the error says %d\n", file, line, call, code,
                    error->code);
        _fail(file, line);
    }
    if (code < 0 && error->message[0] == '\0') {
        print_error("%s:%d: %s\n    returned %d without a message\n", file, line, call, code);
        _fail(file, line);
    }
}

void support_assert_message(const ses_error *error, const char *words, const char *file, int line)
{
    if (!strstr(error->message, words)) {
        print_error("%s:%d: the message \"%s\" does not say \"%s\"\n", file, line, error->message, words);
        _fail(file, line);
    }
}

char *support_path(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    assert_non_null(path);
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

void support_folders_in_memory(void)
{
    if (access("/dev/shm", W_OK) == 0)
        (void)setenv("TMPDIR", "/dev/shm", 0);
}

char *support_folder_make(void)
{
    const char *parent = getenv("TMPDIR");
    char *folder = support_path(parent ? parent : "/tmp", "seslite-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

static void remove_below(const char *folder)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;

    while (entries && (entry = readdir(entries))) {
        char *path = support_path(folder, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && unlink(path) != 0) {
            remove_below(path);
            (void)rmdir(path);
        }
        free(path);
    }
    if (entries)
        (void)closedir(entries);
}

void support_folder_remove(char *folder)
{
    remove_below(folder);
    (void)rmdir(folder);
    free(folder);
}

/* ----------------------------------------------------------------------------------------------- handles */

struct kept {
    ses_session *session;
    ses_follower *follower;
    ses_tracked *tracked;
    struct kept *next;
};

static struct kept *all_kept;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static void keep(struct kept handle)
{
    struct kept *kept = malloc(sizeof *kept);

    assert_non_null(kept);
    assert_int_equal(pthread_mutex_lock(&kept_lock), 0);
    handle.next = all_kept;
    *kept = handle;
    all_kept = kept;
    assert_int_equal(pthread_mutex_unlock(&kept_lock), 0);
}

/* A handle that is kept is no longer. */
static void leave(const void *handle)
{
    struct kept **place = &all_kept;

    assert_int_equal(pthread_mutex_lock(&kept_lock), 0);
    while (*place && (*place)->session != handle && (*place)->follower != handle &&
           (*place)->tracked != handle)
        place = &(*place)->next;
    struct kept *kept = *place;
    if (kept)
        *place = kept->next;
    assert_int_equal(pthread_mutex_unlock(&kept_lock), 0);
    free(kept);
}

ses_session *support_keep_session(ses_session *session)
{
    keep((struct kept){.session = session});
    return session;
}

ses_follower *support_keep_follower(ses_follower *follower)
{
    keep((struct kept){.follower = follower});
    return follower;
}

ses_tracked *support_keep_tracked(ses_tracked *tracked)
{
    keep((struct kept){.tracked = tracked});
    return tracked;
}

void support_session_close(ses_session *session)
{
    if (session)
        leave(session);
    (ses_session_close)(session);
}

void support_follower_close(ses_follower *follower)
{
    if (follower)
        leave(follower);
    (ses_follower_close)(follower);
}

void support_tracked_close(ses_tracked *tracked)
{
    if (tracked)
        leave(tracked);
    (ses_tracked_close)(tracked);
}

void support_leave_kept(void)
{
    while (all_kept) {
        struct kept *kept = all_kept;
        all_kept = kept->next;
        free(kept);
    }
}

void support_close_kept(void)
{
    while (all_kept) {
        const struct kept kept = *all_kept;
        if (kept.session)
            support_session_close(kept.session);
        else if (kept.follower)
            support_follower_close(kept.follower);
        else
            support_tracked_close(kept.tracked);
    }
}

/* ------------------------------------------------------------------------------------------------- calls */

ses_store *support_open(const char *file, int line, const char *path, const ses_open_options *options)
{
    ses_store *store = NULL;
    ses_error error;
    int code = ses_open(path, options, &store, &error);
    support_assert_code(SES_OK, code, &error, "ses_open", file, line);
    return store;
}

void support_create(const char *file, int line, ses_store *store, const ses_key *key, const char *state)
{
    ses_error error;
    int code = ses_create(store, key, state, SES_NUL, NULL, NULL, &error);
    support_assert_code(SES_OK, code, &error, "ses_create", file, line);
}

ses_session *support_open_new(const char *file, int line, ses_store *store, const ses_key *key,
                              const char *state)
{
    ses_session *session = NULL;
    ses_error error;
    int code = ses_create(store, key, state, SES_NUL, NULL, &session, &error);
    support_assert_code(SES_OK, code, &error, "ses_create", file, line);
    return support_keep_session(session);
}

ses_session *support_get(const char *file, int line, ses_store *store, const ses_key *key)
{
    ses_session *session = NULL;
    ses_error error;
    int code = ses_get(store, key, NULL, &session, &error);
    support_assert_code(SES_OK, code, &error, "ses_get", file, line);
    return support_keep_session(session);
}

void support_append(const char *file, int line, ses_session *session, const char *event)
{
    ses_error error;
    int code = ses_append(session, event, SES_NUL, NULL, NULL, &error);
    support_assert_code(SES_OK, code, &error, "ses_append", file, line);
}

void support_append_by_key(const char *file, int line, ses_store *store, const ses_key *key,
                           const char *event)
{
    ses_error error;
    int code = ses_append_by_key(store, key, event, SES_NUL, NULL, NULL, &error);
    support_assert_code(SES_OK, code, &error, "ses_append_by_key", file, line);
}

void support_refresh(const char *file, int line, ses_session *session)
{
    ses_error error;
    int code = ses_refresh(session, NULL, &error);
    support_assert_code(SES_OK, code, &error, "ses_refresh", file, line);
}

void support_delete(const char *file, int line, ses_store *store, const ses_key *key)
{
    ses_error error;
    int code = ses_delete(store, key, NULL, NULL, &error);
    support_assert_code(SES_OK, code, &error, "ses_delete", file, line);
}

const char *support_state(const ses_session *session, size_t *len)
{
    const char *json = NULL;
    ses_error error;
    assert_ok(ses_state_json(session, &json, len, &error));
    return json;
}

int64_t support_clock(void *now)
{
    return *(const int64_t *)now;
}

int64_t support_steady_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void support_pause_us(long us)
{
    const struct timespec time = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

/*
 * To make the tables takes longer than most tests. So only the first test of a program has a store that was
 * just made; the others have a copy of one that was made and closed. On a server a path is a database.
 */
static void begin_with_copy(const struct fixture *fixture)
{
    static bool is_first = true;
    static char *made;
    static size_t len;
    ses_store *store = NULL;
    ses_error error;

    if (!is_first && !made) {
        assert_ok(ses_open(fixture->path, &fixture->options, &store, &error));
        ses_close(store);
        made = support_read_file(fixture->path, &len);
        assert_non_null(made);
    } else if (made) {
        const int file = open(fixture->path, O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
        assert_true(file >= 0);
        assert_int_equal(write(file, made, len), len);
        assert_int_equal(close(file), 0);
    }
    is_first = false;
}

static int setup_fixture(void **state, const char *name)
{
    ses_error error;
    struct fixture *fixture = calloc(1, sizeof *fixture);

    assert_non_null(fixture);
    fixture->now = INT64_C(1700000000000000);
    fixture->folder = support_folder_make();
    fixture->path = name ? support_path(fixture->folder, name) : strdup(":memory:");
    fixture->options = (ses_open_options){
        .size = sizeof fixture->options, .clock = support_clock, .clock_context = &fixture->now};
    if (name && !getenv("SESLITE_POSTGRES") && !getenv("SESLITE_MYSQL"))
        begin_with_copy(fixture);
    assert_ok(ses_open(fixture->path, &fixture->options, &fixture->store, &error));
    *state = fixture;
    return 0;
}

int fixture_setup(void **state)
{
    return setup_fixture(state, "store.db");
}

int fixture_setup_memory(void **state)
{
    return setup_fixture(state, NULL);
}

int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    ses_close(fixture->store);
    support_folder_remove(fixture->folder);
    free(fixture->path);
    free(fixture);
    return 0;
}

void fixture_reopen(struct fixture *fixture)
{
    ses_error error;
    ses_close(fixture->store);
    fixture->store = NULL;
    assert_ok(ses_open(fixture->path, &fixture->options, &fixture->store, &error));
}

static char *read_stream(FILE *stream, size_t *len)
{
    size_t capacity = 4096;
    size_t count = 0;
    char *text = malloc(capacity);
    size_t got;

    assert_non_null(text);
    while ((got = fread(text + count, 1, capacity - count - 1, stream)) > 0) {
        count += got;
        if (capacity - count < 2) {
            capacity *= 2;
            text = realloc(text, capacity);
            assert_non_null(text);
        }
    }
    text[count] = '\0';
    if (len)
        *len = count;
    return text;
}

char *support_read_file(const char *path, size_t *len)
{
    char *text = NULL;
    FILE *file = fopen(path, "rb");
    if (file) {
        text = read_stream(file, len);
        fclose(file);
    }
    return text;
}

size_t support_count_in_files(const char *path, const char *word)
{
    static const char *const suffixes[] = {"", "-wal", "-journal"};
    size_t met = 0;

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char name[1024];
        size_t len = 0;
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        char *bytes = support_read_file(name, &len);
        const char *at = bytes;
        while (at && (at = memchr(at, word[0], (size_t)(bytes + len - at))))
            met += strncmp(at++, word, strlen(word)) == 0; /* a NUL follows the bytes */
        free(bytes);
    }
    return met;
}

char *support_schema(void)
{
    int status = 0;
    char *text = support_run("grep -hv '^\\.' sql/sqlite/0*.sql", &status);

    assert_int_equal(status, 0);
    return text;
}

char *support_test_data(const char *name, size_t *len)
{
    const char *folder = getenv("SESLITE_TEST_DATA");
    char *path = support_path(folder ? folder : "../shared", name);
    char *text = support_read_file(path, len);
    if (!text)
        print_message("skipped: there is no %s (set SESLITE_TEST_DATA to where the test data is)\n", path);
    free(path);
    return text;
}

char *support_run(const char *command, int *status)
{
    char *text = NULL;
    size_t size = strlen(command) + 16;
    char *both = malloc(size);

    assert_non_null(both);
    snprintf(both, size, "{ %s\n} 2>&1", command);
    FILE *pipe = popen(both, "r");
    assert_non_null(pipe);
    text = read_stream(pipe, NULL);
    int ended = pclose(pipe);
    *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
    free(both);
    return text;
}

/* Makes one in a folder of its own. */
static bool make_comma_locale(void)
{
    char *folder = support_folder_make();
    char command[1200];
    int status = 0;

    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8'", folder);
    free(support_run(command, &status));
    setenv("LOCPATH", folder, 1);
    bool set = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    unsetenv("LOCPATH");
    support_folder_remove(folder);
    return set;
}

bool support_comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    bool set = false;

    for (size_t i = 0; i < sizeof names / sizeof names[0] && !set; i++)
        set = setlocale(LC_ALL, names[i]) != NULL;
    set = (set || make_comma_locale()) && strcmp(localeconv()->decimal_point, ",") == 0;
    if (!set) {
        setlocale(LC_ALL, "C");
        print_message("skipped: there is no locale with a decimal comma, and none could be made\n");
    }
    return set;
}

/* A text in single quotes, and the same in double ones. They are kept until the program ends. */
struct quoted {
    struct quoted *next;
    char *json;
    char text[];
};

static struct quoted *quoted_new(const char *text, struct quoted *next)
{
    size_t size = strlen(text) + 1;
    struct quoted *quoted = malloc(sizeof *quoted + 2 * size);

    assert_non_null(quoted);
    quoted->next = next;
    quoted->json = quoted->text + size;
    for (size_t i = 0; i < size; i++) {
        quoted->text[i] = text[i];
        quoted->json[i] = (char)(text[i] == '\'' ? '"' : text[i]);
    }
    return quoted;
}

const char *support_json(const char *text)
{
    enum { CHAINS = 256 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct quoted *chains[CHAINS];
    unsigned hash = 0;

    if (!text)
        return NULL;
    for (const char *p = text; *p; p++)
        hash = hash * 31 + (unsigned char)*p;
    (void)pthread_mutex_lock(&lock);
    struct quoted **chain = &chains[hash % CHAINS];
    struct quoted *quoted = *chain;
    while (quoted && strcmp(quoted->text, text) != 0)
        quoted = quoted->next;
    if (!quoted)
        *chain = quoted = quoted_new(text, *chain);
    (void)pthread_mutex_unlock(&lock);
    return quoted->json;
}

bool support_on_server(void)
{
    return getenv("SESLITE_POSTGRES") != NULL || getenv("SESLITE_MYSQL") != NULL;
}

void support_make_index(ses_store *store)
{
    ses_error error;
    const int code = ses_store_index(store, NULL, NULL, &error);

    if (code == SES_UNSUPPORTED && support_on_server()) {
        printf("skipped: what needs the index of words, on a server that has none\n");
        skip();
    }
    assert_ok(code);
}

long support_setting(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && text[0] ? strtol(text, NULL, 10) : otherwise;
}

int support_steps(int steps)
{
    return support_on_server() ? steps / 10 : steps;
}

size_t support_stride(void)
{
    return support_on_server() ? 7 : 1;
}

void support_need_file(void)
{
    if (support_on_server()) {
        printf("skipped: what looks into the file, on a server\n");
        skip();
    }
}

void support_figure(const char *name, long count)
{
    print_message("figure %s %ld\n", name, count);
}

/* ------------------------------------------------------------------------------------------------- tests */

static struct support_test *tests;
static int (*group_setup)(void **state);
static int (*group_teardown)(void **state);

void support_add_test(struct support_test *test)
{
    struct support_test **place = &tests;

    while (*place && (*place)->line <= test->line)
        place = &(*place)->next;
    test->next = *place;
    *place = test;
}

void support_set_group(int (*setup)(void **state), int (*teardown)(void **state))
{
    group_setup = setup;
    group_teardown = teardown;
}

int main(int argc, char **argv)
{
    const char *name = argc > 0 ? strrchr(argv[0], '/') : NULL;
    struct CMUnitTest *list = NULL;
    size_t count = 0;

    for (const struct support_test *test = tests; test; test = test->next) {
        list = realloc(list, (count + 1) * sizeof *list);
        assert_non_null(list);
        list[count++] = test->test;
    }
    const int failed =
        _cmocka_run_group_tests(name ? name + 1 : "tests", list, count, group_setup, group_teardown);
    free(list);
    return failed;
}
