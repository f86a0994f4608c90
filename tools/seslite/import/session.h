/* Imports one session of another program into the store. */
#ifndef IMPORT_SESSION_H
#define IMPORT_SESSION_H

#include "foreign/database.h"
#include "foreign/foreign.h"

struct session_import {
    const struct foreign_format *format;
    void *source;
    struct foreign_notes *notes;
    const struct foreign_database *database; /* checked for changes before a commit; NULL for a text file */
    const struct foreign_session *session;
    ses_key key; /* of the imported session */
    ses_store *store;
    size_t max_bytes; /* of an event, and of the state */
    unsigned flags;   /* SES_LOAD_* */
    bool only_check;  /* only find out whether it can be loaded */
    /* Called for each key of the state that cannot be stored, and with `skips` for each event (`key` is
     * NULL). The rest of the session is loaded without it. */
    void (*refused)(void *context, const char *key, const ses_error *error);
    bool skips;
    void *refused_context;
    void (*progress)(void *context); /* called for each event */
    void *progress_context;
};

/* Returns the same codes as ses_load. The error message names the event, not the session. */
int session_import(const struct session_import *import, ses_load_result *result, ses_error *error);

#endif
