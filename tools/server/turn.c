/*
 * A turn: a user's message and the agent's work on it. It runs in a thread of its own, since a model takes
 * long, while the connection is suspended. The turns of a session run one at a time, in the order of their
 * requests, even across worker processes: each holds the session's lease.
 */
#include "server.h"

#include <stdlib.h>
#include <string.h>

#include "seslite_agent.h"

struct turn {
    struct request *request;
    struct MHD_Connection *connection;
    char id[SES_ID_MAX + 1]; /* of the request, and also of the message's event and the invocation */
    char *answer;            /* the final event, or NULL */
    int code;                /* negative after a failure, which `error` describes */
    ses_error error;
};

/* ---------------------------------------------------------------------------------------------- its steps */

/* The beginning of the first message becomes the title. */
static int give_title(ses_session *session, const char *message, size_t len, ses_error *error)
{
    char title[64] = "";
    const size_t kept = ses_text_cut(message, len, sizeof title - 1, NULL);

    if (ses_session_title(session) || kept == 0)
        return SES_OK;
    memcpy(title, message, kept);
    return ses_title_set(session, title, NULL, error);
}

/* Returns SES_DUPLICATE if the same request came before. */
static int append_message(const struct turn *turn, const struct agent_run *run, ses_appended *appended,
                          ses_error *error)
{
    const ses_append_options options = {.size = sizeof options, .lease = run->lease};
    const struct request *request = turn->request;
    ses_builder *builder = NULL;
    size_t len = 0;
    int code = ses_builder_open(run->store, "user", ses_invocation_id(run->session), &builder, error);

    if (code == SES_OK)
        code = ses_builder_field_string(builder, "id", turn->id, SES_NUL, error);
    if (code == SES_OK)
        code = ses_builder_text(builder, request->body ? request->body : "", request->body_len, error);
    if (code == SES_OK) {
        const char *event = ses_builder_json(builder, &len);
        code = ses_append(run->session, event, len, &options, appended, error);
    }
    ses_builder_close(builder);
    return code;
}

static int keep_answer(struct turn *turn, const ses_event *event)
{
    turn->answer = strndup(event->json, event->json_len);
    return turn->answer ? SES_OK : SES_NOMEM;
}

/* The agent's answer to an earlier copy of the same request; none if that turn did not complete. */
static int find_answer(struct turn *turn, const struct agent_run *run, int64_t message_seq, ses_error *error)
{
    const ses_range range = {
        .size = sizeof range, .which = SES_RANGE_SEQ, .first_seq = message_seq, .last_seq = INT64_MAX};
    const ses_cursor_options options = {.size = sizeof options, .range = &range};
    ses_cursor *cursor = NULL;
    const ses_event *event = NULL;
    int code = ses_cursor_open(run->store, &turn->request->key, &options, &cursor, error);

    while (code == SES_OK && !turn->answer && ses_cursor_next(cursor, &event, error) == SES_ROW) {
        code = agent_is_answer(run->store, event, turn->id, error);
        if (code == 1)
            code = keep_answer(turn, event);
    }
    if (code == SES_OK)
        return ses_cursor_close(cursor, error);
    (void)ses_cursor_close(cursor, NULL);
    return code;
}

/* ----------------------------------------------------------------------------------------------- the turn */

static int answer_message(struct turn *turn, const struct agent_run *run, ses_error *error)
{
    const struct request *request = turn->request;
    ses_appended appended = {.seq = 0};
    int code = agent_mend(run, error);

    if (code == SES_OK)
        code = ses_invocation_begin(run->session, turn->id, error);
    if (code == SES_OK)
        code = append_message(turn, run, &appended, error);
    if (code == SES_DUPLICATE)
        code = find_answer(turn, run, appended.seq, error);
    if (code == SES_OK && !turn->answer)
        code = give_title(run->session, request->body ? request->body : "", request->body_len, error);
    if (code == SES_OK && !turn->answer) {
        code = agent_answer(run, error);
        if (code == SES_OK)
            code =
                keep_answer(turn, ses_session_event(run->session, ses_session_event_count(run->session) - 1));
    }
    return code;
}

/* Runs the turn with the lease held. The handle is read after taking the lease, so that it includes all
 * earlier turns. */
static int run_with_lease(struct turn *turn, int64_t lease, ses_error *error)
{
    const ses_range range = {.size = sizeof range, .which = SES_RANGE_NEWEST, .newest = 1};
    const ses_get_options options = {.size = sizeof options, .range = &range};
    const struct server *server = turn->request->server;
    struct agent_run run = {.store = server->store, .lease = lease, .lease_us = server->lease_us};
    int code = ses_get(run.store, &turn->request->key, &options, &run.session, error);

    if (code == SES_OK)
        code = answer_message(turn, &run, error);
    ses_session_close(run.session);
    return code;
}

static int run_turn(struct turn *turn, ses_error *error)
{
    const struct server *server = turn->request->server;
    const ses_lease_options options = {
        .size = sizeof options, .duration_us = server->lease_us, .wait_ms = 60000};
    ses_store *store = server->store;
    const ses_key *key = &turn->request->key;
    char owner[40];
    ses_lease lease;
    int code = ses_store_make_id(store, owner, sizeof owner, error);

    if (code == SES_OK)
        code = ses_lease_take(store, key, owner, &options, &lease, error);
    if (code != SES_OK)
        return code;
    code = run_with_lease(turn, lease.token, error);
    (void)ses_lease_release(store, key, lease.token, NULL, NULL); /* if this fails, it expires */
    return code;
}

static void end_turn(struct server *server)
{
    (void)pthread_mutex_lock(&server->lock);
    server->turns--;
    (void)pthread_cond_signal(&server->idle);
    (void)pthread_mutex_unlock(&server->lock);
}

static void *turn_main(void *argument)
{
    struct turn *turn = argument;
    struct server *server = turn->request->server;

    turn->code = run_turn(turn, &turn->error);
    MHD_resume_connection(turn->connection); /* the turn may be gone after this */
    end_turn(server);
    return NULL;
}

/* ----------------------------------------------------------------------------------------- the connection */

static bool start_thread(struct turn *turn)
{
    pthread_attr_t attributes;
    pthread_t thread;

    if (pthread_attr_init(&attributes) != 0)
        return false;
    bool ok = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
              pthread_create(&thread, &attributes, turn_main, turn) == 0;
    (void)pthread_attr_destroy(&attributes);
    return ok;
}

/* Returns false if there are too many turns. */
static bool count_turn(struct server *server)
{
    (void)pthread_mutex_lock(&server->lock);
    bool ok = !server->stops && server->turns < MAX_TURNS;
    server->turns += ok;
    (void)pthread_mutex_unlock(&server->lock);
    return ok;
}

/* The id of the request: the client's, so that it can be sent again, or a new one. */
static int name_request(struct turn *turn, struct MHD_Connection *connection, ses_error *error)
{
    const char *given = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Idempotency-Key");

    if (!given)
        return ses_store_make_id(turn->request->server->store, turn->id, sizeof turn->id, error);
    size_t len = strnlen(given, sizeof turn->id);
    if (len == sizeof turn->id) /* the library rejects ids that are empty or not UTF-8 */
        len--;
    memcpy(turn->id, given, len);
    return SES_OK;
}

static enum MHD_Result begin_turn(struct request *request, struct MHD_Connection *connection)
{
    struct server *server = request->server;
    struct turn *turn = calloc(1, sizeof *turn);
    ses_error error;

    if (!turn)
        return MHD_NO;
    turn->request = request;
    turn->connection = connection;
    request->turn = turn;
    if (name_request(turn, connection, &error) < 0)
        return reply_error(request, connection, &error);
    if (!count_turn(server))
        return reply_message(request, connection, MHD_HTTP_SERVICE_UNAVAILABLE, "too many turns in progress");
    MHD_suspend_connection(connection); /* before the thread can resume it */
    if (!start_thread(turn)) {
        turn->code = SES_NOMEM;
        MHD_resume_connection(connection);
        end_turn(server);
    }
    return MHD_YES;
}

static enum MHD_Result end_reply(struct request *request, struct MHD_Connection *connection)
{
    const struct turn *turn = request->turn;

    if (turn->code < 0)
        return reply_error(request, connection, &turn->error);
    return reply_copy(connection, MHD_HTTP_OK, turn->answer);
}

/* Called a second time when the turn is over. */
enum MHD_Result post_message(struct request *request, struct MHD_Connection *connection)
{
    return request->turn ? end_reply(request, connection) : begin_turn(request, connection);
}

void turn_free(struct turn *turn)
{
    if (turn) {
        free(turn->answer);
        free(turn);
    }
}
