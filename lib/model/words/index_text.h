/* The words of events and of searches, in the form in which an engine's index of words takes them: with a blank between
 * them. What an index finds with it contains all that is searched for, and more: each event is looked at again. */
#ifndef SESLITE_MODEL_WORDS_INDEX_TEXT_H
#define SESLITE_MODEL_WORDS_INDEX_TEXT_H

#include "base/hash.h"
#include "model/words/terms.h"

/* How an engine writes what it looks for. */
struct words_syntax {
    const char *begin; /* of all terms ... */
    const char *end;
    const char *term_begin; /* ... and of one, whose words follow each other, if the engine can say so */
    const char *word_end;   /* between two of them */
    const char *term_end;
    const char *both;        /* between two terms of which both are there, ... */
    const char *either;      /* ... or one */
    const char *owner_begin; /* after all terms: whose events */
    const char *owner_end;
};

/* Replaces `out` by the words (see words.h). */
SESLITE_PRIVATE void ses__index_text(const struct buffer *words, struct buffer *out);
/* Replaces it by what finds the terms in the events of an owner. */
SESLITE_PRIVATE void ses__index_query(const struct terms *terms, const struct words_syntax *syntax,
                                      const char *owner, struct buffer *out);

/* A check compares the words of an index with those of the events by the sum of their weights. The weight of a word is its
 * hash with its event and its place in there, so no order and no memory is needed. */
enum { PLACE_OF_OWNERS = -1 }; /* of the words that name the owners */
SESLITE_PRIVATE uint64_t ses__word_weight(const struct hash_seed *seed, int64_t session_id, int64_t seq,
                                          int64_t place, struct span word);

#endif
