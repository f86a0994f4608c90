/* What the formats of an export share. */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "base/common.h"
#include "command.h"
#include "text.h"

/* What a format cannot hold, or what was changed on the way: X(id, words). The report counts them by kind. */
#define EXPORT_NOTES(X)                                                                        \
    X(INITIAL_STATE, "sessions whose state at their creation is not told")                     \
    X(TITLE, "titles left out")                                                                \
    X(LABELS, "labels left out")                                                               \
    X(EXPIRY, "expiry times left out")                                                         \
    X(PARENT, "forks, whose parent is not told")                                               \
    X(PRUNED, "sessions whose oldest events were pruned")                                      \
    X(NUMBERS, "sessions whose events had numbers with gaps")                                  \
    X(ORDER, "events whose time is before that of the event before: google-adk sorts by time") \
    X(REMOVALS, "keys that an event removed: other services take the text that says so for a value") \
    X(TIMES, "times of events written as seconds")                                             \
    X(NULLS, "fields that were null, and have an empty value, as google-adk needs them")       \
    X(UNKNOWN, "fields that google-adk does not know, left out: it would refuse the session")  \
    X(FIELDS, "fields of events that google-adk does not know, and will not show")             \
    X(PART_METADATA, "values of partMetadata left out, which Vertex does not take")            \
    X(SURROGATES, "lone surrogates, which google-adk cannot read, written as U+FFFD")          \
    X(DEPTH, "events nested deeper than google-adk reads: it will refuse their sessions")

enum export_note {
#define EXPORT_NOTE_(id, words) EXPORT_NOTE_##id,
    EXPORT_NOTES(EXPORT_NOTE_)
#undef EXPORT_NOTE_
        EXPORT_NOTE_COUNT
};

struct export
{
    struct run *run;
    const char *format;
    const char *path; /* NULL: standard output */
    int64_t sessions;
    int64_t events;
    int64_t keys;
    int64_t notes[EXPORT_NOTE_COUNT];
};

static inline void export_note(struct export *export, enum export_note note, int64_t count)
{
    export->notes[note] += count;
}

/* Notes what no format but JSON lines holds of a session. */
void export_note_session(struct export *export, const ses_session *session);
/* Notes its title, labels and expiry, which only JSON lines and Vertex hold. */
void export_note_annotations(struct export *export, const ses_session *session);
/* And of an event. */
void export_note_event(struct export *export, const ses_event *event);
/* Tells what was written and what the format cannot hold. Gives the exit code of printing. */
int export_report(struct export *export);

/* event.c: the event as google-adk's services read it. The text is borrowed until the next call. */
struct span export_event(struct export *export, const ses_event *event, struct text *room);

/* vertex.c: the session as Vertex's API has it. */
int export_vertex_session(struct export *export, const ses_session *session, struct text *json);

/* The formats: each writes what --app, --user and --session select. They give an exit code. */
int export_sqlite(struct export *export);
int export_sessions(struct export *export);
int export_vertex(struct export *export);
int export_lines(struct export *export);

#endif
