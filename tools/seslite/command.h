/*
 * The `seslite` command: a store in the terminal. It uses only the public calls of seslite.h,
 * seslite_agent.h and seslite_artifact.h.
 *
 * commands.c holds the table of commands, OPTIONS below the table of options, and topics.c the help topics.
 * The parser, the help, the man page and the completions are all derived from these three.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "seslite_agent.h"
#include "seslite_artifact.h"

/* ------------------------------------------------------------------------------------------------ options */

/* The kind of a value, for checks and completions. */
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
    KIND_KINDS,
    KIND_COMMAND,
    KIND_ARTIFACT, /* the name of one */
    /* Options of these kinds may be repeated. */
    KIND_KEY,   /* a state key */
    KIND_LABEL, /* NAME or NAME=VALUE */
    KIND_PAIR   /* KEY=JSON */
};

/* X(id, letter or 0, name, value or NULL, kind, help). Every command knows the options up to VERSION, which
 * may also precede it. If a command has an option of its own with the same letter or name, that one is
 * meant. */
#define OPTIONS(X)                                                                                           \
    X(STORE, 'f', "file", "FILE", KIND_FILE, "the store: a file or an address; default: SESLITE_DB")         \
    X(APP, 'a', "app", "APP", KIND_APP, "the app; optional if only one matches")                             \
    X(USER, 'u', "user", "USER", KIND_USER, "the user; optional if only one matches")                        \
    X(SESSION, 's', "session", "ID", KIND_SESSION,                                                           \
      "the session; optional if only one matches; @: the newest")                                            \
    X(JSON, 0, "json", NULL, KIND_NONE, "print JSON")                                                        \
    X(JSONL, 0, "jsonl", NULL, KIND_NONE, "print JSON, one value per line")                                  \
    X(KEY_FD, 0, "key-fd", "N", KIND_NUMBER, "read the key of the file from descriptor N (help keys)")       \
    X(NO_UPGRADE, 0, "no-upgrade", NULL, KIND_NONE, "leave a store of an older version as it is")            \
    X(LINKED, 0, "linked", NULL, KIND_NONE, "open a file that has a second name, if all programs use this")  \
    X(HELP, 'h', "help", NULL, KIND_NONE, "print help and exit")                                             \
    X(VERSION, 'V', "version", NULL, KIND_NONE, "print the version and exit")                                \
    X(AT, 0, "at", "POINT", KIND_POINT, "as of this point of the log")                                       \
    X(TO, 0, "to", "POINT", KIND_POINT, "back to this point of the log")                                     \
    X(SHARED, 0, "shared", NULL, KIND_NONE,                                                                  \
      "with --at: also the app: and user: keys that the session wrote")                                      \
    X(LIMIT, 'n', "limit", "N", KIND_NUMBER, "at most N")                                                    \
    X(NEWEST, 'n', "newest", "N", KIND_NUMBER, "only the newest N events")                                   \
    X(SINCE, 0, "since", "TIME", KIND_TIME, "only from this time on")                                        \
    X(BEFORE, 0, "before", "TIME", KIND_TIME, "only before this time")                                       \
    X(WRITTEN_SINCE, 0, "written-since", "TIME", KIND_TIME, "only those written to from this time on")       \
    X(WRITTEN_BEFORE, 0, "written-before", "TIME", KIND_TIME, "only those last written to before this time") \
    X(FROM, 0, "from", "N", KIND_NUMBER, "only events with number N or higher")                              \
    X(UP_TO, 0, "up-to", "N", KIND_NUMBER, "only events with number N or lower")                             \
    X(LIVE, 0, "live", NULL, KIND_NONE, "only events that no rewind took back")                              \
    X(REVERSE, 'r', "reverse", NULL, KIND_NONE, "newest first")                                              \
    X(FULL, 0, "full", NULL, KIND_NONE, "do not shorten calls and responses; show thoughts")                 \
    X(LABEL, 'l', "label", "NAME[=VALUE]", KIND_TEXT, "only sessions with this label")                       \
    X(WITHOUT_LABEL, 0, "without-label", "NAME", KIND_TEXT, "only sessions without this label")              \
    X(ALL_KINDS, 0, "all", NULL, KIND_NONE, "also sessions in the archive, children and memory")             \
    X(KIND, 0, "kind", "KIND", KIND_KINDS, "only conversation (the default), child, or memory")              \
    X(OF_SESSION, 0, "child-of", "SESSION", KIND_SESSION, "only the children of this session of --user")     \
    X(CHILDREN, 0, "children", NULL, KIND_NONE, "also its children, and theirs")                             \
    X(CHILD_OF, 0, "child-of", "SESSION", KIND_SESSION, "as a child of this session, such as a sub-agent's") \
    X(ARCHIVED, 0, "archived", NULL, KIND_NONE, "only sessions in the archive")                              \
    X(FAILED, 0, "failed", NULL, KIND_NONE, "only sessions whose last event has an error")                   \
    X(PREVIEW, 0, "preview", NULL, KIND_NONE, "also the newest text, and how many calls wait")               \
    X(PREFIX, 0, "prefix", "TEXT", KIND_TEXT, "only sessions of one user whose ids begin with TEXT")         \
    X(ORDER, 0, "order", "ORDER", KIND_ORDER, "written (the default), newest or oldest update, or created")  \
    X(NAMES, 0, "names", "WHAT", KIND_NAMES, "only names, one per line: apps, users or sessions")            \
    X(FOLLOW, 'f', "follow", NULL, KIND_NONE, "continue with new events as they are appended")               \
    X(ALL, 0, "all", NULL, KIND_NONE, "with --follow: all sessions of the user, from now on")                \
    X(EVERYBODY, 0, "everything", NULL, KIND_NONE,                                                           \
      "with --follow: all sessions of --app, or of the store, from now on")                                  \
    X(IGNORE_CASE, 'i', "ignore-case", NULL, KIND_NONE, "ignore the case of ASCII letters")                  \
    X(WORDS, 'w', "words", NULL, KIND_NONE, "find all these words, in any order, case and with any accents") \
    X(CONTAINING, 0, "containing", "WORDS", KIND_TEXT,                                                       \
      "only where all these words are, as search --words finds them")                                        \
    X(REBUILD, 0, "rebuild", NULL, KIND_NONE, "drop the index first, and make it again")                     \
    X(DROP, 0, "drop", NULL, KIND_NONE, "drop the index")                                                    \
    X(BY, 0, "by", "WHAT", KIND_TEXT,                                                                        \
      "app, user, session, day, model and invocation, divided by commas; default: model")                    \
    X(PRICES, 0, "prices", "FILE", KIND_FILE, "the prices of a million tokens of each model, as JSON")       \
    X(DAY_ZONE, 0, "zone", "ZONE", KIND_TEXT, "the time zone in which days begin; default: UTC")             \
    X(TALLY, 0, "tally", NULL, KIND_NONE, "keep a tally in the store, so that later runs take less time")    \
    X(AS, 0, "as", "ID", KIND_TEXT, "the id of the new session; default: a generated one")                   \
    X(AS_USER, 0, "as-user", "USER", KIND_USER, "the user of the new session; default: the same user")       \
    X(EVERYTHING, 0, "everything", NULL, KIND_NONE, "all of --user, or of --app if no user is given")        \
    X(KEEP, 0, "keep", "N", KIND_NUMBER, "keep the newest N events")                                         \
    X(COMPACTED, 0, "compacted", NULL, KIND_NONE,                                                            \
      "only events that a compaction covers or a rewind took back")                                          \
    X(IDLE, 0, "idle", "SPAN", KIND_SPAN, "also sessions unchanged for this long")                           \
    X(PER_USER, 0, "per-user", "N", KIND_NUMBER, "also a user's least recent sessions beyond N")             \
    X(WRITTEN, 0, "written", NULL, KIND_NONE, "with --per-user: the least recently written ones")            \
    X(REMOVE, 0, "remove", NULL, KIND_NONE, "remove it")                                                     \
    X(SECURE, 0, "secure", NULL, KIND_NONE, "overwrite deleted data")                                        \
    X(DRY_RUN, 0, "dry-run", NULL, KIND_NONE, "only report what would be done")                              \
    X(QUICK, 0, "quick", NULL, KIND_NONE, "check only the pages of the file, or the tables of a server")     \
    X(COMPACT, 0, "compact", NULL, KIND_NONE, "leave free pages out")                                        \
    X(TO_KEY_FD, 0, "to-key-fd", "N", KIND_NUMBER, "read the key of the copy from descriptor N")             \
    X(PLAIN, 0, "plain", NULL, KIND_NONE, "without a key, although the store has one")                       \
    X(YES, 'y', "yes", NULL, KIND_NONE, "do not ask for confirmation")                                       \
    X(WRITE, 'w', "write", NULL, KIND_NONE, "let the statements change the file")                            \
    X(OUTPUT, 'o', "output", "FILE", KIND_FILE, "write to this file; \"-\" is standard output")              \
    X(REDACT, 0, "redact", "KEY", KIND_KEY, "hide the value of this state key; may be given several times")  \
    X(IMAGES, 0, "images", NULL, KIND_NONE, "include images, which may make the page large")                 \
    X(UPDATE, 0, "update", NULL, KIND_NONE, "add what a session here lacks")                                 \
    X(REPLACE, 0, "replace", NULL, KIND_NONE, "replace what exists")                                         \
    X(RENAME, 0, "rename", NULL, KIND_NONE, "rename what cannot keep its name")                              \
    X(SKIP, 0, "skip", NULL, KIND_NONE, "leave out what is rejected or damaged, and go on")                  \
    X(REPLACE_KEYS, 0, "replace-keys", NULL, KIND_NONE,                                                      \
      "overwrite existing shared keys with the file's values")                                               \
    X(TO_APP, 0, "to-app", "APP", KIND_APP, "put everything into this app")                                  \
    X(TO_USER, 0, "to-user", "USER", KIND_USER, "give everything that belongs to a user to this one")        \
    X(ZONE, 0, "zone", "ZONE", KIND_TEXT, "the time zone of times in the file that do not name one")         \
    X(FORMAT, 0, "to", "FORMAT", KIND_TEXT, "jsonl (the default), session, vertex or sqlite")                \
    X(ARTIFACTS, 0, "artifacts", "FOLDER", KIND_FILE, "also write the artifacts into this new folder")       \
    X(STATE, 0, "state", "KEY=JSON", KIND_PAIR, "set this state key; may be given several times")            \
    X(STATE_FILE, 0, "state-file", "FILE", KIND_FILE,                                                        \
      "the initial state, a JSON object; \"-\" is standard input")                                           \
    X(TITLE, 0, "title", "TITLE", KIND_TEXT, "the title of the session")                                     \
    X(GIVE_LABEL, 'l', "label", "NAME[=VALUE]", KIND_LABEL,                                                  \
      "give it this label; may be given several times")                                                      \
    X(TTL, 0, "ttl", "SPAN", KIND_SPAN, "let it expire after this time")                                     \
    X(IF_NOT_EXISTS, 0, "if-not-exists", NULL, KIND_NONE,                                                    \
      "accept a session that exists, and leave it as it is")                                                 \
    X(INPUT, 'i', "input", "FILE", KIND_FILE, "read the events from this file; \"-\" is standard input")     \
    X(BODY, 'i', "input", "FILE", KIND_FILE, "read the JSON from this file; default: standard input")        \
    X(TEXT, 0, "text", "TEXT", KIND_TEXT, "append an event with this text")                                  \
    X(AUTHOR, 0, "author", "NAME", KIND_TEXT, "the author of that event; default: user")                     \
    X(INVOCATION, 0, "invocation", "ID", KIND_TEXT, "the invocation of that event")                          \
    X(EXPECTED_STATE, 0, "expected-state", "KEY=JSON", KIND_PAIR,                                            \
      "only if this app: or user: key has this value; may be given several times")                           \
    X(EXPECTED_VERSION, 0, "expected-version", "N", KIND_NUMBER, "only if the session is at this version")   \
    X(VERSIONS, 0, "versions", "NAME", KIND_ARTIFACT, "the versions of this artifact")                       \
    X(ARTIFACT_VERSION, 0, "version", "N", KIND_NUMBER, "this version; default: the newest")                 \
    X(TYPE, 0, "type", "MIME", KIND_TEXT, "the type, such as image/png; \"\": none")                         \
    X(METADATA, 0, "metadata", "JSON", KIND_TEXT, "a JSON object that is kept with the version")             \
    X(ANYWAY, 0, "anyway", NULL, KIND_NONE, "the session or user need not exist")                            \
    X(PROJECT, 0, "project", "PROJECT", KIND_TEXT, "of this project, a part of a user's memory")             \
    X(EVENTS, 0, "events", "NUMBERS", KIND_TEXT, "the events with these numbers, such as 12,15-17")          \
    X(FIND_TEXT, 0, "text", "TEXT", KIND_TEXT, "wherever this text is")                                      \
    X(PATTERN, 0, "pattern", "REGEX", KIND_TEXT, "wherever this extended regular expression matches")        \
    X(WITH, 0, "with", "TEXT", KIND_TEXT, "the text in its place; default: [redacted]")                      \
    X(REDACT_STATE, 0, "state", NULL, KIND_NONE, "also the values that the events have set in state")        \
    X(REDACT_NAMES, 0, "names", NULL, KIND_NONE,                                                             \
      "with --state: also remove state keys, titles and labels in whose names it is")                        \
    X(FORKS, 0, "forks", NULL, KIND_NONE, "also copies of the events in other sessions of the app")          \
    X(MAN, 0, "man", NULL, KIND_NONE, "print the man page")                                                  \
    X(BASH, 0, "bash", NULL, KIND_NONE, "print the completion script for bash")                              \
    X(ZSH, 0, "zsh", NULL, KIND_NONE, "print the completion script for zsh")                                 \
    X(FISH, 0, "fish", NULL, KIND_NONE, "print the completion script for fish")

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

/* The possible values of an option of kind ORDER or NAMES; NULL past the end. */
const char *kind_word(enum kind kind, size_t index);

/* ----------------------------------------------------------------------------------------------- commands */

enum { ARGUMENTS_MAX = 64 };

struct run;

struct argument {
    const char *name; /* NULL if it takes no argument */
    enum kind kind;   /* KIND_SESSION: the same as the option --session */
    bool required;
    size_t limit; /* how many there may be; ARGUMENTS_MAX: any number */
};

struct command {
    const char *group; /* its heading in the help */
    const char *name;  /* one word, or two: "artifact get" */
    const char *summary;
    const char *words; /* the description; paragraphs */
    struct argument argument;
    const enum option_id *options; /* without the global ones; OPTION_COUNT ends them. NULL: none */
    bool whole_id;                 /* the beginning of an id is not enough */
    const char *example;
    const char *instead; /* if it is only for files: what to do on a server; NULL if it is for both */
    int (*run)(struct run *run);
};

/* True if the command has this option of its own. */
static inline bool command_takes(const struct command *command, size_t option)
{
    for (const enum option_id *own = command->options; own && *own != OPTION_COUNT; own++)
        if (*own == option)
            return true;
    return false;
}

/* The name of the command, or after the first word of a name its second word. NULL if it does not begin with
 * that word. */
static inline const char *command_name_after(const struct command *command, const char *first)
{
    const size_t len = first ? strlen(first) : 0;

    if (!first)
        return command->name;
    return strncmp(command->name, first, len) == 0 && command->name[len] == ' ' ? command->name + len + 1
                                                                                : NULL;
}

struct topic {
    const char *name;
    const char *title;
    const char *words; /* paragraphs; a line that begins with a blank is printed as it is */
};

/* The tables, passed to the commands by main.c, so that a command does not refer to the table that holds
 * it. */
struct manual {
    const struct command *commands;
    size_t command_count;
    const struct topic *topics;
    size_t topic_count;
};

/* --------------------------------------------------------------------------------------------- exit codes */

/* X(id, number, text). */
#define EXITS(X)                                                                                        \
    X(OK, 0, "success")                                                                                 \
    X(FAILED, 1, "any other failure, or the confirmation was declined")                                 \
    X(USAGE, 2, "the command line is wrong or ambiguous, a value breaks a rule, or --yes is missing")   \
    X(NOTFOUND, 3, "no such store, session, artifact, point or key, or no match")                       \
    X(EXISTS, 4, "the session, or an event with this id and other content, already exists")             \
    X(STALE, 5, "another program changed or cut the session in the meantime, or it is not as expected") \
    X(BUSY, 6, "another program kept the store locked, or has the lease of the session")                \
    X(DAMAGED, 7, "the store is damaged")                                                               \
    X(NOTASTORE, 8,                                                                                     \
      "not a seslite store, one of another version, the wrong key, or not possible in this build")

enum exit_code {
#define EXIT_(id, number, text) EXIT_##id = number,
    EXITS(EXIT_)
#undef EXIT_
};

/* ---------------------------------------------------------------------------------------------------- run */

/* One run of the program. */
struct run {
    const struct manual *manual;
    const char *family; /* the first word of a command of two, before the second is known; otherwise NULL */
    const struct command *command;
    const char *values[OPTION_COUNT]; /* NULL if not given; "" for a flag */
    const char *arguments[ARGUMENTS_MAX];
    size_t argument_count;
    const char *repeated[ARGUMENTS_MAX];   /* the values of options that may be repeated */
    size_t repeated_option[ARGUMENTS_MAX]; /* whose value each of them is */
    size_t repeated_count;
    ses_store *store;                      /* NULL until one is opened */
    bool stands_in;                        /* it is in memory, in place of one that does not exist */
    ses_key key;                           /* the names given or chosen so far; see choose.h */
    char *chosen[3];                       /* the names in `key` that were not given; main.c frees them */
    ses_error error;                       /* of the last call */
    unsigned char file_key[SES_KEY_BYTES]; /* if --key-fd is given; main.c wipes it */
};

static inline bool given(const struct run *run, enum option_id option)
{
    return run->values[option] != NULL;
}

static inline bool wants_json(const struct run *run)
{
    return given(run, OPTION_JSON) || given(run, OPTION_JSONL);
}

/* The value of an option of kind NUMBER, which the parser has checked. */
int64_t number_given(const struct run *run, enum option_id option, int64_t otherwise);

#endif
