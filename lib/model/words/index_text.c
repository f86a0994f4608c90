#include "model/words/index_text.h"

#include "base/utf8.h"
#include "model/words/words.h"

/* A longer word is indexed by its begin. (On PostgreSQL a lexeme has at most 2 KiB.) A search looks for no
 * more than the first words of a long term. */
enum { INDEXED_WORD_MAX = 255, INDEXED_TERM_MAX = 20 };

static bool is_of_word(char byte)
{
    return (unsigned char)byte >= WORD_MARKS_BELOW;
}

/* Takes the next word, cut to what is indexed, and the mark before it (of the first word of a term: any).
 * False: there is none. */
static bool next_word(struct span *words, char *mark, struct span *word)
{
    size_t len = 0;

    *mark = WORD_OF_NEXT;
    while (words->len > 0 && !is_of_word(*words->ptr)) {
        *mark = *words->ptr;
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

/* ------------------------------------------------------------------------------ what is indexed of a text */

/* From here on are Han and Hangul, below it kana and the scripts of Southeast Asia. */
enum { MANY_LETTERS_FROM = 0x3400 };

/* A word that is one character of a script without spaces. */
struct letter {
    struct span text;
    bool is_of_few; /* its script has few of them */
};

/* The words of a text, or of a term, under way. */
struct indexed {
    struct buffer *out;
    const struct words_syntax *syntax; /* of a term; NULL: it is a text */
    int count;                         /* words of a term that were added */
    struct letter run[3];              /* the last letters that follow each other */
    size_t run_length;
    size_t before; /* the number of letters that were added last, from the one before these on; 0: none */
};

static void add_letters(struct indexed *indexed, const struct letter *letters, size_t count, const char *end)
{
    struct buffer *const out = indexed->out;
    const struct words_syntax *const syntax = indexed->syntax;

    if (syntax && indexed->count++ >= INDEXED_TERM_MAX)
        return;
    if (!syntax && out->len > 0)
        ses__buffer_add(out, " ", 1);
    if (syntax && indexed->count > 1)
        ses__buffer_add_word(out, syntax->both);
    if (syntax)
        ses__buffer_add_word(out, syntax->word_begin);
    for (size_t i = 0; i < count; i++)
        ses__buffer_add(out, letters[i].text.ptr, letters[i].text.len);
    ses__buffer_add_word(out, end);
}

/* In a text more letters may follow, so what is looked for is what begins with the last ones. */
static void add_end(struct indexed *indexed, const struct letter *letters, size_t count)
{
    const bool may_go_on = count == 1 || (letters[0].is_of_few && letters[1].is_of_few);

    if (!indexed->syntax)
        add_letters(indexed, letters, count, "");
    else if (indexed->before <= count) /* else those before have them, too */
        add_letters(indexed, letters, count,
                    may_go_on ? indexed->syntax->prefix_end : indexed->syntax->word_end);
    indexed->before = count;
}

static void end_run(struct indexed *indexed)
{
    if (indexed->run_length == 2)
        add_end(indexed, indexed->run, 2);
    if (indexed->run_length > 0)
        add_end(indexed, &indexed->run[indexed->run_length - 1], 1);
    indexed->run_length = 0;
    indexed->before = 0;
}

static void add_first_of_run(struct indexed *indexed)
{
    struct letter *const run = indexed->run;
    const bool are_three = run[0].is_of_few && run[1].is_of_few && run[2].is_of_few;

    indexed->before = are_three ? 3 : 2;
    add_letters(indexed, run, indexed->before, indexed->syntax ? indexed->syntax->word_end : "");
    run[0] = run[1];
    run[1] = run[2];
    indexed->run_length = 2;
}

static void add_indexed_word(struct indexed *indexed, char mark, struct span word)
{
    const size_t len = ses__utf8_character(word.ptr, word.ptr + word.len);
    const uint32_t character = len > 0 ? ses__utf8_decode(word.ptr, len) : 0;
    const bool is_letter = len == word.len && ses__character_kind(character) == CHARACTER_ALONE;
    const struct letter letter = {word, character < MANY_LETTERS_FROM};

    if (mark != WORD_JOINED || !is_letter)
        end_run(indexed);
    if (is_letter)
        indexed->run[indexed->run_length++] = letter;
    else
        add_letters(indexed, &letter, 1, indexed->syntax ? indexed->syntax->word_end : "");
    if (indexed->run_length == 3)
        add_first_of_run(indexed);
}

static void add_indexed(struct indexed *indexed, struct span words)
{
    struct span word;
    char mark;

    while (words.len > 0 && next_word(&words, &mark, &word))
        add_indexed_word(indexed, mark, word);
    end_run(indexed);
}

void ses__index_text(const struct buffer *words, struct buffer *out)
{
    struct indexed indexed = {.out = out};

    ses__buffer_cut(out, 0);
    add_indexed(&indexed, (struct span){words->data, words->len});
}

void ses__index_query(const struct terms *terms, const struct words_syntax *syntax, const char *owner,
                      struct buffer *out)
{
    ses__buffer_cut(out, 0);
    ses__buffer_add_word(out, syntax->begin);
    for (size_t i = 0; i < terms->count; i++) {
        struct indexed indexed = {.out = out, .syntax = syntax};
        if (i > 0)
            ses__buffer_add_word(out, terms->any ? syntax->either : syntax->both);
        ses__buffer_add_word(out, syntax->term_begin);
        add_indexed(&indexed, terms->items[i]);
        ses__buffer_add_word(out, syntax->term_end);
    }
    ses__buffer_add_word(out, syntax->end);
    ses__buffer_add_word(out, syntax->both);
    ses__buffer_add_word(out, syntax->word_begin);
    ses__buffer_add_word(out, owner);
    ses__buffer_add_word(out, syntax->word_end);
}

/* A word of an index that was changed may be longer than any of a text: all of those are alike. */
uint64_t ses__word_weight(const struct hash_seed *seed, int64_t session_id, int64_t seq, struct span word)
{
    enum { WORD_MAX = 300 };
    const int64_t of[] = {session_id, seq};
    char bytes[sizeof of + WORD_MAX];
    const size_t len = word.len < WORD_MAX ? word.len : WORD_MAX;

    memcpy(bytes, of, sizeof of);
    if (len > 0)
        memcpy(bytes + sizeof of, word.ptr, len);
    return ses__hash_keyed(seed, (struct span){bytes, sizeof of + len});
}
