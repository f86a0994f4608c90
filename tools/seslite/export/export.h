/* Shared by the export formats. */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "base/common.h"
#include "command.h"
#include "text/text.h"

/* Facts that a format cannot hold, and changes made by the conversion: X(id, words). The report counts them
 * by kind. */
#define EXPORT_NOTES(X)                                                                        \
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

enum export_note {
#define EXPORT_NOTE_(id, words) EXPORT_NOTE_##id,
    EXPORT_NOTES(EXPORT_NOTE_)
#undef EXPORT_NOTE_
        EXPORT_NOTE_COUNT
};

struct artifact_tree;

struct export
{
    struct run *run;
    const char *format;
    const char *path; /* NULL for standard output */
    int64_t sessions;
    int64_t events;
    int64_t keys;
    int64_t artifacts; /* versions */
    int64_t damaged;   /* sessions, or other parts, that --skip left out */
    int64_t notes[EXPORT_NOTE_COUNT];
};

static inline void export_note(struct export *export, enum export_note note, int64_t count)
{
    export->notes[note] += count;
}

/* With --skip, says that a session is left out if the last call of the library failed because of damage, and
 * returns EXIT_OK. Otherwise prints the failure and returns its exit code. */
int export_fail(struct export *export, const ses_key *key);

/* Counts the facts about a session that only JSON lines can hold. */
void export_note_session(struct export *export, const ses_session *session);
/* Counts its title, labels and expiry, which only JSON lines and Vertex can hold. */
void export_note_annotations(struct export *export, const ses_session *session);
/* Counts the facts about an event that only JSON lines can hold. */
void export_note_event(struct export *export, const ses_event *event);
/* Reports what was written and what the format cannot hold. Returns the exit code. */
int export_report(struct export *export);

/* event.c: puts the bytes of artifacts in place of the references in the event `*json`. `*inlined` becomes
 * the new text, to be freed with ses_free, or NULL if it has no references. Returns an exit code. */
int export_inline(struct export *export, const ses_session *session, struct span *json, char **inlined);
/* Returns the event `json` as google-adk's services read it, borrowed until the next call. */
struct span export_event(struct export *export, const ses_event *event, struct span json, struct text *room);
/* Replaces lone surrogates in a JSON text by U+FFFD. Returns false if it is nested deeper than google-adk
 * reads. */
bool export_mend(struct export *export, struct text *text);

/* vertex.c: the session in the form of Vertex's API. */
int export_vertex_session(struct export *export, const ses_session *session, struct text *json);

/* The formats. Each writes the sessions that --app, --user and --session select, and returns an exit code. */
int export_sqlite(struct export *export);
int export_sessions(struct export *export);
int export_vertex(struct export *export);
int export_lines(struct export *export);
/* Writes the artifacts of the same sessions, and of their users, into the folder `into`, as google-adk's
 * FileArtifactService keeps them. Without a folder, counts those that the format leaves out. */
int export_artifacts(struct export *export, struct artifact_tree *into);

#endif
