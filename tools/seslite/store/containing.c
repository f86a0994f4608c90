#include "store/containing.h"

#include <string.h>

#include "output/out.h"
#include "seslite_search.h"

enum { HITS_OF_PAGE = 1000 };

/* NULL: there are none, or `*status` says why not. */
static ses_hits *find_words(struct run *run, const ses_key *key, size_t limit, const char *token, int *status)
{
    const ses_search_options options = {.size = sizeof options, .limit = limit, .token = token};
    ses_hits *hits = NULL;
    const int code = ses_store_search(run->store, key, run->values[OPTION_CONTAINING], SES_NUL, &options,
                                      &hits, &run->error);

    *status = code < 0 && code != SES_NOTFOUND ? fail(run) : EXIT_OK;
    return hits;
}

int session_contains(struct run *run, const ses_session *session, bool *contains)
{
    const ses_key key = {ses_session_app(session), ses_session_user(session), ses_session_id(session)};
    int status = EXIT_OK;

    *contains = true;
    if (!given(run, OPTION_CONTAINING))
        return EXIT_OK;
    ses_hits *hits = find_words(run, &key, 1, NULL, &status);
    *contains = hits && ses_hits_count(hits) > 0;
    ses_hits_close(hits);
    return status;
}

static void keep_seqs(struct containing *own, const ses_hits *hits)
{
    for (size_t i = 0; i < ses_hits_count(hits); i++)
        text_add(&own->seqs, (const char *)&ses_hits_at(hits, i)->seq, sizeof(int64_t));
}

int containing_find(struct run *run, struct containing *own)
{
    const char *token = NULL;
    ses_hits *before = NULL; /* has the token */
    int status = EXIT_OK;

    *own = (struct containing){.all = !given(run, OPTION_CONTAINING)};
    if (own->all)
        return EXIT_OK;
    do {
        ses_hits *hits = find_words(run, &run->key, HITS_OF_PAGE, token, &status);
        ses_hits_close(before);
        before = hits;
        if (hits)
            keep_seqs(own, hits);
        token = hits ? ses_hits_token(hits) : NULL;
    } while (token);
    ses_hits_close(before);
    return status;
}

/* The smallest number that is left; INT64_MAX: none is. */
static int64_t next_seq(const struct containing *own)
{
    int64_t seq = INT64_MAX;

    if (own->seqs.len > 0)
        memcpy(&seq, own->seqs.data + own->seqs.len - sizeof seq, sizeof seq);
    return seq;
}

bool containing_take(struct containing *own, int64_t seq)
{
    while (next_seq(own) < seq)
        own->seqs.len -= sizeof seq;
    return own->all || next_seq(own) == seq;
}

void containing_free(struct containing *own)
{
    text_free(&own->seqs);
}
