/* Objects of which single members are not JSON, as Python writes NaN: the others can still be read. */
#ifndef FOREIGN_LOOSE_H
#define FOREIGN_LOOSE_H

#include "json/reader.h"
#include "seslite.h"
#include "text.h"

/*
 * Copies the members that are JSON into `sound`, as an object with their bytes, and calls `refused` for each other, with
 * its key as it is written. False if the text does not even fall into members; then nothing was called.
 */
bool loose_object(struct span json, struct text *sound,
                  void (*refused)(void *context, const char *key, const ses_error *error), void *context);

#endif
