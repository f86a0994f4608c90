/*
 * The words of events and of searches, in the form in which an engine's index of words takes them: with a blank between
 * them. What an index finds with it contains all that is searched for, and more: each event is looked at again.
 *
 * An index does not know the order of words. In a script without spaces, where each character is one, what is indexed from each
 * of them on is several that follow each other: three where these are of scripts with few letters (kana, Thai, ...), else two, or
 * as many as there are. So a search for fewer looks for what begins with them.
 */
#ifndef SESLITE_MODEL_WORDS_INDEX_TEXT_H
#define SESLITE_MODEL_WORDS_INDEX_TEXT_H

#include "base/hash.h"
#include "model/words/terms.h"

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

/* A check compares the words of an index with those of the events by the sum of their weights. The weight of a word is its
 * hash with its event, so no order and no memory is needed. */
SESLITE_PRIVATE uint64_t ses__word_weight(const struct hash_seed *seed, int64_t session_id, int64_t seq,
                                          struct span word);

#endif
