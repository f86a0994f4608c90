/* The requests for a turn: a message as plain text, and google-adk's /run and /run_sse. */
#include "turn.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ replies */

static enum MHD_Result reply_failure(struct request *request, const struct turn *turn)
{
    char message[SES_ID_MAX + 40];

    if (turn->code != SES_NOTFOUND)
        return reply_error(request, &turn->error);
    (void)snprintf(message, sizeof message, "Session not found: %s", turn->key.session);
    return reply_detail(request, MHD_HTTP_NOT_FOUND, message);
}

/* Its thread has ended: nobody else uses it. */
static enum MHD_Result reply_turn(struct request *request, struct turn *turn)
{
    char *answer = turn->answer;
    size_t len = turn->answer_len;

    if (turn->code < 0)
        return reply_failure(request, turn);
    turn->answer = NULL;
    if (turn->form == ANSWER_LIST && answer) {
        answer[len++] = ']'; /* in place of the NUL */
    } else if (!answer) {
        answer = strdup("[]");
        len = 2;
    }
    return reply_text(request, MHD_HTTP_OK, answer, len, "application/json");
}

/* ---------------------------------------------------------------------------------------------- a message */

/* Called a second time when the turn is over. */
enum MHD_Result post_message(struct request *request)
{
    enum MHD_Result result = MHD_NO;

    if (request->turn)
        return reply_turn(request, request->turn);
    const size_t len = request->body_len;
    struct turn *turn = turn_new(request, &request->key, ANSWER_FINAL, &result);
    if (!turn)
        return result;
    turn->message = (ses_text){turn->body ? turn->body : "", len};
    return turn_start(turn, request, &result) ? MHD_YES : result;
}

/* ------------------------------------------------------------------------------------------- google-adk's */

/* The members of the body that are looked at. Others are not for an agent like this. */
enum { APP, USER, SESSION, MESSAGE, STREAMING, DELTA, METADATA, FIELDS };

static bool has_call(ses_text parts)
{
    struct json_walk walk;
    ses_text none;
    ses_text part;

    json_walk_begin(&walk, parts);
    while (json_walk_next(&walk, &none, &part))
        if (!json_is_null(json_member(part, "functionCall")) ||
            !json_is_null(json_member(part, "function_call")))
            return true;
    return false;
}

/* Returns false, after a reply, if the message cannot be a user's. */
static bool check_message(struct request *request, ses_text message, enum MHD_Result *result)
{
    const ses_text parts = json_member(message, "parts");
    struct json_walk walk;
    ses_text none;
    ses_text part;
    char place[80];

    if (!json_is_null(parts) && parts.text[0] != '[') {
        *result = reply_invalid(request, "list_type", "\"body\",\"newMessage\",\"parts\"",
                                "Input should be a valid list", parts);
        return false;
    }
    json_walk_begin(&walk, parts);
    for (size_t i = 0; json_walk_next(&walk, &none, &part); i++) {
        if (part.text[0] != '{') {
            (void)snprintf(place, sizeof place, "\"body\",\"newMessage\",\"parts\",%zu", i);
            *result =
                reply_invalid(request, "model_attributes_type", place,
                              "Input should be a valid dictionary or object to extract fields from", part);
            return false;
        }
    }
    if (has_call(parts))
        *result = reply_detail(request, MHD_HTTP_BAD_REQUEST, "User message cannot contain function calls.");
    return !has_call(parts);
}

/* The names of the session that the body has. */
static bool read_names(const struct field *fields, char **names)
{
    for (size_t i = APP; i <= SESSION; i++) {
        names[i] = json_string(fields[i].value);
        if (fields[i].value.text && !names[i])
            return false; /* it contains a NUL */
    }
    return true;
}

/* The metadata without what only google-adk may write. Returns false if out of memory. */
static bool read_metadata(struct turn *turn, ses_text metadata)
{
    size_t len = 0;
    FILE *out = metadata.text ? open_memstream(&turn->metadata, &len) : NULL;

    if (!out)
        return !metadata.text;
    fputc('{', out);
    const bool is_left = write_public_metadata(out, metadata);
    fputc('}', out);
    const bool ok = fclose(out) == 0;
    if (!ok || !is_left) {
        free(turn->metadata);
        turn->metadata = NULL;
    }
    return ok;
}

/* Keeps what the turn needs of the body, which is now the turn's. */
static bool read_turn(struct turn *turn, const struct field *fields)
{
    const ses_text parts = json_member(fields[MESSAGE].value, "parts");

    if (!json_is_null(parts))
        turn->parts = parts;
    turn->delta = fields[DELTA].value;
    turn->wants_pieces = body_flag(&fields[STREAMING]);
    return read_metadata(turn, fields[METADATA].value);
}

/* google-adk's server looks for the session before it begins to stream. */
static bool find_session(struct request *request, struct turn *turn, enum MHD_Result *result)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const ses_get_options options = {
        .size = sizeof options, .range = &none, .cancel = work_cancel(request->work)};
    ses_session *session = NULL;

    turn->code = ses_get(request->server->store, &turn->key, &options, &session, &turn->error);
    ses_session_close(session);
    if (turn->code < 0)
        *result = reply_failure(request, turn);
    return turn->code >= 0;
}

static enum MHD_Result begin(struct request *request, const struct field *fields, const ses_key *key,
                             enum answer_form form)
{
    enum MHD_Result result = MHD_NO;
    struct turn *turn = turn_new(request, key, form, &result);

    if (!turn || !read_turn(turn, fields))
        return result;
    if (form != ANSWER_STREAM)
        return turn_start(turn, request, &result) ? MHD_YES : result;
    if (!find_session(request, turn, &result) || !turn_start(turn, request, &result))
        return result;
    return turn_reply_stream(turn, request);
}

static enum MHD_Result check_and_begin(struct request *request, const struct field *fields,
                                       char *const *names, enum answer_form form)
{
    const char *app = request->server->arguments.app;
    const ses_key key = {names[APP] ? names[APP] : app, names[USER], names[SESSION]};
    enum MHD_Result result = MHD_NO;
    char message[SES_ID_MAX + 40];

    if (strcmp(key.app, app) != 0) {
        (void)snprintf(message, sizeof message, "Agent not found: '%s'", key.app);
        return reply_detail(request, MHD_HTTP_NOT_FOUND, message);
    }
    return check_message(request, fields[MESSAGE].value, &result) ? begin(request, fields, &key, form)
                                                                  : result;
}

static enum MHD_Result run(struct request *request, enum answer_form form)
{
    struct field fields[FIELDS] = {
        [APP] = {.name = "appName", .snake = "app_name", .kind = FIELD_STRING},
        [USER] = {.name = "userId", .snake = "user_id", .kind = FIELD_STRING, .is_required = true},
        [SESSION] = {.name = "sessionId", .snake = "session_id", .kind = FIELD_STRING, .is_required = true},
        [MESSAGE] = {.name = "newMessage", .snake = "new_message", .kind = FIELD_MODEL},
        [STREAMING] = {.name = "streaming", .kind = FIELD_FLAG},
        [DELTA] = {.name = "stateDelta", .snake = "state_delta", .kind = FIELD_DICT},
        [METADATA] = {.name = "customMetadata", .snake = "custom_metadata", .kind = FIELD_DICT}};
    char *names[SESSION + 1] = {NULL};
    enum MHD_Result result = MHD_NO;

    if (!body_read(request, fields, FIELDS, false, &result))
        return result;
    result = read_names(fields, names) ? check_and_begin(request, fields, names, form)
                                       : reply_detail(request, MHD_HTTP_BAD_REQUEST,
                                                      "an id cannot contain a NUL or half a character");
    for (size_t i = APP; i <= SESSION; i++)
        free(names[i]);
    return result;
}

enum MHD_Result run_turn(struct request *request)
{
    return request->turn ? reply_turn(request, request->turn) : run(request, ANSWER_LIST);
}

enum MHD_Result run_turn_streamed(struct request *request)
{
    return run(request, ANSWER_STREAM);
}
