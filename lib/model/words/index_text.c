#include "model/words/index_text.h"

#include "model/words/words.h"

/* A longer word is indexed by its begin. (On PostgreSQL a lexeme has at most 2 KiB.) Of a long term only so many words are
 * looked for. */
enum { INDEXED_WORD_MAX = 255, INDEXED_TERM_MAX = 20 };

static bool is_of_word(char byte)
{
    return (unsigned char)byte >= WORD_MARKS_BELOW;
}

/* Takes the next word, without its mark, and cut to what is indexed. False: there is none. */
static bool next_word(struct span *words, struct span *word)
{
    size_t len = 0;

    while (words->len > 0 && !is_of_word(*words->ptr)) {
        words->ptr++;
        words->len--;
    }
    while (len < words->len && is_of_word(words->ptr[len]))
        len++;
    *word = (struct span){words->ptr, len};
    words->ptr += len;
    words->len -= len;
    if (word->len > INDEXED_WORD_MAX) {
        word->len = INDEXED_WORD_MAX;
        while (((unsigned char)word->ptr[word->len] & 0xc0) == 0x80) /* not within a character */
            word->len--;
    }
    return len > 0;
}

void ses__index_text(const struct buffer *words, struct buffer *out)
{
    struct span left = {words->data, words->len};
    struct span word;

    ses__buffer_cut(out, 0);
    while (next_word(&left, &word)) {
        if (out->len > 0)
            ses__buffer_add(out, " ", 1);
        ses__buffer_add(out, word.ptr, word.len);
    }
}

static void add_term_query(struct span term, const struct words_syntax *syntax, struct buffer *out)
{
    struct span word;

    ses__buffer_add_word(out, syntax->term_begin);
    for (int i = 0; i < INDEXED_TERM_MAX && next_word(&term, &word); i++) {
        if (i > 0)
            ses__buffer_add_word(out, syntax->word_end);
        ses__buffer_add(out, word.ptr, word.len);
    }
    ses__buffer_add_word(out, syntax->term_end);
}

void ses__index_query(const struct terms *terms, const struct words_syntax *syntax, const char *owner,
                      struct buffer *out)
{
    ses__buffer_cut(out, 0);
    ses__buffer_add_word(out, syntax->begin);
    for (size_t i = 0; i < terms->count; i++) {
        if (i > 0)
            ses__buffer_add_word(out, terms->any ? syntax->either : syntax->both);
        add_term_query(terms->items[i], syntax, out);
    }
    ses__buffer_add_word(out, syntax->end);
    ses__buffer_add_word(out, syntax->owner_begin);
    ses__buffer_add_word(out, owner);
    ses__buffer_add_word(out, syntax->owner_end);
}

/* Without regard to the capitals of owners, which FTS5 does not keep. A word of an index that was changed may be longer than
 * any of a text: all of those are alike. */
uint64_t ses__word_weight(const struct hash_seed *seed, int64_t session_id, int64_t seq, int64_t place,
                          struct span word)
{
    enum { WORD_MAX = 300 };
    const int64_t of[] = {session_id, seq, place};
    char bytes[sizeof of + WORD_MAX];
    const size_t len = word.len < WORD_MAX ? word.len : WORD_MAX;

    memcpy(bytes, of, sizeof of);
    for (size_t i = 0; i < len; i++)
        bytes[sizeof of + i] = (char)(word.ptr[i] | (word.ptr[i] >= 'A' && word.ptr[i] <= 'Z' ? 0x20 : 0));
    return ses__hash_keyed(seed, (struct span){bytes, sizeof of + len});
}
