/* Shared state of another program, into the store: as ses_import writes it. */
#ifndef IMPORT_SHARED_H
#define IMPORT_SHARED_H

#include "foreign/foreign.h"

struct shared_import {
    ses_store *store;
    struct foreign_notes *notes;
    const ses_import_options *options;
    /* Called for each key that is no key here; without it the first ends the import of the owner's state. */
    void (*refused)(void *context, const struct foreign_shared *shared, const char *key,
                    const ses_error *error);
    void *context;
};

/* Adds to the counts of keys in `report`. JSON, INVALID: the state is no object, and nothing of it was written. */
int shared_import(const struct shared_import *import, const struct foreign_shared *shared,
                  ses_import_report *report, ses_error *error);

#endif
