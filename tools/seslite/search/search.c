/* seslite search: all events are read for a text, in the order in which the library finds words; for words an
 * index is asked if there is one. */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "commands/content.h"
#include "search/found.h"
#include "search/search_words.h"
#include "output/progress.h"
#include "store/choose.h"
#include "store/missing.h"
#include "store/walk.h"

/* A session that is to be searched. */
struct noted {
    char *app;
    char *user;
    char *session;
    int64_t updated_us;
    int64_t last_seq;
};

struct search {
    struct run *run;
    const char *wanted;
    size_t wanted_len;
    bool ignore_case;
    struct found found;
    struct text line; /* the content of the current event */
    int64_t done;     /* sessions searched so far */
    int64_t total;
    int64_t last_seq; /* of the current session */
    ses_key key;      /* of the current session */
    struct noted *noted;
    size_t noted_count;
    size_t noted_capacity;
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

/* ----------------------------------------------------------------------------------------------- the scan */

/* Searches the content first, then the event as stored, which contains everything else. */
static int visit_event_of(void *context, const ses_event *event)
{
    struct search *search = context;
    int64_t share = search->last_seq > 0 ? (search->last_seq - event->seq) * 1000 / search->last_seq : 0;

    progress_set(search->done * 1000 + share, search->total * 1000);
    if (search->found.left == 0)
        return STOP;
    text_clear(&search->line);
    content_line(search->run, event, NULL, &search->line);
    size_t at = find(search, search->line.data, search->line.len);
    if (at < search->line.len)
        return found_add(&search->found, &search->key, event, search->line.data, search->line.len, at);
    at = find(search, event->json, event->json_len);
    return at < event->json_len
               ? found_add(&search->found, &search->key, event, event->json, event->json_len, at)
               : EXIT_OK;
}

static int scan(struct search *search)
{
    ses_range range;

    range_given(search->run, &range);
    int status = each_event(search->run, &search->key, &range, true, visit_event_of, search);
    search->done++;
    return status;
}

/* Lists them in order of creation, since one that is updated meanwhile must not move out of the walk. */
static int note_session(void *context, const ses_page *page, size_t at)
{
    const ses_session *session = ses_page_session(page, at);
    struct search *search = context;

    search->noted =
        enlarge(search->noted, search->noted_count, &search->noted_capacity, sizeof *search->noted);
    search->noted[search->noted_count++] = (struct noted){.app = copy_text(ses_session_app(session)),
                                                          .user = copy_text(ses_session_user(session)),
                                                          .session = copy_text(ses_session_id(session)),
                                                          .updated_us = ses_session_updated_us(session),
                                                          .last_seq = ses_session_last_seq(session)};
    return EXIT_OK;
}

/* The last updated first, as ses_store_search finds them. */
static int compare_noted(const void *left, const void *right)
{
    const struct noted *a = left;
    const struct noted *b = right;

    if (a->updated_us != b->updated_us)
        return a->updated_us > b->updated_us ? -1 : 1;
    return strcmp(a->session, b->session);
}

/* A session deleted, or events cut, during the search are not an error. */
static int scan_noted(struct search *search, const struct noted *noted)
{
    search->key = (ses_key){noted->app, noted->user, noted->session};
    search->last_seq = noted->last_seq;
    const int status = scan(search);
    return status == EXIT_NOTFOUND || status == EXIT_STALE ? EXIT_OK : status;
}

static int search_all(struct search *search)
{
    const struct sessions sessions = {.order = SES_ORDER_CREATED, .visit = note_session, .context = search};
    int status = each_session(search->run, &sessions);

    search->total = (int64_t)search->noted_count;
    if (search->noted_count > 0)
        qsort(search->noted, search->noted_count, sizeof *search->noted, compare_noted);
    for (size_t i = 0; i < search->noted_count; i++) {
        if (status == EXIT_OK)
            status = scan_noted(search, &search->noted[i]);
        free(search->noted[i].app);
        free(search->noted[i].user);
        free(search->noted[i].session);
    }
    free(search->noted);
    return status;
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

static int scan_for_text(struct run *run, struct search *search)
{
    int status = given(run, OPTION_SESSION) ? search_one(search) : search_all(search);

    text_free(&search->line);
    return status;
}

int run_search(struct run *run)
{
    struct search search = {.run = run,
                            .wanted = run->arguments[0],
                            .wanted_len = strlen(run->arguments[0]),
                            .ignore_case = given(run, OPTION_IGNORE_CASE)};

    if (search.wanted_len == 0)
        return say_usage(run, "the text to search for is empty");
    int status = open_to_search(run);
    if (status != EXIT_OK)
        return status;
    found_begin(&search.found, run);
    progress_begin("searching");
    status = given(run, OPTION_WORDS) ? search_words(run, &search.found) : scan_for_text(run, &search);
    progress_end();
    found_end(&search.found);
    if (search.found.scans && !wants_json(run))
        note(
            "The events were read: there is no index of words, or none that is up to date. Make it with: seslite index");
    if (status == EXIT_OK || status == STOP)
        status = search.found.count > 0 ? EXIT_OK : EXIT_NOTFOUND;
    if (search.found.count == 0 && status == EXIT_NOTFOUND && !given(run, OPTION_SESSION))
        (void)say_missing(run);
    return status;
}
