/* Included by every file of the library. */
#ifndef SESLITE_BASE_COMMON_H
#define SESLITE_BASE_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#else
#define FORMAT_PRINTF(at, first)
#define ALWAYS_INLINE inline
#define LIKELY(condition) (condition)
#define UNLIKELY(condition) (condition)
#endif

/* A borrowed piece of text. `ptr` NULL means that there is none. */
struct span {
    const char *ptr;
    size_t len;
};

#endif
