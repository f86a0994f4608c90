/* A session of Vertex AI Agent Engine, without its events. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formats/json/members.h"
#include "formats/read/vertex.h"

/* Parses "projects/P/locations/L/reasoningEngines/APP/sessions/ID". Returns false for any other form. */
static bool split_name(const char *name, struct text *app, struct text *session)
{
    const char *engine = strstr(name, "reasoningEngines/");
    const char *end = engine ? strstr(engine, "/sessions/") : NULL;

    if (!end)
        return false;
    engine += strlen("reasoningEngines/");
    text_add(app, engine, (size_t)(end - engine));
    text_puts(session, end + strlen("/sessions/"));
    return true;
}

static int take_names(struct vertex_session *session, struct span json, ses_error *error)
{
    const struct span title = member_in(json, "displayName");
    struct text name = {NULL, 0, 0};

    bool ok = member_plain(member_in(json, "name"), &name) &&
              split_name(name.data, &session->names[0], &session->names[2]) &&
              member_plain(member_in(json, "userId"), &session->names[1]);
    text_free(&name);
    if (title.ptr)
        (void)member_plain(title, &session->title);
    return ok ? SES_OK
              : ses__error_set(
                    error, SES_INVALID,
                    "the session has no userId, or no name of the form .../reasoningEngines/APP/sessions/ID");
}

static int take_time(struct span json, const char *name, int64_t *us, ses_error *error)
{
    const struct span value = member_in(json, name);
    bool cut = false;

    *us = value.ptr && ses__json_type_of(value) == JSON_STRING ? vertex_time(value, &cut) : FOREIGN_NO_TIME;
    return !value.ptr || *us != FOREIGN_NO_TIME
               ? SES_OK
               : ses__error_set(error, SES_INVALID, "%s is not RFC 3339", name);
}

/* ------------------------------------------------------------------------------------------------- labels */

static size_t count_members(struct span object)
{
    struct json_reader reader;
    struct json_string name;
    size_t count = 0;

    reader_begin(&reader, object);
    while (ses__json_member(&reader, &name) && ses__json_skip(&reader, NULL))
        count++;
    return count;
}

/* A decoded copy, or NULL if the text contains a NUL or a lone surrogate. */
static char *copy_string(struct json_string string)
{
    char *plain = allocate(string.raw.len + 1);
    size_t len = 0;

    if (ses__json_unescape(string, plain, &len) && !memchr(plain, '\0', len)) {
        plain[len] = '\0';
        return plain;
    }
    free(plain);
    return NULL;
}

static int take_label(struct vertex_session *session, struct json_string name, struct span value,
                      ses_error *error)
{
    ses_label *label = &session->labels[session->label_count++];

    label->name = copy_string(name);
    label->value = ses__json_type_of(value) == JSON_STRING ? copy_string(ses__json_string_of(value)) : NULL;
    return label->name && label->value
               ? SES_OK
               : ses__error_set(error, SES_INVALID,
                                "a label is not a string, or contains a NUL or a lone surrogate");
}

static int take_labels(struct vertex_session *session, struct span json, ses_error *error)
{
    struct json_reader reader;
    struct json_string name;
    struct span labels;
    struct span value;
    int code = member_typed(json, "labels", JSON_OBJECT, &labels, error);

    if (code != SES_OK || !labels.ptr)
        return code;
    session->labels = allocate((count_members(labels) + 1) * sizeof *session->labels);
    reader_begin(&reader, labels);
    while (code == SES_OK && ses__json_member(&reader, &name) && ses__json_skip(&reader, &value))
        code = take_label(session, name, ses__json_trim(value), error);
    return code;
}

/* -------------------------------------------------------------------------------------------- the session */

int vertex_session_read(struct vertex_session *session, struct span json, ses_error *error)
{
    int code = take_names(session, json, error);

    if (code == SES_OK)
        code = member_typed(json, "sessionState", JSON_OBJECT, &session->state, error);
    if (code == SES_OK)
        code = take_time(json, "createTime", &session->created_us, error);
    if (code == SES_OK)
        code = take_time(json, "updateTime", &session->updated_us, error);
    if (code == SES_OK)
        code = take_time(json, "expireTime", &session->expires_us, error);
    return code == SES_OK ? take_labels(session, json, error) : code;
}

void vertex_session_free(struct vertex_session *session)
{
    for (size_t i = 0; i < 3; i++)
        text_free(&session->names[i]);
    text_free(&session->title);
    for (size_t i = 0; i < session->label_count; i++) {
        free((char *)session->labels[i].name);
        free((char *)session->labels[i].value);
    }
    free(session->labels);
    *session = (struct vertex_session){.labels = NULL};
}
