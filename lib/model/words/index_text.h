/*
 * The words of events and of searches, in the form in which an engine's index takes them: with a blank
 * between them. An index may find more events than match a search, so each event is looked at again.
 *
 * An index does not know the order of words. In a script without spaces, where each character is a word, the
 * index therefore gets, for each character, a run of characters that begins with it: three in scripts with
 * few letters (kana, Thai, ...), otherwise two, or fewer at the end. A search for fewer characters looks for
 * all runs that begin with them.
 */
#ifndef SESLITE_MODEL_WORDS_INDEX_TEXT_H
#define SESLITE_MODEL_WORDS_INDEX_TEXT_H

#include "base/hash.h"
#include "model/words/words.h"

/* How an engine writes what it looks for. */
struct words_syntax {
    const char *begin; /* of all terms ... */
    const char *end;
    const char *term_begin; /* ... of one, ... */
    const char *term_end;
    const char *word_begin; /* ... and of a word in it, ... */
    const char *word_end;
    const char *prefix_end; /* ... or of the begin of one */
    const char *both;       /* between two of which both are there, ... */
    const char *either;     /* ... or one */
};

/* Replaces `out` by the words (see words.h). */
SESLITE_PRIVATE void ses__index_text(const struct buffer *words, struct buffer *out);
/* Replaces `out` by what finds the terms where the mark of an owner is. */
SESLITE_PRIVATE void ses__index_query(const struct terms *terms, const struct words_syntax *syntax,
                                      const char *owner, struct buffer *out);

/* A check compares the words of an index with those of the events by the sum of their weights. The weight of
 * a word is its hash with its event, so no order and no memory is needed. */
SESLITE_PRIVATE uint64_t ses__word_weight(const struct hash_seed *seed, int64_t session_id, int64_t seq,
                                          struct span word);

#endif
