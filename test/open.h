/*
 * Shared by the tests of failures, files and processes: looking at a file without the library, pictures of a
 * folder, child processes, and an allocator that counts and fails.
 */
#ifndef SESLITE_TEST_OPEN_H
#define SESLITE_TEST_OPEN_H

#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <sqlite3.h>

/* ------------------------------------------------------------------------------------------ text */

struct text {
    char *data;
    size_t len;
};

/* The size of the buffer for a text of that length: a short one has no more than it needs, so that sanitizers
 * see accesses beyond it, and a long one a power of two, so that it seldom moves. */
static inline size_t text_room(size_t len)
{
    size_t room = 1 << 16;

    while (room <= len)
        room *= 2;
    return len < 1 << 16 ? len + 1 : room;
}

static inline void text_add(struct text *text, const char *more, size_t len)
{
    const size_t room = text_room(text->len + len);

    if (!text->data || room != text_room(text->len))
        text->data = realloc(text->data, room);
    assert_non_null(text->data);
    if (len)
        memcpy(text->data + text->len, more, len);
    text->len += len;
    text->data[text->len] = '\0';
}

static inline void text_printf(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void text_printf(struct text *text, const char *format, ...)
{
    char line[2048];
    va_list arguments;

    va_start(arguments, format);
    int len = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    assert_in_range(len, 0, sizeof line - 1);
    text_add(text, line, (size_t)len);
}

/* --------------------------------------------------------------------- a file, without the library */

static inline sqlite3 *raw_open(const char *path)
{
    sqlite3 *db = NULL;
    support_need_file();
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL), SQLITE_OK);
    sqlite3_busy_timeout(db, 10000);
    return db;
}

static inline void raw_run(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        print_error("%s\n    %s\n", sql, sqlite3_errmsg(db));
        fail();
    }
}

static inline void raw_exec(const char *path, const char *sql)
{
    sqlite3 *db = raw_open(path);
    raw_run(db, sql);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* The rows of a query: columns divided by '|', one row a line. */
static inline void raw_query(sqlite3 *db, const char *sql, struct text *out)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    text_add(out, "", 0);
    while (rc == SQLITE_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            const char *value = (const char *)sqlite3_column_text(statement, i);
            if (i > 0)
                text_add(out, "|", 1);
            if (value)
                text_add(out, value, (size_t)sqlite3_column_bytes(statement, i));
            else
                text_add(out, "NULL", 4);
        }
        text_add(out, "\n", 1);
        rc = SQLITE_OK;
    }
    if (rc != SQLITE_DONE) {
        print_error("%s\n    %s\n", sql, sqlite3_errmsg(db));
        fail();
    }
    sqlite3_finalize(statement);
}

static inline char *raw_text(const char *path, const char *sql)
{
    struct text out = {NULL, 0};
    sqlite3 *db = raw_open(path);
    raw_query(db, sql, &out);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return out.data;
}

/* Fills the first page of a table with nonsense. */
static inline void raw_break_table(const char *path, const char *table)
{
    const unsigned char nonsense[100] = {0xFF, 0xFF, 0xFF};
    char sql[200];

    snprintf(sql, sizeof sql, "SELECT (rootpage - 1) * 4096 FROM sqlite_schema WHERE name = '%s'", table);
    char *root = raw_text(path, sql);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, atol(root), SEEK_SET), 0);
    assert_int_equal(fwrite(nonsense, 1, sizeof nonsense, file), sizeof nonsense);
    assert_int_equal(fclose(file), 0);
    free(root);
}

static inline void assert_query(const char *path, const char *sql, const char *expected)
{
    char *text = raw_text(path, sql);
    assert_string_equal(text, expected);
    free(text);
}

static inline void assert_sound(const char *path)
{
    assert_query(path, "PRAGMA integrity_check; PRAGMA foreign_key_check", "ok\n");
}

/* ---------------------------------------------------------------------------------------- folders */

static inline int compare_texts(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Every file of a folder, in order: name, mode, size, time of change, and a hash of its bytes. */
static inline char *folder_picture(const char *folder)
{
    struct text picture = {NULL, 0};
    char *names[256];
    size_t count = 0;
    DIR *directory = opendir(folder);
    const struct dirent *entry;

    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            assert_in_range(count, 0, 255);
            names[count] = strdup(entry->d_name);
            assert_non_null(names[count++]);
        }
    }
    closedir(directory);
    qsort(names, count, sizeof names[0], compare_texts);
    text_add(&picture, "", 0);
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        size_t len = 0;
        uint64_t hash = UINT64_C(0xcbf29ce484222325);
        char *path = support_path(folder, names[i]);
        assert_int_equal(lstat(path, &status), 0);
        char *bytes = S_ISREG(status.st_mode) ? support_read_file(path, &len) : NULL;
        for (size_t at = 0; bytes && at < len; at++)
            hash = (hash ^ (unsigned char)bytes[at]) * UINT64_C(0x100000001b3);
        text_printf(&picture, "%s %o %zu %lld.%09ld %016llx\n", names[i], (unsigned)status.st_mode, len,
                    (long long)status.st_mtime,
#if defined(__APPLE__)
                    status.st_mtimespec.tv_nsec,
#else
                    status.st_mtim.tv_nsec,
#endif
                    (unsigned long long)hash);
        free(bytes);
        free(path);
        free(names[i]);
    }
    return picture.data;
}

static inline void assert_picture(const char *folder, char *before)
{
    char *after = folder_picture(folder);
    assert_string_equal(after, before);
    free(after);
    free(before);
}

static inline void write_file(const char *path, const void *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static inline void copy_file(const char *from, const char *to)
{
    size_t len = 0;
    char *bytes = support_read_file(from, &len);
    assert_non_null(bytes);
    write_file(to, bytes, len);
    free(bytes);
}

/* cmocka setup and teardown: *state is a fresh folder, and the path of a store that is not there yet. */
struct folder {
    char *folder;
    char *path;
};

static inline int folder_setup(void **state)
{
    struct folder *folder = calloc(1, sizeof *folder);
    assert_non_null(folder);
    folder->folder = support_folder_make();
    folder->path = support_path(folder->folder, "store.db");
    *state = folder;
    return 0;
}

static inline int folder_teardown(void **state)
{
    struct folder *folder = *state;
    support_folder_remove(folder->folder);
    free(folder->path);
    free(folder);
    return 0;
}

#define FOLDER_TEST(name) TEST_WITH(struct folder *folder, folder_setup, folder_teardown, name)

static inline unsigned mode_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return (unsigned)status.st_mode & 07777u;
}

/* ------------------------------------------------------------------------------------------ processes */

/* Forks. The child runs the function, which must not use cmocka's assertions, and exits with what it
 * returns. */
static inline pid_t child_start(int (*run)(void *context), void *context)
{
    fflush(NULL);
    pid_t child = fork();
    assert_int_not_equal(child, -1);
    if (child == 0)
        _exit(run(context) & 0xFF);
    return child;
}

/* The exit code; -1 when a signal ended it. */
static inline int child_end(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline int child_run(int (*run)(void *context), void *context)
{
    return child_end(child_start(run, context));
}

/* ------------------------------------------------------------------------------------------- memory */

/*
 * Counts the blocks that live, and fails the `fail_at`th request while it is armed (and all after it, when
 * `fail_on`). Each block carries a mark, so that freeing what is no block, or twice, is seen.
 */
struct counting_memory {
    pthread_mutex_t lock;
    long live;
    long bytes;
    long requests; /* since it was armed */
    long fail_at;  /* 0: never */
    int fail_on;
    int armed;
    long failed; /* requests refused since it was armed */
    long wrong;  /* releases of what is no block, requests of 0 bytes */
};

struct block_head {
    _Alignas(max_align_t) uint64_t mark;
    size_t bytes;
};

#define BLOCK_LIVE UINT64_C(0x5ee51ee5ee51ee51)
#define BLOCK_DEAD UINT64_C(0xdeaddeaddeaddead)

static inline int counting_refuses(struct counting_memory *memory)
{
    int refuses = 0;
    if (memory->armed) {
        memory->requests++;
        refuses = memory->fail_at > 0 && (memory->requests == memory->fail_at ||
                                          (memory->fail_on && memory->requests > memory->fail_at));
        memory->failed += refuses;
    }
    return refuses;
}

static inline void *counting_allocate(void *context, size_t bytes)
{
    struct counting_memory *memory = context;
    struct block_head *head = NULL;

    pthread_mutex_lock(&memory->lock);
    memory->wrong += bytes == 0;
    if (!counting_refuses(memory)) {
        head = malloc(sizeof *head + bytes);
        if (head) {
            head->mark = BLOCK_LIVE;
            head->bytes = bytes;
            /* Memory that was never written must not be read: nothing here is zero by chance. */
            memset(head + 1, 0xA5, bytes);
            memory->live++;
            memory->bytes += (long)bytes;
        }
    }
    pthread_mutex_unlock(&memory->lock);
    return head ? head + 1 : NULL;
}

static inline void counting_release(void *context, void *block)
{
    struct counting_memory *memory = context;
    struct block_head *head = (struct block_head *)block - 1;

    pthread_mutex_lock(&memory->lock);
    if (!block || head->mark != BLOCK_LIVE) {
        memory->wrong++;
    } else {
        memory->live--;
        memory->bytes -= (long)head->bytes;
        memset(block, 0xD5, head->bytes);
        head->mark = BLOCK_DEAD;
        free(head);
    }
    pthread_mutex_unlock(&memory->lock);
}

static inline void *counting_resize(void *context, void *block, size_t bytes)
{
    size_t before = block ? ((struct block_head *)block - 1)->bytes : 0;
    void *moved = counting_allocate(context, bytes);

    if (moved && block) {
        memcpy(moved, block, before < bytes ? before : bytes);
        counting_release(context, block);
    }
    return moved;
}

static inline ses_allocator counting_allocator(struct counting_memory *memory)
{
    *memory = (struct counting_memory){.live = 0};
    pthread_mutex_init(&memory->lock, NULL);
    return (ses_allocator){sizeof(ses_allocator), memory, counting_allocate, counting_resize,
                           counting_release};
}

static inline void counting_arm(struct counting_memory *memory, long fail_at, int fail_on)
{
    memory->requests = 0;
    memory->failed = 0;
    memory->fail_at = fail_at;
    memory->fail_on = fail_on;
    memory->armed = 1;
}

static inline void assert_no_blocks(const struct counting_memory *memory)
{
    assert_int_equal(memory->live, 0);
    assert_int_equal(memory->bytes, 0);
    assert_int_equal(memory->wrong, 0);
}

#endif
