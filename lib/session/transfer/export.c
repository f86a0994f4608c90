/* Writes a store as JSON lines, in the format that README.md in this folder describes. */
#include <string.h>

#include "base/crc32.h"
#include "base/error.h"
#include "base/utf8.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/event/update_times.h"
#include "session/transfer/lines.h"
#include "session/store.h"

enum { WRITTEN_AT_ONCE = 64 * 1024, EVENTS_BETWEEN_NEWS = 1000 };

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
    int64_t sessions;
    int64_t events;
};

/* --------------------------------------------------------------------------------------------- writing */

static int write_lines(struct export_call *call, ses_error *error)
{
    struct buffer *out = &call->out;
    ses_error own;

    if (out->len == 0)
        return SES_OK;
    ses__error_clear(&own);
    int code = call->write(call->write_context, out->data, out->len, &own);
    ses__buffer_cut(out, 0);
    call->line = 0;
    return code < 0 ? ses__error_called(error, code, &own, "writes") : SES_OK;
}

static void line_begin(struct export_call *call, const char *kind)
{
    ses__buffer_add_word(&call->out, "{\"kind\":\"");
    ses__buffer_add_word(&call->out, kind);
    ses__buffer_add(&call->out, "\"", 1);
}

static int line_end(struct export_call *call, ses_error *error)
{
    struct buffer *out = &call->out;
    uint32_t *crc = call->in_session ? &call->session_crc : &call->crc;

    ses__buffer_add(out, "}\n", 2);
    if (out->failed)
        return ses__error_nomem(error);
    *crc = ses__crc32(&call->tables, *crc, out->data + call->line, out->len - call->line);
    call->line = out->len;
    return out->len >= WRITTEN_AT_ONCE ? write_lines(call, error) : SES_OK;
}

/* `,"name":` */
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
static bool fits_line(struct span json)
{
    return json.len > 0 && ses__json_trim(json).len == json.len && !memchr(json.ptr, '\n', json.len) &&
           !memchr(json.ptr, '\r', json.len);
}

/* Writes JSON as a value, or, if it does not fit on a line, as a text under the other name. */
static void line_put_json(struct export_call *call, const char *name, const char *text_name, struct span json)
{
    if (fits_line(json)) {
        line_put_name(call, name);
        ses__buffer_add(&call->out, json.ptr, json.len);
    } else {
        line_put_span(call, text_name, json);
    }
}

/* ------------------------------------------------------------------------------------- apps, users, keys */

static int export_app(void *context, const char *app, ses_error *error)
{
    struct export_call *call = context;

    line_begin(call, "app");
    line_put_text(call, "app", app);
    return line_end(call, error);
}

static int export_user(void *context, const char *app, const char *user, ses_error *error)
{
    struct export_call *call = context;

    line_begin(call, "user");
    line_put_text(call, "app", app);
    line_put_text(call, "user", user);
    return line_end(call, error);
}

static int export_shared(void *context, struct span key, struct span value, ses_error *error)
{
    struct export_call *call = context;

    line_begin(call, "key");
    line_put_span(call, "key", key);
    line_put_json(call, "value", "value_text", value);
    return line_end(call, error);
}

/* -------------------------------------------------------------------------------------------- sessions */

static void line_put_labels(struct export_call *call, const struct annotations *own)
{
    line_put_name(call, "labels");
    for (size_t i = 0; i < own->label_count; i++) {
        ses__json_add_named(&call->out, i == 0 ? "{" : ",", ses__span_of(own->labels[i].name));
        ses__json_add_named(&call->out, ":", ses__span_of(own->labels[i].value));
    }
    ses__buffer_add_word(&call->out, "}");
}

static int line_put_initial(struct export_call *call, struct span initial, ses_error *error)
{
    ses_error wrong;

    if (!initial.ptr)
        return SES_OK;
    if (ses__json_check(initial.ptr, initial.len, &wrong) != SES_OK) /* another program may have written it */
        return ses__error_set(error, SES_CORRUPT, "a stored initial state is not JSON (%s)", wrong.message);
    line_put_json(call, "initial_state", "initial_state_text", initial);
    return SES_OK;
}

static void line_put_origin(struct export_call *call, const struct visited_session *session)
{
    if (session->parent) {
        line_put_text(call, "parent_user", session->parent->user);
        line_put_text(call, "parent_session", session->parent->session);
        line_put_number(call, "parent_seq", session->parent_seq);
    }
    if (session->row.base_seq > 0)
        line_put_number(call, "base_seq", session->row.base_seq);
}

static int export_session(void *context, const struct visited_session *session, ses_error *error)
{
    struct export_call *call = context;
    const struct session_row *row = &session->row;

    call->in_session = true;
    call->session_crc = 0;
    call->session_events = 0;
    ses__update_times_begin(&call->times, row->created_us, row->base_seq,
                            session->parent ? session->parent_seq : 0);
    line_begin(call, "session");
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
    if (session->annotations->title)
        line_put_text(call, "title", session->annotations->title);
    if (session->annotations->label_count > 0)
        line_put_labels(call, session->annotations);
    line_put_origin(call, session);
    int code = line_put_initial(call, session->initial, error);
    return code == SES_OK ? line_end(call, error) : code;
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
    line_begin(call, "base");
    line_put_span(call, "key", value->name);
    line_put_number(call, "seq", value->seq);
    line_put_json(call, "value", "value_text", value->value);
    return line_end(call, error);
}

static void report_progress(const struct export_call *call)
{
    if (call->options->progress)
        call->options->progress(call->options->progress_context, call->sessions, call->events);
}

/* Checks the body only enough to keep the line a line; the reader checks all of it. */
static int check_exported_body(const struct event_row *row, ses_error *error)
{
    const struct span object = ses__json_trim(row->body);
    const bool sound = object.len >= 2 && object.ptr[0] == '{' && object.ptr[object.len - 1] == '}' &&
                       (fits_line(row->body) || ses__utf8_valid(object.ptr, object.len));

    return sound
               ? SES_OK
               : ses__error_set(
                     error, SES_CORRUPT,
                     "the stored event %lld is not JSON; another program wrote it: correct or delete it with the sqlite3 program",
                     (long long)row->seq);
}

static int export_event(void *context, const struct event_row *row, ses_error *error)
{
    struct export_call *call = context;
    int code = check_exported_body(row, error);

    if (code != SES_OK)
        return code;
    line_begin(call, "event");
    line_put_number(call, "seq", row->seq);
    if (row->high_us != ses__update_times_after(&call->times, row->seq, row->time_us))
        line_put_number(call, "updated_us", row->high_us);
    ses__update_times_pass(&call->times, row->seq, row->high_us);
    line_put_json(call, "body", "body_text", row->body);
    call->session_events++;
    if (++call->events % EVENTS_BETWEEN_NEWS == 0)
        report_progress(call);
    return line_end(call, error);
}

static int export_end(void *context, ses_error *error)
{
    struct export_call *call = context;

    call->in_session = false;
    call->sessions++;
    line_begin(call, "end");
    line_put_number(call, "events", call->session_events);
    line_put_number(call, "crc", call->session_crc);
    report_progress(call);
    return line_end(call, error);
}

/* --------------------------------------------------------------------------------------------- the call */

static int begin_file(struct export_call *call, ses_error *error)
{
    line_begin(call, "seslite");
    line_put_number(call, "format", LINES_FORMAT);
    return line_end(call, error);
}

static int end_file(struct export_call *call, ses_error *error)
{
    line_begin(call, "total");
    line_put_number(call, "sessions", call->sessions);
    line_put_number(call, "events", call->events);
    line_put_number(call, "crc", call->crc);
    int code = line_end(call, error);
    return code == SES_OK ? write_lines(call, error) : code;
}

static int take_export_options(const ses_export_options *given, ses_export_options *own, ses_error *error)
{
    int code = ses__take_flagged(own, sizeof *own, given, SES_EXPORT_ONLY_SESSIONS, "export options", error);
    if (code == SES_OK && ((own->user && !own->app) || (own->session && !own->user)))
        code =
            ses__error_set(error, SES_MISUSE, "export options: a user needs its app, and a session its user");
    return code == SES_OK && own->app ? ses__check_owner(own->app, own->user, own->session, error) : code;
}

static int run_export(ses_store *store, struct export_call *call, ses_error *error)
{
    static const struct store_visitor visitor = {export_app,  export_user,  export_shared, export_session,
                                                 export_base, export_event, export_end};
    const ses_export_options *options = call->options;
    struct visit_op op = {.limits = LIMITS_OF(store, *options),
                          .app = options->app,
                          .user = options->user,
                          .session = options->session,
                          .only_sessions = (options->flags & SES_EXPORT_ONLY_SESSIONS) != 0,
                          .seed = store->seed,
                          .allocator = &store->allocator,
                          .visitor = &visitor,
                          .context = call};
    int code = begin_file(call, error);

    if (code == SES_OK)
        code = ses__door_visit(store->storage, &op, error);
    return code == SES_OK ? end_file(call, error) : code;
}

static int export_lines(ses_store *store, const ses_export_options *given,
                        int (*write)(void *context, const char *data, size_t len, ses_error *error),
                        void *context, ses_error *error)
{
    struct export_call call = {.write = write, .write_context = context};
    ses_export_options options;
    int code = write ? take_export_options(given, &options, error)
                     : ses__error_set(error, SES_MISUSE, "the argument `write` is NULL");

    if (code != SES_OK)
        return code;
    call.options = &options;
    ses__crc32_prepare(&call.tables);
    ses__buffer_init(&call.out, &store->allocator);
    code = run_export(store, &call, error);
    ses__buffer_free(&call.out);
    return code;
}

int ses_store_export(ses_store *store, const ses_export_options *options,
                     int (*write)(void *context, const char *data, size_t len, ses_error *error),
                     void *context, ses_error *error)
{
    int code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, export_lines(store, options, write, context, error)) : code;
}
