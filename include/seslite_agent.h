/*
 * seslite's agent layer: what an agent framework needs beside the store. Building and reading events, state as
 * callbacks and tools see it, instruction templates, the output key.
 *
 * It is built on the calls of seslite.h, whose rules hold here too. A program that uses none of it links none of it.
 */
#ifndef SESLITE_AGENT_H
#define SESLITE_AGENT_H

#include "seslite.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------------- building events */

/*
 * A builder makes the JSON of one event as the ADK writes it: camelCase, the ADK's order, no spaces but in
 * the JSON it is given. It uses the store only for its allocator, and may outlive it. After a failed call
 * it is as before.
 */
typedef struct ses_builder ses_builder;

/*
 * An event by `author` ("user", or the agent's name) in the invocation `invocation_id` (of
 * ses_invocation_id; NULL: none). The content's role is "user" when the author is "user" or all parts are
 * function responses, else "model". An event without parts has no content: a state-only event. It has no
 * id, so that appending makes one; give it one (ses_store_make_id, and the field "id") where an append may be
 * tried again after an outcome that is not known.
 */
SES_API int ses_builder_open(ses_store *store, const char *author, const char *invocation_id,
                             ses_builder **builder, ses_error *error);
SES_API void ses_builder_close(ses_builder *builder); /* NULL is fine */

/* A call of a function, or the response to one. What is absent, or null, has a NULL text. */
typedef struct ses_function {
    ses_text id;
    ses_text name;
    ses_text json; /* the arguments of a call, or the response: a JSON object */
} ses_function;

/* Each adds a part to the content, in order. Texts are UTF-8 of any kind, escaped as JSON needs it (INVALID
 * when they are not UTF-8); `args` and `response` are JSON objects (NULL: empty; JSON, INVALID); what a
 * tool returns that is none, the ADK wraps as {"result":...}. `id` may be NULL. */
SES_API int ses_builder_text(ses_builder *builder, const char *text, size_t len, ses_error *error);
SES_API int ses_builder_thought(ses_builder *builder, const char *text, size_t len, ses_error *error);
SES_API int ses_builder_call(ses_builder *builder, const char *id, const char *name, const char *args,
                             size_t args_len, ses_error *error);
SES_API int ses_builder_response(ses_builder *builder, const char *id, const char *name, const char *response,
                                 size_t response_len, ses_error *error);
/* The response to a call that was read: with its id and its name. */
SES_API int ses_builder_response_to(ses_builder *builder, const ses_function *call, const char *response,
                                    size_t response_len, ses_error *error);
/* Any other part, a JSON object. */
SES_API int ses_builder_part(ses_builder *builder, const char *json, size_t len, ses_error *error);

/* A whole content of the caller's, a JSON object, in place of parts: those that were added go, and none can
 * be added any more (MISUSE). */
SES_API int ses_builder_content(ses_builder *builder, const char *json, size_t len, ses_error *error);
/* `actions.stateDelta`, a JSON object. Given again, the last one counts. */
SES_API int ses_builder_delta(ses_builder *builder, const char *json, size_t len, ses_error *error);
/* Any other field of the event ("customMetadata", "partial", "longRunningToolIds", "timestamp" ...) or of
 * its actions ("skipSummarization", "artifactDelta" ...), as JSON; or as a text ("branch", "id",
 * "errorMessage", "transferToAgent" ...). Given again, the last one counts. INVALID for the fields that
 * have a call of their own. */
SES_API int ses_builder_field(ses_builder *builder, const char *field, const char *json, size_t len,
                              ses_error *error);
SES_API int ses_builder_field_string(ses_builder *builder, const char *field, const char *text, size_t len,
                                     ses_error *error);
SES_API int ses_builder_action(ses_builder *builder, const char *field, const char *json, size_t len,
                               ses_error *error);
SES_API int ses_builder_action_string(ses_builder *builder, const char *field, const char *text, size_t len,
                                      ses_error *error);

/* The event, borrowed until the next call on the builder. `len` may be NULL. NULL only when memory is out. */
SES_API const char *ses_builder_json(ses_builder *builder, size_t *len);

/* ---------------------------------------------------------------------------------------- reading events */

/*
 * What an event says, found in one pass over its JSON. Both spellings of the ADKs are read. A content
 * borrows the event's text, which must live as long; it uses the store only for its allocator, and may
 * outlive it.
 */
typedef struct ses_content ses_content;

/* `event` is the JSON of an event, as in ses_event.json. JSON, INVALID (a field of a wrong type, named),
 * RANGE (a text holds a lone surrogate escape, which UTF-8 cannot express), LIMIT (more than 1000 levels), NOMEM. */
SES_API int ses_content_open(ses_store *store, const char *event, size_t event_len, ses_content **content,
                             ses_error *error);
SES_API void ses_content_close(ses_content *content); /* NULL is fine */

/* All borrowed until the content is closed. The text is the `text` of all parts that are not `thought`,
 * concatenated; NULL when no part has one. `len` may be NULL. */
SES_API const char *ses_content_text(const ses_content *content, size_t *len);
/* The content itself, role and parts, as it stands in the event: what a model is sent when the conversation
 * goes on. Its text is NULL when the event has none. And each of its parts, a JSON object; NULL past the
 * end. */
SES_API ses_text ses_content_json(const ses_content *content);
SES_API size_t ses_content_part_count(const ses_content *content);
SES_API ses_text ses_content_part(const ses_content *content, size_t index);
SES_API size_t ses_content_call_count(const ses_content *content);
SES_API const ses_function *ses_content_call(const ses_content *content,
                                             size_t index); /* NULL past the end */
SES_API size_t ses_content_response_count(const ses_content *content);
SES_API const ses_function *ses_content_response(const ses_content *content, size_t index);
/*
 * 1 for an agent's final response, as the ADK decides it: `skipSummarization` or non-empty
 * `longRunningToolIds`; or else not partial, no function call, no function response, and the last part is
 * no code execution result. So a user's message, and an event that only changes state, are final too: look
 * at the author.
 */
SES_API int ses_content_is_final(const ses_content *content);

/* ----------------------------------------------------------------------------------------- tracked state */

/*
 * The state as a callback or a tool sees it (the ADK's callback and tool contexts): reads find the view's
 * own writes first, then the handle's state, the `temp:` values of the invocation included; writes are kept
 * in the view as a delta, until they are appended with an event. A view that is closed before leaves
 * nothing behind.
 *
 * A counter in a shared key (`app:` or `user:`) never loses a step. A view notes the shared keys that it reads
 * with a getter or ses_tracked_has, and what the handle showed of each; the latest reading counts. When the view
 * writes such a key as well, and something else is stored by the time it is appended, the append is STALE. Keys
 * that are only read or only written are not checked. ses_tracked_json and templates note
 * nothing, and a change that only the event itself carries is no write of the view.
 *
 * Several views on one handle each see their own writes only, until these are appended. An append moves the
 * handle, so one view does not make another STALE, but for shared keys as above: of two that wrote one key, the
 * one appended last wins. A view's own `temp:` writes stay in it when an invocation ends: close it, or discard
 * them.
 *
 * A view belongs to the handle's thread. After the handle was closed its calls are MISUSE.
 */
typedef struct ses_tracked ses_tracked;

typedef enum ses_track_flags {
    SES_TRACK_READ_ONLY = 0x1 /* every write is READONLY */
} ses_track_flags;

SES_API int ses_tracked_open(ses_session *session, unsigned flags, ses_tracked **tracked, ses_error *error);
SES_API void ses_tracked_close(ses_tracked *tracked);                 /* NULL is fine */
SES_API ses_session *ses_tracked_session(const ses_tracked *tracked); /* the handle it is on; NULL for NULL */

/* Writes. INVALID: the name breaks the rules of state keys, a text is not UTF-8, or a double is infinite or
 * NaN. JSON: `json` is not JSON. LIMIT: it is nested deeper than the 997 levels that fit into an event. A
 * double is written with the fewest digits that read back as the same double. JSON has one type of number:
 * 3.0 is written as 3, and a reader in Python sees an integer there. */
SES_API int ses_tracked_set(ses_tracked *tracked, const char *name, const char *json, size_t len,
                            ses_error *error);
SES_API int ses_tracked_set_string(ses_tracked *tracked, const char *name, const char *text, size_t len,
                                   ses_error *error);
SES_API int ses_tracked_set_int64(ses_tracked *tracked, const char *name, int64_t value, ses_error *error);
SES_API int ses_tracked_set_double(ses_tracked *tracked, const char *name, double value, ses_error *error);
SES_API int ses_tracked_set_bool(ses_tracked *tracked, const char *name, int value, ses_error *error);
/* Takes the key away, by writing the tombstone; fine when there is none. */
SES_API int ses_tracked_remove(ses_tracked *tracked, const char *name, ses_error *error);
/* Drops the view's own writes, and its notes of what it has read: it shows what the handle shows. NULL is fine. */
SES_API void ses_tracked_discard(ses_tracked *tracked);

/* Reads, as ses_state_get and its kin: SES_ABSENT also for a key that the view removed. Also NOMEM: the reading
 * could not be noted. Texts are borrowed until the view is written to or closed, or the handle appends,
 * refreshes, begins or ends an invocation, or is closed. */
SES_API int ses_tracked_get(const ses_tracked *tracked, const char *name, const char **json, size_t *len,
                            ses_error *error);
SES_API int ses_tracked_get_string(const ses_tracked *tracked, const char *name, const char **text,
                                   size_t *len, ses_error *error);
SES_API int ses_tracked_get_int64(const ses_tracked *tracked, const char *name, int64_t *value,
                                  ses_error *error);
SES_API int ses_tracked_get_double(const ses_tracked *tracked, const char *name, double *value,
                                   ses_error *error);
SES_API int ses_tracked_get_bool(const ses_tracked *tracked, const char *name, int *value, ses_error *error);
/* 1 when the view shows such a key, else 0; 0 also for NULL and a closed handle. */
SES_API int ses_tracked_has(const ses_tracked *tracked, const char *name);
/* 1 when the view holds writes that are not appended, else 0; 0 also for NULL. */
SES_API int ses_tracked_changed(const ses_tracked *tracked);

/* Everything the view shows, and its own writes, each as a JSON object. The text is the caller's (ses_free). */
SES_API int ses_tracked_json(const ses_tracked *tracked, char **json, size_t *len, ses_error *error);
SES_API int ses_tracked_delta(const ses_tracked *tracked, char **json, size_t *len, ses_error *error);

/*
 * Appends an event with the view's writes beside it, as `delta` of the options: they are put into its
 * `actions.stateDelta`, and win over what it carries; `delta` of the options wins over both. Then the view is clean;
 * after a failure, and after SES_PARTIAL, which stores nothing, it is as before. READONLY for a read-only view.
 * Otherwise as ses_append.
 *
 * After STALE the view's writes are still there, and hide what others wrote meanwhile. What was computed
 * from the older state must be computed anew: ses_refresh, ses_tracked_discard, then read and write again.
 * (SES_APPEND_ANYWAY stores the view's values over the newer ones.) `expected` of the options is checked
 * beside what the view has noted. STALE also when there was no memory for a note of ses_tracked_has.
 */
SES_API int ses_tracked_append(ses_tracked *tracked, const char *event, size_t event_len,
                               const ses_append_options *options, ses_appended *appended, ses_error *error);

/* --------------------------------------------------------------------------------------------- templates */

/*
 * Fills `*text` (of `len` bytes, made by ses_text_make) for an artifact that a template names, and returns
 * 0; or SES_NOTFOUND, or any other negative code, which fails the rendering. A positive value, or no text,
 * is MISUSE. `error` is never NULL; it may write a message. A text that was made is freed in any case.
 */
typedef int ses_artifact_reader(void *context, const char *name, char **text, size_t *len, ses_error *error);
/* A text of `len` bytes, and a NUL that is there already, for a callback to fill and hand over: freed by
 * whoever gets it. NULL: out of memory. */
SES_API char *ses_text_make(ses_store *store, size_t len);

typedef enum ses_render_flags {
    SES_RENDER_ADK_BRACES = 0x1 /* a run of braces on either side counts as one, as in the ADK's code */
} ses_render_flags;

typedef struct ses_render_options {
    size_t size;
    unsigned flags;                 /* SES_RENDER_* */
    ses_artifact_reader *artifacts; /* NULL: a template that names an artifact fails, unless with "?" */
    void *artifacts_context;
} ses_render_options;

/*
 * Renders an instruction template: `{name}` becomes the value of that state key (a string as its text, null
 * as nothing, anything else as its JSON), `{name?}` nothing where it is missing; `{artifact.NAME}` asks the
 * callback. A name is an identifier (letters of any script, digits and _, not beginning with a digit),
 * optionally behind app:, user: or temp:; spaces, tabs and line ends around it do not count. A dotted name
 * is replaced when exactly that key is there, else left as it is, with a "?" too. All other text in braces,
 * and `{{...}}`, is left as it is. What was put in is not rendered again. The text is the caller's
 * (ses_free). NOTFOUND names the key or artifact that is missing; INVALID: the template, or an artifact, is
 * not UTF-8, or an artifact has no name; RANGE: a string holds a lone surrogate escape. In one pass.
 */
SES_API int ses_render(const ses_session *session, const char *text, size_t len,
                       const ses_render_options *options, char **rendered, size_t *rendered_len,
                       ses_error *error);
/* The same with the state a view shows. */
SES_API int ses_tracked_render(const ses_tracked *tracked, const char *text, size_t len,
                               const ses_render_options *options, char **rendered, size_t *rendered_len,
                               ses_error *error);

/* -------------------------------------------------------------------------------------------- output key */

/*
 * The delta that saves an agent's final text under a state key: {"key":"text"}, the caller's (ses_free);
 * `*delta` is NULL when there is nothing to save, because the event is not by `agent`, not final, or has no
 * text. The text is saved as it is: where the ADK would parse it (output_schema), that is the caller's.
 * INVALID: the key breaks the rules of state keys. Otherwise as ses_content_open.
 */
SES_API int ses_output_delta(ses_store *store, const char *event, size_t event_len, const char *agent,
                             const char *key, char **delta, size_t *len, ses_error *error);
/* Appends the event with that delta, in one call; `tracked` may have writes of its own, as in
 * ses_tracked_append. The text wins over what the view wrote under the same key. `key` NULL: the agent has
 * none. */
SES_API int ses_output_append(ses_tracked *tracked, const char *event, size_t event_len, const char *agent,
                              const char *key, const ses_append_options *options, ses_appended *appended,
                              ses_error *error);

#ifdef __cplusplus
}
#endif

#endif /* SESLITE_AGENT_H */
