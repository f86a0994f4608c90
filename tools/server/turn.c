/*
 * Runs a turn. The turns of a session run one at a time, in the order of their requests, even across worker
 * processes: each holds the session's lease.
 */
#include "turn.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------- its steps */

/* The beginning of the first message becomes the title. */
static int give_title(struct turn *turn, ses_session *session, ses_error *error)
{
    const ses_call_options options = {.size = sizeof options, .cancel = work_cancel(turn->work)};
    const size_t count = ses_session_event_count(session);
    const ses_event *event = count > 0 ? ses_session_event(session, count - 1) : NULL;
    ses_content *content = NULL;
    char title[64] = "";
    size_t len = 0;

    if (ses_session_title(session) || !event)
        return SES_OK;
    int code = ses_content_open(turn->server->store, event->json, event->json_len, &content, error);
    const char *text = code == SES_OK ? ses_content_text(content, &len) : NULL;
    const size_t kept = text ? ses_text_cut(text, len, sizeof title - 1, NULL) : 0;
    if (kept > 0) {
        memcpy(title, text, kept);
        code = ses_title_set(session, title, &options, error);
    }
    ses_content_close(content);
    return code;
}

/* The role of a message is the user's, whatever the request says. */
static int set_parts(ses_builder *builder, ses_text parts, ses_error *error)
{
    static const char head[] = "{\"parts\":";
    static const char tail[] = ",\"role\":\"user\"}";
    const size_t len = sizeof head - 1 + parts.len + sizeof tail - 1;
    char *content = malloc(len);

    if (!content)
        return SES_NOMEM;
    memcpy(content, head, sizeof head - 1);
    memcpy(content + sizeof head - 1, parts.text, parts.len);
    memcpy(content + sizeof head - 1 + parts.len, tail, sizeof tail - 1);
    const int code = ses_builder_content(builder, content, len, error);
    free(content);
    return code;
}

static int build_message(const struct turn *turn, ses_builder *builder, ses_error *error)
{
    int code = ses_builder_field_string(builder, "id", turn->id, SES_NUL, error);

    if (code == SES_OK && turn->message.text)
        code = ses_builder_text(builder, turn->message.text, turn->message.len, error);
    if (code == SES_OK && turn->parts.text)
        code = set_parts(builder, turn->parts, error);
    if (code == SES_OK && turn->delta.text)
        code = ses_builder_delta(builder, turn->delta.text, turn->delta.len, error);
    if (code == SES_OK && turn->metadata)
        code = ses_builder_field(builder, "customMetadata", turn->metadata, SES_NUL, error);
    return code;
}

/* Returns SES_DUPLICATE if the same request came before. */
static int append_message(const struct turn *turn, const struct agent_run *run, ses_appended *appended,
                          ses_error *error)
{
    const ses_append_options options = {.size = sizeof options, .lease = run->lease, .cancel = run->cancel};
    ses_builder *builder = NULL;
    size_t len = 0;

    if (!turn->message.text && !turn->parts.text && !turn->delta.text)
        return SES_OK; /* the agent goes on from what is there */
    int code = event_open(run->store, "user", ses_invocation_id(run->session), &builder, error);
    if (code == SES_OK)
        code = build_message(turn, builder, error);
    if (code == SES_OK) {
        const char *event = ses_builder_json(builder, &len);
        code = ses_append(run->session, event, len, &options, appended, error);
    }
    ses_builder_close(builder);
    return code;
}

/* Answers with what the agent did for an earlier copy of the same request. Returns 1 if that turn did
 * complete. */
static int find_answer(struct turn *turn, const struct agent_run *run, int64_t message_seq, ses_error *error)
{
    const ses_range range = {
        .size = sizeof range, .which = SES_RANGE_SEQ, .first_seq = message_seq + 1, .last_seq = INT64_MAX};
    const ses_cursor_options options = {.size = sizeof options, .range = &range, .cancel = run->cancel};
    ses_cursor *cursor = NULL;
    const ses_event *event = NULL;
    int code = ses_cursor_open(run->store, &turn->key, &options, &cursor, error);
    bool is_complete = false;

    while (code == SES_OK && !is_complete && ses_cursor_next(cursor, &event, error) == SES_ROW) {
        if (strcmp(event->invocation_id, turn->id) != 0)
            continue;
        code = turn_answer(turn, event->json, event->json_len);
        if (code == SES_OK)
            code = agent_is_answer(run->store, event, turn->id, error);
        is_complete = code == 1;
        code = is_complete ? SES_OK : code;
    }
    const int closed = ses_cursor_close(cursor, code == SES_OK ? error : NULL);
    if (code == SES_OK)
        code = closed;
    return code == SES_OK && is_complete ? 1 : code;
}

/* ----------------------------------------------------------------------------------------------- the turn */

static int answer_message(struct turn *turn, const struct agent_run *run, ses_error *error)
{
    ses_appended appended = {.seq = 0};
    int code = agent_mend(run, error);

    if (code == SES_OK)
        code = ses_invocation_begin(run->session, turn->id, error);
    if (code == SES_OK)
        code = append_message(turn, run, &appended, error);
    if (code == SES_DUPLICATE)
        code = find_answer(turn, run, appended.seq, error);
    if (code == SES_OK)
        code = give_title(turn, run->session, error);
    if (code == SES_OK)
        code = agent_answer(run, error);
    return code < 0 ? code : SES_OK;
}

/* Runs the turn with the lease held. The handle is read after taking the lease, so that it includes all
 * earlier turns. */
static int run_with_lease(struct turn *turn, int64_t lease, ses_error *error)
{
    const ses_range range = {.size = sizeof range, .which = SES_RANGE_NEWEST, .newest = 1};
    const ses_get_options options = {
        .size = sizeof options, .range = &range, .cancel = work_cancel(turn->work)};
    struct agent_run run = {.store = turn->server->store,
                            .cancel = options.cancel,
                            .lease = lease,
                            .lease_us = turn->server->arguments.lease_ms * 1000,
                            .metadata = turn->metadata,
                            .wants_pieces = turn->wants_pieces,
                            .take = turn_answer,
                            .context = turn};
    int code = ses_get(run.store, &turn->key, &options, &run.session, error);

    if (code == SES_OK)
        code = answer_message(turn, &run, error);
    ses_session_close(run.session);
    return code;
}

int turn_perform(struct turn *turn, ses_error *error)
{
    const ses_lease_options options = {.size = sizeof options,
                                       .duration_us = turn->server->arguments.lease_ms * 1000,
                                       .wait_ms = turn->server->arguments.timeout_ms,
                                       .cancel = work_cancel(turn->work)};
    ses_store *store = turn->server->store;
    char owner[40];
    ses_lease lease;
    int code = ses_store_make_id(store, owner, sizeof owner, error);

    if (code == SES_OK)
        code = ses_lease_take(store, &turn->key, owner, &options, &lease, error);
    if (code != SES_OK)
        return code;
    code = run_with_lease(turn, lease.token, error);
    /* Also after it was cancelled, so without the handle. If this fails, the lease expires. */
    (void)ses_lease_release(store, &turn->key, lease.token, NULL, NULL);
    return code;
}
