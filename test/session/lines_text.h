/* JSON lines as a text that grows, and is read again. */
#ifndef SESLITE_TEST_LINES_TEXT_H
#define SESLITE_TEST_LINES_TEXT_H

#include "../open.h"

static inline int collect_lines(void *context, const char *data, size_t len, ses_error *error)
{
    (void)error;
    text_add(context, data, len);
    return 0;
}

/* A text that is given in pieces. */
struct piecewise {
    const char *data;
    size_t len;
    size_t at;
    size_t piece; /* 0: as much as is asked for */
};

static inline int give_lines(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    struct piecewise *text = context;
    size_t rest = text->len - text->at;

    (void)error;
    *len = text->piece && text->piece < capacity ? text->piece : capacity;
    if (*len > rest)
        *len = rest;
    memcpy(buffer, text->data + text->at, *len);
    text->at += *len;
    return 0;
}

/* The store as lines, or a part of it; free the data. */
static inline struct text exported(ses_store *store, const ses_export_options *options)
{
    struct text text = {NULL, 0};
    ses_error error;

    text_add(&text, "", 0);
    assert_ok(ses_store_export(store, options, collect_lines, &text, &error));
    return text;
}

static inline int import_text(ses_store *store, const char *data, size_t len, unsigned flags,
                              ses_import_report *report, ses_error *error)
{
    struct piecewise text = {.data = data, .len = len};
    const ses_import_options options = {.size = sizeof options, .flags = flags};

    report->size = sizeof *report;
    return ses_store_import(store, give_lines, &text, &options, report, error);
}

static inline ses_store *empty_store(void)
{
    ses_store *store = must_open(":memory:", NULL);
    return store;
}

static inline void assert_same_text(const struct text *left, const struct text *right)
{
    assert_int_equal(left->len, right->len);
    assert_memory_equal(left->data, right->data, left->len);
}

/* Replaces each number of that member by its place among those that came before, or by 0. */
static inline void number_members(struct text *lines, const char *member, bool by_place)
{
    struct text numbered = {NULL, 0};
    struct text known = {NULL, 0};
    const char *at = lines->data;
    const char *next;

    text_add(&known, "", 0);
    while ((next = strstr(at, member)) != NULL) {
        const char *const number = next + strlen(member);
        const size_t digits = strspn(number, "0123456789");
        char text[32];
        snprintf(text, sizeof text, "%20.*s", (int)digits, by_place ? number : ""); /* all of one width */
        if (!strstr(known.data, text))
            text_add(&known, text, strlen(text));
        text_add(&numbered, at, (size_t)(number - at));
        text_printf(&numbered, "%ld", (long)(strstr(known.data, text) - known.data));
        at = number + digits;
    }
    text_add(&numbered, at, strlen(at));
    free(known.data);
    free(lines->data);
    *lines = numbered;
}

/* Two stores that were made by the same calls give a family of forks different random numbers, and so the
 * lines of its sessions have different sums. */
static inline void number_origins(struct text *lines)
{
    number_members(lines, "\"origin\":", true);
    number_members(lines, "\"crc\":", false);
}

/* Both stores are the same, as far as lines can tell, but for the random numbers of families. */
static inline void assert_like_store(ses_store *left, ses_store *right)
{
    struct text a = exported(left, NULL);
    struct text b = exported(right, NULL);

    number_origins(&a);
    number_origins(&b);
    assert_same_text(&a, &b);
    free(a.data);
    free(b.data);
}

/* Both stores are the same, as far as lines can tell. */
static inline void assert_same_store(ses_store *left, ses_store *right)
{
    struct text a = exported(left, NULL);
    struct text b = exported(right, NULL);

    assert_same_text(&a, &b);
    free(a.data);
    free(b.data);
}

#endif
