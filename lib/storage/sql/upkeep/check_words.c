/* The index of words, as a check looks at it: it must hold the words of all events up to where it has come in
 * each session, and no others. */
#include <stdlib.h>

#include "base/error.h"
#include "storage/sql/upkeep/check.h"

/* -------------------------------------------------------------------------------------- what it must hold */

static int order_of_weights(const void *a, const void *b)
{
    uint64_t x;
    uint64_t y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void add_each_once(struct word_weights *weights)
{
    const size_t count = weights->each.len / sizeof(uint64_t);
    uint64_t last = 0;

    if (count > 0)
        qsort(weights->each.data, count, sizeof last, order_of_weights);
    for (size_t i = 0; i < count; i++) {
        uint64_t weight;
        memcpy(&weight, weights->each.data + i * sizeof weight, sizeof weight);
        if (i == 0 || weight != last)
            weights->sum += weight;
        last = weight;
    }
}

/* The index has each word of an event once. */
static void add_weights(struct word_weights *weights, int64_t session_id, int64_t seq, struct span text)
{
    const char *const end = text.ptr + text.len;

    for (const char *at = text.ptr; at < end;) {
        const char *const blank = memchr(at, ' ', (size_t)(end - at));
        const struct span word = {at, (size_t)((blank ? blank : end) - at)};
        if (word.len == 0)
            break;
        at += word.len + (blank ? 1 : 0);
        const uint64_t weight = ses__word_weight(weights->seed, session_id, seq, word);
        ses__buffer_add(&weights->each, (const char *)&weight, sizeof weight);
    }
}

int ses__check_words_add(struct check *check, const struct session_row *row, const struct event_row *event)
{
    struct word_weights *weights = &check->words;
    const struct words_engine *words = check->db->engine->words;
    const struct buffer *const text = &weights->indexing.text;
    char owners[OWNERS_MAX];
    int code = ses__index_text_take(&weights->indexing, event->body, &check->error);

    if (code != SES_OK || text->len == 0)
        return code;
    ses__buffer_cut(&weights->each, 0);
    if (words->bytes_max == 0 || text->len < words->bytes_max)
        add_weights(weights, row->id, event->seq, (struct span){text->data, text->len});
    else
        add_weights(weights, row->id, event->seq, ses__span_of("L"));
    add_weights(weights, row->id, event->seq, ses__index_owners(row, owners));
    if (weights->each.failed)
        return ses__error_nomem(&check->error);
    add_each_once(weights);
    return SES_OK;
}

/* --------------------------------------------------------------------------------------------- all of it */

/* Without FTS5, or under row security, it cannot be looked at. */
int ses__check_words_begin(struct check *check)
{
    const ses_allocator *allocator = check->db->allocator;
    bool has_feature = false;
    bool is_there = false;
    int code = ses__feature_find(check->db, WORDS_FEATURE, &has_feature, &check->error);

    if (code == SES_OK)
        code = ses__index_find(check->db, &is_there, &check->error);
    if (code == SES_OK && has_feature && !is_there)
        ses__check_found(
            check, SES_PROBLEM_INDEX, 0,
            "the tables of the index of words are missing, or were changed: make it again, by ses_store_index with SES_INDEX_REBUILD");
    if (code == SES_OK)
        code = ses__index_serves(check->db, &check->has_words, &check->error);
    check->words = (struct word_weights){.seed = &check->op->seed};
    ses__buffer_init(&check->words.indexing.words, allocator);
    ses__buffer_init(&check->words.indexing.text, allocator);
    ses__buffer_init(&check->words.each, allocator);
    if (code != SES_UNSUPPORTED)
        return ses__check_settle(check, code, SES_PROBLEM_INDEX);
    check->has_words = false;
    ses__error_clear(&check->error);
    return SES_OK;
}

int ses__check_words_of(struct check *check, const struct session_row *row, int64_t *indexed)
{
    bool current = true;

    *indexed = 0;
    return check->has_words
               ? ses__check_settle(check, ses__index_seq(check->db, row, indexed, &current, &check->error),
                                   SES_PROBLEM_INDEX)
               : SES_OK;
}

int ses__check_words_end(struct check *check, int code)
{
    struct word_weights *words = &check->words;
    uint64_t found = 0;

    if (code == SES_OK && check->has_words && !check->ended) {
        code = check->db->engine->words->weigh(check->db, words->seed, &found, &check->error);
        if (code == SES_OK && found != words->sum)
            ses__check_found(
                check, SES_PROBLEM_INDEX, 0,
                "the index of words does not hold the words of the events: make it again, by ses_store_index with SES_INDEX_REBUILD");
        code = ses__check_settle(check, code, SES_PROBLEM_INDEX);
    }
    ses__buffer_free(&words->each);
    ses__buffer_free(&words->indexing.text);
    ses__buffer_free(&words->indexing.words);
    return code;
}
