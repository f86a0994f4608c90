/* A view of the state with writes of its own: reading. */
#include "agent/tracked.h"

#include <string.h>

#include "base/argument.h"
#include "base/error.h"
#include "json/writer.h"
#include "model/state/state.h"

/* ------------------------------------------------------------------------------------------ one value */

int ses__tracked_value(const ses_tracked *tracked, const char *name, struct span *value, ses_error *error)
{
    const struct state_entry *own = ses__state_find(&tracked->writes, ses__span_of(name));

    if (!own)
        return ses_state_get(tracked->session, name, &value->ptr, &value->len, error);
    if (own->removes)
        return SES_ABSENT;
    *value = ses__state_entry_value(own);
    return SES_OK;
}

static int look_up(const ses_tracked *tracked, const char *name, const void *output, struct span *value,
                   ses_error *error)
{
    int code = ses__tracked_check(tracked, error);

    *value = (struct span){NULL, 0};
    if (code == SES_OK)
        code = ses__check_argument(name, "name", error);
    if (code == SES_OK)
        code = ses__check_argument(output, "output", error);
    return code == SES_OK ? ses__tracked_value(tracked, name, value, error) : code;
}

/* Notes the value of a shared key that a look-up has shown, unless it is the view's own. `found` is the
 * look-up's result. False: out of memory. */
static bool note(const ses_tracked *tracked, const char *name, int found, struct span value)
{
    if ((found != SES_OK && found != SES_ABSENT) || tracked->read_only)
        return true;
    struct state *reads = &tracked->reads->shown;
    const struct span key = ses__span_of(name);
    const struct span shown = value.ptr ? value : TOMBSTONE_VALUE;
    if (!ses__scope_is_shared(ses__scope_of(key, NULL)) || ses__state_find(&tracked->writes, key))
        return true;
    const struct state_entry *noted = ses__state_find(reads, key);
    return (noted && ses__span_is(ses__state_entry_value(noted), shown)) ||
           ses__state_put(reads, key, shown, NULL) == SES_OK;
}

static int find_value(const ses_tracked *tracked, const char *name, const void *output, struct span *value,
                      ses_error *error)
{
    int code = look_up(tracked, name, output, value, error);
    return note(tracked, name, code, *value) ? code : ses__error_nomem(error);
}

int ses_tracked_get(const ses_tracked *tracked, const char *name, const char **json, size_t *len,
                    ses_error *error)
{
    struct span value = {NULL, 0};

    if (json)
        *json = NULL;
    int code = find_value(tracked, name, json, &value, error);
    if (code >= 0)
        *json = value.ptr;
    if (code >= 0 && len)
        *len = value.len;
    return code;
}

int ses_tracked_get_string(const ses_tracked *tracked, const char *name, const char **text, size_t *len,
                           ses_error *error)
{
    struct span value;

    if (text)
        *text = NULL;
    int code = find_value(tracked, name, text, &value, error);
    if (code == SES_ABSENT && len)
        *len = 0;
    if (code != SES_OK)
        return code;
    struct state_entry *own = ses__state_find(&tracked->writes, ses__span_of(name));
    if (!own)
        return ses_state_get_string(tracked->session, name, text, len, error);
    code = ses__state_entry_text(&tracked->writes, own, error);
    *text = own->text;
    if (len && code == SES_OK)
        *len = own->text_len;
    return code;
}

int ses_tracked_get_int64(const ses_tracked *tracked, const char *name, int64_t *value, ses_error *error)
{
    struct span json;
    int code = find_value(tracked, name, value, &json, error);
    return code == SES_OK ? ses__typed_int64(json, name, value, error) : code;
}

int ses_tracked_get_double(const ses_tracked *tracked, const char *name, double *value, ses_error *error)
{
    struct span json;
    int code = find_value(tracked, name, value, &json, error);
    return code == SES_OK ? ses__typed_double(json, name, value, error) : code;
}

int ses_tracked_get_bool(const ses_tracked *tracked, const char *name, int *value, ses_error *error)
{
    struct span json;
    int code = find_value(tracked, name, value, &json, error);
    return code == SES_OK ? ses__typed_bool(json, name, value, error) : code;
}

int ses_tracked_has(const ses_tracked *tracked, const char *name)
{
    struct span value;
    int code = look_up(tracked, name, "", &value, NULL);

    if (!note(tracked, name, code, value))
        tracked->reads->lacks_one = true;
    return code == SES_OK || code == SES_CORRUPT; /* a key with a damaged value exists */
}

int ses_tracked_changed(const ses_tracked *tracked)
{
    return tracked && ses__state_count(&tracked->writes) > 0;
}

/* --------------------------------------------------------------------------------- all that it shows */

/* Adds all that the view shows: its own writes, and the other keys of the handle. Both are sorted. */
static int add_shown(const ses_tracked *tracked, struct state_entry *const *writes, struct buffer *object,
                     ses_error *error)
{
    const size_t own_count = ses__state_count(&tracked->writes);
    const size_t stored_count = ses_state_count(tracked->session);
    const size_t start = object->len;
    struct member stored = {{NULL, 0}, {NULL, 0}};
    size_t i = 0;
    size_t k = 0;

    while (i < own_count || k < stored_count) {
        int code = k < stored_count ? ses_state_at(tracked->session, k, &stored.name.ptr, &stored.value.ptr,
                                                   &stored.value.len, error)
                                    : SES_OK;
        if (code != SES_OK)
            return code;
        stored.name.len = k < stored_count ? strlen(stored.name.ptr) : 0;
        int order = i == own_count      ? 1
                    : k == stored_count ? -1
                                        : ses__state_key_order(ses__state_entry_span(writes[i]), stored.name);
        if (order > 0)
            ses__json_add_member(object, start, stored.name, stored.value);
        else if (!writes[i]->removes)
            ses__json_add_member(object, start, ses__state_entry_span(writes[i]),
                                 ses__state_entry_value(writes[i]));
        i += order <= 0;
        k += order >= 0;
    }
    return SES_OK;
}

/* Begins a call that makes a text of the view. */
static int start_object(const ses_tracked *tracked, char **json, struct buffer *object, ses_error *error)
{
    int code = ses__check_output(json, "json", error);

    if (code == SES_OK)
        code = ses__tracked_check(tracked, error);
    if (code != SES_OK)
        return code;
    ses__buffer_init_text(object, tracked->allocator);
    ses__buffer_add(object, "{", 1);
    return SES_OK;
}

int ses_tracked_json(const ses_tracked *tracked, char **json, size_t *len, ses_error *error)
{
    struct buffer object;
    int code = start_object(tracked, json, &object, error);

    if (code != SES_OK)
        return code;
    struct state_entry *const *writes = ses__state_sorted(&tracked->writes);
    code = writes ? add_shown(tracked, writes, &object, error) : ses__error_nomem(error);
    ses__buffer_add(&object, "}", 1);
    return ses__buffer_give(&object, code, json, len, error);
}

int ses_tracked_delta(const ses_tracked *tracked, char **json, size_t *len, ses_error *error)
{
    struct buffer object;
    int code = start_object(tracked, json, &object, error);

    if (code != SES_OK)
        return code;
    code = ses__state_add_members(&tracked->writes, SCOPE_COUNT, &object, error);
    ses__buffer_add(&object, "}", 1);
    return ses__buffer_give(&object, code, json, len, error);
}
