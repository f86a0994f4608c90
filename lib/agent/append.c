/* Appends an event together with the writes of a view. */
#include <string.h>

#include "agent/tracked.h"
#include "base/argument.h"
#include "base/error.h"
#include "session/append_extras.h"

static bool writes_shared(const struct delta *writes)
{
    for (size_t i = 0; i < writes->count; i++) {
        if (ses__scope_is_shared(writes->ops[i].scope))
            return true;
    }
    return false;
}

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
    int code;

    if (!tracked->reads->lacks_one || !writes_shared(writes))
        return SES_OK;
    code = ses__take_options(&options, sizeof options, given, "append options", error);
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
