/* The place of a store: a file or a server. Only this file distinguishes the two. */
#ifndef FILES_PLACE_H
#define FILES_PLACE_H

#include <stdbool.h>

#include "seslite.h"
#include "text/text.h"

/* True for the address of a server, such as postgresql://... or mysql://...; anything else is a file. */
bool place_is_server(const char *place);
/* Opens a file or a server. Fails with MISUSE if the command was built without the engine for that server. */
int place_open(const char *place, const ses_open_options *options, ses_store **store, ses_error *error);
/* Adds a message, with the passwords and parameters of all server addresses in it removed. */
void place_add_clean(struct text *text, const char *words);

#endif
