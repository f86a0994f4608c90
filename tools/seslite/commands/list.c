/* seslite list */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "output/json.h"
#include "output/table.h"
#include "store/choose.h"
#include "store/containing.h"
#include "store/labels.h"
#include "store/missing.h"
#include "store/sessions.h"
#include "store/walk.h"
#include "text/times.h"

static const struct column columns[] = {
    {"SESSION", COLOUR_BOLD, 0, 0},
    {"USER", COLOUR_CYAN, 0, 0},
    {"APP", COLOUR_CYAN, 0, 0},
    {"UPDATED", COLOUR_DIM, COLUMN_TIME, 0},
    {"EVENTS", COLOUR_NONE, COLUMN_RIGHT, 0},
    {"TITLE AND LABELS", COLOUR_NONE, COLUMN_CUT, 0},
};

/* The state of a listing. */
struct listing {
    struct run *run;
    struct table table;
    struct json_rows rows;
    int64_t count;
    int64_t left; /* sessions that may still be printed */
    bool more;    /* there are more */
};

/* ------------------------------------------------------------------------------------------------ filters */

/* The label's name and value are copies within `label`. */
struct filter_texts {
    char *label;
    int64_t since_us;
    int64_t before_us;
};

static void filter_given(const struct run *run, ses_filter *filter, struct filter_texts *texts)
{
    *texts = (struct filter_texts){.label = NULL};
    *filter = (ses_filter){.size = sizeof *filter, .id_prefix = run->values[OPTION_PREFIX]};
    texts->label = filter_label_given(run, filter);
    if (given(run, OPTION_SINCE) && time_read(run->values[OPTION_SINCE], &texts->since_us))
        filter->updated_since_us = &texts->since_us;
    if (given(run, OPTION_BEFORE) && time_read(run->values[OPTION_BEFORE], &texts->before_us))
        filter->updated_before_us = &texts->before_us;
}

static int order_given(const struct run *run)
{
    const char *order = given(run, OPTION_ORDER) ? run->values[OPTION_ORDER] : "newest";
    return strcmp(order, "oldest") == 0    ? SES_ORDER_OLDEST
           : strcmp(order, "created") == 0 ? SES_ORDER_CREATED
                                           : SES_ORDER_NEWEST;
}

/* --------------------------------------------------------------------------------------------------- rows */

static void add_row(struct table *table, const ses_session *session)
{
    char time[TIME_SIZE];
    struct text words = {NULL, 0, 0};
    const char *title = ses_session_title(session);

    table_puts(table, ses_session_id(session));
    table_puts(table, ses_session_user(session));
    table_puts(table, ses_session_app(session));
    table_puts(table, time_text(ses_session_updated_us(session), time));
    table_number(table, ses_session_stored(session));
    text_puts(&words, title ? title : "");
    for (size_t i = 0; i < ses_session_label_count(session); i++) {
        const ses_label *label = ses_session_label(session, i);
        text_print(&words, "%s[%s%s%s]", words.len > 0 ? " " : "", label->name, *label->value ? "=" : "",
                   label->value);
    }
    table_cell(table, words.data, words.len);
    text_free(&words);
}

static int visit(void *context, const ses_session *session)
{
    struct listing *listing = context;
    bool contains = false;
    struct json json;

    const int status = session_contains(listing->run, session, &contains);
    if (status != EXIT_OK || !contains)
        return status;
    if (listing->left == 0) {
        listing->more = true;
        return STOP;
    }
    listing->left--;
    listing->count++;
    if (!wants_json(listing->run)) {
        add_row(&listing->table, session);
        return EXIT_OK;
    }
    json_begin(&json, listing->run, '{');
    session_json(&json, session);
    return json_rows_add(&listing->rows, &json);
}

static int list_sessions(struct run *run)
{
    struct filter_texts texts;
    ses_filter filter;
    struct listing listing = {.run = run, .left = number_given(run, OPTION_LIMIT, INT64_MAX)};
    const struct sessions sessions = {order_given(run), &filter, false, visit, &listing};

    filter_given(run, &filter, &texts);
    if (wants_json(run))
        json_rows_begin(&listing.rows, run);
    else
        table_begin(&listing.table, columns, sizeof columns / sizeof columns[0]);
    int status = each_session(run, &sessions);
    if (wants_json(run))
        json_rows_end(&listing.rows);
    else
        table_end(&listing.table);
    if (listing.more && !wants_json(run))
        note("(there are more)");
    if (listing.count == 0 && status == EXIT_OK)
        (void)say_missing(run);
    free(texts.label);
    return status == STOP ? EXIT_OK : status;
}

/* -------------------------------------------------------------------------------------------------- names */

static int print_name(struct listing *listing, const char *name)
{
    struct text text = {NULL, 0, 0};
    struct json json;
    int status = EXIT_OK;

    if (listing->left == 0)
        return STOP;
    listing->left--;
    listing->count++;
    if (wants_json(listing->run)) {
        json_begin(&json, listing->run, '{');
        json_text(&json, "name", name);
        return json_rows_add(&listing->rows, &json);
    }
    text_add_clean(&text, name, strlen(name), LINES_ONE);
    out_print("%s\n", text.data);
    text_free(&text);
    return status;
}

static int visit_name_of(void *context, const char *name)
{
    return print_name(context, name);
}

static int visit_id(void *context, const ses_session *session)
{
    const struct listing *listing = context;
    bool contains = false;
    const int status = session_contains(listing->run, session, &contains);

    return status == EXIT_OK && contains ? print_name(context, ses_session_id(session)) : status;
}

static int visit_user_name(void *context, const char *app, const char *user)
{
    (void)app;
    return print_name(context, user);
}

static int list_names(struct run *run)
{
    const char *what = run->values[OPTION_NAMES];
    struct filter_texts texts;
    ses_filter filter;
    struct listing listing = {.run = run, .left = number_given(run, OPTION_LIMIT, INT64_MAX)};
    const struct sessions sessions = {order_given(run), &filter, false, visit_id, &listing};
    int status;

    filter_given(run, &filter, &texts);
    if (wants_json(run))
        json_rows_begin(&listing.rows, run);
    if (strcmp(what, "apps") == 0)
        status = each_name(run, NULL, visit_name_of, &listing);
    else if (strcmp(what, "users") == 0)
        status = each_user(run, visit_user_name, &listing);
    else
        status = each_session(run, &sessions);
    if (wants_json(run))
        json_rows_end(&listing.rows);
    if (listing.count == 0 && status == EXIT_OK)
        (void)say_missing(run);
    free(texts.label);
    return status == STOP ? EXIT_OK : status;
}

int run_list(struct run *run)
{
    if (given(run, OPTION_SESSION))
        return say_usage(run, "list takes no session: --prefix selects by id, and seslite show ID shows one");
    if (given(run, OPTION_NAMES) && given(run, OPTION_CONTAINING) &&
        strcmp(run->values[OPTION_NAMES], "sessions") != 0)
        return say_usage(run, "--containing selects sessions, not apps or users");
    int status = open_to_search(run);
    if (status != EXIT_OK)
        return status;
    return given(run, OPTION_NAMES) ? list_names(run) : list_sessions(run);
}
