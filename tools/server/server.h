/*
 * A chat server on seslite: sessions over HTTP, with libmicrohttpd. It speaks the REST of google-adk's
 * server, so google-adk's web page and clients work with it. Its model is a script, so that it needs no
 * network. README.md in this folder explains it.
 *
 * The routes of google-adk:
 *     GET    /list-apps, /health, /version                  what this server is; also /apps/APP/app-info
 *     GET    /apps/APP/users/USER/sessions                  lists all; with limit, token, label, value: a page (see below)
 *     POST   /apps/APP/users/USER/sessions                  creates one: {"sessionId", "state", "events"}, or nothing
 *     POST   /apps/APP/users/USER/sessions/SESSION          creates it; the body is its state
 *     GET, PATCH, DELETE  the same path                     shows it; changes its state: {"stateDelta"}; deletes it
 *     POST   /run, /run_sse                                 a turn; answers with its events, or streams them
 *     GET    .../SESSION/artifacts                          names; POST saves: {"filename", "artifact", "customMetadata"}
 *     GET    .../SESSION/artifacts/NAME                     the newest (?version=N); DELETE deletes all versions
 *     GET    .../SESSION/artifacts/NAME/versions[/N|latest][/metadata]
 *     GET    /dev-ui/...                                    the page, with --web; /dev/... is what it asks for
 *
 * Its own:
 *     GET    /apps/APP/users/USER/sessions?limit=N          a page with titles (also ?token=TOKEN, ?label=NAME&value=VALUE)
 *     POST   /apps/APP/users/USER/sessions/SESSION/messages sends a message; answers with the agent's final event
 *     GET    /apps/APP/users/USER/sessions/SESSION/events   streams its events (?after=N, or Last-Event-ID)
 *     GET    /apps/APP/users/USER/events                    streams those of all the user's sessions
 *     PUT    /apps/APP/users/USER/sessions/SESSION/labels/NAME  sets a label; DELETE removes it
 *     GET    /apps/APP/users/USER/state                     shows the state that all the user's sessions share; also /apps/APP/state
 *     PATCH  /apps/APP/users/USER/state                     changes it; the body is a delta, a JSON object
 *     DELETE /apps/APP/users/USER                           deletes the user with all sessions
 *
 * A path part is percent-encoded. A header Idempotency-Key makes a message or a run safe to send again.
 */
#ifndef SERVER_H
#define SERVER_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "seslite.h"
#include "seslite_agent.h"
#include "seslite_artifact.h"

enum {
    MAX_TEXTS = 64,
    MAX_BODY = 16 * 1024 * 1024,    /* bytes */
    MAX_BODIES = 128 * 1024 * 1024, /* bytes of all requests together */
    MAX_ORIGINS = 16,
    MAX_TURNS = 64 /* running, or waiting for their session */
};

struct stream;
struct tracer;
struct turn;
struct work;

/* The program's arguments. */
struct arguments {
    const char *file;
    const char *app;                  /* whose agent this is; other apps have sessions, but cannot be run */
    const char *web;                  /* the folder of google-adk's page, or NULL */
    const char *trace;                /* the file of traces, or NULL */
    const char *origins[MAX_ORIGINS]; /* of other sites that may ask, as google-adk's --allow_origins */
    size_t origin_count;
    int64_t port;
    int64_t lease_ms;   /* how long a session is blocked after its worker died */
    int64_t timeout_ms; /* how long a request may take */
};

struct server {
    struct arguments arguments;
    ses_store *store;
    struct tracer *tracer; /* or NULL */
    pthread_mutex_t lock;  /* guards the members below */
    pthread_cond_t idle;   /* the last turn or stream has ended */
    bool stops;
    unsigned turns;
    size_t body_bytes;
    struct stream *streams;
};

/* One request, from its headers to its end. */
struct request {
    struct server *server;
    struct MHD_Connection *connection;
    struct work *work;
    const char *method;
    const char *route;      /* the pattern of its path, or NULL */
    char *texts[MAX_TEXTS]; /* decoded parts of the path, then parameters */
    size_t text_count;
    size_t part_count;
    size_t rest; /* the first of the parts that "**" in the route stands for */
    bool ends_in_slash;
    ses_key key;       /* the names in the path */
    const char *label; /* or NULL */
    char *body;        /* ends in a NUL; or NULL */
    size_t body_len;
    size_t body_room;
    bool body_refused; /* there is no room for it */
    struct turn *turn; /* the turn of this request, or NULL */
};

typedef enum MHD_Result handler(struct request *request);

/* ---- route.c */

/* Answers a request whose body is complete. */
handler route_request;

/* ---- request.c: what a request says */

/* Splits the path. Returns false if it has too many parts, an empty one, or one that contains a NUL. */
bool request_read_path(struct request *request, const char *url);
/* Adds to the body. Returns false if it is longer than the server takes, or out of memory. If all bodies
 * together are too long, this one is dropped. */
bool request_add_body(struct request *request, const char *data, size_t len);
/* Frees the body, or gives it to the caller. */
void request_free_body(struct request *request);
char *request_take_body(struct request *request);
/* A body that was taken has been freed. */
void request_body_freed(struct server *server, size_t room);
/* A header, or NULL. */
const char *request_header(const struct request *request, const char *name);
/* A decoded query parameter, or NULL. */
const char *request_parameter(struct request *request, const char *name);
/* Parses a whole number of 0 or more. Returns false for anything else. */
bool read_number(const char *text, int64_t *number);

/* ---- reply.c */

/* Queues the response, with that type (or NULL), and gives it up. A response of NULL closes the
 * connection. */
enum MHD_Result reply_with(struct request *request, unsigned status, struct MHD_Response *response,
                           const char *type);
enum MHD_Result reply_empty(struct request *request, unsigned status);
/* Replies with `null`, as google-adk does where there is nothing to say. */
handler reply_null;
/* Replies with `json` from seslite, and frees it. */
enum MHD_Result reply_json(struct request *request, unsigned status, char *json, size_t len);
/* Replies with a text from malloc, and frees it. NULL means out of memory. */
enum MHD_Result reply_text(struct request *request, unsigned status, char *text, size_t len,
                           const char *type);
/* Replies with a text that lives as long as the program. */
enum MHD_Result reply_static(struct request *request, unsigned status, const char *text, const char *type);
/* Replies {"detail": message}, as google-adk does. */
enum MHD_Result reply_detail(struct request *request, unsigned status, const char *message);
/* Replies with the message of a failed call and the HTTP status for its code. */
enum MHD_Result reply_error(struct request *request, const ses_error *error);
enum MHD_Result reply_redirect(struct request *request, const char *place);

/* ---- json.c: JSON that is read in place, so that all of its bytes can be stored */

/* Returns SES_OK if the whole text is JSON. */
int json_check(ses_store *store, const char *text, size_t len, ses_error *error);

/* A walk over the members of an object or the elements of an array. */
struct json_walk {
    const char *at;
    const char *end;
    bool is_object;
};

/* The value must be JSON. One that is neither an object nor an array has no members. */
void json_walk_begin(struct json_walk *walk, ses_text value);
/* `key` is the text between the quotes, or empty in an array. Returns false at the end. */
bool json_walk_next(struct json_walk *walk, ses_text *key, ses_text *value);
bool json_key_is(ses_text key, const char *name);
/* The member of that name, the last if there are several. Its text is NULL if there is none. */
ses_text json_member(ses_text object, const char *name);
bool json_is_null(ses_text value); /* also if there is none */
/* The text of a string; free it. NULL: the value is not a string, or its text contains a NUL or half of a
 * surrogate pair, or memory ran out. */
char *json_string(ses_text value);
/* Writes a text as a JSON string. */
void json_put(struct server *server, FILE *out, const char *text, size_t len);

/* ---- body.c: the members of a JSON body */

enum field_kind { FIELD_STRING, FIELD_DICT, FIELD_MODEL, FIELD_LIST, FIELD_FLAG };

struct field {
    const char *name;  /* in camelCase */
    const char *snake; /* its other spelling, or NULL */
    enum field_kind kind;
    bool is_required;
    ses_text value; /* output; a text of NULL: it is absent or null */
};

/* Reads the body. Returns false, after a reply like that of google-adk's FastAPI, if it is not JSON or a
 * field is wrong. An empty body is only allowed if `may_be_empty`, and then has no fields. */
bool body_read(struct request *request, struct field *fields, size_t count, bool may_be_empty,
               enum MHD_Result *result);
/* The same for a body that is itself one dictionary. */
bool body_read_dict(struct request *request, ses_text *dict, enum MHD_Result *result);
/* Replies that the part of the request that `place` names (JSON: "body","events",3) is wrong in that way. */
enum MHD_Result reply_invalid(struct request *request, const char *type, const char *place,
                              const char *message, ses_text input);
/* Whether a flag was given that is true. */
bool body_flag(const struct field *field);

/* ---- origin.c: which sites may ask (CORS) */

/* Returns true if it can be given to --allow-origins. */
bool origin_is_valid(const char *origin);
/* Why the request must not be answered, or NULL: a page of a site that may not ask has sent it. */
const char *origin_refuse(const struct request *request);
bool origin_is_allowed(const struct arguments *arguments, const char *origin);
/* Adds what a browser looks for. */
bool origin_allow(const struct request *request, struct MHD_Response *response);

/* ---- preflight.c */

/* Returns false if the request is not such a question, and otherwise replies. */
bool preflight(struct request *request, enum MHD_Result *result);

/* ---- work.c: time limits, and clients that go away */

/* Starts, and ends, the thread that looks after all work. */
bool work_watch_start(void);
void work_watch_stop(void);
/* The work of a request begins. It is given up when its time is over or the client has gone. NULL: out of
 * memory. */
struct work *work_begin(struct server *server, struct MHD_Connection *connection, const char *method,
                        const char *url);
/* Called every 15 seconds, and once the client has left. It must not wait. */
typedef void work_pulse(void *context, bool has_left);
/* The work has no end of its own: a stream, which goes on as long as the client reads. */
void work_watch_stream(struct work *work, work_pulse *pulse, void *context);
/* Nothing ends the work from now on. After the call there is no pulse. */
void work_unwatch(struct work *work);
/* Whether its time is over. */
bool work_is_late(const struct work *work);
/* One more thread works. */
void work_share(struct work *work);
/* The client got its reply, or is gone, which gives up what still goes on. */
void work_client_left(struct work *work);
/* One thread less. The last ends the work. */
void work_end(struct work *work);
/* For the options of all calls that are made for the request. */
ses_cancel *work_cancel(struct work *work);
/* This thread works for it from now on; NULL: for none. Its calls appear in the trace of the work. */
void work_enter(struct work *work);
void work_set_reply(struct work *work, const char *route, unsigned status);

/* ---- trace.c: OpenTelemetry */

struct span;

/* Opens the file. NULL: it cannot be opened. */
struct tracer *tracer_open(const char *path);
void tracer_close(struct tracer *tracer);
/* The span of a request; `parent` is its header traceparent, or NULL. Returns NULL if out of memory, or if
 * the caller wants no trace. */
struct span *span_begin(struct tracer *tracer, const char *method, const char *url, const char *parent);
/* The calls of this thread are the span's children from now on; NULL: of none. */
void span_enter(struct span *span);
/* Writes the span. The status is 0 if there was no reply. */
void span_end(struct span *span, const char *route, unsigned status);
/* For ses_open_options.trace. */
void trace_call(void *tracer, const ses_trace *trace);

/* ---- about.c, web.c, sessions.c, page.c, restore.c, internal.c, artifacts.c, part.c, settings.c, run.c,
 * stream.c */

handler show_health, show_version, list_apps, show_app;
handler show_telemetry, show_graph, show_graph_image, show_builder, show_nothing, no_trace;
handler show_page_config, show_page, show_root;
handler list_sessions, create_session, create_named_session, show_session, change_session, delete_session;
handler list_page, delete_user;
handler remember_session;
handler list_artifacts, save_artifact, show_artifact, delete_artifact;
handler set_label, remove_label, show_shared_state, change_shared_state;
handler post_message, run_turn, run_turn_streamed;
handler stream_events;

/* Replies with a session, and closes it. */
enum MHD_Result reply_session(struct request *request, unsigned status, ses_session *session);
/* Replies with the JSON of a session without what google-adk keeps to itself, and frees it. */
enum MHD_Result reply_public_session(struct request *request, unsigned status, char *json, size_t len);
/* Writes the metadata of an event without what only google-adk may write. Returns false if nothing is
 * left. */
bool write_public_metadata(FILE *out, ses_text metadata);
/* The events that a new session begins with. NULL, after a reply, if there is one that may not be there. */
struct restored *restored_read(struct request *request, ses_text events, enum MHD_Result *result);
int restored_append(const struct restored *restored, struct request *request, ses_session *session,
                    ses_error *error);
void restored_free(struct restored *restored);
/* An artifact that a body holds. */
struct part {
    ses_artifact_save_options options;
    char *bytes;
    size_t len; /* SIZE_MAX: its bytes cannot be read */
    char *mime_type;
    char *display_name;
};

/* Returns false if the value is not an artifact. Otherwise free it with part_free. */
bool part_read(struct part *part, ses_text value);
void part_free(struct part *part);
/* Writes the artifact, and what is known of a version. */
void part_write(struct server *server, FILE *out, const ses_artifact_info *info, const char *bytes,
                size_t len);
void part_write_version(struct server *server, FILE *out, const ses_artifact_info *info);

/* The request has ended: the turn goes on without a client, or ends. */
void turn_leave(struct turn *turn);
/* Ends all streams. The caller holds the server's lock. */
void streams_end(struct server *server);

/* ---- model.c: what the agent does in a turn that has begun */

/* The lease that the turn holds and the handle that it appends through. */
struct agent_run {
    ses_store *store;
    ses_session *session;
    ses_cancel *cancel;
    int64_t lease;
    int64_t lease_us;
    const char *metadata; /* of each event, a JSON object; or NULL */
    bool wants_pieces;    /* the answer comes in pieces first */
    /* Takes each event of the agent, and each piece. */
    int (*take)(void *context, const char *event, size_t len);
    void *context;
};

extern const char agent_name[];
/* Descriptions of the agent as google-adk gives them: members of JSON, and whole values. */
extern const char agent_info[], agent_description[], agent_graph[], agent_graph_image[];
/* Answers the function calls left open by a turn that did not complete. */
int agent_mend(const struct agent_run *run, ses_error *error);
/* Asks the model and runs its tool, until the final response. */
int agent_answer(const struct agent_run *run, ses_error *error);
/* Returns 1 if the event is the agent's final response in the invocation, 0 if not, or a negative code. */
int agent_is_answer(ses_store *store, const ses_event *event, const char *invocation, ses_error *error);
/* Opens a builder of an event with the members that google-adk's have. */
int event_open(ses_store *store, const char *author, const char *invocation, ses_builder **builder,
               ses_error *error);

#endif
