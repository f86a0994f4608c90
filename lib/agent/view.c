/* A view of the state with writes of its own: reading. */
#include "agent/tracked.h"

#include <string.h>

#include "base/argument.h"
#include "base/error.h"
#include "json/writer.h"
#include "model/state/typed.h"

/* ------------------------------------------------------------------------------------------ one value */

int ses__tracked_value(const ses_tracked *tracked, const char *name, struct span *value, ses_error *error)
{
    const struct state_entry *own = ses__tracked_own(tracked, (struct span){name, strlen(name)});

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
    const struct span key = {name, strlen(name)};
    return !ses__scope_is_shared(ses__scope_of(key, NULL)) || ses__tracked_own(tracked, key) ||
           ses__tracked_note(tracked, key, value);
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
    struct state_entry *own = ses__tracked_own(tracked, (struct span){name, strlen(name)});
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

/* Two sorted lists, walked as one: the keys of the handle and the view's own writes, which come before them.
 */
struct view_walk {
    const ses_tracked *tracked;
    struct state_entry *const *writes;
    size_t stored;
    size_t own;
};

/* Gives the handle's key at which the walk is; without text when there are no more. */
static int stored_member(const struct view_walk *walk, struct member *member, ses_error *error)
{
    int code = SES_OK;

    *member = (struct member){{NULL, 0}, {NULL, 0}};
    if (walk->stored < ses_state_count(walk->tracked->session))
        code = ses_state_at(walk->tracked->session, walk->stored, &member->name.ptr, &member->value.ptr,
                            &member->value.len, error);
    if (code == SES_OK && member->name.ptr)
        member->name.len = strlen(member->name.ptr);
    return code;
}

/* Returns 1 and the next key that is shown, 0 at the end, or a code. */
static int walk_next(struct view_walk *walk, struct member *member, ses_error *error)
{
    const ses_tracked *tracked = walk->tracked;
    int result = SES_OK;
    bool removed = true;

    while (result == SES_OK && removed) {
        const struct state_entry *own =
            walk->own < ses__state_count(&tracked->writes) ? walk->writes[walk->own] : NULL;
        result = stored_member(walk, member, error);
        if (result != SES_OK || (!own && !member->name.ptr))
            break;
        int order = !own                ? 1
                    : !member->name.ptr ? -1
                                        : ses__state_key_order(ses__state_entry_span(own), member->name);
        walk->own += order <= 0;
        walk->stored += order >= 0;
        removed = order <= 0 && own->removes;
        if (order <= 0)
            *member = (struct member){ses__state_entry_span(own), ses__state_entry_value(own)};
        result = removed ? SES_OK : 1;
    }
    return result;
}

/* Ends the object, whose members were added, and hands it over. */
static int take_object(struct buffer *object, char **json, size_t *len, ses_error *error)
{
    ses__buffer_add(object, "}", 1);
    *json = ses__buffer_take(object, len);
    return *json ? SES_OK : ses__error_nomem(error);
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
    struct view_walk walk = {.tracked = tracked};
    struct member member;
    struct buffer object;
    int code = start_object(tracked, json, &object, error);

    if (code != SES_OK)
        return code;
    size_t start = object.len;
    walk.writes = ses__state_sorted(&tracked->writes);
    code = walk.writes ? 1 : ses__error_nomem(error);
    while (code > 0 && (code = walk_next(&walk, &member, error)) > 0)
        ses__json_add_member(&object, start, member.name, member.value);
    if (code == SES_OK)
        code = take_object(&object, json, len, error);
    ses__buffer_free(&object);
    return code;
}

int ses_tracked_delta(const ses_tracked *tracked, char **json, size_t *len, ses_error *error)
{
    struct buffer object;
    int code = start_object(tracked, json, &object, error);

    if (code != SES_OK)
        return code;
    size_t start = object.len;
    struct state_entry *const *writes = ses__state_sorted(&tracked->writes);
    for (size_t i = 0; writes && i < ses__state_count(&tracked->writes); i++)
        ses__json_add_member(&object, start, ses__state_entry_span(writes[i]),
                             ses__state_entry_value(writes[i]));
    code = writes ? take_object(&object, json, len, error) : ses__error_nomem(error);
    ses__buffer_free(&object);
    return code;
}
