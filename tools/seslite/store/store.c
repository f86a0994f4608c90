/* Opens the store and walks the names in it. */
#include "store/choose.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files/key.h"
#include "files/place.h"
#include "output/out.h"
#include "text/text.h"

const char *place_given(const struct run *run)
{
    const char *path = run->values[OPTION_STORE];

    if (!path)
        path = getenv("SESLITE_DB");
    if (!path || !*path) {
        (void)say_usage(run, "which store? Name it with -f FILE before the command, or in SESLITE_DB");
        return NULL;
    }
    if (strcmp(path, "-") == 0) {
        (void)say_usage(run, "a store cannot be read from standard input");
        return NULL;
    }
    return path;
}

int refuse_server(struct run *run)
{
    const char *path = place_given(run);

    if (!path)
        return EXIT_USAGE;
    return place_is_server(path)
               ? say_usage(run, "%s is only for files: %s", run->command->name, run->command->instead)
               : EXIT_OK;
}

bool is_on_server(const struct run *run)
{
    const char *path = place_given(run);
    return path && place_is_server(path);
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat info_a;
    struct stat info_b;

    return stat(a, &info_a) == 0 && stat(b, &info_b) == 0 && info_a.st_dev == info_b.st_dev &&
           info_a.st_ino == info_b.st_ino;
}

/* Where the path leads, even if there is no such file yet. NULL if its folder does not exist. */
static char *real_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct text folder = {NULL, 0, 0};
    struct text whole = {NULL, 0, 0};
    char *real = realpath(path, NULL);

    if (real)
        return real;
    text_add(&folder, slash ? path : ".", slash ? (size_t)(slash - path) + 1 : 1);
    real = realpath(folder.data, NULL);
    if (real)
        text_print(&whole, "%s/%s", strcmp(real, "/") == 0 ? "" : real, slash ? slash + 1 : path);
    text_free(&folder);
    free(real);
    return whole.data;
}

/* SQLite's files are also known by their names, since they need not exist at this moment. */
bool is_of_store(const struct run *run, const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    const char *place = place_given(run);
    char *store = place && !place_is_server(place) ? realpath(place, NULL) : NULL;
    char *real = store ? real_path(path) : NULL;
    bool is = place && strcmp(place, path) == 0;

    for (size_t i = 0; store && !is && i < sizeof endings / sizeof endings[0]; i++) {
        struct text name = {NULL, 0, 0};
        text_print(&name, "%s%s", store, endings[i]);
        is = is_same_file(name.data, path) || (real && strcmp(name.data, real) == 0);
        text_free(&name);
    }
    free(real);
    free(store);
    return is;
}

void give_access(const struct run *run, ses_open_options *options)
{
    if (given(run, OPTION_LINKED))
        options->flags |= SES_OPEN_LINKED;
    if (given(run, OPTION_KEY_FD)) {
        options->key = run->file_key;
        options->key_len = sizeof run->file_key;
    }
}

int read_key(struct run *run, enum option_id option, unsigned char key[SES_KEY_BYTES])
{
    enum { MAX_DESCRIPTOR = 1 << 20 };
    const int64_t fd = number_given(run, option, 0);

    return fd <= MAX_DESCRIPTOR && key_read((int)fd, key)
               ? EXIT_OK
               : say_usage(run,
                           "descriptor %s of --%s has no key: expected %d bytes, or %d hexadecimal digits",
                           run->values[option], option_table[option].name, SES_KEY_BYTES, 2 * SES_KEY_BYTES);
}

static bool is_empty(const char *path)
{
    struct stat info;
    return !place_is_server(path) && stat(path, &info) == 0 && info.st_size == 0;
}

/* Opens the store for writing, or read-only again if `old` is why it could not be opened so. A store that may
 * not be written to is left with that error, which names the way. */
static int open_upgrading(const char *path, const ses_open_options *options, const ses_error *old,
                          ses_store **store, ses_error *error)
{
    const bool reads = options->flags & SES_OPEN_READ_ONLY;
    ses_open_options writing = *options;

    if (reads)
        writing.flags = (options->flags & ~(unsigned)SES_OPEN_READ_ONLY) | SES_OPEN_MUST_EXIST;
    int code = place_open(path, &writing, store, error);
    if (old && (code == SES_READONLY || code == SES_CANTOPEN)) {
        *error = *old;
        return old->code;
    }
    if (code < 0 || !old)
        return code;
    say("%s was upgraded to schema version %d; older versions of seslite refuse it from now on", path,
        SES_SCHEMA_VERSION);
    if (!reads)
        return code;
    ses_close(*store);
    return place_open(path, options, store, error);
}

int open_place(const struct run *run, const char *path, const ses_open_options *options, ses_store **store,
               ses_error *error)
{
    ses_open_options look = *options;
    ses_error old;

    /* Only of an older store, or of an empty file, is this READONLY. */
    look.flags |= SES_OPEN_READ_ONLY | SES_OPEN_MUST_EXIST;
    const int code = place_open(path, &look, store, &old);
    const bool is_old = code == SES_READONLY && !is_empty(path);
    if ((options->flags & SES_OPEN_READ_ONLY && !is_old) || (is_old && given(run, OPTION_NO_UPGRADE))) {
        if (code < 0)
            *error = old;
        return code;
    }
    ses_close(*store);
    return open_upgrading(path, options, is_old ? &old : NULL, store, error);
}

static int open_store(struct run *run, unsigned flags)
{
    ses_open_options options = {.size = sizeof options, .flags = flags | SES_OPEN_MUST_EXIST};
    const char *path = place_given(run);

    if (!path)
        return EXIT_USAGE;
    give_access(run, &options);
    int code = open_place(run, path, &options, &run->store, &run->error);
    if (code >= 0)
        return EXIT_OK;
    int status = fail(run);
    if (code == SES_NOTASTORE && !place_is_server(path))
        note("If another program wrote it, import its sessions into a store: seslite -f STORE import %s",
             path);
    if (code == SES_CANTOPEN && !given(run, OPTION_LINKED) && strstr(run->error.message, "SES_OPEN_LINKED"))
        note("If all programs that open it use this name, add --linked.");
    /* The store has an older schema. */
    return code == SES_READONLY && (flags & SES_OPEN_READ_ONLY || given(run, OPTION_NO_UPGRADE))
               ? EXIT_NOTASTORE
               : status;
}

int open_to_read(struct run *run)
{
    return open_store(run, SES_OPEN_READ_ONLY);
}

int open_to_write(struct run *run)
{
    return open_store(run, 0);
}

/* Only a store that opens read-only needs no upgrade, which a search must not make. */
int open_to_search(struct run *run)
{
    ses_open_options options = {.size = sizeof options, .flags = SES_OPEN_MUST_EXIST};
    ses_store *writable = NULL;
    const int status = open_to_read(run);

    if (status != EXIT_OK || !(given(run, OPTION_WORDS) || given(run, OPTION_CONTAINING)))
        return status;
    give_access(run, &options);
    if (place_open(place_given(run), &options, &writable, NULL) >= 0) {
        ses_close(run->store);
        run->store = writable;
    }
    return EXIT_OK;
}

int open_or_create(struct run *run, bool dry)
{
    ses_open_options options = {.size = sizeof options};
    const char *path = place_given(run);

    if (!path)
        return EXIT_USAGE;
    if (dry)
        options.flags = SES_OPEN_MUST_EXIST;
    give_access(run, &options);
    int code = open_place(run, path, &options, &run->store, &run->error);
    if (dry && code == SES_NOTFOUND) {
        code = ses_open(":memory:", NULL, &run->store, &run->error);
        run->stands_in = code >= 0;
    }
    return code < 0 ? fail(run) : EXIT_OK;
}

int create_in_place(struct run *run)
{
    ses_open_options options = {.size = sizeof options};

    if (!run->stands_in)
        return SES_OK;
    ses_close(run->store);
    run->store = NULL;
    run->stands_in = false;
    give_access(run, &options);
    return place_open(place_given(run), &options, &run->store, &run->error);
}

static int open_page(struct run *run, const char *app, const char *after, ses_names **names)
{
    const ses_names_options options = {.size = sizeof options, .limit = 1000, .after = after};

    return app ? ses_list_users(run->store, app, &options, names, &run->error)
               : ses_list_apps(run->store, &options, names, &run->error);
}

int each_name(struct run *run, const char *app, visit_name *visit, void *context)
{
    char *after = NULL;
    int status = EXIT_OK;
    bool more = true;

    while (status == EXIT_OK && more) {
        ses_names *names = NULL;
        if (open_page(run, app, after, &names) < 0)
            status = fail(run);
        for (size_t i = 0; status == EXIT_OK && i < ses_names_count(names); i++)
            status = visit(context, ses_names_at(names, i));
        const char *next = status == EXIT_OK ? ses_names_after(names) : NULL;
        free(after);
        after = next ? copy_text(next) : NULL;
        more = next != NULL;
        ses_names_close(names);
    }
    free(after);
    return status;
}
