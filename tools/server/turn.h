/* A turn: a user's message and the agent's work on it, in a thread of its own. */
#ifndef TURN_H
#define TURN_H

#include "server.h"

/* How a turn is answered. */
enum answer_form {
    ANSWER_FINAL, /* with the agent's final event */
    ANSWER_LIST,  /* with all of its events, an array */
    ANSWER_STREAM /* with each event when it is stored, as server-sent events */
};

/* Two own it: its thread, and its request, which can end before it. */
struct turn {
    struct server *server;
    struct work *work;
    ses_key key; /* its names are the turn's */
    char *names[3];
    char id[SES_ID_MAX + 1]; /* of the request, and also of the message's event and the invocation */
    char *body;              /* what the members below point into */
    size_t body_room;
    ses_text message;  /* a text; NULL: `parts` */
    ses_text parts;    /* of the message, a JSON array; NULL: there is no message */
    ses_text delta;    /* that the message brings with it, a JSON object; or NULL */
    char *metadata;    /* of the events, a JSON object; or NULL */
    bool wants_pieces; /* of the answer, while the model thinks */
    enum answer_form form;
    int code; /* negative after a failure, which `error` describes */
    ses_error error;
    pthread_mutex_t lock; /* guards the members below */
    unsigned owners;
    struct MHD_Connection *connection; /* NULL: its client has gone */
    bool is_asleep;                    /* the connection waits for more of the answer */
    bool has_ended;
    char *answer;
    size_t answer_len;
    size_t answer_room;
    size_t sent;
};

/* ---- turn_answer.c */

/* Adds an event to the answer. */
int turn_answer(void *turn, const char *event, size_t len);
/* There is more of the answer, or it is complete. The caller holds the lock. */
void turn_wake(struct turn *turn);

/* ---- turn.c */

/* Does the work. */
int turn_perform(struct turn *turn, ses_error *error);

/* ---- turn_thread.c */

/* Makes a turn of the session. Its id is that of the request. NULL, after a reply: it cannot be made. */
struct turn *turn_new(struct request *request, const ses_key *key, enum answer_form form,
                      enum MHD_Result *result);
/* Starts it in a thread. Returns false, after a reply, if there are too many turns. The turn of a request
 * whose answer is not streamed suspends its connection until it has ended. */
bool turn_start(struct turn *turn, struct request *request, enum MHD_Result *result);
/* Replies with the answer as it comes. */
enum MHD_Result turn_reply_stream(struct turn *turn, struct request *request);

#endif
