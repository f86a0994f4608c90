/* Writes a store as JSON lines, in the format that README.md in this folder describes. */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "json/reader.h"
#include "json/writer.h"
#include "session/transfer/export.h"
#include "session/transfer/lines.h"

enum { EVENTS_BETWEEN_NEWS = 1000 };

/* ------------------------------------------------------------------------------------- apps, users, keys */

static int export_app(void *context, const char *app, ses_error *error)
{
    struct export_call *call = context;

    ses__export_begin(call, "app");
    ses__export_text(call, "app", app);
    return ses__export_end(call, error);
}

static int export_user(void *context, const char *app, const char *user, ses_error *error)
{
    struct export_call *call = context;

    call->contents.begun = false;
    ses__export_begin(call, "user");
    ses__export_text(call, "app", app);
    ses__export_text(call, "user", user);
    return ses__export_end(call, error);
}

static int export_shared(void *context, struct span key, struct span value, ses_error *error)
{
    struct export_call *call = context;

    ses__export_begin(call, "key");
    ses__export_span(call, "key", key);
    ses__export_json(call, "value", "value_text", value);
    return ses__export_end(call, error);
}

/* -------------------------------------------------------------------------------------------- sessions */

static void line_put_labels(struct export_call *call, const struct annotations *own)
{
    ses__export_name(call, "labels");
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
    ses__export_json(call, "initial_state", "initial_state_text", initial);
    return SES_OK;
}

static void line_put_origin(struct export_call *call, const struct visited_session *session)
{
    if (session->parent) {
        ses__export_text(call, "parent_user", session->parent->user);
        ses__export_text(call, "parent_session", session->parent->session);
        ses__export_number(call, "parent_seq", session->parent_seq);
    }
    if (session->origin > 0)
        ses__export_number(call, "origin", session->origin);
    if (session->row.base_seq > 0)
        ses__export_number(call, "base_seq", session->row.base_seq);
}

static int export_session(void *context, const struct visited_session *session, ses_error *error)
{
    struct export_call *call = context;
    const struct session_row *row = &session->row;

    call->in_session = true;
    call->contents.begun = false;
    call->session_crc = 0;
    call->session_events = 0;
    ses__update_times_begin(&call->times, row->created_us, row->base_seq,
                            session->parent ? session->parent_seq : 0);
    ses__export_begin(call, "session");
    ses__export_text(call, "app", session->key.app);
    ses__export_text(call, "user", session->key.user);
    ses__export_text(call, "session", session->key.session);
    ses__export_number(call, "created_us", row->created_us);
    ses__export_number(call, "updated_us", row->updated_us);
    if (row->version <= MAX_LOADED_VERSION) /* a higher version is valid in this store only */
        ses__export_number(call, "version", row->version);
    ses__export_number(call, "last_seq", row->last_seq);
    if (row->expires_us != INT64_MAX)
        ses__export_number(call, "expires_us", row->expires_us);
    if (session->annotations->title)
        ses__export_text(call, "title", session->annotations->title);
    if (session->annotations->label_count > 0)
        line_put_labels(call, session->annotations);
    line_put_origin(call, session);
    int code = line_put_initial(call, session->initial, error);
    return code == SES_OK ? ses__export_end(call, error) : code;
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
    ses__export_begin(call, "base");
    ses__export_span(call, "key", value->name);
    ses__export_number(call, "seq", value->seq);
    ses__export_json(call, "value", "value_text", value->value);
    return ses__export_end(call, error);
}

static int export_base_artifact(void *context, const struct base_value *value, ses_error *error)
{
    const size_t prefix = sizeof BASE_ARTIFACT - 1;
    struct export_call *call = context;

    ses__export_begin(call, "base_artifact");
    if (value->name.len > prefix) {
        ses__export_span(call, "key", (struct span){value->name.ptr + prefix, value->name.len - prefix});
        ses__export_number(call, "seq", value->seq);
        ses__export_json(call, "value", "value_text", value->value);
    }
    return ses__export_end(call, error);
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
 * leaves out what is damaged. */
static int check_exported_body(const struct export_call *call, const struct event_row *row, ses_error *error)
{
    const struct span object = ses__json_trim(row->body);
    const bool sound = object.len >= 2 && object.ptr[0] == '{' && object.ptr[object.len - 1] == '}' &&
                       (ses__export_fits(row->body) || ses__utf8_valid(object.ptr, object.len)) &&
                       (!call->rehearses || ses__json_check_stored(object.ptr, object.len, NULL) == SES_OK);

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
    int code = check_exported_body(call, row, error);

    if (code != SES_OK)
        return code;
    ses__export_begin(call, "event");
    ses__export_number(call, "seq", row->seq);
    if (row->high_us != ses__update_times_after(&call->times, row->seq, row->time_us))
        ses__export_number(call, "updated_us", row->high_us);
    ses__update_times_pass(&call->times, row->seq, row->high_us);
    ses__export_json(call, "body", "body_text", row->body);
    call->session_events++;
    if (++call->events % EVENTS_BETWEEN_NEWS == 0)
        code = report_progress(call, error);
    return code == SES_OK ? ses__export_end(call, error) : code;
}

static int export_end(void *context, ses_error *error)
{
    struct export_call *call = context;

    call->in_session = false;
    call->sessions++;
    ses__export_begin(call, "end");
    ses__export_number(call, "events", call->session_events);
    ses__export_number(call, "crc", call->session_crc);
    int code = report_progress(call, error);
    return code == SES_OK ? ses__export_end(call, error) : code;
}

/* --------------------------------------------------------------------------------------------- the call */

static int begin_file(void *context, int format, ses_error *error)
{
    struct export_call *call = context;

    ses__export_begin(call, "seslite");
    ses__export_number(call, "format", format);
    return ses__export_end(call, error);
}

static int end_file(struct export_call *call, ses_error *error)
{
    ses__export_begin(call, "total");
    ses__export_number(call, "sessions", call->sessions);
    ses__export_number(call, "events", call->events);
    ses__export_number(call, "crc", call->crc);
    int code = ses__export_end(call, error);
    return code == SES_OK ? ses__export_flush(call, error) : code;
}

static int take_export_options(const ses_export_options *given, ses_export_options *own, ses_error *error)
{
    const unsigned known = (unsigned)SES_EXPORT_ONLY_SESSIONS | (unsigned)SES_EXPORT_SKIP;
    int code = ses__take_flagged(own, sizeof *own, given, known, "export options", error);
    if (code == SES_OK && (own->flags & SES_EXPORT_SKIP) && !own->left_out)
        code = ses__error_set(error, SES_MISUSE, "export options: SES_EXPORT_SKIP needs left_out");
    if (code == SES_OK && ((own->user && !own->app) || (own->session && !own->user)))
        code =
            ses__error_set(error, SES_MISUSE, "export options: a user needs its app, and a session its user");
    return code == SES_OK && own->app ? ses__check_owner(own->app, own->user, own->session, error) : code;
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
                                                 .artifact = ses__export_artifact,
                                                 .bytes = ses__export_bytes,
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
    const int code = ses__door_visit(store->storage, &op, error);

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
