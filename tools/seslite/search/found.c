#include "search/found.h"

#include "commands/content.h"
#include "text/times.h"

enum { BEFORE = 30 /* bytes of the line that are shown before the match */ };

static const struct column columns[] = {
    {"SESSION", COLOUR_BOLD, 0, 12},         {"USER", COLOUR_CYAN, 0, 8},
    {"SEQ", COLOUR_DIM, COLUMN_RIGHT, 4},    {"TIME", COLOUR_DIM, COLUMN_TIME, 19},
    {"AUTHOR", COLOUR_CYAN, COLUMN_CUT, 12}, {"FOUND", COLOUR_NONE, COLUMN_CUT, 30},
};

/* Adds the text from a little before the match, from the beginning of a character. */
static void add_text(struct table *table, const char *text, size_t len, size_t at)
{
    struct text shown = {NULL, 0, 0};
    size_t from = at > BEFORE ? at - BEFORE : 0;
    size_t to = len - at > 500 ? at + 500 : len;

    while (from < at && from > 0 && ((unsigned char)text[from] & 0xc0) == 0x80)
        from++;
    while (to < len && ((unsigned char)text[to] & 0xc0) == 0x80)
        to++;
    if (from > 0)
        text_puts(&shown, "\xe2\x80\xa6");
    text_add(&shown, text + from, to - from);
    table_cell(table, shown.data, shown.len);
    text_free(&shown);
}

static int add_json(struct found *found, const ses_key *key, const ses_event *event)
{
    struct json json;

    if (content_check(found->run, event) < 0) {
        say("event %lld of %s: %s", (long long)event->seq, key->session, found->run->error.message);
        return EXIT_DAMAGED;
    }
    json_begin(&json, found->run, '{');
    json_text(&json, "appName", key->app);
    json_text(&json, "userId", key->user);
    json_text(&json, "session", key->session);
    json_number(&json, "seq", event->seq);
    json_raw(&json, "event", event->json, event->json_len);
    return json_rows_add(&found->rows, &json);
}

void found_begin(struct found *found, struct run *run)
{
    *found = (struct found){.run = run, .left = number_given(run, OPTION_LIMIT, INT64_MAX)};
    if (wants_json(run))
        json_rows_begin(&found->rows, run);
    else
        table_begin(&found->table, columns, sizeof columns / sizeof columns[0]);
}

int found_add(struct found *found, const ses_key *key, const ses_event *event, const char *text, size_t len,
              size_t at)
{
    char time[TIME_SIZE];

    found->count++;
    found->left--;
    if (wants_json(found->run))
        return add_json(found, key, event);
    table_puts(&found->table, key->session);
    table_puts(&found->table, key->user);
    table_number(&found->table, event->seq);
    table_puts(&found->table, time_text(event->time_us, time));
    table_puts(&found->table, event->author);
    add_text(&found->table, text, len, at);
    return EXIT_OK;
}

void found_end(struct found *found)
{
    if (wants_json(found->run))
        json_rows_end(&found->rows);
    else
        table_end(&found->table);
}
