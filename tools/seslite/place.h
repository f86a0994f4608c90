/* Where a store is: in a file, or on a server. What tells the one from the other is here alone. */
#ifndef PLACE_H
#define PLACE_H

#include <stdbool.h>

#include "seslite.h"
#include "text.h"

/* Is it the address of a server, postgresql://... or postgres://...? Else it is a file. */
bool place_is_server(const char *place);
/* ses_open, or ses_open_postgres. MISUSE: the command was built without PostgreSQL. */
int place_open(const char *place, const ses_open_options *options, ses_store **store, ses_error *error);
/* Adds words for people. Addresses of servers that stand in them lose passwords and parameters. */
void place_add_clean(struct text *text, const char *words);

#endif
