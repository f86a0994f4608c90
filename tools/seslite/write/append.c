/* seslite append */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "output/json.h"
#include "output/table.h"
#include "store/choose.h"
#include "store/labels.h"
#include "text/scan.h"
#include "write/batch.h"
#include "write/input.h"
#include "write/pairs.h"

/* One call of the command. */
struct append {
    struct run *run;
    const char *name;  /* of the input; NULL if the event was made here */
    struct text input; /* the events, or the one that was made here */
    struct batch batch;
    struct text changes;  /* --state */
    struct text expected; /* --expected-state */
    ses_appended *results;
};

static bool is_made_here(const struct run *run)
{
    return given(run, OPTION_TEXT) || given(run, OPTION_AUTHOR);
}

static int check_options(const struct run *run)
{
    if (is_made_here(run) && given(run, OPTION_INPUT))
        return say_usage(run, "--text and --author make an event, so --input cannot be given too");
    if (is_made_here(run) && !given(run, OPTION_TEXT) && !given(run, OPTION_STATE))
        return say_usage(run, "--author needs --text or --state");
    if (!is_made_here(run) && given(run, OPTION_INVOCATION))
        return say_usage(run, "--invocation needs --text or --author: events that are read have their own");
    return EXIT_OK;
}

/* ------------------------------------------------------------------------------------- an event made here */

static int build(struct run *run, const char *author, const char *invocation, struct text *event)
{
    ses_builder *builder = NULL;
    size_t len = 0;
    int code = ses_builder_open(run->store, author, invocation, &builder, &run->error);

    if (code >= 0 && given(run, OPTION_TEXT))
        code = ses_builder_text(builder, run->values[OPTION_TEXT], SES_NUL, &run->error);
    if (code >= 0) {
        const char *json = ses_builder_json(builder, &len);
        if (!json)
            end_without_memory();
        text_add(event, json, len);
    }
    ses_builder_close(builder);
    return code;
}

/* A message of the user begins an invocation, as in the ADK. Events of others belong to that of the newest
 * live event. */
static int make_event(struct append *append)
{
    struct run *run = append->run;
    const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST | SES_RANGE_LIVE, .newest = 1};
    const ses_get_options options = {.size = sizeof options, .range = &newest};
    const char *author = given(run, OPTION_AUTHOR) ? run->values[OPTION_AUTHOR] : "user";
    const char *invocation = run->values[OPTION_INVOCATION];
    ses_session *session = NULL;
    int code = ses_get(run->store, &run->key, &options, &session, &run->error);
    const ses_event *last = code >= 0 ? ses_session_event(session, 0) : NULL;

    if (!invocation && last && *last->invocation_id && strcmp(author, "user") != 0)
        invocation = last->invocation_id;
    if (code >= 0)
        code = ses_invocation_begin(session, invocation, &run->error);
    if (code >= 0)
        code = build(run, author, ses_invocation_id(session), &append->input);
    ses_session_close(session);
    return code < 0 ? fail(run) : EXIT_OK;
}

/* ---------------------------------------------------------------------------------------------- the input */

static int read_events(struct append *append)
{
    const char *path = given(append->run, OPTION_INPUT) ? append->run->values[OPTION_INPUT] : "-";

    append->name = input_name(path);
    return input_read(append->run, path, &append->input);
}

/* Finds a member of the event, whose JSON need not be valid. */
static bool find_member(const ses_text *event, const char *wanted, struct piece *value)
{
    struct scan scan;
    struct text name = {NULL, 0, 0};
    bool found = false;

    scan_begin(&scan, event->text, event->len);
    while (!found && scan_member(&scan, &name, value))
        found = name.len == strlen(wanted) && strcmp(name.data, wanted) == 0;
    text_free(&name);
    return found;
}

/* The library would store a row of `seslite events --jsonl` as an event without an author. */
static int refuse_rows(const struct append *append)
{
    struct piece value;

    for (size_t i = 0; i < append->batch.count; i++) {
        const ses_text *event = &append->batch.events[i];
        if (find_member(event, "seq", &value) && find_member(event, "event", &value))
            return say_usage(append->run,
                             "%s, line %lld: this is a row of seslite events; append the value of \"event\"",
                             append->name, (long long)append->batch.lines[i]);
    }
    return EXIT_OK;
}

static int divide(struct append *append)
{
    const struct run *run = append->run;

    if (!batch_divide(&append->batch, &append->input)) {
        say("%s has more than %d events, the most that are stored at once", append->name, (int)MAX_EVENTS);
        return exit_code_of(SES_LIMIT);
    }
    if (append->batch.count == 0)
        return say_usage(run, "%s has no event", append->name);
    if (append->batch.count > 1 && given(run, OPTION_STATE))
        return say_usage(run, "--state is for a single event, and %s has more", append->name);
    return refuse_rows(append);
}

static int take_input(struct append *append)
{
    struct run *run = append->run;
    int status = pairs_given(run, OPTION_STATE, &append->changes);

    if (status == EXIT_OK)
        status = pairs_given(run, OPTION_EXPECTED_STATE, &append->expected);
    if (status == EXIT_OK)
        status = is_made_here(run) ? make_event(append) : read_events(append);
    return status == EXIT_OK ? divide(append) : status;
}

/* ------------------------------------------------------------------------------------------------- report */

/* Adds the id that was made, or else the one that the event has. */
static void add_id(struct text *id, const ses_text *event, const ses_appended *appended)
{
    struct piece value;

    text_puts(id, appended->made_id);
    if (id->len == 0 && find_member(event, "id", &value) && *value.text == '"')
        scan_decode(id, &value);
}

static const char *status_word(int status)
{
    switch (status) {
    case SES_OK:
        return "stored";
    case SES_PARTIAL:
        return "partial";
    case SES_DUPLICATE:
        return "duplicate";
    default:
        return "unknown";
    }
}

static int add_json(struct json_rows *rows, struct run *run, const char *id, const ses_appended *appended)
{
    struct json json;

    json_begin(&json, run, '{');
    json_text(&json, "session", run->key.session);
    if (appended->seq > 0) {
        json_number(&json, "seq", appended->seq);
        json_number(&json, "version", appended->version);
        json_time(&json, "timestamp", appended->time_us);
    }
    if (*id)
        json_text(&json, "eventId", id);
    json_text(&json, "status", status_word(appended->status));
    return json_rows_add(rows, &json);
}

static int report_json(const struct append *append)
{
    struct json_rows rows;
    int status = EXIT_OK;

    json_rows_begin(&rows, append->run);
    for (size_t i = 0; status == EXIT_OK && i < append->batch.count; i++) {
        struct text id = {NULL, 0, 0};
        add_id(&id, &append->batch.events[i], &append->results[i]);
        status = add_json(&rows, append->run, id.data, &append->results[i]);
        text_free(&id);
    }
    json_rows_end(&rows);
    return status;
}

static void add_row(struct table *table, const char *id, const ses_appended *appended)
{
    if (appended->seq > 0)
        table_number(table, appended->seq);
    else
        table_puts(table, "");
    table_puts(table, id);
    if (appended->seq > 0)
        table_number(table, appended->version);
    else
        table_puts(table, "");
    table_puts(table, appended->status == SES_OK ? "" : status_word(appended->status));
}

static void note_status(const struct append *append, int status, const char *words)
{
    int64_t count = 0;

    for (size_t i = 0; i < append->batch.count; i++)
        count += append->results[i].status == status;
    if (count > 0)
        note("%s: %s.", words, counted(count, "event"));
}

static int report_table(const struct append *append)
{
    static const struct column columns[] = {{"SEQ", COLOUR_DIM, COLUMN_RIGHT, 4},
                                            {"ID", COLOUR_BOLD, 0, 0},
                                            {"VERSION", COLOUR_DIM, COLUMN_RIGHT, 0},
                                            {"STATUS", COLOUR_YELLOW, 0, 0}};
    struct table table;

    table_begin(&table, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < append->batch.count; i++) {
        struct text id = {NULL, 0, 0};
        add_id(&id, &append->batch.events[i], &append->results[i]);
        add_row(&table, id.data, &append->results[i]);
        text_free(&id);
    }
    table_end(&table);
    note_status(append, SES_PARTIAL, "Partial, so not stored");
    note_status(append, SES_DUPLICATE, "Stored before, so not stored again");
    return EXIT_OK;
}

/* ------------------------------------------------------------------------------------------------- append */

static int store_events(struct append *append)
{
    struct run *run = append->run;
    const struct batch *batch = &append->batch;
    ses_label labels[ARGUMENTS_MAX];
    const ses_append_options options = {.size = sizeof options,
                                        .flags = given(run, OPTION_EXPECTED_VERSION) ? SES_AT_VERSION : 0u,
                                        .version = number_given(run, OPTION_EXPECTED_VERSION, 0),
                                        .expected = append->expected.data,
                                        .expected_len = append->expected.len,
                                        .delta = append->changes.data,
                                        .delta_len = append->changes.len,
                                        .title = run->values[OPTION_TITLE],
                                        .labels = labels,
                                        .label_count = labels_given(run, labels)};

    append->results = allocate(batch->count * sizeof append->results[0]);
    const int code = batch->count == 1
                         ? ses_append_by_key(run->store, &run->key, batch->events[0].text,
                                             batch->events[0].len, &options, append->results, &run->error)
                         : ses_append_batch_by_key(run->store, &run->key, batch->events, batch->count,
                                                   &options, append->results, &run->error);
    labels_free(labels, options.label_count);
    return code;
}

/* True if the error is about an event, not about the session or the options. */
static bool is_of_event(const ses_error *error)
{
    return error->code == SES_EXISTS || error->code == SES_LIMIT ||
           (error->code != SES_STALE && (error->index >= 0 || error->offset >= 0));
}

static int refuse(const struct append *append)
{
    const ses_error *error = &append->run->error;
    const int64_t expected = number_given(append->run, OPTION_EXPECTED_VERSION, error->version);

    if (error->code == SES_STALE && error->version != expected) {
        say("%s is at version %lld, not %lld: nothing was stored", append->run->key.session,
            (long long)error->version, (long long)expected);
        return EXIT_STALE;
    }
    if (!append->name || !is_of_event(error))
        return fail(append->run);
    const int64_t line = append->batch.lines[error->index >= 0 ? error->index : 0];
    say("%s, line %lld: %s", append->name, (long long)line, error->message);
    return exit_code_of(error->code);
}

/* After UNKNOWN the ids are worth knowing, because the events may be stored. */
static int append_events(struct append *append)
{
    const int code = store_events(append);

    if (code < 0 && code != SES_UNKNOWN)
        return refuse(append);
    const int status = code < 0 ? fail(append->run) : EXIT_OK;
    const int reported = wants_json(append->run) ? report_json(append) : report_table(append);
    return status == EXIT_OK ? reported : status;
}

int run_append(struct run *run)
{
    struct append append = {.run = run};
    int status = check_options(run);

    if (status == EXIT_OK)
        status = open_session_to_write(run);
    if (status == EXIT_OK)
        status = take_input(&append);
    if (status == EXIT_OK)
        status = append_events(&append);
    text_free(&append.input);
    text_free(&append.changes);
    text_free(&append.expected);
    batch_free(&append.batch);
    free(append.results);
    return status;
}
