/* Shared by the parts of an export. */
#ifndef SESLITE_SESSION_TRANSFER_EXPORT_H
#define SESLITE_SESSION_TRANSFER_EXPORT_H

#include "base/crc32.h"
#include "base/sha256/sha256.h"
#include "model/event/log.h"
#include "session/store.h"

/* The hashes of contents that were written since the session, or the name of the user's artifact, began. One
 * may take the place of another: then that one is written once more. */
enum { EXPORTED_CONTENTS = 4096 };
struct exported_contents {
    char (*hashes)[SHA256_HEX]; /* EXPORTED_CONTENTS of them; NULL: none yet */
    bool begun;
    char session[SES_ID_MAX + 1];
    char name[SES_ID_MAX + 1];
};

struct export_call {
    const ses_export_options *options;
    int (*write)(void *context, const char *data, size_t len, ses_error *error);
    void *write_context;
    struct buffer out; /* complete lines, and the one being made */
    size_t line;       /* where the line being made begins */
    struct crc32_tables tables;
    uint32_t crc;         /* sums the lines outside sessions, and the sessions' last lines */
    uint32_t session_crc; /* sums the other lines of the session */
    bool in_session;
    struct update_times times; /* of the session, up to its last event */
    int64_t session_events;
    struct exported_contents contents;
    int64_t sessions;
    int64_t events;
    /* While a part is only tried, its lines are dropped, and these are what it begins with. */
    bool rehearses;
    int64_t sessions_before;
    int64_t events_before;
};

/* export_line.c: gives what was written to the application. */
SESLITE_PRIVATE int ses__export_flush(struct export_call *call, ses_error *error);
SESLITE_PRIVATE void ses__export_begin(struct export_call *call, const char *kind);
SESLITE_PRIVATE int ses__export_end(struct export_call *call, ses_error *error);
/* `,"name":` */
SESLITE_PRIVATE void ses__export_name(struct export_call *call, const char *name);
SESLITE_PRIVATE void ses__export_number(struct export_call *call, const char *name, int64_t number);
SESLITE_PRIVATE void ses__export_span(struct export_call *call, const char *name, struct span text);
SESLITE_PRIVATE void ses__export_text(struct export_call *call, const char *name, const char *text);
/* True if the JSON fits on a line as it is, so that a reader of JSON gets exactly these bytes. */
SESLITE_PRIVATE bool ses__export_fits(struct span json);
/* Writes JSON as a value, or, if it does not fit on a line, as a text under the other name. */
SESLITE_PRIVATE void ses__export_json(struct export_call *call, const char *name, const char *text_name,
                                      struct span json);

/* export_artifact.c: the visitor's calls for artifacts. */
SESLITE_PRIVATE int ses__export_artifact(void *context, const char *session, const struct artifact_row *row,
                                         ses_error *error);
SESLITE_PRIVATE int ses__export_bytes(void *context, int64_t offset, struct span chunk, ses_error *error);

#endif
