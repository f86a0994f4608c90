/*
 * The `seslite` command: a store in the terminal. It stands on the calls of seslite.h and seslite_agent.h alone.
 *
 * commands.c is the table of commands, OPTIONS below that of options, topics.c that of what more there is to know. From these
 * three come the parser, the help, the man page and the completions.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seslite_agent.h"

/* ------------------------------------------------------------------------------------------------ options */

/* What a value is, for checks and completions. */
enum kind {
    KIND_NONE, /* a flag has no value */
    KIND_TEXT,
    KIND_NUMBER, /* a whole number of 0 or more */
    KIND_TIME,   /* see times.h */
    KIND_SPAN,
    KIND_FILE,
    KIND_APP,
    KIND_USER,
    KIND_SESSION,
    KIND_POINT, /* see points.h */
    KIND_ORDER,
    KIND_NAMES,
    KIND_COMMAND,
    KIND_KEY /* a state key; the option may stand more than once */
};

/* X(id, letter or 0, name, value or NULL, kind, help). Those up to VERSION are known to every command, and may stand before
 * it. A command that has an option of the same letter has it for itself. */
#define OPTIONS(X)                                                                                          \
    X(STORE, 'f', "file", "FILE", KIND_FILE, "the store, or postgresql://...; without this, SESLITE_DB")    \
    X(APP, 'a', "app", "APP", KIND_APP, "the app; not needed if only one fits")                             \
    X(USER, 'u', "user", "USER", KIND_USER, "the user; not needed if only one fits")                        \
    X(SESSION, 's', "session", "ID", KIND_SESSION, "the session; not needed if only one fits")              \
    X(JSON, 0, "json", NULL, KIND_NONE, "print JSON")                                                       \
    X(JSONL, 0, "jsonl", NULL, KIND_NONE, "print JSON, one value a line")                                   \
    X(HELP, 'h', "help", NULL, KIND_NONE, "print help and do nothing else")                                 \
    X(VERSION, 'V', "version", NULL, KIND_NONE, "print the version and do nothing else")                    \
    X(AT, 0, "at", "POINT", KIND_POINT, "as of this point of the log")                                      \
    X(TO, 0, "to", "POINT", KIND_POINT, "back to this point of the log")                                    \
    X(SHARED, 0, "shared", NULL, KIND_NONE,                                                                 \
      "with --at: also the app: and user: keys that the session had written")                               \
    X(LIMIT, 'n', "limit", "N", KIND_NUMBER, "at most so many")                                             \
    X(NEWEST, 'n', "newest", "N", KIND_NUMBER, "only the newest N events")                                  \
    X(SINCE, 0, "since", "TIME", KIND_TIME, "only what is of this time or later")                           \
    X(BEFORE, 0, "before", "TIME", KIND_TIME, "only what is earlier than this")                             \
    X(FROM, 0, "from", "N", KIND_NUMBER, "only events with this number or a greater one")                   \
    X(UP_TO, 0, "up-to", "N", KIND_NUMBER, "only events with this number or a smaller one")                 \
    X(LIVE, 0, "live", NULL, KIND_NONE, "only events that no rewind has taken back")                        \
    X(REVERSE, 'r', "reverse", NULL, KIND_NONE, "newest first")                                             \
    X(FULL, 0, "full", NULL, KIND_NONE, "do not shorten calls and responses, show thoughts")                \
    X(LABEL, 'l', "label", "NAME[=VALUE]", KIND_TEXT, "only sessions with this label")                      \
    X(PREFIX, 0, "prefix", "TEXT", KIND_TEXT, "only sessions of one user whose ids begin so")               \
    X(ORDER, 0, "order", "ORDER", KIND_ORDER, "newest (the default), oldest, or created")                   \
    X(NAMES, 0, "names", "WHAT", KIND_NAMES, "only names, one a line: apps, users or sessions")             \
    X(FOLLOW, 'f', "follow", NULL, KIND_NONE, "go on with events as they are appended")                     \
    X(ALL, 0, "all", NULL, KIND_NONE, "with --follow: all sessions of the user, from now on")               \
    X(IGNORE_CASE, 'i', "ignore-case", NULL, KIND_NONE, "a and A are the same (only of the ASCII letters)") \
    X(AS, 0, "as", "ID", KIND_TEXT, "the id of the new session; without this, one is made")                 \
    X(AS_USER, 0, "as-user", "USER", KIND_USER, "the user of the new session, who may be another")          \
    X(EVERYTHING, 0, "everything", NULL, KIND_NONE, "all of --user, or of --app when no user is named")     \
    X(KEEP, 0, "keep", "N", KIND_NUMBER, "keep the newest N events")                                        \
    X(COMPACTED, 0, "compacted", NULL, KIND_NONE, "only events that a compaction covers or a rewind took")  \
    X(IDLE, 0, "idle", "SPAN", KIND_SPAN, "also sessions that did not change for so long")                  \
    X(PER_USER, 0, "per-user", "N", KIND_NUMBER, "also a user's least recent sessions beyond so many")      \
    X(REMOVE, 0, "remove", NULL, KIND_NONE, "take it away")                                                 \
    X(SECURE, 0, "secure", NULL, KIND_NONE, "overwrite what is deleted")                                    \
    X(DRY_RUN, 0, "dry-run", NULL, KIND_NONE, "only tell what would be done")                               \
    X(QUICK, 0, "quick", NULL, KIND_NONE, "only look at the pages of the file, or the tables of a server")  \
    X(COMPACT, 0, "compact", NULL, KIND_NONE, "leave free pages out")                                       \
    X(YES, 'y', "yes", NULL, KIND_NONE, "do not ask")                                                       \
    X(WRITE, 'w', "write", NULL, KIND_NONE, "let the statements change the file")                           \
    X(OUTPUT, 'o', "output", "FILE", KIND_FILE, "write to this file; \"-\" is standard output")             \
    X(REDACT, 0, "redact", "KEY", KIND_KEY, "hide the value of this state key; may be given several times") \
    X(IMAGES, 0, "images", NULL, KIND_NONE, "include images, which may make the page large")                \
    X(UPDATE, 0, "update", NULL, KIND_NONE, "add the events that a session here lacks")                     \
    X(REPLACE, 0, "replace", NULL, KIND_NONE, "put it in the place of what is there")                       \
    X(RENAME, 0, "rename", NULL, KIND_NONE, "give another name to what cannot have its own")                \
    X(SKIP, 0, "skip", NULL, KIND_NONE, "leave out what is refused, and go on")                             \
    X(REPLACE_KEYS, 0, "replace-keys", NULL, KIND_NONE,                                                     \
      "give shared keys that are here the values of the file")                                              \
    X(TO_APP, 0, "to-app", "APP", KIND_APP, "put everything into this app")                                 \
    X(TO_USER, 0, "to-user", "USER", KIND_USER, "put everything that belongs to a user to this one")        \
    X(ZONE, 0, "zone", "ZONE", KIND_TEXT, "the time zone of times in the file that do not tell theirs")     \
    X(FORMAT, 0, "to", "FORMAT", KIND_TEXT, "jsonl (the default), session, vertex or sqlite")               \
    X(MAN, 0, "man", NULL, KIND_NONE, "print the man page")                                                 \
    X(BASH, 0, "bash", NULL, KIND_NONE, "print the completions for bash")                                   \
    X(ZSH, 0, "zsh", NULL, KIND_NONE, "print the completions for zsh")                                      \
    X(FISH, 0, "fish", NULL, KIND_NONE, "print the completions for fish")

enum option_id {
#define OPTION_ID_(id, letter, name, value, kind, help) OPTION_##id,
    OPTIONS(OPTION_ID_)
#undef OPTION_ID_
        OPTION_COUNT,
    GLOBAL_OPTIONS = OPTION_VERSION + 1
};

struct option {
    char letter;
    const char *name;
    const char *value;
    enum kind kind;
    const char *help;
};

/* At option_id. */
extern const struct option option_table[OPTION_COUNT];

/* The value that an option of the kind ORDER or NAMES may have, or NULL past the end. */
const char *kind_word(enum kind kind, size_t index);

/* ----------------------------------------------------------------------------------------------- commands */

enum { ARGUMENTS_MAX = 64 };

struct run;

struct argument {
    const char *name; /* NULL: there is none */
    enum kind kind;   /* KIND_SESSION: the same as the option --session */
    bool required;
    bool many; /* may stand more than once */
};

struct command {
    const char *group; /* the heading that it stands below in the help */
    const char *name;
    const char *summary;
    const char *words; /* what one has to know; paragraphs */
    struct argument argument;
    uint64_t options; /* bits of option_id, without the global ones */
    const char *example;
    const char *instead; /* it is only for files, and this is to be done on a server; NULL: it is for both */
    int (*run)(struct run *run);
};

struct topic {
    const char *name;
    const char *title;
    const char *words; /* paragraphs; a line that begins with a blank is as it stands */
};

/* What there is, handed on to the commands by main.c: a command does not reach for the table that holds it. */
struct manual {
    const struct command *commands;
    size_t command_count;
    const struct topic *topics;
    size_t topic_count;
};

/* ---------------------------------------------------------------------------------------------- exit codes */

/* X(id, number, text). */
#define EXITS(X)                                                                                            \
    X(OK, 0, "all is well")                                                                                 \
    X(FAILED, 1, "any other failure, or the answer to the question was no")                                 \
    X(USAGE, 2, "the command line is wrong or leaves a choice, a value breaks a rule, or --yes is missing") \
    X(NOTFOUND, 3, "no such store, session, point or key, or nothing that matches")                         \
    X(EXISTS, 4, "there is such a session already")                                                         \
    X(STALE, 5, "another program changed or cut the session in the meantime")                               \
    X(BUSY, 6, "another program kept the store locked")                                                     \
    X(DAMAGED, 7, "the store is damaged")                                                                   \
    X(NOTASTORE, 8, "it is no store, or one of another version")

enum exit_code {
#define EXIT_(id, number, text) EXIT_##id = number,
    EXITS(EXIT_)
#undef EXIT_
};

/* ----------------------------------------------------------------------------------------------------- run */

/* One run of the program. */
struct run {
    const struct manual *manual;
    const struct command *command;
    const char *values[OPTION_COUNT]; /* NULL: not given; of a flag "" */
    const char *arguments[ARGUMENTS_MAX];
    size_t argument_count;
    const char *keys[ARGUMENTS_MAX]; /* of the option of the kind KEY */
    size_t key_count;
    ses_store *store; /* when one was opened */
    ses_key key;      /* as far as it was given or chosen; see choose.h */
    char *chosen[3];  /* its texts, if they were not given; main.c frees them */
    ses_error error;  /* of the last call */
};

static inline bool given(const struct run *run, enum option_id option)
{
    return run->values[option] != NULL;
}

static inline bool wants_json(const struct run *run)
{
    return given(run, OPTION_JSON) || given(run, OPTION_JSONL);
}

/* The value of an option of the kind NUMBER, which the parser has checked. */
int64_t number_given(const struct run *run, enum option_id option, int64_t otherwise);

#endif
