#include "search/search_words.h"

#include <stdio.h>

#include "seslite_search.h"
#include "store/choose.h"
#include "store/walk.h"
#include "text/times.h"

enum { HITS_AT_ONCE = 100, SNIPPET = 500 };

struct word_search {
    struct run *run;
    struct found *found;
    ses_key scope;
    int64_t since_us;
    int64_t before_us;
    bool scans; /* without an index */
    ses_search_options options;
};

/* As the scan does, which reads a range of events. */
static bool is_in_range(const struct run *run, int64_t seq)
{
    return seq >= number_given(run, OPTION_FROM, 1) && seq <= number_given(run, OPTION_UP_TO, INT64_MAX);
}

/* An event may have been cut since it was found. */
static int print_hit(struct word_search *search, const ses_hit *hit)
{
    struct run *run = search->run;
    const ses_key key = {search->scope.app, hit->user, hit->session};
    ses_event event = {.seq = hit->seq, .time_us = hit->time_us, .id = hit->id, .author = hit->author};
    char *json = NULL;
    int code = SES_OK;

    if (wants_json(run))
        code =
            ses_event_get_by_key(run->store, &key, hit->id, NULL, NULL, &json, &event.json_len, &run->error);
    if (code < 0 && code != SES_NOTFOUND)
        return fail(run);
    event.json = json;
    const int status = code == SES_OK ? found_add(search->found, &key, &event, hit->snippet, hit->snippet_len,
                                                  hit->snippet_found)
                                      : EXIT_OK;
    ses_free(json);
    return status;
}

static int print_hits(struct word_search *search, const ses_hits *hits)
{
    int status = EXIT_OK;

    for (size_t i = 0; status == EXIT_OK && i < ses_hits_count(hits); i++) {
        const ses_hit *hit = ses_hits_at(hits, i);
        if (search->found->left == 0)
            return STOP;
        if (is_in_range(search->run, hit->seq))
            status = print_hit(search, hit);
    }
    return status;
}

static int search_pages(struct word_search *search)
{
    struct run *run = search->run;
    ses_hits *before = NULL; /* has the token */
    int status = EXIT_OK;

    search->options.token = NULL;
    do {
        ses_hits *hits = NULL;
        if (ses_store_search(run->store, &search->scope, run->arguments[0], SES_NUL, &search->options, &hits,
                             &run->error) != SES_OK)
            status = fail(run);
        ses_hits_close(before);
        before = hits;
        if (hits) {
            search->scans = search->scans || !ses_hits_indexed(hits);
            status = print_hits(search, hits);
        }
        search->options.token = hits ? ses_hits_token(hits) : NULL;
    } while (status == EXIT_OK && search->options.token);
    ses_hits_close(before);
    return status;
}

static int search_app(void *context, const char *app)
{
    struct word_search *search = context;

    search->scope = (ses_key){app, search->run->key.user, NULL};
    return search_pages(search);
}

static int search_session(struct word_search *search)
{
    const int status = choose_session(search->run);

    search->scope = search->run->key;
    return status == EXIT_OK ? search_pages(search) : status;
}

int search_words(struct run *run, struct found *found)
{
    struct word_search search = {.run = run, .found = found};

    search.options = (ses_search_options){.size = sizeof search.options,
                                          .flags = given(run, OPTION_LIVE) ? SES_SEARCH_LIVE : 0,
                                          .limit = HITS_AT_ONCE,
                                          .snippet_bytes = SNIPPET};
    if (given(run, OPTION_SINCE) && time_read(run->values[OPTION_SINCE], &search.since_us))
        search.options.since_us = &search.since_us;
    const int status = given(run, OPTION_SESSION) ? search_session(&search)
                       : run->key.app             ? search_app(&search, run->key.app)
                                                  : each_name(run, NULL, search_app, &search);
    found->scans = search.scans;
    return status;
}
