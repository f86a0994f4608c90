/*
 * seslite: artifacts, which are files, images and reports of a session or a user.
 *
 * An artifact has a name and versions, as in the ADK (https://adk.dev/artifacts): saving it again adds the
 * next version, from 0 on. An artifact belongs to a session, and is deleted with it. One whose name begins
 * with `user:`, or that is saved without a session, belongs to the user instead, and all sessions of the user
 * see it. It stays until it or its user is deleted.
 *
 * The bytes are in the store, in rows of 64 KiB: one file to back up, and one to delete from. Equal bytes are
 * stored once for each user, whatever number of versions and sessions have them.
 *
 * The rules at the top of seslite.h hold here too. A program that calls nothing of this header links nothing
 * of it.
 */
#ifndef SESLITE_ARTIFACT_H
#define SESLITE_ARTIFACT_H

#include "seslite.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------- artifacts */

/* The kind of an artifact, like that of a part of the ADK's contents. Any other number is of a later version
 * of seslite. Such an artifact is listed, and kept by all that copies a session; opening it returns
 * UNSUPPORTED. An export leaves it out (see ses_export_options.left_out). */
typedef enum ses_artifact_kind {
    SES_ARTIFACT_BYTES = 0, /* `inlineData`: any bytes */
    SES_ARTIFACT_TEXT = 1,  /* `text`: UTF-8 */
    /* `fileData`: the bytes are the address (URI) of a file. One that begins with `artifact://` refers to a
     * version of another artifact of the same session or user, which ses_artifact_open opens instead. */
    SES_ARTIFACT_URI = 2
} ses_artifact_kind;

enum {
    SES_ARTIFACT_DEPTH = 5 /* references that are followed from one artifact to another, at most */
};

/* One version of an artifact, lent by an open artifact or a list: never make or copy this struct. */
typedef struct ses_artifact_info {
    const char *name;         /* with its prefix `user:`, if it is the user's */
    int64_t version;          /* 0, 1, 2 ... */
    int64_t created_us;       /* when it was saved, by the store's clock */
    int64_t size;             /* bytes */
    int kind;                 /* SES_ARTIFACT_BYTES, _TEXT or _URI; or that of a later version */
    const char *mime_type;    /* NULL: none was given */
    const char *display_name; /* NULL: none was given */
    const char *metadata;     /* a JSON object, byte for byte as it was given; NULL: none was */
    size_t metadata_len;
    const char *hash; /* SHA-256 of the bytes, in hexadecimal */
    const char *uri;  /* the address of this version, as the ADK forms it: artifact://apps/... */
} ses_artifact_info;

typedef enum ses_artifact_save_flags {
    SES_ARTIFACT_WITHOUT_SESSION = 0x1 /* the session need not exist */
} ses_artifact_save_flags;

typedef struct ses_artifact_save_options {
    size_t size;
    unsigned flags;           /* SES_ARTIFACT_WITHOUT_SESSION */
    int kind;                 /* SES_ARTIFACT_BYTES, _TEXT or _URI */
    const char *mime_type;    /* of up to SES_ID_MAX bytes; NULL: none */
    const char *display_name; /* of up to SES_ID_MAX bytes; NULL: none */
    const char *metadata;     /* a JSON object; NULL: none */
    size_t metadata_len;
    /*
     * In place of `bytes`, which is NULL then: puts at most `capacity` of the next bytes of the artifact into
     * `buffer`, sets `*len` to their number, which is 0 at the end, and returns 0. A negative code ends the
     * call. The `len` of the call is the number of bytes that are expected (SES_NUL: any). INVALID: there are
     * more or fewer.
     */
    int (*read)(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error);
    void *read_context;
    const int64_t *created_us; /* the time of the version, for imports; NULL: the store's clock */
    int64_t max_bytes;         /* above which it is LIMIT; 0: 64 MiB; at most 64 GiB */
    int64_t timeout_ms;        /* as in ses_call_options */
    ses_cancel *cancel;        /* as in ses_call_options */
} ses_artifact_save_options;

/*
 * Saves the next version of an artifact. `name` is 1 to SES_ID_MAX bytes of UTF-8; it is never used as a
 * path. `*version` (may be NULL) becomes its number. By key, `key->session` may be NULL: then the artifact is
 * the user's, and `user:` is put in front of the name if it is not there.
 *
 * Up to 4 MiB are saved in one transaction. More bytes are written in several, each short, so that others can
 * write meanwhile, and `read` is never called while a lock is held. The version becomes visible when it is
 * complete. If a program was killed while it saved, the next save of that user removes the pieces that it
 * left, once they are two hours old.
 *
 * NOTFOUND: there is no such session; or the user was deleted while a long artifact was written, or `read`
 * took more than an hour. INVALID: the name or the MIME type breaks its rules; a reference leads to
 * another session or user; `read` gave more or fewer bytes than `len`; or a text (SES_ARTIFACT_TEXT) is not
 * UTF-8. JSON: the metadata is not JSON. LIMIT: the artifact has more than `max_bytes`, or has had 2^32 - 1
 * versions; nothing is stored. UNKNOWN: the version may be stored or not; list the versions.
 *
 * Codes: those of a write, INVALID, JSON, LIMIT, NOTFOUND.
 */
SES_API int ses_artifact_save(ses_session *session, const char *name, const void *bytes, size_t len,
                              const ses_artifact_save_options *options, int64_t *version, ses_error *error);
SES_API int ses_artifact_save_by_key(ses_store *store, const ses_key *key, const char *name,
                                     const void *bytes, size_t len, const ses_artifact_save_options *options,
                                     int64_t *version, ses_error *error);

/* An open version of an artifact, to be read. */
typedef struct ses_artifact ses_artifact;

typedef enum ses_artifact_open_flags {
    SES_ARTIFACT_OPEN_STORED = 0x1 /* opens references and tombstones themselves */
} ses_artifact_open_flags;

typedef struct ses_artifact_open_options {
    size_t size;
    unsigned flags;         /* SES_ARTIFACT_OPEN_STORED */
    const int64_t *version; /* NULL: the newest */
    int64_t timeout_ms;     /* of this call and of each read */
    ses_cancel *cancel;     /* as in ses_call_options; it must live until ses_artifact_close */
} ses_artifact_open_options;

/*
 * Opens a version of an artifact for reading. A reference (see SES_ARTIFACT_URI) opens what it refers to. A
 * version of no bytes and of the type application/octet-stream is the tombstone by which a rewind removes an
 * artifact, and counts as absent. By key, `key->session` may be NULL: then the artifact is the user's. Close
 * it with ses_artifact_close.
 *
 * NOTFOUND: there is no such session, artifact or version. UNSUPPORTED: it is of a kind that a later version
 * of seslite has added. INVALID: the name; or a reference leads to another session or user, or further than
 * SES_ARTIFACT_DEPTH references. In a fork, a reference to the session that it was made from leads to the
 * fork's own artifact.
 *
 * Codes: those of a read, INVALID, NOTFOUND, UNSUPPORTED.
 */
SES_API int ses_artifact_open(ses_session *session, const char *name,
                              const ses_artifact_open_options *options, ses_artifact **artifact,
                              ses_error *error);
SES_API int ses_artifact_open_by_key(ses_store *store, const ses_key *key, const char *name,
                                     const ses_artifact_open_options *options, ses_artifact **artifact,
                                     ses_error *error);
/* Returns the facts about the version, borrowed until ses_artifact_close. */
SES_API const ses_artifact_info *ses_artifact_info_of(const ses_artifact *artifact);
/*
 * Reads up to `capacity` bytes from `offset` on. `*len` becomes their number, which is below `capacity` only
 * at the end. If all bytes are read in order from 0 on, the last read compares them with their hash, and
 * returns CORRUPT if they differ. NOTFOUND: the version was deleted since it was opened. INVALID: the offset
 * is negative.
 *
 * Codes: those of a read, INVALID, NOTFOUND.
 */
SES_API int ses_artifact_read(ses_artifact *artifact, int64_t offset, void *buffer, size_t capacity,
                              size_t *len, ses_error *error);
/* Frees the open artifact. NULL is allowed. */
SES_API void ses_artifact_close(ses_artifact *artifact);

typedef struct ses_artifact_inline_options {
    size_t size;
    int64_t bytes;      /* of artifacts, at most; 0: any number */
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
} ses_artifact_inline_options;

/*
 * Makes from an event of the session, which is `json`, a text with the bytes of artifacts in place of
 * references to them, for programs that do not read artifacts. This undoes ses_artifacts_offload. A
 * `fileData` of a part becomes an `inlineData`, with the type, the display name and the bytes in base64, if
 * it has the address (ses_artifact_info.uri) of an artifact of the session or its user. An artifact with the
 * name and the version of the address that the event's own `actions.artifactDelta` names counts first,
 * whatever session the address is of: the event may have been forked, or imported under another name. An
 * artifact that is absent, is not SES_ARTIFACT_BYTES, or has more bytes than are left stays a reference. Free
 * `*inlined` with ses_free; `inlined_len` may be NULL. By key, the session need not exist.
 *
 * Returns 0, or SES_UNCHANGED, with NULL, if all references stay or there are none. JSON: the event is not
 * JSON. LIMIT: it is nested deeper than a stored event can be. CORRUPT: the bytes of an artifact do not have
 * its hash. INVALID: `bytes` is negative, or an id of the key breaks its rules.
 *
 * Codes: those of a read, INVALID, JSON, LIMIT.
 */
SES_API int ses_artifact_inline(ses_session *session, const char *json, size_t len,
                                const ses_artifact_inline_options *options, char **inlined,
                                size_t *inlined_len, ses_error *error);
SES_API int ses_artifact_inline_by_key(ses_store *store, const ses_key *key, const char *json, size_t len,
                                       const ses_artifact_inline_options *options, char **inlined,
                                       size_t *inlined_len, ses_error *error);

/* ------------------------------------------------------------------------------------ lists, and deleting */

/* A page of names or versions. */
typedef struct ses_artifact_list ses_artifact_list;

typedef struct ses_artifact_list_options {
    size_t size;
    const char *after;     /* ses_artifact_names: begin after this name; NULL: with the first */
    int64_t first_version; /* ses_artifact_versions: begin with this version */
    size_t limit;          /* how many at most; 0: 100; at most 10,000 */
    int64_t timeout_ms;    /* as in ses_call_options */
    ses_cancel *cancel;    /* as in ses_call_options */
} ses_artifact_list_options;

/*
 * Lists the artifacts of a session and of its user, each with its newest version, in the order of their
 * names. By key, `key->session` may be NULL: then only the user's. A session that does not exist has none of
 * its own. Close the list with ses_artifact_list_close.
 *
 * Codes: those of a read, INVALID.
 */
SES_API int ses_artifact_names(ses_session *session, const ses_artifact_list_options *options,
                               ses_artifact_list **list, ses_error *error);
SES_API int ses_artifact_names_by_key(ses_store *store, const ses_key *key,
                                      const ses_artifact_list_options *options, ses_artifact_list **list,
                                      ses_error *error);
/*
 * Lists the versions of one artifact, the oldest first. An artifact that does not exist has none.
 *
 * Codes: those of a read, INVALID.
 */
SES_API int ses_artifact_versions(ses_session *session, const char *name,
                                  const ses_artifact_list_options *options, ses_artifact_list **list,
                                  ses_error *error);
SES_API int ses_artifact_versions_by_key(ses_store *store, const ses_key *key, const char *name,
                                         const ses_artifact_list_options *options, ses_artifact_list **list,
                                         ses_error *error);
/* Returns the number of artifacts or versions on the page. */
SES_API size_t ses_artifact_list_count(const ses_artifact_list *list);
/* Returns an artifact or version, borrowed until the list is closed, or NULL past the end. */
SES_API const ses_artifact_info *ses_artifact_list_at(const ses_artifact_list *list, size_t index);
/* Returns 1 if there are more after the page, and otherwise 0. */
SES_API int ses_artifact_list_more(const ses_artifact_list *list);
/* Frees the page. NULL is allowed. */
SES_API void ses_artifact_list_close(ses_artifact_list *list);

/*
 * Deletes all versions of an artifact, and their bytes where nothing else has them. `*deleted` (may be NULL)
 * becomes the number of versions; it is not an error if there is none. SES_SECURE overwrites them, as in
 * ses_delete. INVALID: the name.
 *
 * Codes: those of a write, INVALID.
 */
SES_API int ses_artifact_delete(ses_session *session, const char *name, const ses_delete_options *options,
                                int64_t *deleted, ses_error *error);
SES_API int ses_artifact_delete_by_key(ses_store *store, const ses_key *key, const char *name,
                                       const ses_delete_options *options, int64_t *deleted, ses_error *error);

/* -------------------------------------------------------------------- artifacts of an appended event */

/*
 * Artifacts that are saved together with an event. Given to an append in ses_append_options.artifacts, they
 * are saved in its transaction, and their versions are merged into the event's `actions.artifactDelta`. So an
 * event never names an artifact that is not there, and no such artifact is there without its event.
 *
 *     ses_artifacts *artifacts;
 *     SES_OPTIONS(ses_append_options, options);
 *     ses_artifacts_open(store, &key, &artifacts, &error);
 *     ses_artifacts_add(artifacts, "chart.png", png, png_len, NULL, &error);
 *     options.artifacts = artifacts;
 *     ses_append(session, event, SES_NUL, &options, NULL, &error);
 *     ses_artifacts_close(artifacts);
 *
 * After STALE, or any other failure, the same list can be given to the next try, and nothing is read again.
 * The retry of an event that is stored already, with the same artifacts, saves nothing and is SES_DUPLICATE.
 * A partial event saves nothing. Given to another event, the list saves the next versions.
 */

/*
 * Opens an empty list for appends to the session `key`. Close it with ses_artifacts_close. An append to
 * another session, or on another store, is MISUSE.
 *
 * Codes: MISUSE, INVALID, NOMEM.
 */
SES_API int ses_artifacts_open(ses_store *store, const ses_key *key, ses_artifacts **artifacts,
                               ses_error *error);
/*
 * Adds an artifact, with the parameters and codes of ses_artifact_save. The list copies up to 4 MiB; more
 * bytes are written to the store at once, where nobody sees them, and only become an artifact with the
 * append. If the append is never made, ses_artifacts_close removes them. If several have the same name, each
 * is a version, and the event names the last one.
 *
 * Codes: those of ses_artifact_save.
 */
SES_API int ses_artifacts_add(ses_artifacts *artifacts, const char *name, const void *bytes, size_t len,
                              const ses_artifact_save_options *options, ses_error *error);
/*
 * Makes appends with this list keep large inline data as artifacts: an `inlineData` of a part of the event
 * with more than `bytes` bytes becomes an artifact of the event, and the part gets a `fileData` with its
 * address (ses_artifact_info.uri), its type and its display name. The artifact's name is the display name, or
 * `artifact_INVOCATION_N` with the invocation's id and the number of the part in the event, from 0 on, as
 * google-adk's SaveFilesAsArtifactsPlugin names them. (0.2.0 took the number among these parts. Names in
 * stored events stay, and the retry of such an event is still recognized.) Inline data that is not valid
 * base64 stays where it is. ses_context_options.inline_bytes puts the bytes back for a model.
 *
 * Codes: MISUSE, INVALID.
 */
SES_API int ses_artifacts_offload(ses_artifacts *artifacts, int64_t bytes, ses_error *error);
/* Returns the version that the artifact at `index`, from 0 on, got in the last append that succeeded; -1 past
 * the end. Before such an append the result has no meaning. */
SES_API int64_t ses_artifacts_version(const ses_artifacts *artifacts, size_t index);
/* Frees the list. NULL is allowed. */
SES_API void ses_artifacts_close(ses_artifacts *artifacts);

#ifdef __cplusplus
}
#endif

#endif
