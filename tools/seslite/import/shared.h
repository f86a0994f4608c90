/* Imports shared state of another program into the store, through ses_store_import. */
#ifndef IMPORT_SHARED_H
#define IMPORT_SHARED_H

#include "foreign/foreign.h"

struct shared_import {
    ses_store *store;
    struct foreign_notes *notes;
    const ses_import_options *options;
    /* Called for each key that cannot be stored. If NULL, the first such key ends the import of the owner's
     * state. */
    void (*refused)(void *context, const struct foreign_shared *shared, const char *key,
                    const ses_error *error);
    void *context;
};

/* Adds to the key counts in `report`. Fails with JSON or INVALID if the state is not an object; nothing was
 * written then. */
int shared_import(const struct shared_import *import, const struct foreign_shared *shared,
                  ses_import_report *report, ses_error *error);

#endif
