/* seslite search: a plain scan of all events. */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "commands/content.h"
#include "output/json.h"
#include "output/progress.h"
#include "output/table.h"
#include "store/choose.h"
#include "store/missing.h"
#include "store/walk.h"
#include "text/times.h"

enum { BEFORE = 30 /* bytes of the line that are shown before the match */ };

static const struct column columns[] = {
    {"SESSION", COLOUR_BOLD, 0, 12},         {"USER", COLOUR_CYAN, 0, 8},
    {"SEQ", COLOUR_DIM, COLUMN_RIGHT, 4},    {"TIME", COLOUR_DIM, COLUMN_TIME, 19},
    {"AUTHOR", COLOUR_CYAN, COLUMN_CUT, 12}, {"FOUND", COLOUR_NONE, COLUMN_CUT, 30},
};

struct search {
    struct run *run;
    const char *wanted;
    size_t wanted_len;
    bool ignore_case;
    struct table table;
    struct json_rows rows;
    struct text line; /* the content of the current event */
    int64_t left;     /* hits that may still be printed */
    int64_t found;
    int64_t done; /* sessions searched so far */
    int64_t total;
    int64_t last_seq; /* of the current session */
    ses_key key;      /* of the current session */
};

/* ---------------------------------------------------------------------------------------------- comparing */

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool same(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (lower(a[i]) != lower(b[i]))
            return false;
    return true;
}

/* The offset of the match, or `len`. */
static size_t find(const struct search *search, const char *text, size_t len)
{
    const char *wanted = search->wanted;

    for (size_t at = 0; at + search->wanted_len <= len; at++) {
        if (!search->ignore_case) {
            const char *first = memchr(text + at, wanted[0], len - at - search->wanted_len + 1);
            if (!first)
                return len;
            at = (size_t)(first - text);
            if (memcmp(first, wanted, search->wanted_len) == 0)
                return at;
        } else if (same(text + at, wanted, search->wanted_len)) {
            return at;
        }
    }
    return len;
}

/* --------------------------------------------------------------------------------------------------- hits */

/* Adds the text from a little before the match, from the beginning of a character. */
static void add_found(struct table *table, const char *text, size_t len, size_t at)
{
    struct text found = {NULL, 0, 0};
    size_t from = at > BEFORE ? at - BEFORE : 0;
    size_t to = len - at > 500 ? at + 500 : len;

    while (from < at && from > 0 && ((unsigned char)text[from] & 0xc0) == 0x80)
        from++;
    while (to < len && ((unsigned char)text[to] & 0xc0) == 0x80)
        to++;
    if (from > 0)
        text_puts(&found, "\xe2\x80\xa6");
    text_add(&found, text + from, to - from);
    table_cell(table, found.data, found.len);
    text_free(&found);
}

static int add_json(struct search *search, const ses_event *event)
{
    struct json json;

    if (content_check(search->run, event) < 0) {
        say("event %lld of %s: %s", (long long)event->seq, search->key.session, search->run->error.message);
        return EXIT_DAMAGED;
    }
    json_begin(&json, search->run, '{');
    json_text(&json, "appName", search->key.app);
    json_text(&json, "userId", search->key.user);
    json_text(&json, "session", search->key.session);
    json_number(&json, "seq", event->seq);
    json_raw(&json, "event", event->json, event->json_len);
    return json_rows_add(&search->rows, &json);
}

static int add_hit(struct search *search, const ses_event *event, const char *text, size_t len, size_t at)
{
    char time[TIME_SIZE];

    search->found++;
    search->left--;
    if (wants_json(search->run))
        return add_json(search, event);
    table_puts(&search->table, search->key.session);
    table_puts(&search->table, search->key.user);
    table_number(&search->table, event->seq);
    table_puts(&search->table, time_text(event->time_us, time));
    table_puts(&search->table, event->author);
    add_found(&search->table, text, len, at);
    return EXIT_OK;
}

/* ----------------------------------------------------------------------------------------------- the scan */

/* Searches the content first, then the event as stored, which contains everything else. */
static int visit_event_of(void *context, const ses_event *event)
{
    struct search *search = context;
    int64_t share = search->last_seq > 0 ? event->seq * 1000 / search->last_seq : 0;

    progress_set(search->done * 1000 + share, search->total * 1000);
    if (search->left == 0)
        return STOP;
    text_clear(&search->line);
    content_line(search->run, event, &search->line);
    size_t at = find(search, search->line.data, search->line.len);
    if (at < search->line.len)
        return add_hit(search, event, search->line.data, search->line.len, at);
    at = find(search, event->json, event->json_len);
    return at < event->json_len ? add_hit(search, event, event->json, event->json_len, at) : EXIT_OK;
}

static int scan(struct search *search)
{
    ses_range range;

    range_given(search->run, &range);
    int status = each_event(search->run, &search->key, &range, false, visit_event_of, search);
    search->done++;
    return status;
}

/* A session deleted, or events cut, during the search are not an error. */
static int visit_session_of(void *context, const ses_session *session)
{
    struct search *search = context;

    search->key = (ses_key){ses_session_app(session), ses_session_user(session), ses_session_id(session)};
    search->last_seq = ses_session_last_seq(session);
    int status = scan(search);
    return status == EXIT_NOTFOUND || status == EXIT_STALE ? EXIT_OK : status;
}

static int search_all(struct search *search)
{
    const struct sessions sessions = {SES_ORDER_CREATED, NULL, false, visit_session_of, search};
    int status = count_sessions(search->run, &sessions, &search->total);

    return status == EXIT_OK ? each_session(search->run, &sessions) : status;
}

static int search_one(struct search *search)
{
    int status = choose_session(search->run);

    if (status != EXIT_OK)
        return status;
    search->key = search->run->key;
    search->total = 1;
    return scan(search);
}

int run_search(struct run *run)
{
    struct search search = {.run = run,
                            .wanted = run->arguments[0],
                            .wanted_len = strlen(run->arguments[0]),
                            .ignore_case = given(run, OPTION_IGNORE_CASE),
                            .left = number_given(run, OPTION_LIMIT, INT64_MAX)};

    if (search.wanted_len == 0)
        return say_usage(run, "the text to search for is empty");
    int status = open_to_read(run);
    if (status != EXIT_OK)
        return status;
    if (wants_json(run))
        json_rows_begin(&search.rows, run);
    else
        table_begin(&search.table, columns, sizeof columns / sizeof columns[0]);
    progress_begin("searching");
    status = given(run, OPTION_SESSION) ? search_one(&search) : search_all(&search);
    progress_end();
    if (wants_json(run))
        json_rows_end(&search.rows);
    else
        table_end(&search.table);
    text_free(&search.line);
    if (status == EXIT_OK || status == STOP)
        status = search.found > 0 ? EXIT_OK : EXIT_NOTFOUND;
    if (search.found == 0 && status == EXIT_NOTFOUND && !given(run, OPTION_SESSION))
        (void)say_missing(run);
    return status;
}
