/* Included by every file of the library. */
#ifndef SESLITE_BASE_COMMON_H
#define SESLITE_BASE_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "seslite.h"

/* Marks a name that the files of the library share. It begins with ses__, and a shared library does not
 * export it. */
#if defined(__GNUC__)
#define SESLITE_PRIVATE __attribute__((visibility("hidden")))
#else
#define SESLITE_PRIVATE
#endif

#if defined(__GNUC__)
#define FORMAT_PRINTF(at, first) __attribute__((format(printf, at, first)))
/* Clang warns of functions of a header that a file of the amalgamation does not use, unless they may be
 * unused. */
#define ALWAYS_INLINE inline __attribute__((always_inline, unused))
#define UNUSED_INLINE inline __attribute__((unused))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#else
#define FORMAT_PRINTF(at, first)
#define ALWAYS_INLINE inline
#define UNUSED_INLINE inline
#define LIKELY(condition) (condition)
#define UNLIKELY(condition) (condition)
#endif

/* A borrowed piece of text. `ptr` NULL means that there is none. */
struct span {
    const char *ptr;
    size_t len;
};

/* The text up to its NUL; NULL: there is none. */
static UNUSED_INLINE struct span ses__span_of(const char *text)
{
    return (struct span){text, text ? strlen(text) : 0};
}

/* The text as callers see it. */
static UNUSED_INLINE ses_text ses__text(struct span span)
{
    return (ses_text){span.ptr, span.len};
}

/* Both must have text, even if it is empty. */
static UNUSED_INLINE bool ses__span_is(struct span left, struct span right)
{
    return left.len == right.len && memcmp(left.ptr, right.ptr, left.len) == 0;
}

/* Compares by bytes, and then by length: below 0, 0 or above 0. */
static UNUSED_INLINE int ses__span_order(struct span left, struct span right)
{
    const int order = memcmp(left.ptr, right.ptr, left.len < right.len ? left.len : right.len);
    return order != 0 ? order : (left.len > right.len) - (left.len < right.len);
}

#endif
