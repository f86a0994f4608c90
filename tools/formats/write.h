/*
 * Sessions, events and artifacts in the form of other programs: what `seslite export` writes. Their bytes
 * stay as they are, except for what that program would reject; each change is counted.
 *
 * The functions that can fail return SES_OK or a negative code of the library with a message.
 */
#ifndef FORMATS_WRITE_H
#define FORMATS_WRITE_H

#include "base/common.h"
#include "formats/text.h"
#include "seslite_artifact.h"

/* -------------------------------------------------------------------------------------------------- notes */

/* Facts that a format cannot hold, and changes made by the conversion: X(id, words). The report counts them
 * by kind. */
#define WRITE_NOTES(X)                                                                         \
    X(INITIAL_STATE, "sessions without the state at their creation")                           \
    X(TITLE, "titles left out")                                                                \
    X(LABELS, "labels left out")                                                               \
    X(EXPIRY, "expiry times left out")                                                         \
    X(PARENT, "forks without their parent")                                                    \
    X(PRUNED, "sessions whose oldest events were pruned")                                      \
    X(NUMBERS, "sessions whose events had numbers with gaps")                                  \
    X(ORDER, "events whose time is before that of the event before: google-adk sorts by time") \
    X(REMOVALS, "keys that an event removed: other services read the tombstone as a value")    \
    X(TIMES, "times of events written as seconds")                                             \
    X(NULLS, "null fields replaced by the empty value that google-adk needs")                  \
    X(UNKNOWN, "unknown fields left out, since google-adk would reject the session")           \
    X(FIELDS, "unknown fields of events, which google-adk will not show")                      \
    X(PART_METADATA, "values of partMetadata left out, since Vertex does not accept them")     \
    X(SURROGATES, "lone surrogates, which google-adk cannot read, written as U+FFFD")          \
    X(DEPTH, "events nested deeper than google-adk reads: it will reject their sessions")      \
    X(REFERENCES, "events with addresses of artifacts, which other services cannot follow")    \
    X(ARTIFACTS, "artifacts left out: --artifacts writes them")                                \
    X(ARTIFACT_NAMES, "artifacts left out, since FileArtifactService cannot keep their names") \
    X(ARTIFACT_URIS, "versions of artifacts left out, since they are addresses of files")      \
    X(ARTIFACT_KINDS, "versions of artifacts left out, since a newer seslite has made them")   \
    X(ARTIFACT_TYPES, "versions without a type, written as application/octet-stream")          \
    X(TEXT_TYPES, "types of texts left out, since FileArtifactService would not read texts")   \
    X(METADATA, "metadata of artifacts left out, since it is too long or too deeply nested")

enum write_note {
#define WRITE_NOTE_(id, words) WRITE_NOTE_##id,
    WRITE_NOTES(WRITE_NOTE_)
#undef WRITE_NOTE_
        WRITE_NOTE_COUNT
};

struct writing {
    ses_store *store; /* has the artifacts to which events refer */
    int64_t notes[WRITE_NOTE_COUNT];
};

static inline void write_note(struct writing *writing, enum write_note note, int64_t count)
{
    writing->notes[note] += count;
}

/* Counts the facts about a session that only JSON lines can hold. */
void write_note_session(struct writing *writing, const ses_session *session);
/* Counts its title, labels and expiry, which only JSON lines and Vertex can hold. */
void write_note_annotations(struct writing *writing, const ses_session *session);
/* Counts the facts about an event that only JSON lines can hold. */
void write_note_event(struct writing *writing, const ses_event *event);

/* ----------------------------------------------------------------------------------------------- sessions */

/* Adds a session with its events as one JSON text: the ADK's session JSON, or as the API of Vertex AI Agent
 * Engine accepts it. */
int write_session_json(struct writing *writing, const ses_session *session, struct text *json,
                       ses_error *error);
int write_vertex_json(struct writing *writing, const ses_session *session, struct text *json,
                      ses_error *error);

/* A database like those of google-adk's SqliteSessionService. */
struct adk_database;

/* Makes the tables in an empty file. `name` is that of the file in messages. The database is to be closed,
 * also after a failure. */
int adk_database_open(struct writing *writing, const char *path, const char *name,
                      struct adk_database **database, ses_error *error);
int adk_database_session(struct adk_database *database, const ses_session *session, struct span own_state,
                         ses_error *error);
int adk_database_event(struct adk_database *database, const ses_session *session, const ses_event *event,
                       ses_error *error);
/* The state of an app if `user` is NULL. It comes after all sessions, of which it has the newest time. */
int adk_database_shared(struct adk_database *database, const char *app, const char *user, struct span state,
                        ses_error *error);
/* Commits if the code is SES_OK. Returns the code, or that of a failure here. */
int adk_database_close(struct adk_database *database, int code, ses_error *error);

/* ---------------------------------------------------------------------------------------------- artifacts */

/*
 * A new folder in which google-adk's FileArtifactService finds artifacts:
 *
 *     apps/APP/users/USER/artifacts/PATH/versions/N/{FILE,metadata.json}
 *     apps/APP/users/USER/sessions/SESSION/artifacts/PATH/versions/N/{FILE,metadata.json}
 *
 * PATH is the name of the artifact, without "user:", and FILE its last part. A name that would lead anywhere
 * else is refused. Each version is complete or absent: until it is, its folder is called .N.pending, which
 * the service and import pass over. Only the owner may read what is written.
 */

struct artifact_tree {
    const char *path;
    int top; /* folders */
    int apps;
    size_t name_max;
};

/* Makes the folder, if it is not there, and apps in it. Fails with EXISTS if that is there. */
int artifact_tree_begin(struct artifact_tree *tree, const char *path, ses_error *error);
/* If the export has failed, apps is removed unless something was written there. */
void artifact_tree_end(const struct artifact_tree *tree, bool failed);

/* Says why the service cannot keep an artifact of that name; NULL: it can. `name` is without "user:". */
const char *artifact_tree_fault(const struct artifact_tree *tree, const ses_key *key, const char *name);

/* A version that is being written. */
struct tree_version {
    const struct artifact_tree *tree;
    int versions; /* folders; -1: none */
    int folder;
    int fd;              /* of the bytes */
    struct text pending; /* the name of the folder */
    const char *file;    /* in the artifact's name */
};

/* Begins a version of an artifact whose name has no fault. To be ended if it returns SES_OK. */
int tree_version_begin(struct tree_version *version, const struct artifact_tree *tree, const ses_key *key,
                       const char *name, int64_t number, ses_error *error);
int tree_version_write(struct tree_version *version, const char *bytes, size_t len, ses_error *error);
/* Gives the version its name if the code is SES_OK, otherwise removes it. Returns the code, or that of a
 * failure here. */
int tree_version_end(struct tree_version *version, int code, const struct text *metadata, ses_error *error);

/* Adds the metadata.json of a version as google-adk writes it. `read` is what was read: for a reference the
 * version to which it refers, otherwise the same. */
void tree_metadata(struct writing *writing, const ses_artifact_info *info, const ses_artifact_info *read,
                   struct text *json);

#endif
