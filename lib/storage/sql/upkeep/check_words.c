/* The index of words, as a check looks at it: it must hold the words of all events up to where it has come in each session, and
 * no others. */
#include <stdlib.h>

#include "base/error.h"
#include "storage/sql/upkeep/check.h"

/* ----------------------------------------------------------------------------------------- what it must hold */

static void init_weights(struct word_weights *weights, const struct hash_seed *seed,
                         const ses_allocator *allocator)
{
    *weights = (struct word_weights){.seed = seed};
    ses__buffer_init(&weights->indexing.words, allocator);
    ses__buffer_init(&weights->indexing.text, allocator);
    ses__buffer_init(&weights->each, allocator);
}

static void free_weights(struct word_weights *weights)
{
    ses__buffer_free(&weights->each);
    ses__buffer_free(&weights->indexing.text);
    ses__buffer_free(&weights->indexing.words);
}

static bool next_indexed_word(struct span *text, struct span *word)
{
    const char *const blank = text->len > 0 ? memchr(text->ptr, ' ', text->len) : NULL;

    *word = (struct span){text->ptr, blank ? (size_t)(blank - text->ptr) : text->len};
    const size_t taken = word->len + (blank ? 1 : 0);
    text->ptr += taken;
    text->len -= taken;
    return word->len > 0;
}

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
    struct span word;

    while (next_indexed_word(&text, &word)) {
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

static int find_checked_index(struct check *check)
{
    bool has_feature = false;
    bool is_there = false;
    int code = ses__feature_find(check->db, WORDS_FEATURE, &has_feature, &check->error);

    if (code == SES_OK)
        code = ses__index_find(check->db, &is_there, &check->error);
    if (code == SES_OK && has_feature && !is_there)
        ses__check_found(
            check, SES_PROBLEM_INDEX, 0,
            "the tables of the index of words are missing, or were changed: make it again, by ses_store_index with SES_INDEX_REBUILD");
    return code == SES_OK ? ses__index_serves(check->db, &check->has_words, &check->error) : code;
}

/* Without FTS5, or under row security, it cannot be looked at. */
int ses__check_words_begin(struct check *check)
{
    const int code = find_checked_index(check);

    init_weights(&check->words, &check->op->seed, check->db->allocator);
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

static int compare_words(struct check *check)
{
    uint64_t found = 0;
    const int code = check->db->engine->words->weigh(check->db, &check->op->seed, &found, &check->error);

    if (code == SES_OK && found != check->words.sum)
        ses__check_found(
            check, SES_PROBLEM_INDEX, 0,
            "the index of words does not hold the words of the events: make it again, by ses_store_index with SES_INDEX_REBUILD");
    return ses__check_settle(check, code, SES_PROBLEM_INDEX);
}

int ses__check_words_end(struct check *check, int code)
{
    if (code == SES_OK && check->has_words && !check->ended)
        code = compare_words(check);
    free_weights(&check->words);
    return code;
}
