/* Answers the pending calls of a session. */
#include <string.h>

#include "agent/pending.h"
#include "base/argument.h"
#include "base/error.h"
#include "model/event/stored_event.h"
#include "session/handle.h"

/* The callback's answer to a call. It is kept, so that it is not asked again if another writer appends. */
struct answer {
    int64_t seq;
    size_t number;
    char *text; /* NULL: the call stays pending */
    size_t len;
};

struct answering {
    ses_session *session;
    const ses_allocator *allocator;
    ses_answer_options options;
    struct limits limits;
    struct answer *items;
    size_t count;
    size_t capacity;
    size_t next; /* the answer that is looked at first */
    bool ended;  /* by the callback, with whatever code */
    /* The events of one attempt. */
    struct answer_events {
        ses_builder **items;
        size_t count;
        size_t capacity;
    } builders;
    int64_t answered; /* in this attempt */
};

static void forget_events(struct answering *work)
{
    for (size_t i = 0; i < work->builders.count; i++)
        ses_builder_close(work->builders.items[i]);
    work->builders.count = 0;
    work->answered = 0;
}

static void answering_free(struct answering *work)
{
    forget_events(work);
    ses__memory_free(work->allocator, work->builders.items);
    for (size_t i = 0; i < work->count; i++)
        ses_free(work->items[i].text);
    ses__memory_free(work->allocator, work->items);
}

/* -------------------------------------------------------------------------------------------- answers */

/* Calls come in the order in which they were asked about, so the search finds one at once. */
static const struct answer *find_answer(struct answering *work, const struct pending_call *call)
{
    const struct answer *found = NULL;

    for (size_t i = 0; !found && i < work->count; i++) {
        const size_t at = (work->next + i) % work->count;
        if (work->items[at].seq == call->event->event->seq && work->items[at].number == call->number) {
            found = &work->items[at];
            work->next = at + 1;
        }
    }
    return found;
}

static int run_callback(struct answering *work, const struct pending_call *call, struct answer *answer,
                        ses_error *error)
{
    ses_error own;

    ses__error_clear(&own);
    const int code = work->options.answer(work->options.answer_context, &call->function, call->event->event,
                                          call->is_long_running, &answer->text, &answer->len, &own);
    work->ended = code < 0;
    if (code < 0)
        return ses__error_called(error, code, 0, &own, "answers calls");
    if (code != (answer->text ? SES_OK : SES_ABSENT))
        return ses__error_set(error, SES_MISUSE, "the function that answers calls returned %d %s", code,
                              answer->text ? "and a text" : "and no text");
    return SES_OK;
}

static int ask_callback(struct answering *work, const struct pending_call *call, ses_text *response,
                        ses_error *error)
{
    const struct answer *known = find_answer(work, call);
    struct answer answer = {.seq = call->event->event->seq, .number = call->number};
    int code = SES_OK;

    if (!known) {
        code = LIST_GROW(work->allocator, work) ? run_callback(work, call, &answer, error)
                                                : ses__error_nomem(error);
        if (code == SES_OK)
            work->items[work->count++] = answer;
        else
            ses_free(answer.text);
        known = &answer;
    }
    if (code == SES_OK)
        *response = (ses_text){known->text, known->len};
    return code;
}

static bool equal_texts(ses_text left, ses_text right)
{
    const size_t len = left.len == SES_NUL ? strlen(left.text) : left.len;
    return len == right.len && (len == 0 || memcmp(left.text, right.text, len) == 0);
}

static bool names_id(const ses_function *function)
{
    return function->id.text && function->id.len > 0 && function->id.text[0];
}

/* Finds the response that the options give for the call. */
static void find_response(const struct answering *work, const ses_function *call, ses_text *response)
{
    for (size_t i = 0; !response->text && i < work->options.response_count; i++) {
        const ses_function *given = &work->options.responses[i];
        if (call->id.len > 0 ? names_id(given) && equal_texts(given->id, call->id)
                             : !names_id(given) && given->name.text && equal_texts(given->name, call->name))
            *response = given->json.text ? given->json : (ses_text){"{}", 2};
    }
}

/* ------------------------------------------------------------------------------------------- the events */

/* Opens the builder of an event that answers calls of that one. */
static int begin_answer(struct answering *work, const struct pending_event *event, ses_error *error)
{
    const ses_event *asked = event->event;
    const char *author = asked->author[0] ? asked->author : "user";
    const char *invocation = asked->invocation_id[0] ? asked->invocation_id : NULL;
    ses_builder *builder = NULL;
    int code = LIST_GROW(work->allocator, &work->builders) ? SES_OK : ses__error_nomem(error);

    if (code == SES_OK)
        code = ses_builder_open(ses__session_store(work->session), author, invocation, &builder, error);
    if (code != SES_OK)
        return code;
    work->builders.items[work->builders.count++] = builder;
    if (asked->branch)
        code = ses_builder_field_string(builder, "branch", asked->branch, SES_NUL, error);
    if (code == SES_OK && event->scope.ptr)
        code = ses_builder_field_string(builder, "isolationScope", event->scope.ptr, event->scope.len, error);
    return code;
}

/* A response needs a name: a call without one gives an empty one. */
static int add_answer(struct answering *work, const struct pending_call *call, ses_text response,
                      ses_error *error)
{
    ses_builder *builder = work->builders.items[work->builders.count - 1];
    ses_function named = call->function;
    int code;

    if (!named.name.text)
        named.name = (ses_text){"", 0};
    code = response.text ? ses_builder_response_to(builder, &named, response.text, response.len, error)
                         : ses_builder_interrupted(builder, &named, error);
    if (code != SES_OK)
        ses__error_prefix(error, "a call of event %lld: ", (long long)call->event->event->seq);
    work->answered++;
    return code;
}

static int answer_call(struct answering *work, ses_pending *pending, const struct pending_call *call,
                       int64_t *seq, ses_error *error)
{
    const bool interrupts = !work->options.answer && work->options.response_count == 0;
    const struct span none = {NULL, 0};
    const struct span name = {call->function.name.text, call->function.name.len};
    ses_text response = {NULL, 0};
    int code = SES_OK;

    /* A response without an id answers the oldest call of its name, whichever is meant. */
    if (call->function.id.len == 0 && ses__calls_find(&pending->open, none, name) != &call->call)
        return SES_OK;
    find_response(work, &call->function, &response);
    if (!response.text && work->options.answer)
        code = ask_callback(work, call, &response, error);
    if (code != SES_OK || (!response.text && (!interrupts || call->is_long_running)))
        return code;
    if (*seq != call->event->event->seq)
        code = begin_answer(work, call->event, error);
    *seq = call->event->event->seq;
    if (code == SES_OK)
        code = add_answer(work, call, response, error);
    if (code == SES_OK)
        ses__pending_answered(pending, call);
    return code;
}

/* Limits a part of the call by what is left for it. */
static ses_call_options left_options(const struct answering *work)
{
    return (ses_call_options){.size = sizeof(ses_call_options), LEFT_OF(&work->limits)};
}

static int append_answers(struct answering *work, ses_error *error)
{
    const ses_append_options options = {
        .size = sizeof options, .lease = work->options.lease, LEFT_OF(&work->limits)};
    const size_t count = work->builders.count;
    ses_text *texts = ses__memory_zeroed(work->allocator, count * sizeof *texts);
    int code = texts ? SES_OK : ses__error_nomem(error);

    for (size_t i = 0; code == SES_OK && i < count; i++) {
        texts[i].text = ses_builder_json(work->builders.items[i], &texts[i].len);
        if (!texts[i].text)
            code = ses__error_nomem(error);
    }
    if (code == SES_OK)
        code = ses_append_batch(work->session, texts, count, &options, NULL, error);
    ses__memory_free(work->allocator, texts);
    return code;
}

/* The append is STALE if the session is not as it was when the calls were read. */
static int try_to_answer(struct answering *work, ses_error *error)
{
    ses_pending *pending = NULL;
    int64_t seq = 0; /* of the event whose answer is being built */
    const ses_call_options options = left_options(work);
    int code = ses_pending_open(work->session, &options, &pending, error);

    forget_events(work);
    for (size_t i = 0; code == SES_OK && i < pending->count; i++) {
        if (pending->items[i])
            code = answer_call(work, pending, pending->items[i], &seq, error);
    }
    ses_pending_close(pending);
    if (code == SES_OK)
        code = work->answered > 0 ? append_answers(work, error) : SES_UNCHANGED;
    return code;
}

/* ------------------------------------------------------------------------------------------ once more */

/* Looks at the events after that one. Those of another writer can change which calls are pending only if they
 * have functions or are rewinds. */
static int look_at_later(const struct answering *work, int64_t seq, bool *matters, ses_error *error)
{
    const ses_session *session = work->session;
    const ses_range later = {
        .size = sizeof later, .which = SES_RANGE_SEQ, .first_seq = seq + 1, .last_seq = INT64_MAX};
    const ses_cursor_options options = {.size = sizeof options, .range = &later, LEFT_OF(&work->limits)};
    const ses_key key = {ses_session_app(session), ses_session_user(session), ses_session_id(session)};
    const ses_event *event = NULL;
    ses_cursor *cursor = NULL;
    int code = ses_cursor_open(ses__session_store(session), &key, &options, &cursor, error);

    if (code == SES_OK) {
        while ((code = ses_cursor_next(cursor, &event, error)) == SES_ROW) {
            const struct event_row row = {.body = {event->json, event->json_len}};
            *matters = *matters || ses__stored_event_may_call(&row) || strstr(event->json, "rewind") != NULL;
        }
    }
    (void)ses_cursor_close(cursor, NULL); /* the walk has reported its errors */
    return code;
}

/* Appends the same answers again if nothing has changed for them, because reading a long log takes so long
 * that others, who append all the time, would always be faster. */
static int answer_again(struct answering *work, ses_error *error)
{
    const ses_session *session = work->session;
    const int64_t last_seq = ses_session_last_seq(session);
    const int64_t version = ses_session_version(session);
    const ses_call_options options = left_options(work);
    int code = ses_refresh(work->session, &options, error);

    if (code != SES_OK)
        return code;
    /* A cut raises only the version. */
    bool matters = ses_session_version(session) - version != ses_session_last_seq(session) - last_seq ||
                   work->answered == 0;
    if (!matters)
        code = look_at_later(work, last_seq, &matters, error);
    if (code != SES_OK)
        return code;
    return matters ? try_to_answer(work, error) : append_answers(work, error);
}

static int take_answer_options(const ses_answer_options *given, ses_answer_options *own, ses_error *error)
{
    int code = ses__take_options(own, sizeof *own, given, "answer options", error);

    return code == SES_OK && own->response_count > 0 ? ses__check_argument(own->responses, "responses", error)
                                                     : code;
}

static int answer(ses_session *session, const ses_answer_options *options, const struct limits *limits,
                  int64_t *answered, ses_error *error)
{
    struct answering work = {.session = session,
                             .allocator = ses__store_allocator(ses__session_store(session)),
                             .options = *options,
                             .limits = *limits};
    int code = try_to_answer(&work, error);
    while (code == SES_STALE && !work.ended)
        code = answer_again(&work, error);
    if (code >= 0 && answered)
        *answered = work.answered;
    answering_free(&work);
    return code;
}

int ses_pending_answer(ses_session *session, const ses_answer_options *options, int64_t *answered,
                       ses_error *error)
{
    ses_answer_options own;
    int code = ses__session_check(session, error);

    if (code == SES_OK)
        code = take_answer_options(options, &own, error);
    if (code != SES_OK)
        return code;
    const struct limits limits = ses__limits(ses__session_store(session), own.timeout_ms, own.cancel);
    return answer(session, &own, &limits, answered, error);
}

int ses_pending_answer_by_key(ses_store *store, const ses_key *key, const ses_answer_options *options,
                              int64_t *answered, ses_error *error)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    ses_answer_options own;
    ses_session *session = NULL;
    int code = ses__check_argument(store, "store", error);

    if (code == SES_OK)
        code = take_answer_options(options, &own, error);
    if (code != SES_OK)
        return code;
    const struct limits limits = ses__limits(store, own.timeout_ms, own.cancel);
    const ses_get_options get = {
        .size = sizeof get, .range = &none, .timeout_ms = own.timeout_ms, .cancel = own.cancel};
    code = ses_get(store, key, &get, &session, error);
    if (code == SES_OK)
        code = answer(session, &own, &limits, answered, error);
    ses_session_close(session);
    return code;
}
