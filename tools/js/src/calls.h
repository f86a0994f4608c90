/*
 * The calls that JavaScript makes (tools/js/lib). They are those of the headers, with flat arguments: a
 * pointer to a text ends in a NUL unless a length follows, and 0 is NULL. A result is put into `out`, whose
 * slots are all of 64 bits, so that JavaScript need not know the layout of a struct. A negative code leaves
 * its error in `failure`.
 */
#ifndef SESLITE_JS_CALLS_H
#define SESLITE_JS_CALLS_H

#include <seslite.h>
#include <seslite_search.h>

#define EXPORT(name) __attribute__((export_name(#name)))

enum { OUT_SLOTS = 24 };

extern int64_t js_out[OUT_SLOTS];
extern ses_error js_failure;

/* A pointer in a slot. */
static inline int64_t js_slot(const void *pointer)
{
    return (int64_t)(uintptr_t)pointer;
}

/* Puts an event into slots 0 to 7: seq, time, id, invocation, author, branch, json and its length. */
void js_put_event(const ses_event *event);

/* Puts a text that the caller frees into slots 0 and 1, and returns the code. */
int js_put_text(int code, char *text, size_t len);

/* The events that five slots select: which, newest, since, first, last. NULL: all. */
const ses_range *js_range(const int64_t *slots, ses_range *range);

/* A number that may be missing: slot 0 says whether it is there, slot 1 is it. */
const int64_t *js_optional(const int64_t *slots);

#endif
