
#include "base/error.h"
#include "model/words/words.h"
#include "seslite_search.h"

static bool is_mark(char byte)
{
    return (unsigned char)byte < WORD_MARKS_BELOW;
}

/* -------------------------------------------------------------------------------------- what is asked for */

static int too_long(ses_error *error)
{
    return ses__error_set(error, SES_LIMIT, "words: more than %d terms, or %d bytes", TERMS_MAX,
                          TERMS_MAX_BYTES);
}

/* A term ends at white space, but for a phrase. */
static size_t term_length(struct span text, bool is_phrase)
{
    size_t len = 0;

    while (len < text.len && (is_phrase || !memchr(" \t\r\n\v\f", text.ptr[len], 6)))
        len++;
    return len;
}

static int add_term(struct terms *terms, struct span text, ses_error *error)
{
    const size_t begin = terms->words.len;
    struct words words;

    ses__words_begin(&words, &terms->words);
    ses__words_add_text(&words, text);
    if (terms->words.len == begin)
        return SES_OK;
    if (terms->count == TERMS_MAX)
        return too_long(error);
    /* The buffer may move: until all are there, a term is where it begins. */
    terms->items[terms->count++] = (struct span){NULL, terms->words.len - begin - 1};
    return SES_OK;
}

int ses__terms_take(struct terms *terms, struct span text, unsigned flags, const ses_allocator *allocator,
                    ses_error *error)
{
    int code = text.len > TERMS_MAX_BYTES ? too_long(error) : SES_OK;

    *terms = (struct terms){.any = (flags & SES_SEARCH_ANY) != 0};
    ses__buffer_init(&terms->words, allocator);
    while (code == SES_OK && text.len > 0) {
        const size_t len = term_length(text, (flags & SES_SEARCH_PHRASE) != 0);
        const size_t next = len < text.len ? len + 1 : len;
        code = add_term(terms, (struct span){text.ptr, len}, error);
        text = (struct span){text.ptr + next, text.len - next};
    }
    if (code == SES_OK && terms->words.failed)
        code = ses__error_nomem(error);
    if (code == SES_OK && terms->count == 0)
        code = ses__error_set(error, SES_INVALID, "words: there is no word to search for");
    const char *at = terms->words.data;
    for (size_t i = 0; i < terms->count && code == SES_OK; i++) {
        terms->items[i].ptr = at + 1;
        at += terms->items[i].len + 1;
    }
    return code;
}

void ses__terms_free(struct terms *terms)
{
    ses__buffer_free(&terms->words);
}

/* ----------------------------------------------------------------------------------------------- matching */

static bool find_term(struct span term, const struct buffer *words, size_t *place)
{
    const char *const end = words->data + words->len;

    for (const char *at = words->data + 1; at < end && (size_t)(end - at) >= term.len; at++) {
        at = memchr(at, term.ptr[0], (size_t)(end - at) - term.len + 1);
        if (!at)
            return false;
        if (is_mark(at[-1]) && memcmp(at, term.ptr, term.len) == 0 &&
            (at + term.len == end || is_mark(at[term.len]))) {
            *place = (size_t)(at - 1 - words->data);
            return true;
        }
    }
    return false;
}

size_t ses__terms_match(const struct terms *terms, const struct buffer *words, size_t *place)
{
    size_t found = 0;

    *place = words->len;
    for (size_t i = 0; i < terms->count && words->len > 0; i++) {
        size_t at = words->len;
        if (find_term(terms->items[i], words, &at)) {
            found++;
            *place = at < *place ? at : *place;
        } else if (!terms->any) {
            return 0;
        }
    }
    return found;
}
