/* JSON strings, written: the one place that decides how a text is spelled. */
#ifndef SESLITE_JSON_WRITER_H
#define SESLITE_JSON_WRITER_H

#include "base/common.h"

/* Writes the text, valid UTF-8, as a JSON string in quotes, without a NUL; returns its length. `to` NULL: only
 * measures. */
SESLITE_PRIVATE size_t ses__json_write_string(char *to, const char *text, size_t len);

#endif
