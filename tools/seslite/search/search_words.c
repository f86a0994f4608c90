#include "search/search_words.h"

#include <stdlib.h>
#include <string.h>

#include "seslite_search.h"
#include "store/choose.h"
#include "store/walk.h"
#include "text/times.h"

enum { HITS_AT_ONCE = 100, SNIPPET = 500 };

struct word_search {
    struct run *run;
    struct found *found;
    int64_t since_us;
    bool scans; /* without an index */
    ses_search_options options;
};

/* The hits in an app, a user or a session, as far as they were walked. */
struct scope_hits {
    char *app; /* a copy, or NULL */
    ses_key scope;
    ses_hits *hits; /* NULL at the end */
    size_t at;
    int64_t updated_us; /* of the session of the hit there; only if there are several apps */
};

/* ---------------------------------------------------------------------------------------------- the hits */

/* As the scan does, which reads a range of events. */
static bool is_in_range(const struct run *run, int64_t seq)
{
    return seq >= number_given(run, OPTION_FROM, 1) && seq <= number_given(run, OPTION_UP_TO, INT64_MAX);
}

/* Reads the hits that follow those of `own`, the first ones if it has none yet. */
static int read_hits(struct word_search *search, struct scope_hits *own)
{
    ses_hits *before = own->hits;
    int status = EXIT_OK;

    do {
        ses_hits *hits = NULL;
        search->options.token = before ? ses_hits_token(before) : NULL;
        if ((!before || search->options.token) &&
            ses_store_search(search->run->store, &own->scope, search->run->arguments[0], SES_NUL,
                             &search->options, &hits, &search->run->error) != SES_OK)
            status = fail(search->run);
        ses_hits_close(before);
        before = hits;
        search->scans = search->scans || (hits && !ses_hits_indexed(hits));
    } while (before && ses_hits_count(before) == 0);
    own->hits = before;
    own->at = 0;
    return status;
}

static int move_on(struct word_search *search, struct scope_hits *own)
{
    return ++own->at < ses_hits_count(own->hits) ? EXIT_OK : read_hits(search, own);
}

/* An event may have been cut since it was found. */
static int print_hit(struct word_search *search, const struct scope_hits *own)
{
    struct run *run = search->run;
    const ses_hit *hit = ses_hits_at(own->hits, own->at);
    const ses_key key = {own->scope.app, hit->user, hit->session};
    ses_event event = {.seq = hit->seq, .time_us = hit->time_us, .id = hit->id, .author = hit->author};
    char *json = NULL;
    int code = SES_OK;

    if (search->found->left == 0)
        return STOP;
    if (!is_in_range(run, hit->seq))
        return EXIT_OK;
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

static int search_scope(struct word_search *search, const ses_key *scope)
{
    struct scope_hits own = {.scope = *scope};
    int status = read_hits(search, &own);

    while (status == EXIT_OK && own.hits) {
        status = print_hit(search, &own);
        if (status == EXIT_OK)
            status = move_on(search, &own);
    }
    ses_hits_close(own.hits);
    return status;
}

/* ----------------------------------------------------------------------------------------------- all apps */

struct merge {
    struct word_search *search;
    struct scope_hits *apps;
    size_t count;
    size_t capacity;
};

/* Hits of a session that was deleted meanwhile come last. */
static int look_up_session(struct word_search *search, struct scope_hits *app)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const ses_get_options options = {.size = sizeof options, .range = &none};
    const ses_hit *hit = ses_hits_at(app->hits, app->at);
    const ses_key key = {app->scope.app, hit->user, hit->session};
    ses_session *session = NULL;
    const int code = ses_get(search->run->store, &key, &options, &session, &search->run->error);

    app->updated_us = code >= 0 ? ses_session_updated_us(session) : INT64_MIN;
    ses_session_close(session);
    return code < 0 && code != SES_NOTFOUND ? fail(search->run) : EXIT_OK;
}

static int add_app(void *context, const char *name)
{
    struct merge *merge = context;

    merge->apps = enlarge(merge->apps, merge->count, &merge->capacity, sizeof *merge->apps);
    struct scope_hits *app = &merge->apps[merge->count++];
    *app = (struct scope_hits){.app = copy_text(name)};
    app->scope = (ses_key){app->app, merge->search->run->key.user, NULL};
    const int status = read_hits(merge->search, app);
    return status == EXIT_OK && app->hits ? look_up_session(merge->search, app) : status;
}

/* Prints the hits in the session, and moves to the next one. */
static int print_session(struct word_search *search, struct scope_hits *app)
{
    const ses_hit *hit = ses_hits_at(app->hits, app->at);
    char *user = copy_text(hit->user);
    char *session = copy_text(hit->session);
    bool same = true;
    int status = EXIT_OK;

    while (status == EXIT_OK && same) {
        status = print_hit(search, app);
        if (status == EXIT_OK)
            status = move_on(search, app);
        hit = app->hits ? ses_hits_at(app->hits, app->at) : NULL;
        same = hit && strcmp(hit->user, user) == 0 && strcmp(hit->session, session) == 0;
    }
    free(user);
    free(session);
    return status == EXIT_OK && hit ? look_up_session(search, app) : status;
}

static struct scope_hits *find_newest(const struct merge *merge)
{
    struct scope_hits *newest = NULL;

    for (size_t i = 0; i < merge->count; i++) {
        struct scope_hits *app = &merge->apps[i];
        if (app->hits && (!newest || app->updated_us > newest->updated_us))
            newest = app;
    }
    return newest;
}

/* The sessions that were updated last come first, whatever their app. */
static int search_apps(struct word_search *search)
{
    struct merge merge = {.search = search};
    struct scope_hits *newest = NULL;
    int status = each_name(search->run, NULL, add_app, &merge);

    while (status == EXIT_OK && (newest = find_newest(&merge)) != NULL)
        status = print_session(search, newest);
    for (size_t i = 0; i < merge.count; i++) {
        ses_hits_close(merge.apps[i].hits);
        free(merge.apps[i].app);
    }
    free(merge.apps);
    return status;
}

int search_words(struct run *run, struct found *found)
{
    struct word_search search = {.run = run, .found = found};
    int status = EXIT_OK;

    search.options = (ses_search_options){.size = sizeof search.options,
                                          .flags = given(run, OPTION_LIVE) ? SES_SEARCH_LIVE : 0,
                                          .limit = HITS_AT_ONCE,
                                          .snippet_bytes = SNIPPET};
    if (given(run, OPTION_SINCE) && time_read(run->values[OPTION_SINCE], &search.since_us))
        search.options.since_us = &search.since_us;
    if (given(run, OPTION_SESSION))
        status = choose_session(run);
    if (status == EXIT_OK)
        status = run->key.app ? search_scope(&search, &run->key) : search_apps(&search);
    found->scans = search.scans;
    return status;
}
