#include "formats/formats.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sha256/sha256.h"
#include "formats/json/members.h"
#include "json/decimal.h"

enum {
    MAX_FOLDERS = 64,          /* within each other: each is open while those in it are walked */
    MAX_METADATA = 1024 * 1024 /* bytes of a metadata.json */
};

struct folder_walk {
    const char *path; /* of the whole */
    visit_folder_artifact *visit;
    void *context;
    struct folder_artifact artifact;
    struct text name; /* of the artifact: the folders from artifacts/ on */
    int depth;
    int64_t links;
    ses_error *error;
};

/* ------------------------------------------------------------------------------------------------ folders */

struct entries {
    char **names;
    size_t count;
    size_t capacity;
};

static void entries_free(struct entries *entries)
{
    for (size_t i = 0; i < entries->count; i++)
        free(entries->names[i]);
    free(entries->names);
    *entries = (struct entries){.count = 0};
}

static void entries_add(struct entries *entries, const char *name)
{
    entries->names = enlarge(entries->names, entries->count, &entries->capacity, sizeof *entries->names);
    entries->names[entries->count++] = copy_text(name);
}

/* Shorter names first, so that versions are in the order of their numbers. */
static int compare_names(const void *left, const void *right)
{
    const char *const *a = left;
    const char *const *b = right;
    const size_t a_len = strlen(*a);
    const size_t b_len = strlen(*b);

    return a_len != b_len ? (a_len < b_len ? -1 : 1) : strcmp(*a, *b);
}

static int fail_at(const struct folder_walk *walk, const char *what)
{
    return ses__error_set(walk->error, SES_IO, "cannot read %s in %.300s: %s", what, walk->path,
                          strerror(errno));
}

/* Lists the names in a folder, in order. */
static int list_folder(const struct folder_walk *walk, int fd, struct entries *entries)
{
    const int copy = dup(fd);
    DIR *folder = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry = NULL;

    if (!folder) {
        const int code = fail_at(walk, "a folder");
        if (copy >= 0)
            (void)close(copy);
        return code;
    }
    rewinddir(folder); /* the copy shares its position */
    while ((entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            entries_add(entries, entry->d_name);
    (void)closedir(folder);
    if (entries->count > 0)
        qsort(entries->names, entries->count, sizeof *entries->names, compare_names);
    return SES_OK;
}

/* Opens a folder in another. *fd is -1 if there is none of this name: it is absent, a file or a link. */
static int open_folder(struct folder_walk *walk, int at, const char *name, int *fd)
{
    struct stat info;

    *fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*fd >= 0)
        return SES_OK;
    if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
        return fail_at(walk, "a folder");
    if (fstatat(at, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode))
        walk->links++;
    return SES_OK;
}

typedef int visit_folder(struct folder_walk *walk, int fd, const char *name);

/* Visits the folder of that name, if there is one. */
static int in_folder(struct folder_walk *walk, int at, const char *name, visit_folder *visit)
{
    int fd = -1;
    int code = open_folder(walk, at, name, &fd);

    if (code != SES_OK || fd < 0)
        return code;
    if (++walk->depth > MAX_FOLDERS)
        code = ses__error_set(walk->error, SES_LIMIT, "%.300s has more than %d folders within each other",
                              walk->path, (int)MAX_FOLDERS);
    else
        code = visit(walk, fd, name);
    walk->depth--;
    (void)close(fd);
    return code;
}

static int each_folder(struct folder_walk *walk, int at, visit_folder *visit)
{
    struct entries entries = {.count = 0};
    int code = list_folder(walk, at, &entries);

    for (size_t i = 0; code == SES_OK && i < entries.count; i++)
        code = in_folder(walk, at, entries.names[i], visit);
    entries_free(&entries);
    return code;
}

/* ---------------------------------------------------------------------------------------------- a version */

/* The members of metadata.json that are taken over. */
struct described {
    struct text json;
    struct text mime_type;
    struct text display_name;
};

/* Opens a regular file. Returns -1 if there is none of this name, which may be a link. */
static int open_file(struct folder_walk *walk, int at, const char *name, struct stat *info)
{
    const int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd >= 0 && fstat(fd, info) == 0 && S_ISREG(info->st_mode))
        return fd;
    if (fd >= 0)
        (void)close(fd);
    else if (errno == ELOOP || errno == EMLINK) /* EMLINK: on FreeBSD */
        walk->links++;
    return -1;
}

static int read_json(int fd, struct text *json, ses_error *error)
{
    char data[65536];
    ssize_t got = 0;

    while (json->len <= MAX_METADATA && (got = read(fd, data, sizeof data)) != 0) {
        if (got < 0 && errno != EINTR)
            return ses__error_set(error, SES_IO, "cannot read metadata.json: %s", strerror(errno));
        text_add(json, data, got > 0 ? (size_t)got : 0);
    }
    text_add(json, "", 0);
    return json->len <= MAX_METADATA
               ? ses__json_check(json->data, json->len, error)
               : ses__error_set(error, SES_LIMIT, "metadata.json is longer than %d bytes", (int)MAX_METADATA);
}

/* Takes a string, if there is one. */
static const char *take_string(struct span object, const char *name, struct text *text)
{
    const struct span value = member_in(object, name);
    return value.ptr && member_plain(value, text) ? text->data : NULL;
}

static void take_members(struct folder_artifact *artifact, struct described *described)
{
    const struct span object = ses__json_trim((struct span){described->json.data, described->json.len});
    const struct span metadata = member_in(object, "customMetadata");
    const struct span created = member_in(object, "createTime");

    artifact->mime_type = take_string(object, "mimeType", &described->mime_type);
    artifact->display_name = take_string(object, "displayName", &described->display_name);
    if (metadata.ptr && metadata.ptr[0] == '{' && metadata.len > 2)
        artifact->metadata = metadata;
    if (!created.ptr || (created.ptr[0] != '-' && (created.ptr[0] < '0' || created.ptr[0] > '9')) ||
        ses__decimal_round(created, 6, &artifact->created_us) == DECIMAL_TOO_LARGE)
        artifact->created_us = FOREIGN_NO_TIME;
}

static int describe(struct folder_walk *walk, int at, struct described *described, ses_error *error)
{
    struct stat info;
    const int fd = open_file(walk, at, "metadata.json", &info);

    if (fd < 0)
        return SES_OK;
    const int code = read_json(fd, &described->json, error);
    (void)close(fd);
    if (code == SES_OK &&
        ses__json_trim((struct span){described->json.data, described->json.len}).ptr[0] != '{')
        return ses__error_set(error, SES_INVALID, "metadata.json is not an object");
    if (code == SES_OK) {
        walk->artifact.described = true;
        take_members(&walk->artifact, described);
    }
    return code;
}

/* The bytes are in the file that has the last part of the artifact's name. */
static int open_bytes(struct folder_walk *walk, int at, ses_error *error)
{
    const char *slash = strrchr(walk->name.data, '/');
    struct stat info;

    walk->artifact.fd = open_file(walk, at, slash ? slash + 1 : walk->name.data, &info);
    if (walk->artifact.fd < 0)
        return ses__error_set(error, SES_NOTFOUND, "version %lld has no file with its bytes",
                              (long long)walk->artifact.version);
    walk->artifact.bytes = (int64_t)info.st_size;
    return SES_OK;
}

static bool is_version(const char *name)
{
    const size_t len = strlen(name);
    return len > 0 && len < 19 && strspn(name, "0123456789") == len && (len == 1 || name[0] != '0');
}

static int walk_version(struct folder_walk *walk, int fd, const char *name)
{
    struct described described = {.json = {NULL, 0, 0}};
    struct folder_artifact *artifact = &walk->artifact;
    ses_error error = {.code = SES_OK};

    if (!is_version(name))
        return SES_OK;
    *artifact = (struct folder_artifact){.app = artifact->app,
                                         .user = artifact->user,
                                         .session = artifact->session,
                                         .name = walk->name.data,
                                         .version = (int64_t)strtoll(name, NULL, 10),
                                         .fd = -1,
                                         .created_us = FOREIGN_NO_TIME};
    int code = open_bytes(walk, fd, &error);
    if (code == SES_OK)
        code = describe(walk, fd, &described, &error);
    code = walk->visit(walk->context, artifact, code, &error);
    if (artifact->fd >= 0)
        (void)close(artifact->fd);
    text_free(&described.json);
    text_free(&described.mime_type);
    text_free(&described.display_name);
    return code;
}

int folder_artifact_hash(const struct folder_artifact *artifact, char hex[FOLDER_HASH], ses_error *error)
{
    struct sha256 hash;
    char data[65536];
    ssize_t got = 0;

    ses__sha256_init(&hash);
    while ((got = read(artifact->fd, data, sizeof data)) > 0 || (got < 0 && errno == EINTR))
        ses__sha256_add(&hash, data, got > 0 ? (size_t)got : 0);
    ses__sha256_end(&hash, hex);
    return got == 0 && lseek(artifact->fd, 0, SEEK_SET) == 0
               ? SES_OK
               : ses__error_set(error, SES_IO, "cannot read its bytes: %s", strerror(errno));
}

/* ----------------------------------------------------------------------------------------------- the walk */

static int walk_versions(struct folder_walk *walk, int fd, const char *name)
{
    (void)name;
    return each_folder(walk, fd, walk_version);
}

/* A folder is an artifact if it has versions; it may have other artifacts in it, too. */
static int walk_artifact(struct folder_walk *walk, int fd, const char *name)
{
    const size_t len = walk->name.len;
    int code = SES_OK;

    if (strcmp(name, "versions") == 0)
        return SES_OK;
    text_print(&walk->name, "%s%s", len > 0 ? "/" : "", name);
    code = in_folder(walk, fd, "versions", walk_versions);
    if (code == SES_OK)
        code = each_folder(walk, fd, walk_artifact);
    walk->name.len = len;
    walk->name.data[len] = '\0';
    return code;
}

static int walk_artifacts(struct folder_walk *walk, int fd, const char *name)
{
    (void)name;
    return each_folder(walk, fd, walk_artifact);
}

static int walk_session(struct folder_walk *walk, int fd, const char *name)
{
    walk->artifact.session = name;
    const int code = in_folder(walk, fd, "artifacts", walk_artifacts);
    walk->artifact.session = NULL;
    return code;
}

static int walk_sessions(struct folder_walk *walk, int fd, const char *name)
{
    (void)name;
    return each_folder(walk, fd, walk_session);
}

static int walk_user(struct folder_walk *walk, int fd, const char *name)
{
    walk->artifact.user = name;
    const int code = in_folder(walk, fd, "artifacts", walk_artifacts);
    return code == SES_OK ? in_folder(walk, fd, "sessions", walk_sessions) : code;
}

static int walk_users(struct folder_walk *walk, int fd, const char *name)
{
    (void)name;
    return each_folder(walk, fd, walk_user);
}

static int walk_app(struct folder_walk *walk, int fd, const char *name)
{
    walk->artifact.app = name;
    return in_folder(walk, fd, "users", walk_users);
}

/* Opens the folder apps, from which the walk begins. */
static int open_apps(struct folder_walk *walk, int *apps)
{
    const int top = open(walk->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (top < 0)
        return ses__error_set(walk->error, SES_CANTOPEN, "cannot open %.300s: %s", walk->path,
                              strerror(errno));
    const int code = open_folder(walk, top, "apps", apps);
    (void)close(top);
    return code != SES_OK || *apps >= 0
               ? code
               : ses__error_set(walk->error, SES_NOTASTORE,
                                "cannot import %.300s: a folder without apps, so it is not one in which "
                                "google-adk's FileArtifactService keeps artifacts",
                                walk->path);
}

int artifact_folder_check(const char *path, ses_error *error)
{
    struct folder_walk walk = {.path = path, .error = error};
    int apps = -1;
    const int code = open_apps(&walk, &apps);

    if (apps >= 0)
        (void)close(apps);
    return code;
}

int artifact_folder_walk(const char *path, visit_folder_artifact *visit, void *context, int64_t *links,
                         ses_error *error)
{
    struct folder_walk walk = {.path = path, .visit = visit, .context = context, .error = error};
    int apps = -1;
    int code = open_apps(&walk, &apps);

    if (code == SES_OK)
        code = each_folder(&walk, apps, walk_app);
    if (apps >= 0)
        (void)close(apps);
    *links = walk.links;
    text_free(&walk.name);
    return code;
}
