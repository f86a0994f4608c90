/*
 * A small but complete agent on seslite, without a network: its model is a script. It shows how a framework
 * uses the agent layer, in the order of a turn:
 *
 *     a user's message begins an invocation; a callback before the agent writes state; the model is given
 *     an instruction rendered from the state, and asks for a tool; the tool writes state of its own; a
 *     sub-agent, in the same invocation, reads what the tool left for it; the final response is saved under
 *     an output key; and the next turn's instruction uses it.
 *
 *     agent FILE
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seslite_agent.h"

static const ses_key key = {.app = "travel", .user = "alice", .session = "oslo"};

static void must(int code, const ses_error *error)
{
    if (code < 0) {
        fprintf(stderr, "agent: %s: %s\n", ses_code_name(code), error->message);
        exit(1);
    }
}

/* ---------------------------------------------------------------------------------------------- the model */

/* A model's answer: a text or a function call. */
struct answer {
    const char *text;
    const char *function;
    const char *args;
};

/* A model would receive the instruction and the session's events. This one prints its instruction and answers
 * from a script. */
static const struct answer script[] = {
    {.function = "get_forecast", .args = "{\"city\":\"Oslo\",\"day\":\"tomorrow\"}"},
    {.text = "A wool coat and boots."},
    {.text = "Yes: snow, and down to -7.5 degrees. Take a wool coat and boots."},
    {.text = "Then the same coat will do: it stays cold in Oslo."},
};

static struct answer ask_model(const char *agent, const char *instruction)
{
    static size_t turn;
    printf("  [%s gets the instruction: %s]\n", agent, instruction);
    return script[turn++];
}

/* --------------------------------------------------------------------------------------------- the agents */

struct agent {
    const char *name;
    const char *branch;      /* NULL for the agent that the user talks to */
    const char *instruction; /* a template over the state */
    const char *output_key;  /* the key for its final text, or NULL */
};

static const struct agent travel_agent = {
    .name = "travel_agent",
    .instruction =
        "Speak {user:language}. This is message {user:messages}. You said last: \"{last_answer?}\". The "
        "packer says: \"{temp:packing?}\"",
    .output_key = "last_answer",
};

/* It works for the travel agent, in the same invocation. Its output is useless after that, so the key is a
 * temp: one. */
static const struct agent packer = {
    .name = "packer",
    .branch = "travel_agent.packer",
    .instruction = "Name what to wear in {last_city} when it is like this: {temp:forecast}",
    .output_key = "temp:packing",
};

/* Prints the newest event of the session, read as a user interface or a runner would. */
static void show_newest(ses_store *store, const ses_session *session)
{
    const ses_event *event = ses_session_event(session, ses_session_event_count(session) - 1);
    ses_content *content = NULL;
    ses_error error;

    must(ses_content_open(store, event->json, event->json_len, &content, &error), &error);
    const char *text = ses_content_text(content, NULL);
    const ses_function *call = ses_content_call(content, 0);
    const ses_function *response = ses_content_response(content, 0);
    printf("%2" PRId64 " %-12s ", event->seq, event->author);
    if (text)
        printf("%s\n", text);
    else if (call)
        printf("calls %.*s%.*s\n", (int)call->name.len, call->name.text, (int)call->json.len,
               call->json.text);
    else if (response)
        printf("%.*s answers %.*s\n", (int)response->name.len, response->name.text, (int)response->json.len,
               response->json.text);
    else
        printf("(state only)\n");
    ses_content_close(content);
}

/* Begins an event by the author, in the handle's current invocation. */
static ses_builder *build(ses_store *store, const ses_session *session, const char *author)
{
    ses_builder *builder = NULL;
    ses_error error;
    must(ses_builder_open(store, author, ses_invocation_id(session), &builder, &error), &error);
    return builder;
}

/* Appends the built event together with the view's changes, in one transaction. Without a view only the
 * event. */
static void append(ses_store *store, ses_session *session, ses_tracked *tracked, ses_builder *builder)
{
    ses_error error;
    size_t len = 0;
    const char *event = ses_builder_json(builder, &len);

    if (tracked)
        must(ses_tracked_append(tracked, event, len, NULL, NULL, &error), &error);
    else
        must(ses_append(session, event, len, NULL, NULL, &error), &error);
    ses_builder_close(builder);
    show_newest(store, session);
}

static void show_state(const char *when, const ses_session *session)
{
    const char *state = NULL;
    ses_error error;

    must(ses_state_json(session, &state, NULL, &error), &error);
    printf("%s: %s\n", when, state);
}

/* Runs before the agent's turn. A callback writes through a view, and its changes are stored with an event;
 * if it failed before that, closing the view would undo everything. */
static void before_agent(ses_store *store, ses_session *session)
{
    ses_tracked *tracked = NULL;
    ses_error error;
    int64_t messages = 0; /* stays 0 before the very first message */

    must(ses_tracked_open(session, NULL, &tracked, &error), &error);
    must(ses_tracked_get_int64(tracked, "user:messages", &messages, &error), &error);
    must(ses_tracked_set_int64(tracked, "user:messages", messages + 1, &error), &error);
    append(store, session, tracked, build(store, session, travel_agent.name));
    ses_tracked_close(tracked);
}

/* The tool. Its response and its state changes are one event: both are stored, or neither. */
static void get_forecast(ses_store *store, ses_session *session, const struct agent *agent,
                         const ses_function *call)
{
    static const char forecast[] = "{\"low\":-7.50,\"sky\":\"snow\"}";
    ses_tracked *tracked = NULL;
    ses_builder *builder = build(store, session, agent->name);
    ses_error error;

    must(ses_tracked_open(session, NULL, &tracked, &error), &error);
    must(ses_tracked_set(tracked, "temp:asked", call->json.text, call->json.len, &error), &error);
    must(ses_tracked_set_string(tracked, "last_city", "Oslo", SES_NUL, &error), &error);
    must(ses_tracked_set(tracked, "temp:forecast", forecast, SES_NUL, &error), &error);
    must(ses_builder_response_to(builder, call, forecast, SES_NUL, &error), &error);
    append(store, session, tracked, builder);
    ses_tracked_close(tracked);
}

/* Renders the instruction with the current state. A template should get a read-only view. */
static char *render(ses_session *session, const struct agent *agent)
{
    const ses_track_options read_only = {.size = sizeof read_only, .flags = SES_TRACK_READ_ONLY};
    ses_tracked *tracked = NULL;
    ses_error error;
    char *text = NULL;

    must(ses_tracked_open(session, &read_only, &tracked, &error), &error);
    must(ses_tracked_render(tracked, agent->instruction, SES_NUL, NULL, &text, NULL, &error), &error);
    ses_tracked_close(tracked);
    return text;
}

/* Stores the agent's answer. When it is final, its text goes under the output key, in the same
 * transaction. */
static void store_answer(ses_store *store, ses_session *session, const struct agent *agent,
                         struct answer answer)
{
    ses_builder *builder = build(store, session, agent->name);
    ses_tracked *tracked = NULL;
    ses_error error;
    char id[SES_ID_MAX + 1];

    if (answer.function) {
        must(ses_store_make_id(store, id, sizeof id, &error), &error);
        must(ses_builder_call(builder, id, answer.function, answer.args, SES_NUL, &error), &error);
    } else {
        must(ses_builder_text(builder, answer.text, SES_NUL, &error), &error);
    }
    if (agent->branch)
        must(ses_builder_field_string(builder, "branch", agent->branch, SES_NUL, &error), &error);
    must(ses_tracked_open(session, NULL, &tracked, &error), &error);
    size_t len = 0;
    const char *event = ses_builder_json(builder, &len);
    must(ses_output_append(tracked, event, len, agent->name, agent->output_key, NULL, NULL, &error), &error);
    ses_tracked_close(tracked);
    ses_builder_close(builder);
    show_newest(store, session);
}

/* Asks the model and runs the functions that it calls, until the agent's final response. */
static void run_agent(ses_store *store, ses_session *session, const struct agent *agent)
{
    int final = 0;

    while (!final) {
        char *instruction = render(session, agent);
        store_answer(store, session, agent, ask_model(agent->name, instruction));
        ses_free(instruction);

        const ses_event *event = ses_session_event(session, ses_session_event_count(session) - 1);
        ses_content *content = NULL;
        ses_error error;
        must(ses_content_open(store, event->json, event->json_len, &content, &error), &error);
        final = ses_content_is_final(content);
        if (!final) {
            get_forecast(store, session, agent, ses_content_call(content, 0));
            run_agent(store, session, &packer); /* the sub-agent sees the tool's temp: values */
        }
        ses_content_close(content);
    }
}

static void run_turn(ses_store *store, ses_session *session, const char *message)
{
    ses_builder *builder;
    ses_error error;

    must(ses_invocation_begin(session, NULL, &error), &error); /* NULL generates an id */
    builder = build(store, session, "user");
    must(ses_builder_text(builder, message, SES_NUL, &error), &error);
    append(store, session, NULL, builder);
    before_agent(store, session);
    run_agent(store, session, &travel_agent);
    show_state("   in the invocation", session);
    must(ses_invocation_end(session, &error), &error); /* drops the temp: values */
}

int main(int argc, char **argv)
{
    ses_store *store = NULL;
    ses_session *session = NULL;
    ses_error error;

    if (argc != 2) {
        fprintf(stderr, "usage: agent FILE\n");
        return 2;
    }
    must(ses_open(argv[1], NULL, &store, &error), &error);
    must(ses_get_or_create(store, &key, "{\"user:language\":\"English\"}", SES_NUL, NULL, &session, &error),
         &error);
    run_turn(store, session, "Will I need a coat in Oslo tomorrow?");
    puts("");
    run_turn(store, session, "And the day after?");
    show_state("\nwhat remains", session);
    ses_session_close(session);
    ses_close(store);
    return 0;
}
