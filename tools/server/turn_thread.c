/*
 * The life of a turn. It runs in a thread of its own, since a model takes long, while its connection is
 * suspended, or sends what there is of the answer. A client can go away before the turn has ended.
 */
#include "turn.h"

#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------- its life */

static void turn_free(struct turn *turn)
{
    for (size_t i = 0; i < 3; i++)
        free(turn->names[i]);
    request_body_freed(turn->server, turn->body_room);
    (void)pthread_mutex_destroy(&turn->lock);
    free(turn->metadata);
    free(turn->body);
    free(turn->answer);
    free(turn);
}

/* Unlocks the turn. The last owner frees it. */
static void give_up(struct turn *turn)
{
    const bool is_last = --turn->owners == 0;

    (void)pthread_mutex_unlock(&turn->lock);
    if (is_last)
        turn_free(turn);
}

void turn_leave(struct turn *turn)
{
    if (turn) {
        (void)pthread_mutex_lock(&turn->lock);
        turn->connection = NULL;
        give_up(turn);
    }
}

/* The id of the request: the client's, so that it can be sent again, or a new one. */
static int name_request(struct turn *turn, const struct request *request, ses_error *error)
{
    const char *given = request_header(request, "Idempotency-Key");

    if (!given) {
        memcpy(turn->id, "e-", 2); /* as google-adk begins an invocation's */
        return ses_store_make_id(turn->server->store, turn->id + 2, sizeof turn->id - 2, error);
    }
    size_t len = strnlen(given, sizeof turn->id);
    if (len == sizeof turn->id) /* the library rejects ids that are empty or not UTF-8 */
        len--;
    memcpy(turn->id, given, len);
    return SES_OK;
}

static bool copy_key(struct turn *turn, const ses_key *key)
{
    const char *const given[] = {key->app, key->user, key->session};
    bool ok = true;

    for (size_t i = 0; i < 3; i++) {
        turn->names[i] = strdup(given[i]);
        ok = ok && turn->names[i];
    }
    turn->key = (ses_key){turn->names[0], turn->names[1], turn->names[2]};
    return ok;
}

struct turn *turn_new(struct request *request, const ses_key *key, enum answer_form form,
                      enum MHD_Result *result)
{
    struct turn *turn = calloc(1, sizeof *turn);
    ses_error error;

    *result = MHD_NO;
    if (!turn || pthread_mutex_init(&turn->lock, NULL) != 0) {
        free(turn);
        return NULL;
    }
    turn->server = request->server;
    turn->work = request->work;
    turn->connection = request->connection;
    turn->form = form;
    turn->owners = 1;
    request->turn = turn; /* it ends with the request if it is not started */
    if (!copy_key(turn, key))
        return NULL;
    if (name_request(turn, request, &error) < 0) {
        *result = reply_error(request, &error);
        return NULL;
    }
    turn->body_room = request->body_room;
    turn->body = request_take_body(request);
    return turn;
}

/* ------------------------------------------------------------------------------------------------- thread */

/* After the headers were sent, an error is a message. */
static void add_error(struct turn *turn)
{
    const char *name = ses_code_name(turn->code);
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    if (!out)
        return;
    fputs("{\"error\":", out);
    json_put(turn->server, out, turn->error.message, SES_NUL);
    fprintf(out, ",\"error_details\":{\"error_type\":\"%s\",\"error_message\":", name);
    json_put(turn->server, out, turn->error.message, SES_NUL);
    fputs("}}", out);
    if (fclose(out) == 0)
        (void)turn_answer(turn, text, len);
    free(text);
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

static void uncount_turn(struct server *server)
{
    (void)pthread_mutex_lock(&server->lock);
    server->turns--;
    (void)pthread_cond_signal(&server->idle);
    (void)pthread_mutex_unlock(&server->lock);
}

/* The turn has ended, and its connection goes on. */
static void end_turn(struct turn *turn)
{
    struct server *server = turn->server;
    struct work *work = turn->work;

    if (turn->form == ANSWER_STREAM && turn->code < 0)
        add_error(turn);
    (void)pthread_mutex_lock(&turn->lock);
    turn->has_ended = true;
    turn_wake(turn);
    give_up(turn);
    work_end(work);
    uncount_turn(server); /* last: then the server may stop */
}

static void set_error(struct turn *turn, int code, const char *message)
{
    turn->code = code;
    turn->error.code = code;
    (void)snprintf(turn->error.message, sizeof turn->error.message, "%s", message);
}

static void *turn_main(void *argument)
{
    struct turn *turn = argument;

    work_enter(turn->work);
    turn->code = turn_perform(turn, &turn->error);
    work_enter(NULL);
    if (turn->code < 0 && turn->error.code != turn->code)
        set_error(turn, turn->code, "out of memory"); /* what is no call of the library only fails so */
    end_turn(turn);
    return NULL;
}

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

bool turn_start(struct turn *turn, struct request *request, enum MHD_Result *result)
{
    if (!count_turn(turn->server)) {
        *result = reply_detail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "too many turns in progress");
        return false;
    }
    turn->owners++;
    work_share(turn->work);
    if (turn->form != ANSWER_STREAM) {
        turn->is_asleep = true;
        MHD_suspend_connection(turn->connection); /* before the thread can resume it */
    }
    if (!start_thread(turn)) {
        set_error(turn, SES_NOMEM, "cannot start a thread");
        end_turn(turn);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------- stream */

static ssize_t send_some(void *context, uint64_t position, char *buffer, size_t room)
{
    struct turn *turn = context;
    ssize_t sent = 0;

    (void)position;
    (void)pthread_mutex_lock(&turn->lock);
    size_t len = turn->answer_len - turn->sent;
    if (len > room)
        len = room;
    if (len > 0) {
        memcpy(buffer, turn->answer + turn->sent, len);
        turn->sent += len;
        sent = (ssize_t)len;
    } else if (turn->has_ended) {
        sent = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        turn->is_asleep = true;
        MHD_suspend_connection(turn->connection);
    }
    (void)pthread_mutex_unlock(&turn->lock);
    return sent;
}

/* The turn's request lives as long as the response. */
enum MHD_Result turn_reply_stream(struct turn *turn, struct request *request)
{
    return reply_with(
        request, MHD_HTTP_OK,
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, (size_t)16 * 1024, send_some, turn, NULL),
        "text/event-stream; charset=utf-8");
}
