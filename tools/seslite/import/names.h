/* Names that are no ids here: empty, longer than an id can be, not UTF-8. */
#ifndef IMPORT_NAMES_H
#define IMPORT_NAMES_H

#include "text.h"

/* What is wrong with it; NULL: it is an id. */
const char *name_fault(const char *name);
/* Adds the name that it gets instead: as much of it as fits ("empty" for nothing), "~", and eight hexadecimal
 * digits that are the FNV-1a hash of all of it. So the same name always becomes the same. */
void name_fit(const char *name, struct text *fitted);

#endif
