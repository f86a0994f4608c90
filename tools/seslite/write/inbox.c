/* seslite inbox list, inbox add and inbox remove */
#include "commands.h"

#include "output/deleting.h"
#include "output/json.h"
#include "output/table.h"
#include "seslite_inbox.h"
#include "store/choose.h"
#include "text/times.h"
#include "write/input.h"

static const struct column input_columns[] = {
    {"APP", COLOUR_DIM, 0, 8},
    {"USER", COLOUR_CYAN, 0, 8},
    {"SESSION", COLOUR_BOLD, 0, 12},
    {"REQUEST", COLOUR_BOLD, 0, 8},
    {"ADDED", COLOUR_DIM, COLUMN_TIME, 0},
    {"INPUT", COLOUR_NONE, COLUMN_CUT, 20},
};

struct inbox_list {
    struct run *run;
    ses_inbox_list_options options;
    const ses_key *whose; /* NULL: the whole store */
    int64_t left;
    int64_t count;
    struct table table;
    struct json_rows rows;
};

static int choose_whose(struct inbox_list *own)
{
    struct run *run = own->run;

    own->whose = &run->key;
    if (given(run, OPTION_SESSION))
        return choose_session(run);
    run->key.session = NULL;
    if (given(run, OPTION_USER))
        return choose_user(run);
    if (given(run, OPTION_APP))
        return choose_app(run);
    own->whose = NULL;
    return EXIT_OK;
}

static int print_input(struct inbox_list *own, const ses_input *input)
{
    const char *const texts[] = {input->app, input->user, input->session, input->request};
    char time[TIME_SIZE];
    struct json json;

    own->count++;
    own->left--;
    own->options.after = input->place;
    if (wants_json(own->run)) {
        json_begin(&json, own->run, '{');
        json_text(&json, "appName", input->app);
        json_text(&json, "userId", input->user);
        json_text(&json, "session", input->session);
        json_text(&json, "request", input->request);
        json_time(&json, "added", input->added_us);
        json_raw(&json, "input", input->body, input->body_len);
        return json_rows_add(&own->rows, &json);
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        table_puts(&own->table, texts[i]);
    table_puts(&own->table, time_text(input->added_us, time));
    table_cell(&own->table, input->body, input->body_len);
    return EXIT_OK;
}

static int print_inputs(struct inbox_list *own)
{
    struct run *run = own->run;
    size_t count = 0;
    int status = EXIT_OK;

    do {
        ses_inputs *page = NULL;
        if (ses_inbox_list(run->store, own->whose, &own->options, &page, &run->error) < 0)
            return fail(run);
        count = ses_inputs_count(page);
        for (size_t i = 0; status == EXIT_OK && own->left > 0 && i < count; i++)
            status = print_input(own, ses_inputs_at(page, i));
        ses_inputs_close(page);
    } while (status == EXIT_OK && own->left > 0 && count > 0);
    return status;
}

int run_inbox_list(struct run *run)
{
    struct inbox_list own = {.run = run, .left = number_given(run, OPTION_LIMIT, INT64_MAX)};
    int status = open_to_read(run);

    own.options = (ses_inbox_list_options){.size = sizeof own.options};
    if (status == EXIT_OK)
        status = choose_whose(&own);
    if (status != EXIT_OK)
        return status;
    if (wants_json(run))
        json_rows_begin(&own.rows, run);
    else
        table_begin(&own.table, input_columns, sizeof input_columns / sizeof input_columns[0]);
    status = print_inputs(&own);
    if (wants_json(run))
        json_rows_end(&own.rows);
    else
        table_end(&own.table);
    return status;
}

int run_inbox_add(struct run *run)
{
    struct text body = {NULL, 0, 0};
    int status = open_session_to_write(run);

    if (status == EXIT_OK)
        status = input_read(run, given(run, OPTION_BODY) ? run->values[OPTION_BODY] : "-", &body);
    while (body.len > 0 && body.data[body.len - 1] == '\n') /* the same JSON is the same input */
        body.len--;
    if (status == EXIT_OK) {
        const int code =
            ses_inbox_add(run->store, &run->key, run->arguments[0], body.data, body.len, NULL, &run->error);
        if (code == SES_DUPLICATE)
            note("the request %s was there already", run->arguments[0]);
        else if (code < 0)
            status = fail(run);
    }
    text_free(&body);
    return status;
}

int run_inbox_remove(struct run *run)
{
    const char *request = run->arguments[0];
    int status = open_session_to_write(run);

    if (status == EXIT_OK)
        status = confirm(run, "Remove the input %s of the session %s", request, run->key.session);
    if (status != EXIT_OK)
        return status;
    const int code = ses_inbox_remove(run->store, &run->key, request, NULL, &run->error);
    if (code < 0)
        return fail(run);
    if (code == SES_UNCHANGED) {
        say("no input %s waits in the session %s", request, run->key.session);
        return EXIT_NOTFOUND;
    }
    return EXIT_OK;
}
