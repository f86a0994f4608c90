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

static int make_builder_id(ses_builder *builder, ses_store *store, ses_error *error)
{
    char id[SES_ID_MAX + 1];
    int code = ses_store_make_id(store, id, sizeof id, error);

    if (code == SES_OK)
        code = ses_builder_field_string(builder, "id", id, SES_NUL, error);
    if (code == SES_OK && strlen(id) < sizeof builder->made_id)
        memcpy(builder->made_id, id, strlen(id) + 1);
    return code;
}

/* Gives the event an id if it has none. */
static int prepare_built(ses_builder *builder, ses_store *store, struct span *json, ses_error *error)
{
    int code = ses__check_builder(builder, error);

    if (code == SES_OK && !builder_has_id(builder))
        code = make_builder_id(builder, store, error);
    if (code == SES_OK) {
        json->ptr = ses_builder_json(builder, &json->len);
        if (!json->ptr)
            code = ses__error_nomem(error);
    }
    return code;
}

/* Also if an earlier call made it, which has failed. */
static int show_made_id(int code, const ses_builder *builder, ses_appended *appended)
{
    if ((code >= 0 || code == SES_UNKNOWN) && appended)
        memcpy(appended->made_id, builder->made_id, sizeof appended->made_id);
    return code;
}

int ses_builder_append(ses_builder *builder, ses_session *session, const ses_append_options *options,
                       ses_appended *appended, ses_error *error)
{
    struct span json;
    int code = ses__session_check(session, error);

    if (code == SES_OK)
        code = prepare_built(builder, ses__session_store(session), &json, error);
    if (code != SES_OK)
        return code;
    code = ses_append(session, json.ptr, json.len, options, appended, error);
    return show_made_id(code, builder, appended);
}

int ses_builder_append_by_key(ses_builder *builder, ses_store *store, const ses_key *key,
                              const ses_append_options *options, ses_appended *appended, ses_error *error)
{
    struct span json;
    int code = prepare_built(builder, store, &json, error);

    if (code != SES_OK)
        return code;
    code = ses_append_by_key(store, key, json.ptr, json.len, options, appended, error);
    return show_made_id(code, builder, appended);
}
