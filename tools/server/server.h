/*
 * A small chat server on seslite: sessions over HTTP, with libmicrohttpd and cJSON. Its model is a script, so
 * that it needs no network. README.md in this folder explains it.
 *
 *     GET    /apps/APP/users/USER/sessions                  lists (?label=NAME&value=VALUE&limit=N&token=TOKEN)
 *     POST   /apps/APP/users/USER/sessions                  creates one; the body is its state, a JSON object, or empty
 *     GET    /apps/APP/users/USER/sessions/SESSION          shows it
 *     DELETE /apps/APP/users/USER/sessions/SESSION          deletes it
 *     POST   /apps/APP/users/USER/sessions/SESSION/messages sends a message; answers with the agent's final event
 *     GET    /apps/APP/users/USER/sessions/SESSION/events   streams its events (?after=N, or Last-Event-ID)
 *     GET    /apps/APP/users/USER/events                    streams those of all the user's sessions
 *     PUT    /apps/APP/users/USER/sessions/SESSION/labels/NAME  sets a label; DELETE removes it
 *     GET    /apps/APP/users/USER/state                     shows the state that all the user's sessions share; also /apps/APP/state
 *     PATCH  /apps/APP/users/USER/state                     changes it; the body is a delta, a JSON object
 *     DELETE /apps/APP/users/USER                           deletes the user with all sessions
 *
 * A path part is percent-encoded. A message's header Idempotency-Key makes it safe to send again.
 */
#ifndef SERVER_H
#define SERVER_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>

#include "seslite.h"

enum {
    MAX_TEXTS = 16,
    MAX_BODY = 64 * 1024, /* bytes */
    MAX_TURNS = 64        /* running, or waiting for their session */
};

struct stream;

struct server {
    ses_store *store;
    int64_t lease_us;     /* how long a session is blocked after its worker died */
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t idle;  /* the last turn or stream has ended */
    bool stops;
    unsigned turns;
    struct stream *streams;
};

/* See turn.c. */
struct turn;

/* One request, from its headers to its end. */
struct request {
    struct server *server;
    char *texts[MAX_TEXTS]; /* decoded parts of the path, then parameters */
    size_t text_count;
    size_t part_count;
    ses_key key;       /* the names in the path */
    const char *label; /* or NULL */
    char *body;
    size_t body_len;
    bool body_too_long;
    struct turn *turn; /* the turn of this request, or NULL */
};

typedef enum MHD_Result handler(struct request *request, struct MHD_Connection *connection);

/* ---- http.c: what all handlers need */

/* Splits the path. Returns false if it has too many parts, an empty one, or one that contains a NUL. */
bool request_read_path(struct request *request, const char *url);
/* Adds to the body. Returns false if out of memory. A body that is too long is dropped. */
bool request_add_body(struct request *request, const char *data, size_t len);
/* A decoded query parameter, or NULL. */
const char *request_parameter(struct request *request, struct MHD_Connection *connection, const char *name);
/* Parses a whole number of 0 or more. Returns false for anything else. */
bool read_number(const char *text, int64_t *number);

enum MHD_Result reply_empty(struct MHD_Connection *connection, unsigned status);
/* Replies with `json` from seslite, and frees it. */
enum MHD_Result reply_json(struct MHD_Connection *connection, unsigned status, char *json, size_t len);
/* Replies with a copy of the JSON. NULL means out of memory. */
enum MHD_Result reply_copy(struct MHD_Connection *connection, unsigned status, const char *json);
/* Replies with the message as a JSON string. */
enum MHD_Result reply_message(struct request *request, struct MHD_Connection *connection, unsigned status,
                              const char *message);
/* Replies with the message of a failed call and the HTTP status for its code. */
enum MHD_Result reply_error(struct request *request, struct MHD_Connection *connection,
                            const ses_error *error);

/* ---- sessions.c, settings.c, turn.c, stream.c */

handler list_sessions, create_session, show_session, delete_session, delete_user;
handler set_label, remove_label, show_shared_state, change_shared_state;
handler post_message;
handler stream_events;

/* Frees the turn of a request that has ended. */
void turn_free(struct turn *turn);
/* Ends all streams. The caller holds the server's lock. */
void streams_end(struct server *server);

/* ---- model.c: what the agent does in a turn that has begun */

/* The lease that the turn holds and the handle that it appends through. */
struct agent_run {
    ses_store *store;
    ses_session *session;
    int64_t lease;
    int64_t lease_us;
};

/* Answers the function calls left open by a turn that did not complete. */
int agent_mend(const struct agent_run *run, ses_error *error);
/* Asks the model and runs its tool, until the final response, which is the handle's newest event. */
int agent_answer(const struct agent_run *run, ses_error *error);
/* Returns 1 if the event is the agent's final response in the invocation, 0 if not, or a negative code. */
int agent_is_answer(ses_store *store, const ses_event *event, const char *invocation, ses_error *error);

#endif
