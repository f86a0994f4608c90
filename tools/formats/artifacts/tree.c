#include "formats/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "formats/bytes.h"
#include "formats/json/add_json.h"
#include "formats/write/event.h"

#define METADATA "metadata.json"

/* -------------------------------------------------------------------------------------------------- names */

/* Import opens the folders within each other, and refuses more than 64. */
enum { MAX_PARTS = 48 };

/* On Windows such a name begins with a drive. */
static bool has_drive(const char *name)
{
    return ((name[0] >= 'A' && name[0] <= 'Z') || (name[0] >= 'a' && name[0] <= 'z')) && name[1] == ':';
}

/* The characters that Python takes for white space, in UTF-8. */
static const char *const spaces[] = {
    "\t",           "\n",           "\v",           "\f",           "\r",
    "\x1c",         "\x1d",         "\x1e",         "\x1f",         " ",
    "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81",
    "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86",
    "\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8",
    "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};

/* The bytes of the space with which the text begins; 0: it begins with something else. */
static size_t space_len(const char *text)
{
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        if (strncmp(text, spaces[i], strlen(spaces[i])) == 0)
            return strlen(spaces[i]);
    return 0;
}

static bool is_blank(const char *text)
{
    while (space_len(text) > 0)
        text += space_len(text);
    return *text == '\0';
}

static bool begins_or_ends_with_space(const char *name)
{
    const size_t len = strlen(name);
    bool ends = false;

    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        const size_t space = strlen(spaces[i]);
        ends = ends || (len >= space && memcmp(name + len - space, spaces[i], space) == 0);
    }
    return ends || space_len(name) > 0;
}

/* True if the part is that word in any case, perhaps with spaces and dots after it, as Windows has it. */
static bool is_reserved(const char *part, size_t len, const char *word)
{
    while (len > 0 && (part[len - 1] == ' ' || part[len - 1] == '.'))
        len--;
    return len == strlen(word) && strncasecmp(part, word, len) == 0;
}

static const char *part_fault(const struct artifact_tree *tree, const char *part, size_t len)
{
    if (len == 0 || (len == 1 && part[0] == '.'))
        return "its name has an empty part";
    if (len == 2 && part[0] == '.' && part[1] == '.')
        return "its name leads out of its folder";
    if (len > tree->name_max)
        return "its name is too long for a file";
    return NULL;
}

static bool is_folder_name(const struct artifact_tree *tree, const char *id)
{
    return !strpbrk(id, "/\\") && !has_drive(id) && !is_blank(id) && !part_fault(tree, id, strlen(id));
}

static const char *name_fault_of(const struct artifact_tree *tree, const char *name)
{
    const char *fault = NULL;
    const char *part = name;
    size_t count = 0;
    bool more = true;

    if (name[0] == '/' || strchr(name, '\\') || has_drive(name))
        return "its name is that of a file elsewhere";
    if (begins_or_ends_with_space(name))
        return "its name begins or ends with a space";
    for (; !fault && more; part += more) {
        const size_t len = strcspn(part, "/");
        fault = part_fault(tree, part, len);
        more = part[len] == '/';
        if (!fault && (is_reserved(part, len, "versions") || (!more && is_reserved(part, len, METADATA))))
            fault = "its name is reserved by FileArtifactService";
        part += len;
        count++;
    }
    return !fault && count > MAX_PARTS ? "its name has more than 48 parts" : fault;
}

const char *artifact_tree_fault(const struct artifact_tree *tree, const ses_key *key, const char *name)
{
    if (!is_folder_name(tree, key->app))
        return "the app cannot be the name of a folder";
    if (!is_folder_name(tree, key->user))
        return "the user cannot be the name of a folder";
    if (key->session && !is_folder_name(tree, key->session))
        return "the session cannot be the name of a folder";
    return name_fault_of(tree, name);
}

/* ------------------------------------------------------------------------------------------------ folders */

static int fail_on(const struct artifact_tree *tree, const char *what, ses_error *error)
{
    const int number = errno;
    return ses__error_set(error, file_code(number), "%.300s: %s: %s", tree->path, what, strerror(number));
}

static int make_apps(struct artifact_tree *tree, ses_error *error)
{
    const long name_max = fpathconf(tree->top, _PC_NAME_MAX);

    tree->name_max = name_max > 0 ? (size_t)name_max : 255;
    if (mkdirat(tree->top, "apps", 0700) != 0)
        return errno == EEXIST
                   ? ses__error_set(error, SES_EXISTS, "%.300s has artifacts already: name another folder",
                                    tree->path)
                   : fail_on(tree, "cannot make the folder apps", error);
    tree->apps = openat(tree->top, "apps", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return tree->apps >= 0 ? SES_OK : fail_on(tree, "cannot open the folder apps", error);
}

int artifact_tree_begin(struct artifact_tree *tree, const char *path, ses_error *error)
{
    const int made = mkdir(path, 0700);

    *tree = (struct artifact_tree){.path = path, .top = -1, .apps = -1};
    if (made == 0 || errno == EEXIST)
        tree->top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (tree->top < 0)
        return fail_on(tree, "cannot make the folder", error);
    const int code = make_apps(tree, error);
    if (code != SES_OK)
        (void)close(tree->top);
    return code;
}

void artifact_tree_end(const struct artifact_tree *tree, bool failed)
{
    if (failed)
        (void)unlinkat(tree->top, "apps", AT_REMOVEDIR);
    (void)close(tree->apps);
    (void)close(tree->top);
}

/* Goes into the folder of that name, and makes it if it is not there. */
static bool enter(int *at, const char *name)
{
    const bool is_there = mkdirat(*at, name, 0700) == 0 || errno == EEXIST;
    const int folder = is_there ? openat(*at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    const int number = errno;

    (void)close(*at);
    *at = folder;
    errno = number;
    return folder >= 0;
}

/* Goes into the folders of an artifact's name. */
static bool enter_path(int *at, const char *name)
{
    struct text part = {NULL, 0, 0};
    bool entered = true;

    while (entered && *name) {
        const size_t len = strcspn(name, "/");
        text_clear(&part);
        text_add(&part, name, len);
        entered = enter(at, part.data);
        name += len + (name[len] == '/');
    }
    text_free(&part);
    return entered;
}

static bool enter_versions(int *at, const ses_key *key, const char *name)
{
    return *at >= 0 && enter(at, key->app) && enter(at, "users") && enter(at, key->user) &&
           (!key->session || (enter(at, "sessions") && enter(at, key->session))) && enter(at, "artifacts") &&
           enter_path(at, name) && enter(at, "versions");
}

/* ---------------------------------------------------------------------------------------------- a version */

static int create_file(const struct tree_version *version, const char *name)
{
    return openat(version->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static void close_version(struct tree_version *version)
{
    const int fds[] = {version->fd, version->folder, version->versions};

    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        if (fds[i] >= 0)
            (void)close(fds[i]);
    text_free(&version->pending);
}

static void remove_version(const struct tree_version *version)
{
    if (version->folder < 0)
        return;
    (void)unlinkat(version->folder, version->file, 0);
    (void)unlinkat(version->folder, METADATA, 0);
    (void)unlinkat(version->versions, version->pending.data, AT_REMOVEDIR);
}

int tree_version_begin(struct tree_version *version, const struct artifact_tree *tree, const ses_key *key,
                       const char *name, int64_t number, ses_error *error)
{
    const char *slash = strrchr(name, '/');

    *version = (struct tree_version){
        .tree = tree, .versions = dup(tree->apps), .folder = -1, .fd = -1, .file = slash ? slash + 1 : name};
    text_print(&version->pending, ".%lld.pending", (long long)number);
    if (enter_versions(&version->versions, key, name) &&
        mkdirat(version->versions, version->pending.data, 0700) == 0)
        version->folder =
            openat(version->versions, version->pending.data, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (version->folder >= 0)
        version->fd = create_file(version, version->file);
    if (version->fd >= 0)
        return SES_OK;
    const int code = fail_on(tree, "cannot make a file in it", error);
    remove_version(version);
    close_version(version);
    return code;
}

int tree_version_write(struct tree_version *version, const char *bytes, size_t len, ses_error *error)
{
    return write_whole(version->fd, bytes, len) ? SES_OK
                                                : fail_on(version->tree, "cannot write a file in it", error);
}

static bool end_file(int *fd)
{
    const bool flushed = *fd >= 0 && fsync(*fd) == 0;
    const int number = errno;
    const bool closed = *fd >= 0 && close(*fd) == 0;

    *fd = -1;
    if (!flushed)
        errno = number;
    return flushed && closed;
}

static bool write_metadata(const struct tree_version *version, const struct text *metadata)
{
    int fd = create_file(version, METADATA);
    const bool written = fd >= 0 && write_whole(fd, metadata->data, metadata->len);
    const int number = errno;

    if (end_file(&fd) && written)
        return true;
    if (!written)
        errno = number;
    return false;
}

/* Without the dot before it and ".pending" after it. */
static bool publish(struct tree_version *version)
{
    char number[32];

    (void)snprintf(number, sizeof number, "%.*s", (int)strcspn(version->pending.data + 1, "."),
                   version->pending.data + 1);
    return renameat(version->versions, version->pending.data, version->versions, number) == 0;
}

int tree_version_end(struct tree_version *version, int code, const struct text *metadata, ses_error *error)
{
    if (code == SES_OK && !(end_file(&version->fd) && write_metadata(version, metadata) && publish(version)))
        code = fail_on(version->tree, "cannot write a file in it", error);
    if (code != SES_OK)
        remove_version(version);
    close_version(version);
    return code;
}

/* ----------------------------------------------------------------------------------------------- metadata */

/* The reader of such folders takes no metadata.json of more than 1 MiB. */
enum { MAX_METADATA = 1000 * 1000 };

static void put_custom(struct writing *writing, const ses_artifact_info *info, struct text *json)
{
    struct text custom = {NULL, 0, 0};

    if (info->metadata)
        text_add(&custom, info->metadata, info->metadata_len);
    if (info->metadata && custom.len <= MAX_METADATA && write_mended(writing, &custom))
        add_member(json, "customMetadata", (struct span){custom.data, custom.len});
    else
        write_note(writing, WRITE_NOTE_METADATA, info->metadata != NULL);
    text_free(&custom);
}

/* Without the address of the file: google-adk asks where the folder is. It reads what has no type as a
 * text. */
void tree_metadata(struct writing *writing, const ses_artifact_info *info, const ses_artifact_info *read,
                   struct text *json)
{
    const bool is_text = read->kind == SES_ARTIFACT_TEXT;
    const char *type = read->mime_type ? read->mime_type : "application/octet-stream";

    write_note(writing, WRITE_NOTE_ARTIFACT_TYPES, !is_text && !read->mime_type);
    write_note(writing, WRITE_NOTE_TEXT_TYPES, is_text && read->mime_type);
    text_print(json, "{\"version\":%lld,\"canonicalUri\":\"\"", (long long)info->version);
    put_custom(writing, info, json);
    add_name(json, "createTime");
    add_seconds(json, info->created_us);
    add_text(json, "mimeType", is_text ? NULL : type);
    add_text(json, "fileName", info->name);
    add_text(json, "displayName", info->display_name);
    text_puts(json, "}");
}
