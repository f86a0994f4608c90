/* Writes a store as JSON lines, in the format that README.md in this folder describes. */
#include <string.h>

#include "base/hash.h"
#include "base/error.h"
#include "base/sha256/sha256.h"
#include "base/utf8.h"
#include "json/base64.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/event/log.h"
#include "seslite_artifact.h"
#include "session/store.h"

enum { WRITTEN_AT_ONCE = 64 * 1024, EVENTS_BETWEEN_NEWS = 1000 };

/* The hashes of contents that were written since the session, or the name of the user's artifact, began. A
 * hash may take the slot of another, whose content is then written once more. */
enum { EXPORTED_CONTENTS = 4096 };
struct exported_contents {
    char (*hashes)[SHA256_HEX]; /* EXPORTED_CONTENTS of them; NULL: none yet */
    bool begun;
    char session[SES_ID_MAX + 1];
    char name[SES_ID_MAX + 1];
};

struct export_call {
    const ses_export_options *options;
    int (*write)(void *context, const char *data, size_t len, ses_error *error);
    void *write_context;
    struct buffer out; /* complete lines, and the one being made */
    size_t line;       /* where the line being made begins */
    struct crc32_tables tables;
    uint32_t crc;         /* sums the lines outside sessions, and the sessions' last lines */
    uint32_t session_crc; /* sums the other lines of the session */
    bool in_session;
    struct update_times times; /* of the session, up to its last event */
    int64_t session_events;
    struct exported_contents contents;
    int64_t sessions;
    int64_t events;
    /* While a part is only tried, its lines are dropped, and these are the counts before it. */
    bool rehearses;
    int64_t sessions_before;
    int64_t events_before;
};

/* ----------------------------------------------------------------------------------------------- lines */

/* Gives the lines to the application. */
static int flush_lines(struct export_call *call, ses_error *error)
{
    struct buffer *out = &call->out;
    ses_error own;

    if (out->len == 0)
        return SES_OK;
    ses__error_clear(&own);
    int code = call->write(call->write_context, out->data, out->len, &own);
    ses__buffer_cut(out, 0);
    call->line = 0;
    return ses__error_called(error, code, 0, &own, "writes");
}

static void begin_line(struct export_call *call, const char *kind)
{
    ses__buffer_add_word(&call->out, "{\"kind\":\"");
    ses__buffer_add_word(&call->out, kind);
    ses__buffer_add(&call->out, "\"", 1);
}

static int end_line(struct export_call *call, ses_error *error)
{
    struct buffer *out = &call->out;
    uint32_t *crc = call->in_session ? &call->session_crc : &call->crc;

    ses__buffer_add(out, "}\n", 2);
    if (out->failed)
        return ses__error_nomem(error);
    if (call->rehearses) {
        ses__buffer_cut(out, call->line);
        return SES_OK;
    }
    *crc = ses__crc32(&call->tables, *crc, out->data + call->line, out->len - call->line);
    call->line = out->len;
    return out->len >= WRITTEN_AT_ONCE ? flush_lines(call, error) : SES_OK;
}

/* Writes `,"name":`. */
static void line_put_name(struct export_call *call, const char *name)
{
    ses__buffer_add(&call->out, ",\"", 2);
    ses__buffer_add_word(&call->out, name);
    ses__buffer_add(&call->out, "\":", 2);
}

static void line_put_number(struct export_call *call, const char *name, int64_t number)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0)
        digits[--at] = '-';
    line_put_name(call, name);
    ses__buffer_add(&call->out, digits + at, sizeof digits - at);
}

static void line_put_span(struct export_call *call, const char *name, struct span text)
{
    line_put_name(call, name);
    ses__json_add_string(&call->out, text.ptr, text.len);
}

static void line_put_text(struct export_call *call, const char *name, const char *text)
{
    line_put_span(call, name, ses__span_of(text));
}

/* True if the JSON fits on a line as it is, so that a reader of JSON gets exactly these bytes. */
static bool fits_on_line(struct span json)
{
    return json.len > 0 && ses__json_trim(json).len == json.len && !memchr(json.ptr, '\n', json.len) &&
           !memchr(json.ptr, '\r', json.len);
}

/* Writes JSON as a value, or, if it does not fit on a line, as a text under the name with "_text". */
static void line_put_json(struct export_call *call, const char *name, struct span json)
{
    ses__buffer_add(&call->out, ",\"", 2);
    ses__buffer_add_word(&call->out, name);
    if (fits_on_line(json)) {
        ses__buffer_add(&call->out, "\":", 2);
        ses__buffer_add(&call->out, json.ptr, json.len);
    } else {
        ses__buffer_add_word(&call->out, "_text\":");
        ses__json_add_string(&call->out, json.ptr, json.len);
    }
}

/* Checks JSON that another program may have stored, and writes it. Writes nothing if there is none. */
static int line_put_stored(struct export_call *call, const char *name, struct span json, const char *what,
                           ses_error *error)
{
    ses_error wrong;

    if (!json.ptr)
        return SES_OK;
    if (ses__json_check(json.ptr, json.len, &wrong) != SES_OK)
        return ses__error_set(error, SES_CORRUPT, "%s is not JSON (%s)", what, wrong.message);
    line_put_json(call, name, json);
    return SES_OK;
}

/* ------------------------------------------------------------------------------------- apps, users, keys */

static int export_app(void *context, const char *app, ses_error *error)
{
    struct export_call *call = context;

    begin_line(call, "app");
    line_put_text(call, "app", app);
    return end_line(call, error);
}

static int export_user(void *context, const char *app, const char *user, ses_error *error)
{
    struct export_call *call = context;

    call->contents.begun = false;
    begin_line(call, "user");
    line_put_text(call, "app", app);
    line_put_text(call, "user", user);
    return end_line(call, error);
}

static int export_shared(void *context, struct span key, struct span value, ses_error *error)
{
    struct export_call *call = context;

    begin_line(call, "key");
    line_put_span(call, "key", key);
    line_put_json(call, "value", value);
    return end_line(call, error);
}

/* ------------------------------------------------------------------------------------------- artifacts */

/* Forgets the contents that were written, if an import reads this artifact in another transaction than the
 * last one. An import reads a session, or the versions of one name, in one transaction, whose lines have each
 * content once. */
static int begin_contents(struct export_call *call, const char *session, struct span name, ses_error *error)
{
    struct exported_contents *contents = &call->contents;
    const bool same =
        contents->begun && (call->in_session || (strcmp(contents->session, session) == 0 &&
                                                 ses__span_is(ses__span_of(contents->name), name)));
    const size_t bytes = EXPORTED_CONTENTS * sizeof *contents->hashes;

    if (!contents->hashes && !(contents->hashes = ses__memory_zeroed(call->out.allocator, bytes)))
        return ses__error_nomem(error);
    if (!same)
        memset(contents->hashes, 0, bytes);
    contents->begun = true;
    memcpy(contents->session, session, strlen(session) + 1);
    memcpy(contents->name, name.ptr, name.len);
    contents->name[name.len] = '\0';
    return SES_OK;
}

/* Records a content, in the slot of the first three digits of its hash. True if it was not written yet. */
static bool note_content(struct exported_contents *contents, struct span hash)
{
    unsigned slot = 0;

    for (int i = 0; i < 3; i++)
        slot = slot * 16 + (unsigned)(hash.ptr[i] <= '9' ? hash.ptr[i] - '0' : hash.ptr[i] - 'a' + 10);
    const bool fresh = memcmp(contents->hashes[slot], hash.ptr, SHA256_HEX) != 0;
    memcpy(contents->hashes[slot], hash.ptr, SHA256_HEX);
    return fresh;
}

static int export_artifact(void *context, const char *session, const struct artifact_row *row,
                           ses_error *error)
{
    struct export_call *call = context;
    int code = begin_contents(call, session, row->name, error);

    if (code != SES_OK)
        return code;
    begin_line(call, "artifact");
    if (!call->in_session && session[0])
        line_put_text(call, "session", session);
    line_put_span(call, "name", row->name);
    line_put_number(call, "version", row->version);
    line_put_number(call, "created_us", row->created_us);
    if (row->kind != SES_ARTIFACT_BYTES)
        line_put_text(call, "content", row->kind == SES_ARTIFACT_TEXT ? "text" : "uri");
    if (row->mime_type.ptr)
        line_put_span(call, "mime_type", row->mime_type);
    if (row->display_name.ptr)
        line_put_span(call, "display_name", row->display_name);
    line_put_number(call, "size", row->size);
    line_put_span(call, "hash", row->hash);
    code = line_put_stored(call, "metadata", row->metadata, "the metadata of a stored artifact", error);
    if (code == SES_OK)
        code = end_line(call, error);
    const bool fresh = code == SES_OK && note_content(&call->contents, row->hash);
    return code == SES_OK ? fresh || row->kind != SES_ARTIFACT_BYTES : code;
}

static int export_bytes(void *context, int64_t offset, struct span chunk, ses_error *error)
{
    struct export_call *call = context;

    begin_line(call, "bytes");
    line_put_number(call, "offset", offset);
    line_put_name(call, "data");
    ses__buffer_add(&call->out, "\"", 1);
    if (ses__buffer_reserve(&call->out, ses__base64_len(chunk.len))) {
        ses__base64_encode(call->out.data + call->out.len, chunk.ptr, chunk.len);
        call->out.len += ses__base64_len(chunk.len);
    }
    ses__buffer_add(&call->out, "\"", 1);
    return end_line(call, error);
}

/* -------------------------------------------------------------------------------------------- sessions */

static int export_session(void *context, const struct visited_session *session, ses_error *error)
{
    struct export_call *call = context;
    const struct session_row *row = &session->row;
    const struct annotations *own = session->annotations;

    call->in_session = true;
    call->contents.begun = false;
    call->session_crc = 0;
    call->session_events = 0;
    ses__update_times_begin(&call->times, row->created_us, row->base_seq,
                            session->parent ? session->parent_seq : 0);
    begin_line(call, "session");
    line_put_text(call, "app", session->key.app);
    line_put_text(call, "user", session->key.user);
    line_put_text(call, "session", session->key.session);
    line_put_number(call, "created_us", row->created_us);
    line_put_number(call, "updated_us", row->updated_us);
    if (row->version <= MAX_LOADED_VERSION) /* a higher version is valid in this store only */
        line_put_number(call, "version", row->version);
    line_put_number(call, "last_seq", row->last_seq);
    if (row->expires_us != INT64_MAX)
        line_put_number(call, "expires_us", row->expires_us);
    if (own->archived_us != 0)
        line_put_number(call, "archived_us", own->archived_us);
    if (own->remembered_seq != 0)
        line_put_number(call, "remembered_seq", own->remembered_seq);
    if (own->title)
        line_put_text(call, "title", own->title);
    if (own->label_count > 0) {
        line_put_name(call, "labels");
        for (size_t i = 0; i < own->label_count; i++) {
            ses__json_add_named(&call->out, i == 0 ? "{" : ",", ses__span_of(own->labels[i].name));
            ses__json_add_named(&call->out, ":", ses__span_of(own->labels[i].value));
        }
        ses__buffer_add_word(&call->out, "}");
    }
    if (session->parent) {
        line_put_text(call, "parent_user", session->parent->user);
        line_put_text(call, "parent_session", session->parent->session);
        line_put_number(call, "parent_seq", session->parent_seq);
    }
    if (session->child_of) {
        line_put_text(call, "child_user", session->child_of->user);
        line_put_text(call, "child_session", session->child_of->session);
    }
    if (row->details & DETAIL_MEMORY)
        line_put_text(call, "session_kind", "memory");
    if (session->origin > 0)
        line_put_number(call, "origin", session->origin);
    if (row->base_seq > 0)
        line_put_number(call, "base_seq", row->base_seq);
    int code = line_put_stored(call, "initial_state", session->initial, "a stored initial state", error);
    return code == SES_OK ? end_line(call, error) : code;
}

static int export_base(void *context, const struct base_value *value, ses_error *error)
{
    struct export_call *call = context;
    int code = ses__scope_check_name(value->name, NULL);

    if (code != SES_OK)
        return ses__error_set(error, SES_CORRUPT, "the stored key \"%.200s\" is not a valid state key",
                              value->name.ptr);
    code = ses__state_check_value(value->name.ptr, value->value, error);
    if (code != SES_OK)
        return code;
    begin_line(call, "base");
    line_put_span(call, "key", value->name);
    line_put_number(call, "seq", value->seq);
    line_put_json(call, "value", value->value);
    return end_line(call, error);
}

static int export_base_artifact(void *context, const struct base_value *value, ses_error *error)
{
    const size_t prefix = sizeof BASE_ARTIFACT - 1;
    struct export_call *call = context;

    begin_line(call, "base_artifact");
    if (value->name.len > prefix) {
        line_put_span(call, "key", (struct span){value->name.ptr + prefix, value->name.len - prefix});
        line_put_number(call, "seq", value->seq);
        line_put_json(call, "value", value->value);
    }
    return end_line(call, error);
}

static int report_progress(const struct export_call *call, ses_error *error)
{
    const ses_export_options *options = call->options;

    if (call->rehearses || !options->progress ||
        options->progress(options->progress_context, call->sessions, call->events) == 0)
        return SES_OK;
    return ses__error_set(error, SES_INTERRUPTED, "the export: ended by the progress callback");
}

static int report_left_out(void *context, const ses_error *why, ses_error *error)
{
    const struct export_call *call = context;
    const ses_export_options *options = call->options;

    if (call->rehearses || !options->left_out || options->left_out(options->left_out_context, why) == 0)
        return SES_OK;
    return ses__error_set(error, SES_INTERRUPTED, "the export: ended by the callback for what is left out");
}

/* Checks the body only enough to keep the line a line; the reader checks all of it, and so does a call that
 * leaves out damaged parts. */
static int export_event(void *context, const struct event_row *row, ses_error *error)
{
    struct export_call *call = context;
    const struct span object = ses__json_trim(row->body);
    int code = SES_OK;

    if (object.len < 2 || object.ptr[0] != '{' || object.ptr[object.len - 1] != '}' ||
        (!fits_on_line(row->body) && !ses__utf8_valid(object.ptr, object.len)) ||
        (call->rehearses && ses__json_check_stored(object.ptr, object.len, NULL) != SES_OK))
        return ses__error_set(
            error, SES_CORRUPT,
            "the stored event %lld is not JSON; another program wrote it: correct or delete it with the sqlite3 program",
            (long long)row->seq);
    begin_line(call, "event");
    line_put_number(call, "seq", row->seq);
    if (row->high_us != ses__update_times_after(&call->times, row->seq, row->time_us))
        line_put_number(call, "updated_us", row->high_us);
    ses__update_times_pass(&call->times, row->seq, row->high_us);
    line_put_json(call, "body", row->body);
    call->session_events++;
    if (++call->events % EVENTS_BETWEEN_NEWS == 0)
        code = report_progress(call, error);
    return code == SES_OK ? end_line(call, error) : code;
}

static int export_end(void *context, ses_error *error)
{
    struct export_call *call = context;

    call->in_session = false;
    call->sessions++;
    begin_line(call, "end");
    line_put_number(call, "events", call->session_events);
    line_put_number(call, "crc", call->session_crc);
    int code = report_progress(call, error);
    return code == SES_OK ? end_line(call, error) : code;
}

/* --------------------------------------------------------------------------------------------- the call */

static int begin_file(void *context, int format, ses_error *error)
{
    struct export_call *call = context;

    begin_line(call, "seslite");
    line_put_number(call, "format", format);
    return end_line(call, error);
}

/* A part that failed may have left the beginning of a line. */
static void rehearse(void *context, bool begins)
{
    struct export_call *call = context;

    call->rehearses = begins;
    if (begins) {
        call->sessions_before = call->sessions;
        call->events_before = call->events;
        return;
    }
    ses__buffer_cut(&call->out, call->line);
    call->sessions = call->sessions_before;
    call->events = call->events_before;
    call->in_session = false;
    call->contents.begun = false;
}

static int run_export(ses_store *store, struct export_call *call, ses_error *error)
{
    static const struct store_visitor visitor = {.begin = begin_file,
                                                 .app = export_app,
                                                 .user = export_user,
                                                 .shared = export_shared,
                                                 .session = export_session,
                                                 .base = export_base,
                                                 .base_artifact = export_base_artifact,
                                                 .artifact = export_artifact,
                                                 .bytes = export_bytes,
                                                 .left_out = report_left_out,
                                                 .event = export_event,
                                                 .session_end = export_end,
                                                 .rehearse = rehearse};
    const ses_export_options *options = call->options;
    struct visit_op op = {.limits = LIMITS_OF(store, *options),
                          .app = options->app,
                          .user = options->user,
                          .session = options->session,
                          .only_sessions = (options->flags & SES_EXPORT_ONLY_SESSIONS) != 0,
                          .skips = (options->flags & SES_EXPORT_SKIP) != 0,
                          .seed = store->seed,
                          .allocator = &store->allocator,
                          .visitor = &visitor,
                          .context = call};
    int code = ses__door_visit(store->storage, &op, error);

    if (code != SES_OK)
        return code;
    begin_line(call, "total");
    line_put_number(call, "sessions", call->sessions);
    line_put_number(call, "events", call->events);
    line_put_number(call, "crc", call->crc);
    code = end_line(call, error);
    return code == SES_OK ? flush_lines(call, error) : code;
}

static int export_lines(ses_store *store, const ses_export_options *given,
                        int (*write)(void *context, const char *data, size_t len, ses_error *error),
                        void *context, ses_error *error)
{
    const unsigned known = (unsigned)SES_EXPORT_ONLY_SESSIONS | (unsigned)SES_EXPORT_SKIP;
    struct export_call call = {.write = write, .write_context = context};
    ses_export_options own;
    int code = write ? ses__take_flagged(&own, sizeof own, given, known, "export options", error)
                     : ses__error_set(error, SES_MISUSE, "the argument `write` is NULL");

    if (code == SES_OK && (own.flags & SES_EXPORT_SKIP) && !own.left_out)
        code = ses__error_set(error, SES_MISUSE, "export options: SES_EXPORT_SKIP needs left_out");
    if (code == SES_OK && ((own.user && !own.app) || (own.session && !own.user)))
        code =
            ses__error_set(error, SES_MISUSE, "export options: a user needs its app, and a session its user");
    if (code == SES_OK && own.app)
        code = ses__check_owner(own.app, own.user, own.session, error);
    if (code != SES_OK)
        return code;
    call.options = &own;
    ses__crc32_prepare(&call.tables);
    ses__buffer_init(&call.out, &store->allocator);
    code = run_export(store, &call, error);
    ses__buffer_free(&call.out);
    ses__memory_free(&store->allocator, call.contents.hashes);
    return code;
}

int ses_store_export(ses_store *store, const ses_export_options *options,
                     int (*write)(void *context, const char *data, size_t len, ses_error *error),
                     void *context, ses_error *error)
{
    int code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, export_lines(store, options, write, context, error)) : code;
}
