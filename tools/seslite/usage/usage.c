/* seslite usage */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/times.h"
#include "output/json.h"
#include "output/progress.h"
#include "output/table.h"
#include "store/choose.h"
#include "store/labels.h"
#include "text/times.h"
#include "usage/prices.h"

enum { ROWS_AT_ONCE = 1000 };

struct usage {
    struct run *run;
    ses_usage_options options;
    ses_filter filter;
    char *label; /* whose texts are in this */
    int64_t since_us;
    int64_t before_us;
    struct prices prices;
    struct table table;
    struct json_rows rows;
    int64_t count;        /* rows */
    struct amount cost;   /* of all that have a price */
    struct text unpriced; /* the models that have none, each with a NUL after it */
};

/* ----------------------------------------------------------------------------------------------- what by */

static const struct {
    const char *name;
    unsigned flag;
} groupings[] = {{"app", SES_USAGE_BY_APP},         {"user", SES_USAGE_BY_USER},
                 {"session", SES_USAGE_BY_SESSION}, {"day", SES_USAGE_BY_DAY},
                 {"model", SES_USAGE_BY_MODEL},     {"invocation", SES_USAGE_BY_INVOCATION}};

static unsigned flag_of(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof groupings / sizeof groupings[0]; i++)
        if (strlen(groupings[i].name) == len && memcmp(groupings[i].name, name, len) == 0)
            return groupings[i].flag;
    return 0;
}

static int read_groupings(struct usage *usage)
{
    const char *at = given(usage->run, OPTION_BY) ? usage->run->values[OPTION_BY] : "model";

    usage->options.flags = prices_given(&usage->prices) ? SES_USAGE_BY_MODEL : 0;
    for (bool more = true; more;) {
        const size_t len = strcspn(at, ",");
        const unsigned flag = flag_of(at, len);
        if (flag == 0)
            return say_usage(
                usage->run,
                "--by takes app, user, session, day, model and invocation, divided by commas, not "
                "\"%.*s\"",
                (int)len, at);
        usage->options.flags |= flag;
        more = at[len] == ',';
        at += len + more;
    }
    return EXIT_OK;
}

static int seconds_ahead(void *context, int64_t time_us)
{
    (void)context;
    return (int)zone_ahead(time_us);
}

static int read_zone_of_days(struct usage *usage)
{
    struct run *run = usage->run;

    if (!given(run, OPTION_DAY_ZONE))
        return EXIT_OK;
    if (zone_set(run->values[OPTION_DAY_ZONE], &run->error) != SES_OK)
        return say_usage(run, "%s", run->error.message);
    usage->options.zone = seconds_ahead;
    return EXIT_OK;
}

static int read_usage_options(struct usage *usage)
{
    struct run *run = usage->run;

    usage->filter = (ses_filter){.size = sizeof usage->filter};
    usage->label = filter_label_given(run, &usage->filter);
    usage->options =
        (ses_usage_options){.size = sizeof usage->options, .limit = ROWS_AT_ONCE, .filter = &usage->filter};
    int status = prices_read(run, &usage->prices);
    if (status == EXIT_OK)
        status = read_groupings(usage);
    if (status == EXIT_OK)
        status = read_zone_of_days(usage); /* before times are read, which are local */
    if (given(run, OPTION_SINCE) && time_read(run->values[OPTION_SINCE], &usage->since_us))
        usage->options.since_us = &usage->since_us;
    if (given(run, OPTION_BEFORE) && time_read(run->values[OPTION_BEFORE], &usage->before_us))
        usage->options.before_us = &usage->before_us;
    return status;
}

/* -------------------------------------------------------------------------------------------------- rows */

static const struct column columns[] = {{"APP", COLOUR_CYAN, 0, 0},
                                        {"USER", COLOUR_CYAN, 0, 0},
                                        {"SESSION", COLOUR_NONE, 0, 0},
                                        {"DAY", COLOUR_NONE, 0, 0},
                                        {"MODEL", COLOUR_NONE, 0, 0},
                                        {"INVOCATION", COLOUR_NONE, 0, 0},
                                        {"CALLS", COLOUR_NONE, COLUMN_RIGHT, 0},
                                        {"PROMPT", COLOUR_NONE, COLUMN_RIGHT, 0},
                                        {"CACHED", COLOUR_NONE, COLUMN_RIGHT, 0},
                                        {"CANDIDATES", COLOUR_NONE, COLUMN_RIGHT, 0},
                                        {"THOUGHTS", COLOUR_NONE, COLUMN_RIGHT, 0},
                                        {"TOOL USE", COLOUR_NONE, COLUMN_RIGHT, 0},
                                        {"TOTAL", COLOUR_BOLD, COLUMN_RIGHT, 0},
                                        {"COST", COLOUR_BOLD, COLUMN_RIGHT, 0}};

/* A column of zeros is left out. */
static void put_tokens(struct usage *usage, int64_t count)
{
    if (count > 0)
        table_number(&usage->table, count);
    else
        table_puts(&usage->table, "");
}

/* NULL: there is no price. */
static void put_cost(struct usage *usage, const struct amount *cost)
{
    char text[AMOUNT_ROOM] = "";

    if (cost)
        amount_write_rounded(cost, text);
    table_puts(&usage->table, text);
}

static void put_row(struct usage *usage, const ses_usage_row *row, const char *const names[6],
                    const struct amount *cost)
{
    for (int i = 0; i < 6; i++)
        table_puts(&usage->table, names[i] ? names[i] : "");
    table_number(&usage->table, row->calls);
    put_tokens(usage, row->prompt);
    put_tokens(usage, row->cached);
    put_tokens(usage, row->candidates);
    put_tokens(usage, row->thoughts);
    put_tokens(usage, row->tool_use);
    put_tokens(usage, row->total);
    put_cost(usage, cost);
}

static int add_json_row(struct usage *usage, const ses_usage_row *row, const struct amount *cost)
{
    static const char *const names[] = {"appName", "userId", "sessionId", "day", "model", "invocationId"};
    const char *const texts[] = {row->app, row->user, row->session, row->day, row->model, row->invocation};
    char number[AMOUNT_ROOM];
    struct json json;

    json_begin(&json, usage->run, '{');
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (texts[i])
            json_text(&json, names[i], texts[i]);
    json_number(&json, "calls", row->calls);
    json_number(&json, "prompt", row->prompt);
    json_number(&json, "cached", row->cached);
    json_number(&json, "candidates", row->candidates);
    json_number(&json, "thoughts", row->thoughts);
    json_number(&json, "toolUse", row->tool_use);
    json_number(&json, "total", row->total);
    json_number(&json, "odd", row->odd);
    json_time(&json, "firstTime", row->first_us);
    json_time(&json, "lastTime", row->last_us);
    if (cost) {
        amount_write(cost, number);
        json_raw(&json, "cost", number, strlen(number));
    }
    return json_rows_add(&usage->rows, &json);
}

/* Notes that a model has no price, once. */
static void note_unpriced(struct usage *usage, const char *model)
{
    const struct text *models = &usage->unpriced;

    for (size_t at = 0; at < models->len; at += strlen(models->data + at) + 1)
        if (strcmp(models->data + at, model) == 0)
            return;
    text_add(&usage->unpriced, model, strlen(model) + 1);
}

static int add_row(struct usage *usage, const ses_usage_row *row)
{
    const char *const names[] = {row->app,
                                 row->user,
                                 row->session,
                                 row->day,
                                 row->model && !row->model[0] ? "(none)" : row->model,
                                 row->invocation && !row->invocation[0] ? "(none)" : row->invocation};
    struct amount cost;
    const bool has_price = prices_cost(&usage->prices, row, &cost);

    usage->count++;
    amount_add(&usage->cost, &cost);
    if (prices_given(&usage->prices) && !has_price)
        note_unpriced(usage, row->model);
    if (wants_json(usage->run))
        return add_json_row(usage, row, has_price ? &cost : NULL);
    put_row(usage, row, names, has_price ? &cost : NULL);
    return EXIT_OK;
}

/* The notes about several rows, and about odd values. */
static void put_sum(struct usage *usage, const ses_usage_row *sum)
{
    const unsigned flags = usage->options.flags;
    const char *names[6] = {NULL};
    size_t first = 0;

    while (!(flags & groupings[first].flag))
        first++;
    names[first] = "(all)";
    if (!wants_json(usage->run) && usage->count > 1)
        put_row(usage, sum, names, prices_given(&usage->prices) ? &usage->cost : NULL);
    if (sum->odd > 0)
        say("left out %s that are not integers of 0 or more", counted(sum->odd, "count"));
}

/* ------------------------------------------------------------------------------------------------- pages */

static int add_pages(struct usage *usage, const ses_key *scope)
{
    struct run *run = usage->run;
    ses_usage_rows *before = NULL; /* has the token */
    int status = EXIT_OK;

    do {
        ses_usage_rows *rows = NULL;
        if (ses_store_usage(run->store, scope, &usage->options, &rows, &run->error) != SES_OK)
            status = fail(run);
        for (size_t i = 0; status == EXIT_OK && i < ses_usage_rows_count(rows); i++)
            status = add_row(usage, ses_usage_rows_at(rows, i));
        ses_usage_rows_close(before);
        before = rows;
        usage->options.token = rows ? ses_usage_rows_token(rows) : NULL;
        if (status == EXIT_OK && !usage->options.token)
            put_sum(usage, ses_usage_rows_sum(rows));
    } while (status == EXIT_OK && usage->options.token);
    ses_usage_rows_close(before);
    return status;
}

static int choose_scope(struct run *run)
{
    return given(run, OPTION_SESSION) ? choose_session(run)
           : given(run, OPTION_USER)  ? choose_user(run)
           : given(run, OPTION_APP)   ? choose_app(run)
                                      : EXIT_OK;
}

static int keep_tally(struct run *run)
{
    const ses_tally_options options = {.size = sizeof options, .progress = progress_report};

    progress_begin("counting");
    const int code = ses_store_tally(run->store, &options, NULL, &run->error);
    progress_end();
    return code == SES_OK ? EXIT_OK : fail(run);
}

static void say_unpriced(const struct usage *usage)
{
    const struct text *models = &usage->unpriced;

    for (size_t at = 0; at < models->len; at += strlen(models->data + at) + 1)
        say("no price for %s", models->data[at] ? models->data + at : "calls without a model");
}

static int print_usage(struct usage *usage)
{
    struct run *run = usage->run;
    int status = given(run, OPTION_TALLY) ? open_to_write(run) : open_to_read(run);

    if (status == EXIT_OK)
        status = choose_scope(run);
    if (status == EXIT_OK && given(run, OPTION_TALLY))
        status = keep_tally(run);
    if (status != EXIT_OK)
        return status;
    table_begin(&usage->table, columns, sizeof columns / sizeof columns[0]);
    if (wants_json(run))
        json_rows_begin(&usage->rows, run);
    status = add_pages(usage, run->key.app ? &run->key : NULL);
    table_end(&usage->table);
    if (wants_json(run) && status == EXIT_OK)
        json_rows_end(&usage->rows);
    if (status == EXIT_OK && usage->count == 0 && !wants_json(run))
        say("no event says how many tokens a model has used");
    say_unpriced(usage);
    return status;
}

int run_usage(struct run *run)
{
    struct usage usage = {.run = run};
    int status = read_usage_options(&usage);

    if (status == EXIT_OK)
        status = print_usage(&usage);
    text_free(&usage.unpriced);
    prices_free(&usage.prices);
    free(usage.label);
    return status;
}
