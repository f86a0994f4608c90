/* Names that are not valid ids here: empty, too long, or not UTF-8. */
#ifndef IMPORT_NAMES_H
#define IMPORT_NAMES_H

#include "text/text.h"

/* Describes what is wrong with the name, or returns NULL if it is a valid id. */
const char *name_fault(const char *name);
/* Adds the name to use instead: as much of it as fits ("empty" for an empty one), "~", and the FNV-1a hash of
 * the whole name as eight hexadecimal digits. The same name always gets the same replacement. */
void name_fit(const char *name, struct text *fitted);

#endif
