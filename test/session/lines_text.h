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
    ses_store *store = NULL;
    ses_error error;

    assert_ok(ses_open(":memory:", NULL, &store, &error));
    return store;
}

static inline void assert_same_text(const struct text *left, const struct text *right)
{
    assert_int_equal(left->len, right->len);
    assert_memory_equal(left->data, right->data, left->len);
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
