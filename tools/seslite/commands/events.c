/* seslite events */
#include "commands/events.h"

#include <string.h>

#include "commands.h"
#include "commands/content.h"
#include "store/choose.h"
#include "store/walk.h"
#include "text/times.h"

static const struct column columns[] = {
    {"SESSION", COLOUR_BOLD, 0, 0},         {"SEQ", COLOUR_DIM, COLUMN_RIGHT, 4},
    {"TIME", COLOUR_DIM, COLUMN_TIME, 19},  {"AUTHOR", COLOUR_CYAN, COLUMN_CUT, 12},
    {"EVENT", COLOUR_NONE, COLUMN_CUT, 20},
};

void event_rows_begin(struct event_rows *rows, struct run *run, bool of_many)
{
    size_t first = of_many ? 0 : 1;

    *rows = (struct event_rows){.run = run, .of_many = of_many};
    if (wants_json(run))
        json_rows_begin(&rows->rows, run);
    else
        table_begin(&rows->table, columns + first, sizeof columns / sizeof columns[0] - first);
}

static void add_session(struct event_rows *rows, const ses_key *key)
{
    const ses_key *common = &rows->run->key;
    struct text name = {NULL, 0, 0};

    if (!common->app) {
        text_add(&name, key->app, strlen(key->app));
        text_add(&name, "/", 1);
    }
    if (!common->user) {
        text_add(&name, key->user, strlen(key->user));
        text_add(&name, "/", 1);
    }
    text_add(&name, key->session, strlen(key->session));
    table_cell(&rows->table, name.data, name.len);
    text_free(&name);
}

static int add_row(struct event_rows *rows, const ses_key *key, const ses_event *event)
{
    const struct rewind *rewind = NULL;
    struct text line = {NULL, 0, 0};
    char time[TIME_SIZE];

    if (rows->of_many)
        rewinds_free(&rows->rewinds); /* those of another session */
    const int status = rewinds_look(&rows->rewinds, rows->run, key, event, &rewind);
    if (rows->of_many)
        add_session(rows, key);
    table_number(&rows->table, event->seq);
    table_puts(&rows->table, time_text(event->time_us, time));
    table_puts(&rows->table, event->author);
    content_line(rows->run, event, rewind, &line);
    table_cell(&rows->table, line.data, line.len);
    text_free(&line);
    return status;
}

static int add_json(struct event_rows *rows, const ses_key *key, const ses_event *event)
{
    struct json json;

    if (content_check(rows->run, event) < 0) {
        say("event %lld of %s: %s", (long long)event->seq, key->session, rows->run->error.message);
        return EXIT_DAMAGED;
    }
    json_begin(&json, rows->run, '{');
    if (rows->of_many && !rows->run->key.app)
        json_text(&json, "app", key->app);
    if (rows->of_many && !rows->run->key.user)
        json_text(&json, "user", key->user);
    if (rows->of_many)
        json_text(&json, "session", key->session);
    json_number(&json, "seq", event->seq);
    json_raw(&json, "event", event->json, event->json_len);
    return json_rows_add(&rows->rows, &json);
}

int event_rows_add(struct event_rows *rows, const ses_key *key, const ses_event *event)
{
    return wants_json(rows->run) ? add_json(rows, key, event) : add_row(rows, key, event);
}

int event_rows_flush(struct event_rows *rows)
{
    if (!wants_json(rows->run))
        table_flush(&rows->table);
    return out_flush();
}

void event_rows_end(struct event_rows *rows)
{
    if (wants_json(rows->run))
        json_rows_end(&rows->rows);
    else
        table_end(&rows->table);
    rewinds_free(&rows->rewinds);
}

static int visit(void *context, const ses_event *event)
{
    struct event_rows *rows = context;
    return event_rows_add(rows, &rows->run->key, event);
}

int run_events(struct run *run)
{
    struct event_rows rows;
    ses_range range;
    int status = open_session_to_read(run);

    if (status != EXIT_OK)
        return status;
    range_given(run, &range);
    event_rows_begin(&rows, run, false);
    status = each_event(run, &run->key, &range, given(run, OPTION_REVERSE), visit, &rows);
    event_rows_end(&rows);
    return status;
}
