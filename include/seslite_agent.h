/*
 * seslite's agent layer: calls for agent frameworks. It builds and reads events, shows the state as callbacks
 * and tools see it, renders instruction templates, and saves an agent's output.
 *
 * It is built on the calls of seslite.h, whose rules hold here too. A program that uses none of it links none
 * of it.
 */
#ifndef SESLITE_AGENT_H
#define SESLITE_AGENT_H

#include "seslite.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------- building events */

/*
 * A builder makes the JSON of one event as the ADK writes it: camelCase, in the ADK's order, with no spaces
 * except those in the JSON that it is given. It uses the store only for its allocator, and may outlive it. A
 * failed call leaves the builder as it was.
 */
typedef struct ses_builder ses_builder;

/*
 * Opens a builder for an event by `author` ("user", or the agent's name) in the invocation `invocation_id`
 * (see ses_invocation_id; NULL: none). The role of the content is "user" if the author is "user" or all parts
 * are function responses, and "model" otherwise. An event without parts has no content: it only changes
 * state.
 *
 * The event has no id. ses_builder_append gives it one; set the field "id" (see ses_store_make_id) if you
 * append it in another way, and may have to retry that after UNKNOWN. INVALID: `author` or `invocation_id`
 * breaks the rules of ids.
 *
 * Codes: MISUSE, INVALID, NOMEM.
 */
SES_API int ses_builder_open(ses_store *store, const char *author, const char *invocation_id,
                             ses_builder **builder, ses_error *error);
/* Frees the builder. NULL is allowed. */
SES_API void ses_builder_close(ses_builder *builder);

/* A function call or function response. A member that is absent or null in the event has a NULL text. This
 * struct will not change. */
typedef struct ses_function {
    ses_text id;   /* pairs a call with its response */
    ses_text name; /* of the function */
    ses_text json; /* the arguments of a call, or the response: a JSON object */
} ses_function;

/*
 * Each of these calls adds a part to the content, in order. Texts, names and ids are any UTF-8 and are
 * escaped as JSON requires. `args` and `response` are JSON objects; NULL means an empty object. If a tool
 * returns something else, the ADK wraps it as {"result":...}. `id` may be NULL. INVALID: a text is not UTF-8,
 * or the JSON is not an object. LIMIT: the JSON is nested too deep for an event of 1000 levels. MISUSE also
 * if the builder has a whole content.
 *
 * Codes: MISUSE, INVALID, NOMEM; calls and responses also JSON, LIMIT.
 */
SES_API int ses_builder_text(ses_builder *builder, const char *text, size_t len, ses_error *error);
SES_API int ses_builder_thought(ses_builder *builder, const char *text, size_t len, ses_error *error);
SES_API int ses_builder_call(ses_builder *builder, const char *id, const char *name, const char *args,
                             size_t args_len, ses_error *error);
SES_API int ses_builder_response(ses_builder *builder, const char *id, const char *name, const char *response,
                                 size_t response_len, ses_error *error);
/* Adds the response to a function call that was read, with the id and the name of the call. Codes: MISUSE,
 * INVALID, JSON, LIMIT, NOMEM. */
SES_API int ses_builder_response_to(ses_builder *builder, const ses_function *call, const char *response,
                                    size_t response_len, ses_error *error);
/* Adds any other part, a JSON object. Codes: MISUSE, INVALID, JSON, LIMIT, NOMEM. */
SES_API int ses_builder_part(ses_builder *builder, const char *json, size_t len, ses_error *error);

/*
 * Sets the whole content, a JSON object. It replaces the parts that were added; adding more is MISUSE.
 *
 * Codes: MISUSE, INVALID, JSON, LIMIT, NOMEM.
 */
SES_API int ses_builder_content(ses_builder *builder, const char *json, size_t len, ses_error *error);
/* Sets `actions.stateDelta`, a JSON object. The last call counts. Codes: MISUSE, INVALID, JSON, LIMIT,
 * NOMEM. */
SES_API int ses_builder_delta(ses_builder *builder, const char *json, size_t len, ses_error *error);
/*
 * These calls set any other field of the event ("customMetadata", "partial", "longRunningToolIds",
 * "timestamp" ...) or of its actions ("skipSummarization", "artifactDelta" ...) as JSON, or as a text
 * ("branch", "id", "errorMessage", "transferToAgent" ...). The last call for a field counts. INVALID: the
 * field has a call of its own, its name is empty, or a text is not UTF-8.
 *
 * Codes: MISUSE, INVALID, NOMEM; the calls that take JSON also JSON, LIMIT.
 */
SES_API int ses_builder_field(ses_builder *builder, const char *field, const char *json, size_t len,
                              ses_error *error);
SES_API int ses_builder_field_string(ses_builder *builder, const char *field, const char *text, size_t len,
                                     ses_error *error);
SES_API int ses_builder_action(ses_builder *builder, const char *field, const char *json, size_t len,
                               ses_error *error);
SES_API int ses_builder_action_string(ses_builder *builder, const char *field, const char *text, size_t len,
                                      ses_error *error);

/* Returns the event, borrowed until the next call on the builder, or NULL if out of memory. `len` may be
 * NULL. */
SES_API const char *ses_builder_json(ses_builder *builder, size_t *len);

/*
 * These calls append the event, through a handle or by key. If it has no id, the builder is given one first,
 * which `appended->made_id` shows, also when the call is repeated. So it can be repeated after any failure,
 * UNKNOWN included: the event is stored once. Build the next event with another builder. `appended` may be
 * NULL. The rules are those of ses_append.
 *
 * Codes: those of ses_append.
 */
SES_API int ses_builder_append(ses_builder *builder, ses_session *session, const ses_append_options *options,
                               ses_appended *appended, ses_error *error);
SES_API int ses_builder_append_by_key(ses_builder *builder, ses_store *store, const ses_key *key,
                                      const ses_append_options *options, ses_appended *appended,
                                      ses_error *error);

/* ----------------------------------------------------------------------------------------- reading events */

/*
 * A content is what an event says, found in one pass over its JSON. Fields may have either of the ADKs'
 * spellings. A content borrows the event's text, which must live as long. It uses the store only for its
 * allocator, and may outlive it.
 */
typedef struct ses_content ses_content;

/*
 * Reads `event`, the JSON of an event, as in ses_event.json. INVALID: a field has the wrong type; the message
 * names it. LIMIT: the JSON is nested more than 1000 levels deep. A lone surrogate escape, such as half an
 * emoji, which UTF-8 cannot express, becomes U+FFFD in the texts of the content.
 *
 * Codes: MISUSE, JSON, INVALID, LIMIT, NOMEM.
 */
SES_API int ses_content_open(ses_store *store, const char *event, size_t event_len, ses_content **content,
                             ses_error *error);
/* Frees the content. NULL is allowed. */
SES_API void ses_content_close(ses_content *content);

/* The results of these calls are borrowed until the content is closed, or are parts of the event's text. */

/* Returns the `text` of all parts that are not `thought`, concatenated, or NULL if no part has one. `len` may
 * be NULL. */
SES_API const char *ses_content_text(const ses_content *content, size_t *len);
/* Returns the content of the event, role and parts, as it is in the event. A model is sent this when the
 * conversation continues. The text is NULL if the event has no content. */
SES_API ses_text ses_content_json(const ses_content *content);

/* A part of a content, lent by it: never make or copy this struct. A member that is absent or null in the
 * event has a NULL text, or is NULL. */
typedef struct ses_part {
    ses_text json;                /* the part, a JSON object */
    ses_text text;                /* its `text`, decoded */
    int thought;                  /* 1: the text is what the model thought, not what it said; otherwise 0 */
    const ses_function *call;     /* its `functionCall` */
    const ses_function *response; /* its `functionResponse` */
} ses_part;

/* Returns the number of parts. */
SES_API size_t ses_content_part_count(const ses_content *content);
/* Returns a part, or NULL past the end. */
SES_API const ses_part *ses_content_part(const ses_content *content, size_t index);
/* Returns the number of function calls. */
SES_API size_t ses_content_call_count(const ses_content *content);
/* Returns a function call, or NULL past the end. */
SES_API const ses_function *ses_content_call(const ses_content *content, size_t index);
/* Returns the number of function responses. */
SES_API size_t ses_content_response_count(const ses_content *content);
/* Returns a function response, or NULL past the end. */
SES_API const ses_function *ses_content_response(const ses_content *content, size_t index);
/*
 * Returns 1 if the event is an agent's final response, as the ADK decides it (google-adk 2.13), and 0
 * otherwise. An event is final if it has `skipSummarization` or non-empty `longRunningToolIds`. It is also
 * final if it is not partial, has no function call, and either has an `errorCode` or has no function response
 * and a last part that is not a code execution result. So a user's message and an event that only changes
 * state are final too: check the author.
 */
SES_API int ses_content_is_final(const ses_content *content);
/* Returns the event's `actions`, a JSON object. Its text is NULL if the event has none. */
SES_API ses_text ses_content_actions(const ses_content *content);
/* Returns the event's `actions.stateDelta`, a JSON object. Its text is NULL if the event has none. */
SES_API ses_text ses_content_state_delta(const ses_content *content);
/* Returns the event's `errorCode`. The text is NULL if the event has none. */
SES_API ses_text ses_content_error_code(const ses_content *content);
/* Returns the event's `errorMessage`. The text is NULL if the event has none. */
SES_API ses_text ses_content_error_message(const ses_content *content);

/* The tokens that a model call used, as its `usageMetadata` counts them, lent by the content: never make or
 * copy this struct. -1: the count is missing, or not an integer. */
typedef struct ses_usage {
    int64_t prompt;     /* promptTokenCount, `cached` included */
    int64_t cached;     /* cachedContentTokenCount */
    int64_t candidates; /* candidatesTokenCount: the model's answer */
    int64_t thoughts;   /* thoughtsTokenCount */
    int64_t tool_use;   /* toolUsePromptTokenCount */
    int64_t total;      /* totalTokenCount */
} ses_usage;

/* Returns the event's usage, or NULL if it has none. */
SES_API const ses_usage *ses_content_usage(const ses_content *content);

/* A compaction: its content replaces the events whose time lies in its range (see Context). It is lent by the
 * content: never make or copy this struct. */
typedef struct ses_compaction {
    int64_t start_us; /* the first time of the range */
    int64_t end_us;   /* the last time of the range */
    ses_text content; /* the summary, a JSON object: role and parts */
} ses_compaction;

/* Returns the event's `actions.compaction`, or NULL if it has none, or if that lacks a start, an end or a
 * content. */
SES_API const ses_compaction *ses_content_compaction(const ses_content *content);

/* ------------------------------------------------------------------------------------------------ context */

/*
 * A context is the part of a session's log that a model should be sent, in the order in which to send it, by
 * the ADK's rules:
 *
 *  - It holds the live events, which no rewind has taken back (see History in seslite_history.h).
 *  - A compaction is an event with `actions.compaction`. Its summary replaces the events whose time lies in
 *    its range, wherever in the log they are. If one range lies within another, only the larger counts. If
 *    there is a compaction, everything is sorted by time, and a summary has the time of the end of its range,
 *    unless SES_CONTEXT_LOG_ORDER is given. Otherwise the order is that of the log.
 *  - If a function call is covered and its response is not, the event of the call comes back before the
 *    response, together with the responses to its other calls.
 *
 * The caller does what depends on the provider: who speaks in which role, and how responses are paired with
 * calls. A compaction without a start, an end or a content counts as an ordinary event.
 *
 * A context can have a budget: max_bytes, max_tokens and max_turns of its options. It then holds whole
 * turns, from the newest back to the one that no longer fits, in the same order as without a budget:
 *
 *  - A turn begins with an event by "user" that has content other than function responses, whatever its
 *    invocation. Events before the first such event belong to the first turn. A turn that summaries replace
 *    is none.
 *  - Summaries stay, and so does the newest turn, whole, even if it alone is larger than the budget
 *    (ses_left_out.over_budget): without it a model has nothing to answer.
 *  - If a response stays, so does the event of its call, and if a call stays, so does the event of its latest
 *    response, whatever turns these belong to. A call and its response have the same id.
 *
 * A context is one snapshot of the log. It keeps what it has read, may outlive the handle and the store, and
 * does not change. All live events are read for it, with a budget too.
 */
typedef struct ses_context ses_context;

typedef enum ses_context_flags {
    /*
     * Leaves out events that a model is not shown, before compactions are applied: those that only change
     * state, that hold only thoughts, or that belong to a sub-task (`isolationScope`), and the calls by which
     * the ADK asks its user for credentials or a confirmation.
     */
    SES_CONTEXT_VISIBLE = 0x1,
    /*
     * Keeps the order of the log when there is a compaction, too, so that a clock that went back puts no
     * response before its call. A summary replaces only events before its own, and comes after the last of
     * them; if none of them is left, after the last event that is earlier than its range.
     */
    SES_CONTEXT_LOG_ORDER = 0x2,
    /*
     * Keeps the first turn as well, whatever the budget: the task, for example. No other turn takes its place
     * if summaries replace it.
     */
    SES_CONTEXT_FIRST_TURN = 0x4
} ses_context_flags;

/*
 * A callback that counts the tokens of a content, as ses_context_content gives it. The event and the content
 * are borrowed during the callback. It sets `*tokens`, 0 or more, and returns 0. Or it returns any negative
 * code, which fails the call, and may write a message into `error`, which is never NULL. Anything else is
 * MISUSE. It must not use the handle.
 */
typedef int ses_token_counter(void *context, const ses_event *event, const char *content, size_t len,
                              int64_t *tokens, ses_error *error);

typedef struct ses_context_options {
    size_t size;
    unsigned flags;     /* SES_CONTEXT_* */
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
    /*
     * Puts up to so many bytes of artifacts back into the contents, which undoes ses_artifacts_offload; 0:
     * none. A `fileData` with the address (ses_artifact_info.uri) of an artifact of the session or its user
     * becomes an `inlineData` with the type, the display name and the bytes, in base64 with the standard
     * alphabet. An artifact that the event's own `actions.artifactDelta` names counts first, whatever session
     * the address is of (see ses_artifact_inline). The newest events come first. An artifact with more bytes
     * than are left stays a reference, and so does one that is absent or is not SES_ARTIFACT_BYTES. Addresses
     * of anything else are not followed, and events stay as they are.
     */
    int64_t inline_bytes;
    /*
     * The budget; 0 in each member: no limit. Summaries and a first turn that is kept are part of the bytes
     * and the tokens. The contents are measured as they are stored, before inline_bytes puts artifacts back
     * into them.
     */
    int64_t max_bytes;
    int64_t max_tokens;       /* as `count` counts them */
    ses_token_counter *count; /* NULL: a token is 4 bytes, and each content is rounded up */
    void *count_context;
    int64_t max_turns; /* besides a first turn that is kept */
} ses_context_options;

/*
 * Reads the context of a session as it is stored now, even if the handle lacks events. STALE: events were cut
 * since the handle was read, or the session was deleted and another has its name: refresh the handle.
 * INVALID: inline_bytes or a part of the budget is negative. CORRUPT: the bytes of an artifact do not have
 * its hash.
 *
 * Codes: those of a read, INVALID, NOTFOUND, and every code that the callback returns; by a handle also
 * STALE.
 */
SES_API int ses_context_open(ses_session *session, const ses_context_options *options, ses_context **context,
                             ses_error *error);
SES_API int ses_context_open_by_key(ses_store *store, const ses_key *key, const ses_context_options *options,
                                    ses_context **context, ses_error *error);
/* Frees the context. NULL is allowed. */
SES_API void ses_context_close(ses_context *context);

/* The results of these calls are borrowed until the context is closed. */

/* Returns the number of events and summaries. */
SES_API size_t ses_context_count(const ses_context *context);
/* Returns the stored event at that index; for a summary, the compaction event. NULL past the end. */
SES_API const ses_event *ses_context_event(const ses_context *context, size_t index);
/* Returns the content to send, as it is stored (but see ses_context_options.inline_bytes): that of the event,
 * or for a summary the `compactedContent`. The text is NULL if the event has no content, and past the end. */
SES_API ses_text ses_context_content(const ses_context *context, size_t index);

/* The events and turns that a budget left out of a context, lent by it: never make or copy this struct. */
typedef struct ses_left_out {
    int64_t events;  /* that the context would otherwise hold */
    int64_t turns;   /* with such events */
    int over_budget; /* 1: what always stays is larger than max_bytes or max_tokens; otherwise 0 */
} ses_left_out;

/* Returns what the budget left out. Without a budget, all members are 0. */
SES_API const ses_left_out *ses_context_left_out(const ses_context *context);

/* ------------------------------------------------------------------------------------------ pending calls */

/*
 * Pending calls are the function calls of a session's live events that have no response after them. A crash
 * between a call and its result leaves one behind, and every model provider then refuses the conversation.
 *
 *  - A response with an id answers every call of that id before it, whatever its name. A response without an
 *    id answers the oldest call without an id that has its name. An empty id counts as no id.
 *  - In one event, responses come before calls. The answer that a long-running tool gives at first is a
 *    response.
 *
 * A program that resumes a session after a crash answers them with ses_pending_answer. ses_pending_open only
 * reads them.
 *
 * The object keeps what it has read, may outlive the handle and the store, and does not change. It needs
 * memory for the pending calls and their events, however long the log is. On a server all live events are
 * read for it. On a file, a call that had to read more than 500 events keeps, in a row of its own, up to
 * which event no call was pending, unless others write just then or the store is only read. Later calls read
 * the events after it. (So a function call that is never answered makes them read all events since.)
 */
typedef struct ses_pending ses_pending;

/*
 * Reads the pending calls of a session as it is stored now, even if the handle lacks events. A call or
 * response of another program that cannot be read is skipped. STALE: events were cut or pruned while they
 * were read; or, with a handle, events were cut since it was read, or the session was deleted and another has
 * its name: refresh the handle. IO also means that the system gave no random bytes.
 *
 * Codes: those of a read, NOTFOUND, STALE; by key also INVALID.
 */
SES_API int ses_pending_open(ses_session *session, const ses_call_options *options, ses_pending **pending,
                             ses_error *error);
SES_API int ses_pending_open_by_key(ses_store *store, const ses_key *key, const ses_call_options *options,
                                    ses_pending **pending, ses_error *error);
/* Frees the object. NULL is allowed. */
SES_API void ses_pending_close(ses_pending *pending);

/* The results of these calls are borrowed until the object is closed. Calls are in the order of the log, and
 * of the parts in an event. */

/* Returns the number of pending calls. */
SES_API size_t ses_pending_count(const ses_pending *pending);
/* Returns a call, or NULL past the end. */
SES_API const ses_function *ses_pending_call(const ses_pending *pending, size_t index);
/* Returns the event that holds the call, or NULL past the end. */
SES_API const ses_event *ses_pending_event(const ses_pending *pending, size_t index);
/* Returns 1 if the event's `longRunningToolIds` holds the id of the call, and 0 otherwise and past the
 * end. */
SES_API int ses_pending_is_long_running(const ses_pending *pending, size_t index);

/*
 * A callback that answers a pending call, for example by running the tool. All inputs are borrowed during the
 * callback. It makes the response, a JSON object of `*len` bytes, with ses_text_make, sets `*response` to it,
 * and returns 0. It returns SES_ABSENT to leave the call pending, or any negative code, which ends the
 * answering, and may then write a message into `error`, which is never NULL. Anything else is MISUSE. It must
 * not use the handle. A text that was made is freed in any case.
 */
typedef int ses_call_answerer(void *context, const ses_function *call, const ses_event *event,
                              int is_long_running, char **response, size_t *len, ses_error *error);

typedef struct ses_answer_options {
    size_t size;
    /* Asked about each pending call that `responses` does not answer. NULL: those calls stay pending. */
    ses_call_answerer *answer;
    void *answer_context;
    /* Responses that the caller already has, such as a user's approval of a long-running call. Each answers
     * the pending calls of its id, or those without an id that have its name. Its `json` is the response;
     * without text it is an empty object. */
    const ses_function *responses;
    size_t response_count;
    int64_t lease;      /* as in ses_append_options */
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
} ses_answer_options;

/*
 * Answers pending calls of a session, and stores each answer once. For each event whose calls get answers, it
 * appends one event with the responses, by the same author ("user" if there is none) in the same invocation,
 * branch and `isolationScope`, as google-adk does. All of them are one transaction.
 *
 * Without options, or if they have neither `answer` nor `responses`, every call that is not long-running gets
 * the response of ses_builder_interrupted. The model then sees {"error":"interrupted"}, and google-adk
 * recognizes the event by its errorCode.
 *
 *  - The events are stored only if the session has not changed since the pending calls were read. Otherwise
 *    what was appended since is read, and if it has functions or is a rewind, the pending calls are read
 *    again. So a call that another process has answered meanwhile is not answered twice. An answer that the
 *    callback has given is kept for that, and it is not asked twice about a call.
 *  - After UNKNOWN, or if the process dies, make the call again: a call whose answer was stored is no longer
 *    pending. The callback is asked again if it was not, so a tool may run twice.
 *  - A call without an id stays pending as long as an older one of its name does, because a response without
 *    an id answers the oldest.
 *
 * It reads the pending calls at the cost of ses_pending_open, and the events that were appended since.
 *
 * `*answered` (may be NULL) is the number of responses. Returns 0, or SES_UNCHANGED if there were none. A
 * handle includes the new events, and it may have been brought up to date even if the call fails. JSON,
 * INVALID, LIMIT also: a response is not such a JSON object.
 *
 * Codes: those of ses_append except EXISTS and STALE, INTERRUPTED, and every code that the callback returns.
 */
SES_API int ses_pending_answer(ses_session *session, const ses_answer_options *options, int64_t *answered,
                               ses_error *error);
SES_API int ses_pending_answer_by_key(ses_store *store, const ses_key *key, const ses_answer_options *options,
                                      int64_t *answered, ses_error *error);

/* Adds the response {"error":"interrupted"} to a call that was read, with the id and the name of the call,
 * and sets the field "errorCode" to "INVOCATION_ABORTED", as google-adk marks an event that ends an
 * invocation. That makes the event final (ses_content_is_final). The rules are those of
 * ses_builder_response_to. Codes: MISUSE, INVALID, NOMEM. */
SES_API int ses_builder_interrupted(ses_builder *builder, const ses_function *call, ses_error *error);

/* ------------------------------------------------------------------------------------------ tracked state */

/*
 * A view shows the state as a callback or a tool sees it (the ADK's callback and tool contexts). Reads find
 * the view's own writes first, then the handle's state, including the `temp:` values of the invocation.
 * Writes stay in the view as a delta until they are appended with an event. Closing a view drops writes that
 * were not appended.
 *
 * A counter in a shared key (`app:` or `user:`) never loses a step. A view notes the shared keys that it
 * reads with a getter or ses_tracked_has, and what the handle showed for each; the latest read counts. If the
 * view also writes such a key, and a different value is stored when the view is appended, the append is
 * STALE. Keys that are only read or only written are not checked. ses_tracked_json and templates note
 * nothing, and a change that only the event itself carries is not a write of the view.
 *
 * Several views on one handle each see only their own writes until these are appended. An append moves the
 * handle, so one view does not make another STALE, except for shared keys as above. If two views wrote the
 * same key, the one appended last wins. A view keeps its own `temp:` writes when an invocation ends: close
 * the view or discard them.
 *
 * The calls on a view read and write memory, whatever the length of the log, except those that append, which
 * cost as much as ses_append, and templates with artifacts.
 *
 * A view belongs to the thread of its handle. After the handle is closed, calls on the view return MISUSE.
 */
typedef struct ses_tracked ses_tracked;

typedef enum ses_track_flags {
    SES_TRACK_READ_ONLY = 0x1, /* every write returns READONLY */
    SES_TRACK_ACCUMULATE = 0x2 /* ses_output_append saves all texts of the agent (see Output key) */
} ses_track_flags;

typedef struct ses_track_options {
    size_t size;
    unsigned flags; /* SES_TRACK_* */
} ses_track_options;

/* Opens a view. Codes: MISUSE, NOMEM. */
SES_API int ses_tracked_open(ses_session *session, const ses_track_options *options, ses_tracked **tracked,
                             ses_error *error);
/* Frees the view. NULL is allowed. */
SES_API void ses_tracked_close(ses_tracked *tracked);
/* Returns the handle that the view is on, or NULL for NULL. */
SES_API ses_session *ses_tracked_session(const ses_tracked *tracked);

/*
 * These calls write a value. A double is written with the fewest digits that read back as the same double.
 * JSON has one type of number: 3.0 is written as 3, which a reader in Python takes for an integer. INVALID:
 * the name breaks the rules of state keys, a text is not UTF-8, or a double is infinite or NaN. LIMIT: `json`
 * is nested deeper than the 997 levels that fit into an event.
 *
 * Codes: MISUSE, INVALID, READONLY, NOMEM; ses_tracked_set also JSON, LIMIT.
 */
SES_API int ses_tracked_set(ses_tracked *tracked, const char *name, const char *json, size_t len,
                            ses_error *error);
SES_API int ses_tracked_set_string(ses_tracked *tracked, const char *name, const char *text, size_t len,
                                   ses_error *error);
SES_API int ses_tracked_set_int64(ses_tracked *tracked, const char *name, int64_t value, ses_error *error);
SES_API int ses_tracked_set_double(ses_tracked *tracked, const char *name, double value, ses_error *error);
SES_API int ses_tracked_set_bool(ses_tracked *tracked, const char *name, int value, ses_error *error);
/* Removes the key by writing the tombstone; it need not exist. Codes: MISUSE, INVALID, READONLY, NOMEM. */
SES_API int ses_tracked_remove(ses_tracked *tracked, const char *name, ses_error *error);
/* Drops the view's own writes and its notes of what it read. It then shows what the handle shows. NULL is
 * allowed. */
SES_API void ses_tracked_discard(ses_tracked *tracked);

/*
 * These calls read a value, as ses_state_get and its typed variants do. They return SES_ABSENT also for a key
 * that the view removed. Texts are borrowed until the view is written to, appended, discarded or closed, or
 * the handle appends, refreshes, begins or ends an invocation, or is closed. NOMEM also means that the read
 * could not be noted.
 *
 * Codes: MISUSE, CORRUPT, NOMEM; the typed calls also TYPE; string, int64 and double also RANGE.
 */
SES_API int ses_tracked_get(const ses_tracked *tracked, const char *name, const char **json, size_t *len,
                            ses_error *error);
SES_API int ses_tracked_get_string(const ses_tracked *tracked, const char *name, const char **text,
                                   size_t *len, ses_error *error);
SES_API int ses_tracked_get_int64(const ses_tracked *tracked, const char *name, int64_t *value,
                                  ses_error *error);
SES_API int ses_tracked_get_double(const ses_tracked *tracked, const char *name, double *value,
                                   ses_error *error);
SES_API int ses_tracked_get_bool(const ses_tracked *tracked, const char *name, int *value, ses_error *error);
/* Returns 1 if the view shows the key, and 0 otherwise, also for NULL and a closed handle. */
SES_API int ses_tracked_has(const ses_tracked *tracked, const char *name);
/* Returns 1 if the view holds writes that are not appended, and 0 otherwise, also for NULL. */
SES_API int ses_tracked_changed(const ses_tracked *tracked);

/*
 * These calls give a JSON object with everything that the view shows, and with its own writes. The text
 * belongs to the caller (ses_free). `len` may be NULL.
 *
 * Codes: MISUSE, NOMEM; ses_tracked_json also CORRUPT.
 */
SES_API int ses_tracked_json(const ses_tracked *tracked, char **json, size_t *len, ses_error *error);
SES_API int ses_tracked_delta(const ses_tracked *tracked, char **json, size_t *len, ses_error *error);

/*
 * Appends an event together with the view's writes. They are merged into the event's `actions.stateDelta` and
 * win over what it contains; `delta` of the options wins over both. `expected` of the options is checked in
 * addition to what the view has noted. After success the view holds no writes. After a failure, and after
 * SES_PARTIAL, which stores nothing, it is as before.
 *
 * After STALE the view's writes are still there, and hide what others wrote in the meantime. Values that were
 * computed from the older state must be computed again: ses_refresh, ses_tracked_discard, then read and write
 * again. (SES_ANYWAY stores the view's values over the newer ones.) STALE is also returned if the view
 * ran out of memory while it noted a read by ses_tracked_has. READONLY also means that the view is read-only.
 * Otherwise the rules are those of ses_append.
 *
 * Codes: those of ses_append.
 */
SES_API int ses_tracked_append(ses_tracked *tracked, const char *event, size_t event_len,
                               const ses_append_options *options, ses_appended *appended, ses_error *error);

/* ---------------------------------------------------------------------------------------------- templates */

/*
 * A callback that reads an artifact that a template names. It makes a text of `*len` bytes with
 * ses_text_make, sets `*text` to it, and returns 0. Or it returns SES_NOTFOUND or any other negative code,
 * which fails the rendering, and may write a message into `error`, which is never NULL. A positive value, or
 * no text, is MISUSE. A text that was made is freed in any case.
 */
typedef int ses_artifact_reader(void *context, const char *name, char **text, size_t *len, ses_error *error);
/* Makes a text of `len` bytes for a callback to fill and return. It already ends in a NUL. The receiver of
 * the text frees it. Returns NULL if out of memory. */
SES_API char *ses_text_make(ses_store *store, size_t len);

typedef enum ses_render_flags {
    SES_RENDER_ADK_BRACES = 0x1, /* a run of braces on either side counts as one, as in the ADK's code */
    /* white space of any script around a name is ignored, as by Python's str.strip in the ADK's code: the
     * ideographic space of Japanese keyboards, for example */
    SES_RENDER_ADK_SPACES = 0x2
} ses_render_flags;

typedef struct ses_render_options {
    size_t size;
    unsigned flags;                 /* SES_RENDER_* */
    ses_artifact_reader *artifacts; /* NULL: artifacts of the session and its user in the store are read */
    void *artifacts_context;
} ses_render_options;

/*
 * Renders an instruction template in one pass, with the state of a handle. The result belongs to the caller
 * (ses_free). `rendered_len` may be NULL.
 *
 *  - `{name}` is replaced by the value of that state key: a string by its text, null by nothing, anything
 *    else by its JSON. `{name?}` is replaced by nothing if the key is missing.
 *  - `{artifact.NAME}` is replaced by the artifact: what the callback returns, or without one its newest
 *    version in the store (see seslite_artifact.h). `{artifact.NAME?}` is replaced by nothing if it is not
 *    found.
 *  - A name is an identifier, as in Python: letters of any script, digits, marks and _, not starting with a
 *    digit (Unicode's XID_Start and XID_Continue). It may have the prefix app:, user: or temp:. Spaces, tabs
 *    and line ends around it are ignored; other white space only with SES_RENDER_ADK_SPACES.
 *  - A dotted name is replaced if exactly that key exists, and left as it is otherwise, even with a "?".
 *  - All other text in braces, and `{{...}}`, is left as it is. Replacements are not rendered again.
 *
 * The cost grows with the template and what is put into it. Only artifacts are read from the store.
 *
 * NOTFOUND names the missing key or artifact. INVALID: the template or an artifact is not UTF-8, or an
 * artifact has no name. LIMIT: an artifact of the store has more than 64 MiB. RANGE: a string holds a lone
 * surrogate escape. MISUSE also if the callback breaks its rules.
 *
 * Codes: those of a read, INVALID, NOTFOUND, LIMIT, RANGE, and every code that the callback returns.
 */
SES_API int ses_render(const ses_session *session, const char *text, size_t len,
                       const ses_render_options *options, char **rendered, size_t *rendered_len,
                       ses_error *error);
/* Renders a template with the state that a view shows. Everything else is as for ses_render. Codes: those of
 * ses_render. */
SES_API int ses_tracked_render(const ses_tracked *tracked, const char *text, size_t len,
                               const ses_render_options *options, char **rendered, size_t *rendered_len,
                               ses_error *error);

/* ----------------------------------------------------------------------------------------------- Markdown */

typedef enum ses_markdown_flags {
    /* Only texts that are no thoughts, errors, and events that are shown as JSON (see below). */
    SES_MARKDOWN_TEXTS = 0x1
} ses_markdown_flags;

typedef struct ses_markdown_options {
    size_t size;
    unsigned flags; /* SES_MARKDOWN_* */
} ses_markdown_options;

/*
 * Gives a session as a Markdown document (https://commonmark.org) for people to read: its title, or its id,
 * and the events that the handle holds (none for the sessions of a list). Read the handle with SES_RANGE_LIVE
 * to leave out what rewinds have taken back.
 *
 *  - A heading of the second level begins where the author changes, with the time in UTC.
 *  - Texts are taken as Markdown, but cannot end a block of the document: their headings become those of the
 *    third level and below, and a fence that is left open is closed. Line ends become line feeds. HTML in
 *    them stays, so render the document as you would render HTML by the authors of its texts.
 *  - Function calls are folded, each with its first response, and so are thoughts, summaries of compactions,
 *    and parts that are neither texts nor files nor code. Folds are `details` elements of HTML.
 *  - Bytes and files are named, but not contained. Changes of state are left out, and so are events that only
 *    change state. An event whose fields have other types than an event's is shown as JSON.
 *
 * `options` may be NULL. `*text` belongs to the caller (ses_free). `len` may be NULL. CORRUPT: another
 * program stored an event that is not JSON.
 *
 * Codes: MISUSE, CORRUPT, NOMEM.
 */
SES_API int ses_session_markdown(const ses_session *session, const ses_markdown_options *options, char **text,
                                 size_t *len, ses_error *error);

/* --------------------------------------------------------------------------------------------- output key */

/*
 * Makes the delta that saves an agent's final text under a state key: {"key":"text"}. It belongs to the
 * caller (ses_free). `*delta` is NULL if there is nothing to save, because the event is not by `agent`, is
 * not final, or has no text. `len` may be NULL. The text is saved as it is. Where the ADK parses it
 * (output_schema), the caller does. It is the final text alone; see ses_output_append for more. The event is
 * read as by ses_content_open, but a text with a lone surrogate escape is RANGE, since it would be stored
 * otherwise than it is. INVALID also: the key breaks the rules of state keys.
 *
 * Codes: MISUSE, JSON, INVALID, RANGE, LIMIT, NOMEM.
 */
SES_API int ses_output_delta(ses_store *store, const char *event, size_t event_len, const char *agent,
                             const char *key, char **delta, size_t *len, ses_error *error);
/*
 * Appends the event with that delta in one call. `tracked` may have writes of its own, as in
 * ses_tracked_append. The text wins over a value that the view wrote under the same key. `key` is NULL if the
 * agent has no output key.
 *
 * An agent may also say something along with its function calls, before its final text. On a view that was
 * opened with SES_TRACK_ACCUMULATE all of it is saved, as google-adk 2.13 does where there is no
 * output_schema: each event by `agent` that is not partial and has text saves the texts of all these events
 * so far, concatenated. Open such a view for each turn of an agent. It starts over if `agent` or `key`
 * differs from the last call. A retry is SES_DUPLICATE on any such view: the texts before it are then those
 * with which the event was stored, from which a new view goes on.
 *
 * Codes: those of ses_append, and RANGE.
 */
SES_API int ses_output_append(ses_tracked *tracked, const char *event, size_t event_len, const char *agent,
                              const char *key, const ses_append_options *options, ses_appended *appended,
                              ses_error *error);

#ifdef __cplusplus
}
#endif

#endif /* SESLITE_AGENT_H */
