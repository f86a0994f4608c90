/* Appends the event that was built. */
#include <string.h>

#include "agent/builder.h"
#include "base/error.h"
#include "session/handle.h"

static bool builder_has_id(const ses_builder *builder)
{
    const struct built_field *field = builder->fields;

    while (field && !(field->name_len == 2 && memcmp(field->bytes, "id", 2) == 0))
        field = field->next;
    return field && field->bytes[field->name_len] == '"'; /* null counts as no id */
}

/* Gives the event an id if it has none; `made` is "" if it has one. */
static int prepare_built(ses_builder *builder, ses_store *store, char *made, size_t capacity,
                         struct span *json, ses_error *error)
{
    int code = ses__check_builder(builder, error);

    made[0] = '\0';
    if (code == SES_OK && !builder_has_id(builder)) {
        code = ses_store_make_id(store, made, capacity, error);
        if (code == SES_OK)
            code = ses_builder_field_string(builder, "id", made, SES_NUL, error);
    }
    if (code == SES_OK) {
        json->ptr = ses_builder_json(builder, &json->len);
        if (!json->ptr)
            code = ses__error_nomem(error);
    }
    return code;
}

static int show_made_id(int code, const char *made, ses_appended *appended)
{
    if ((code >= 0 || code == SES_UNKNOWN) && appended && strlen(made) < sizeof appended->made_id)
        memcpy(appended->made_id, made, strlen(made) + 1);
    return code;
}

int ses_builder_append(ses_builder *builder, ses_session *session, const ses_append_options *options,
                       ses_appended *appended, ses_error *error)
{
    char made[SES_ID_MAX + 1];
    struct span json;
    int code = ses__session_check(session, error);

    if (code == SES_OK)
        code = prepare_built(builder, ses__session_store(session), made, sizeof made, &json, error);
    if (code != SES_OK)
        return code;
    return show_made_id(ses_append(session, json.ptr, json.len, options, appended, error), made, appended);
}

int ses_builder_append_by_key(ses_builder *builder, ses_store *store, const ses_key *key,
                              const ses_append_options *options, ses_appended *appended, ses_error *error)
{
    char made[SES_ID_MAX + 1];
    struct span json;
    int code = prepare_built(builder, store, made, sizeof made, &json, error);

    if (code != SES_OK)
        return code;
    return show_made_id(ses_append_by_key(store, key, json.ptr, json.len, options, appended, error), made,
                        appended);
}
