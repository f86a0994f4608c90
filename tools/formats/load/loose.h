/* Objects in which single members are not JSON, such as Python's NaN. The other members can still be read. */
#ifndef FORMATS_LOAD_LOOSE_H
#define FORMATS_LOAD_LOOSE_H

#include "json/reader.h"
#include "seslite.h"
#include "formats/text.h"

/*
 * Copies the members that are JSON into `sound`, byte for byte as an object, and calls `refused` for each
 * other member with its key as spelled. Returns false, without any call, if the text cannot even be split
 * into members.
 */
bool loose_object(struct span json, struct text *sound,
                  void (*refused)(void *context, const char *key, const ses_error *error), void *context);

#endif
