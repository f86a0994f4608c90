/*
 * A small chat server on seslite: sessions over HTTP, with libmicrohttpd and cJSON. Its model is a script, so that it
 * needs no network. README.md, "A server", explains what it shows.
 *
 *     GET    /apps/APP/users/USER/sessions                  lists (?label=NAME&value=VALUE&limit=N&token=TOKEN)
 *     POST   /apps/APP/users/USER/sessions                  creates one; the body is its state, a JSON object, or empty
 *     GET    /apps/APP/users/USER/sessions/SESSION          shows it
 *     DELETE /apps/APP/users/USER/sessions/SESSION          deletes it
 *     POST   /apps/APP/users/USER/sessions/SESSION/messages says something; answers with the agent's final event
 *     GET    /apps/APP/users/USER/sessions/SESSION/events   streams its events (?after=N, or Last-Event-ID)
 *     GET    /apps/APP/users/USER/events                    streams those of all the user's sessions
 *     PUT    /apps/APP/users/USER/sessions/SESSION/labels/NAME  sets a label; DELETE removes it
 *     GET    /apps/APP/users/USER/state                     shows what all the user's sessions share; and /apps/APP/state
 *     PATCH  /apps/APP/users/USER/state                     changes it; the body is a delta, a JSON object
 *     DELETE /apps/APP/users/USER                           deletes all of the user
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
    MOST_TEXTS = 16,
    MOST_BODY = 64 * 1024, /* bytes */
    MOST_TURNS = 64        /* under way, or waiting for their session */
};

struct stream;

struct server {
    ses_store *store;
    int64_t lease_us;     /* how long a session waits for a worker that has died */
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t idle;  /* the last turn or stream has ended */
    bool stops;
    unsigned turns;
    struct stream *streams;
};

/* What a turn ends with; see turn.c. */
struct turn;

/* One request, from its headers to its end. */
struct request {
    struct server *server;
    char *texts[MOST_TEXTS]; /* the parts of the path, then parameters; decoded */
    size_t text_count;
    size_t part_count;
    ses_key key;       /* as far as the path names one */
    const char *label; /* or NULL */
    char *body;
    size_t body_len;
    bool body_too_long;
    struct turn *turn; /* begun for it; NULL: none */
};

typedef enum MHD_Result handler(struct request *request, struct MHD_Connection *connection);

/* ---- http.c: what all handlers need */

/* Takes the path apart. False: it has too many parts, an empty one, or one with a NUL in it. */
bool request_read_path(struct request *request, const char *url);
/* False: out of memory. A body that is too long is dropped. */
bool request_add_body(struct request *request, const char *data, size_t len);
/* A parameter of the query, decoded; NULL if there is none. */
const char *request_parameter(struct request *request, struct MHD_Connection *connection, const char *name);
/* A whole number of 0 or more. False: it is none. */
bool read_number(const char *text, int64_t *number);

enum MHD_Result reply_empty(struct MHD_Connection *connection, unsigned status);
/* `json` came from seslite, and is freed. */
enum MHD_Result reply_json(struct MHD_Connection *connection, unsigned status, char *json, size_t len);
/* JSON that is copied. NULL: out of memory. */
enum MHD_Result reply_copy(struct MHD_Connection *connection, unsigned status, const char *json);
/* The message as a JSON string. */
enum MHD_Result reply_message(struct request *request, struct MHD_Connection *connection, unsigned status,
                              const char *message);
/* The message of a call that failed, with the status that its code means. */
enum MHD_Result reply_error(struct request *request, struct MHD_Connection *connection,
                            const ses_error *error);

/* ---- sessions.c, settings.c, turn.c, stream.c */

handler list_sessions, create_session, show_session, delete_session, delete_user;
handler set_label, remove_label, show_shared_state, change_shared_state;
handler post_message;
handler stream_events;

/* Frees the turn of a request that has ended. */
void turn_free(struct turn *turn);
/* Ends all streams. With the server's lock held. */
void streams_end(struct server *server);

/* ---- model.c: what the agent does in a turn that has begun */

/* The lease that the turn holds, and the handle that it appends through. */
struct agent_run {
    ses_store *store;
    ses_session *session;
    int64_t lease;
    int64_t lease_us;
};

/* Answers the function calls that a turn has left behind which did not come to its end. */
int agent_mend(const struct agent_run *run, ses_error *error);
/* Asks the model and runs its tool, until the final response, which is the handle's newest event. */
int agent_answer(const struct agent_run *run, ses_error *error);
/* Is the event the agent's final response in the invocation? Or a negative code. */
int agent_is_answer(ses_store *store, const ses_event *event, const char *invocation, ses_error *error);

#endif
