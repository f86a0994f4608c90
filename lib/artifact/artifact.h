/* Shared by the calls of seslite_artifact.h. */
#ifndef SESLITE_ARTIFACT_ARTIFACT_H
#define SESLITE_ARTIFACT_ARTIFACT_H

#include "model/event/artifacts.h"
#include "seslite_artifact.h"
#include "session/session.h"
#include "storage/sql/rows/artifact.h"

/* ---- place.c: the owner of an artifact, and its name */

/* A call about an artifact, or (no name) about all of a session. Must not be moved. */
struct artifact_call {
    struct session_call at; /* by key, its session may be NULL */
    bool of_user;
    char name[SES_ID_MAX + 1];
};
/* Begins the call as ses__call_begin does; ses__call_end ends it. `name` may be NULL, and so may the session
 * of a key. INVALID: the name. */
SESLITE_PRIVATE int ses__artifact_begin(struct artifact_call *call, const struct target *target,
                                        const char *name, ses_error *error);
/* Takes a name within the call: adds the prefix that an artifact of a user must have. INVALID. */
SESLITE_PRIVATE int ses__artifact_take_name(struct artifact_call *call, const char *name, ses_error *error);
/* In a job, in two steps: SES_NOTFOUND (without a message) if there is no such user. Between them a server is
 * asked for more of this user, whose number is 0 then. SQLite has found the user after the first. */
SESLITE_PRIVATE int ses__artifact_ask_owner(struct query *query, struct db *db,
                                            const struct artifact_call *call, struct artifact_owner *owner,
                                            ses_error *error);
SESLITE_PRIVATE int ses__artifact_take_owner(struct query *query, struct artifact_owner *owner);
/* In a job that writes: locks what the artifacts belong to. NOTFOUND: there is no such session, unless
 * `anyway`. */
SESLITE_PRIVATE int ses__artifact_make_owner(struct db *db, const struct artifact_call *call, bool anyway,
                                             struct artifact_owner *owner, ses_error *error);
SESLITE_PRIVATE int ses__artifact_absent(const struct artifact_call *call, ses_error *error);

/* ---- uri.c: addresses of artifacts, and the properties of a version */

/* Returns the address of a version, in the arena. NULL: out of memory. */
SESLITE_PRIVATE char *ses__artifact_uri(struct arena *arena, const struct artifact_call *call,
                                        struct span name, int64_t version);
/* INVALID: it is not the address of an artifact, or leads to another session or user. */
SESLITE_PRIVATE int ses__artifact_check_uri(const struct artifact_call *call, struct span uri,
                                            ses_error *error);
/* The same, and makes `call` one about that artifact. An address in a session that this one was forked from
 * leads to the fork's own artifact. Not in a job. */
SESLITE_PRIVATE int ses__artifact_follow_uri(struct artifact_call *call, const struct limits *limits,
                                             struct span uri, int64_t *version, ses_error *error);

/* The properties of a version that callers see. */
struct artifact_info {
    ses_artifact_info shown;
    int64_t content_id;
};
/* Copies the row into the arena. */
SESLITE_PRIVATE int ses__artifact_info_make(struct artifact_info *info, const struct artifact_row *row,
                                            const struct artifact_call *call, struct arena *arena,
                                            ses_error *error);

/* ---- upload.c: the bytes and what is said of them */

/* The most bytes that one transaction stores. */
enum { ARTIFACT_PIECE = 64 * CHUNK_BYTES };

/* An artifact that is to be saved. */
struct artifact_new {
    const ses_allocator *allocator;
    ses_artifact_save_options options;
    struct limits limits; /* of the call that takes the bytes */
    struct span metadata;
    struct blob blob;
    int64_t user_id; /* whose content was written */
    char *buffer;    /* of the bytes, if they were read; NULL: none */
};
/* Takes the options, and the bytes: the first piece stays in memory, or in that of the caller; more are
 * written to the store. To be freed in any case. */
SESLITE_PRIVATE int ses__artifact_upload(struct artifact_new *fresh, const struct artifact_call *call,
                                         const void *bytes, size_t len,
                                         const ses_artifact_save_options *options, ses_error *error);
/* Drops what was written, unless an artifact has it. */
SESLITE_PRIVATE void ses__artifact_new_free(struct artifact_new *fresh, ses_store *store);
/* In a job: saves it as the next version of the name. */
SESLITE_PRIVATE int ses__artifact_store_next(struct db *db, const struct artifact_owner *owner,
                                             const struct artifact_new *fresh, struct span name,
                                             int64_t now_us, int64_t *version, ses_error *error);
/* The same, as this version. `same` looks for its bytes (ses__blob_find), and is ended. */
SESLITE_PRIVATE int ses__artifact_store(struct query *same, const struct artifact_owner *owner,
                                        const struct artifact_new *fresh, struct span name, int64_t version,
                                        int64_t now_us);

#endif
