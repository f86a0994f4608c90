/* Sessions, one file each, or a single one on standard output: the ADK's session JSON with the bytes as
 * stored, the form that the API of Vertex AI Agent Engine accepts, or Markdown for people. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "export/export.h"
#include "files/whole_file.h"
#include "output/out.h"
#include "output/progress.h"
#include "seslite_agent.h"
#include "store/walk.h"

struct sessions_export {
    struct export *export;
    /* the path is a folder */
    bool folder;
    const char *ending;     /* of the file names */
    const ses_range *range; /* the events; NULL: all */
    bool is_for_people;     /* they need no notes about what the format cannot hold */
    int (*write)(struct writing *writing, const ses_session *session, struct text *text, ses_error *error);
};

/* Adds the text as part of a file name. Any byte except letters, digits, "-", "_" and "." is written as %41,
 * as is a "." at the beginning. */
static void add_file_name(struct text *path, const char *id)
{
    for (const char *at = id; *at; at++) {
        const char c = *at;
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
            c == '_' || (c == '.' && at > id))
            text_add(path, at, 1);
        else
            text_print(path, "%%%02x", (unsigned)(unsigned char)c);
    }
}

/* FNV-1a (datatracker.ietf.org/doc/html/draft-eastlake-fnv), continued from the last result, of a name with
 * its NUL. */
static uint64_t hash_name(uint64_t hash, const char *name)
{
    const size_t size = strlen(name) + 1;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* File systems limit names to 255 bytes, and the temporary file has a longer name. A long name is cut, and a
 * hash of all of it is appended. */
static void shorten_name(const ses_key *key, size_t start, struct text *path)
{
    enum { MAX_NAME = 200, HASH = 17 };
    const char *const names[] = {key->app, key->user, key->session};
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a's basis */

    if (path->len - start <= MAX_NAME)
        return;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        hash = hash_name(hash, names[i]);
    path->len = start + MAX_NAME - HASH;
    text_print(path, "~%016" PRIx64, hash);
}

/* FOLDER/ID.session.json, or APP~USER~ID for several users. */
static void name_file(const struct sessions_export *own, const ses_key *key, struct text *path)
{
    text_puts(path, own->export->path);
    if (!own->folder)
        return;
    if (path->len > 0 && path->data[path->len - 1] != '/')
        text_puts(path, "/");
    const size_t start = path->len;
    if (!own->export->run->key.user) {
        add_file_name(path, key->app);
        text_puts(path, "~");
        add_file_name(path, key->user);
        text_puts(path, "~");
    }
    add_file_name(path, key->session);
    shorten_name(key, start, path);
    text_puts(path, own->ending);
}

static int write_file(const struct sessions_export *own, const ses_key *key, const char *text, size_t len)
{
    struct run *run = own->export->run;
    const bool replace = given(run, OPTION_REPLACE);
    struct text path = {NULL, 0, 0};
    struct whole_file file;

    name_file(own, key, &path);
    int code = whole_file_begin(&file, path.data, WHOLE_TEXT, replace, &run->error);
    if (code == SES_OK) {
        code = whole_file_write(&file, text, len, &run->error);
        if (code == SES_OK)
            code = whole_file_write(&file, "\n", 1, &run->error);
        code = whole_file_end(&file, code, &run->error);
    }
    text_free(&path);
    return code < 0 ? fail(run) : EXIT_OK;
}

static int put_session(const struct sessions_export *own, const ses_key *key, const ses_session *session)
{
    struct text text = {NULL, 0, 0};
    struct run *run = own->export->run;
    int status = EXIT_OK;

    if (own->write(&own->export->writing, session, &text, &run->error) < 0)
        status = fail(run);
    if (status == EXIT_OK && own->export->path) {
        status = write_file(own, key, text.data, text.len);
    } else if (status == EXIT_OK) {
        out_text(text.data, text.len);
        out_puts("\n");
    }
    text_free(&text);
    return status;
}

static int export_one(const struct sessions_export *own, const ses_key *key)
{
    struct export *export = own->export;
    struct run *run = export->run;
    const ses_get_options options = {.size = sizeof options, .range = own->range};
    ses_session *session = NULL;
    int code = ses_get(run->store, key, &options, &session, &run->error);

    if (code < 0)
        return code == SES_NOTFOUND && !run->key.session ? EXIT_OK : export_fail(export, key);
    export->sessions++;
    export->events += (int64_t)ses_session_event_count(session);
    progress_set(export->events, -1);
    if (!own->is_for_people) {
        write_note_session(&export->writing, session);
        for (size_t i = 0; i < ses_session_event_count(session); i++)
            write_note_event(&export->writing, ses_session_event(session, i));
    }
    int status = put_session(own, key, session);
    ses_session_close(session);
    return status;
}

static int visit_listed(void *context, const ses_page *page, size_t at)
{
    const ses_session *session = ses_page_session(page, at);
    const ses_key key = {ses_session_app(session), ses_session_user(session), ses_session_id(session)};
    return export_one(context, &key);
}

/* Several sessions need an existing folder. */
static int check_target(struct sessions_export *own, int64_t count)
{
    const struct export *export = own->export;
    struct stat info;

    own->folder = export->path && stat(export->path, &info) == 0 && S_ISDIR(info.st_mode);
    if (count == 0) {
        say("no session to export");
        return EXIT_NOTFOUND;
    }
    if (count > 1 && !own->folder)
        return say_usage(export->run,
                         "%s need a file each: name one session, or give an existing folder with --output",
                         counted(count, "session"));
    return EXIT_OK;
}

static int export_all(struct sessions_export *own)
{
    const struct sessions sessions = {.order = SES_ORDER_CREATED, .visit = visit_listed, .context = own};
    struct run *run = own->export->run;
    int64_t count = 1;
    int status = run->key.session ? EXIT_OK : count_sessions(run, &sessions, &count);

    if (status == EXIT_OK)
        status = check_target(own, count);
    if (status != EXIT_OK)
        return status;
    progress_begin("exporting");
    status = run->key.session ? export_one(own, &run->key) : each_session(run, &sessions);
    progress_end();
    return status;
}

int export_sessions(struct export *export)
{
    struct sessions_export own = {.export = export, .ending = ".session.json", .write = write_session_json};
    return export_all(&own);
}

int export_vertex(struct export *export)
{
    struct sessions_export own = {.export = export, .ending = ".vertex.json", .write = write_vertex_json};
    return export_all(&own);
}

/* The document ends with an empty line, to which the file adds one more. */
static int write_markdown(struct writing *writing, const ses_session *session, struct text *text,
                          ses_error *error)
{
    char *markdown = NULL;
    size_t len = 0;
    const int code = ses_session_markdown(session, NULL, &markdown, &len, error);

    (void)writing;
    if (code == SES_OK)
        text_add(text, markdown, len - 2);
    ses_free(markdown);
    return code;
}

int export_markdown(struct export *export)
{
    const ses_range live = {.size = sizeof live, .which = SES_RANGE_LIVE};
    struct sessions_export own = {
        .export = export, .ending = ".md", .range = &live, .is_for_people = true, .write = write_markdown};
    return export_all(&own);
}
