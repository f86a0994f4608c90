/* A view of the state with writes of its own: opening, closing, writing, and appending an event with the
 * writes. */
#include "agent/tracked.h"

#include <math.h>
#include <stdio.h>

#include "base/argument.h"
#include "base/error.h"
#include "base/utf8.h"
#include "json/decimal.h"
#include "json/reader.h"
#include "json/writer.h"
#include "session/append_extras.h"
#include "session/handle.h"

/* How deep a value is nested in its event: in the event, its actions and their stateDelta. */
enum { VALUE_DEPTH = 3 };

/* ----------------------------------------------------------------------------------------------- keys */

int ses__state_key_order(struct span left, struct span right)
{
    enum scope left_scope = ses__scope_of(left, NULL);
    enum scope right_scope = ses__scope_of(right, NULL);

    if (left_scope != right_scope)
        return left_scope < right_scope ? -1 : 1;
    return ses__span_order(left, right);
}

/* ------------------------------------------------------------------------------------- life of a view */

int ses__tracked_check(const ses_tracked *tracked, ses_error *error)
{
    int code = ses__check_argument(tracked, "tracked", error);
    return code == SES_OK ? ses__session_check(tracked->session, error) : code;
}

int ses__tracked_check_write(const ses_tracked *tracked, ses_error *error)
{
    int code = ses__tracked_check(tracked, error);
    if (code == SES_OK && tracked->read_only)
        code = ses__error_set(error, SES_READONLY,
                              "the view is read-only: it was made with SES_TRACK_READ_ONLY");
    return code;
}

/* An append raises both numbers, a cut only the version. A later session of the same name starts above all
 * versions of this one. */
static int64_t epoch_of(const ses_session *session)
{
    return ses_session_version(session) - ses_session_last_seq(session);
}

int ses__check_epoch(const ses_session *fresh, const ses_session *handle, ses_error *error)
{
    if (!handle || epoch_of(fresh) == epoch_of(handle))
        return SES_OK;
    (void)ses__error_set(
        error, SES_STALE,
        "events were cut from the session since the handle was read, or it was deleted and another has its name: refresh the handle and try again");
    if (error)
        error->version = ses_session_version(fresh);
    return SES_STALE;
}

static void free_view(ses_tracked *tracked, const ses_allocator *allocator)
{
    ses__state_free(&tracked->writes);
    ses__state_free(&tracked->reads->shown);
    ses__memory_free(allocator, tracked);
}

int ses_tracked_open(ses_session *session, const ses_track_options *options, ses_tracked **tracked,
                     ses_error *error)
{
    ses_track_options own;
    int code = ses__check_output(tracked, "tracked", error);

    if (code == SES_OK)
        code = ses__session_check(session, error);
    if (code == SES_OK)
        code = ses__take_flagged(&own, sizeof own, options, SES_TRACK_READ_ONLY | SES_TRACK_ACCUMULATE,
                                 "track options", error);
    if (code != SES_OK)
        return code;
    const ses_allocator *allocator = ses__store_allocator(ses__session_store(session));
    const struct hash_seed seed = ses__store_seed(ses__session_store(session));
    ses_tracked *fresh = ses__memory_zeroed(allocator, sizeof *fresh + sizeof *fresh->reads);
    if (!fresh)
        return ses__error_nomem(error);
    fresh->reads = (struct view_reads *)(fresh + 1);
    code = ses__state_init(&fresh->writes, allocator, seed, error);
    if (code == SES_OK)
        code = ses__state_init(&fresh->reads->shown, allocator, seed, error);
    if (code != SES_OK) {
        free_view(fresh, allocator);
        return code;
    }
    ses__session_retain(session);
    fresh->session = session;
    fresh->allocator = allocator;
    fresh->read_only = (own.flags & SES_TRACK_READ_ONLY) != 0;
    fresh->accumulates = (own.flags & SES_TRACK_ACCUMULATE) != 0;
    ses__buffer_init(&fresh->turn, allocator);
    *tracked = fresh;
    return SES_OK;
}

void ses__tracked_forget(ses_tracked *tracked)
{
    for (int scope = 0; scope < SCOPE_COUNT; scope++) {
        ses__state_clear(&tracked->writes, (enum scope)scope);
        ses__state_clear(&tracked->reads->shown, (enum scope)scope);
    }
    tracked->reads->lacks_one = false;
}

void ses_tracked_discard(ses_tracked *tracked)
{
    if (tracked)
        ses__tracked_forget(tracked);
}

ses_session *ses_tracked_session(const ses_tracked *tracked)
{
    return tracked ? tracked->session : NULL;
}

void ses_tracked_close(ses_tracked *tracked)
{
    if (tracked) {
        ses_session *session = tracked->session;
        ses__buffer_free(&tracked->turn);
        free_view(tracked, tracked->allocator);
        ses__session_release(session);
    }
}

/* -------------------------------------------------------------------------------------------- writing */

static int check_name(const ses_tracked *tracked, const char *name, struct span *span, ses_error *error)
{
    int code = ses__tracked_check_write(tracked, error);
    if (code == SES_OK)
        code = ses__check_span(name, SES_NUL, "name", span, error);
    if (code == SES_OK)
        code = ses__scope_check_name(*span, error);
    return code;
}

/* Keeps the value, which is JSON, under the name. */
static int put(ses_tracked *tracked, const char *name, struct span value, ses_error *error)
{
    struct span key;
    int code = check_name(tracked, name, &key, error);
    return code == SES_OK ? ses__state_put(&tracked->writes, key, value, error) : code;
}

int ses_tracked_set(ses_tracked *tracked, const char *name, const char *json, size_t len, ses_error *error)
{
    struct span key;
    struct span text;
    struct span value;
    int code = check_name(tracked, name, &key, error);

    if (code == SES_OK)
        code = ses__check_span(json, len, "json", &text, error);
    if (code == SES_OK)
        code = ses__json_check_within(text.ptr, text.len, VALUE_DEPTH, &value, error);
    return code == SES_OK ? ses__state_put(&tracked->writes, key, value, error) : code;
}

int ses_tracked_set_string(ses_tracked *tracked, const char *name, const char *text, size_t len,
                           ses_error *error)
{
    struct span key;
    struct span plain;
    int code = check_name(tracked, name, &key, error);

    if (code == SES_OK)
        code = ses__check_span(text, len, "text", &plain, error);
    if (code != SES_OK)
        return code;
    if (!ses__utf8_valid(plain.ptr, plain.len))
        return ses__error_set(error, SES_INVALID, "the text for \"%.200s\" is not valid UTF-8", name);
    struct buffer value;
    ses__buffer_init(&value, tracked->allocator);
    ses__json_add_string(&value, plain.ptr, plain.len);
    code = value.failed ? ses__error_nomem(error)
                        : ses__state_put(&tracked->writes, key, (struct span){value.data, value.len}, error);
    ses__buffer_free(&value);
    return code;
}

int ses_tracked_set_int64(ses_tracked *tracked, const char *name, int64_t value, ses_error *error)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%lld", (long long)value);
    return put(tracked, name, (struct span){text, (size_t)len}, error);
}

int ses_tracked_set_double(ses_tracked *tracked, const char *name, double value, ses_error *error)
{
    char text[DOUBLE_ROOM];
    struct span key;
    int code = check_name(tracked, name, &key, error);

    if (code == SES_OK && !isfinite(value))
        code = ses__error_set(error, SES_INVALID, "the number for \"%.200s\" is infinite or NaN", name);
    if (code != SES_OK)
        return code;
    const struct span written = {text, ses__double_write(value, text)};
    return ses__state_put(&tracked->writes, key, written, error);
}

int ses_tracked_set_bool(ses_tracked *tracked, const char *name, int value, ses_error *error)
{
    return put(tracked, name, value ? (struct span){"true", 4} : (struct span){"false", 5}, error);
}

int ses_tracked_remove(ses_tracked *tracked, const char *name, ses_error *error)
{
    return put(tracked, name, TOMBSTONE_VALUE, error);
}

/* ---------------------------------------------------------------------------------------------- appending */

/* Collects the view's writes, and `last` if it is given. */
static bool take_writes(const ses_tracked *tracked, const struct member *last, struct delta *writes)
{
    struct state_entry *const *entries = ses__state_sorted(&tracked->writes);
    bool ok = entries != NULL;

    for (size_t i = 0; ok && i < ses__state_count(&tracked->writes); i++) {
        const struct state_entry *entry = entries[i];
        ok = ses__delta_add(writes, tracked->allocator,
                            ses__delta_op(ses__state_entry_span(entry), ses__state_entry_value(entry)));
    }
    return ok &&
           (!last || ses__delta_add(writes, tracked->allocator, ses__delta_op(last->name, last->value)));
}

/* Collects, for each key that was read and then written, the value that the handle showed. */
static bool take_reads(const ses_tracked *tracked, const struct member *last, struct delta *seen)
{
    const struct state *reads = &tracked->reads->shown;
    struct state_entry *const *entries = ses__state_sorted(reads);
    bool ok = entries != NULL;

    for (size_t i = 0; ok && i < ses__state_count(reads); i++) {
        struct span name = ses__state_entry_span(entries[i]);
        if (ses__state_find(&tracked->writes, name) || (last && ses__state_key_order(name, last->name) == 0))
            ok = ses__delta_add(seen, tracked->allocator,
                                ses__delta_op(name, ses__state_entry_value(entries[i])));
    }
    return ok;
}

/* STALE if a shared key is written that may have been read without a note. */
static int check_notes(const ses_tracked *tracked, const struct delta *writes,
                       const ses_append_options *given, ses_error *error)
{
    ses_append_options options;
    bool shared = false;

    for (size_t i = 0; i < writes->count; i++)
        shared = shared || ses__scope_is_shared(writes->ops[i].scope);
    if (!tracked->reads->lacks_one || !shared)
        return SES_OK;
    const int code = ses__take_options(&options, sizeof options, given, "append options", error);
    if (code != SES_OK || (options.flags & SES_ANYWAY))
        return code;
    return ses__error_set(
        error, SES_STALE,
        "the view ran out of memory while it noted a read by ses_tracked_has: discard its writes, read again and compute again");
}

int ses__tracked_append(const char *call, ses_tracked *tracked, const char *event, size_t event_len,
                        const struct member *last, const ses_append_options *options, ses_appended *appended,
                        ses_error *error)
{
    struct append_extras extras;

    ses__append_extras_init(&extras, tracked->allocator);
    int result =
        take_writes(tracked, last, &extras.writes.delta) && take_reads(tracked, last, &extras.seen.delta)
            ? check_notes(tracked, &extras.writes.delta, options, error)
            : ses__error_nomem(error);

    if (result == SES_OK)
        result =
            ses__append_with(call, tracked->session, event, event_len, &extras, options, appended, error);
    ses__append_extras_free(&extras);
    if (result == SES_OK || result == SES_DUPLICATE)
        ses__tracked_forget(tracked);
    return result;
}

int ses_tracked_append(ses_tracked *tracked, const char *event, size_t event_len,
                       const ses_append_options *options, ses_appended *appended, ses_error *error)
{
    int code = ses__tracked_check_write(tracked, error);
    return code == SES_OK
               ? ses__tracked_append(__func__, tracked, event, event_len, NULL, options, appended, error)
               : code;
}
