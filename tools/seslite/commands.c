/* The table of commands. */
#include "commands.h"

#include "commands_table.h"

#define O(id) OPTION_##id
#define OPTIONS_OF(...)           \
    (const enum option_id[])      \
    {                             \
        __VA_ARGS__, OPTION_COUNT \
    }
#define EVENT_RANGE O(NEWEST), O(SINCE), O(FROM), O(UP_TO), O(LIVE)

const struct command command_table[] = {
    {.group = "Look",
     .name = "list",
     .summary = "list sessions",
     .words =
         "Lists the sessions of the store, of --app, or of --user, the last written first: by the "
         "clock of the store, where the update time is that of the events. They are grouped by app, "
         "but with -n they are the first N of all apps. With --names it prints only the names of the "
         "apps or users, or the ids of the sessions. On a narrow terminal, titles and labels are cut; "
         "ids never are. --since and --before go by the update time, --written-since and --written-before "
         "by the last write. Only conversations are listed that are not in the archive, unless --kind, "
         "--archived, --child-of or --all is given. The exit code is 3 if options that select match nothing.\n"
         "With --preview it shows the newest text of each session, up to 200 bytes, and who said it; the "
         "first text of the user where there is no title; and, if calls wait for their responses, how "
         "many. Texts that a rewind took back are not shown. With --json these are in \"preview\".",
     .options = OPTIONS_OF(O(LIMIT), O(ORDER), O(PREVIEW), O(LABEL), O(WITHOUT_LABEL), O(ALL_KINDS),
                           O(ARCHIVED), O(KIND), O(OF_SESSION), O(PREFIX), O(SINCE), O(BEFORE),
                           O(WRITTEN_SINCE), O(WRITTEN_BEFORE), O(NAMES), O(CONTAINING), O(FAILED)),
     .example = " seslite -f agents.db --user alice list --label project=oslo --since 7d\n"
                " seslite -f agents.db list -n 20 --preview",
     .run = run_list},
    {.group = "Look",
     .name = "show",
     .summary = "show the transcript of a session",
     .words =
         "Prints messages, function calls and responses, code and its results, attached files, "
         "transfers to other agents, and errors. Events that a rewind took back are marked, and a rewind or "
         "redo says which events it took or brought back; --live leaves all of these out. With --json it prints the session as the ADK writes it, with its state.",
     .argument = {"SESSION", KIND_SESSION, false, 1},
     .options = OPTIONS_OF(EVENT_RANGE, O(FULL), O(CONTAINING)),
     .example = " seslite -f agents.db show s1 --newest 20",
     .run = run_show},
    {.group = "Look",
     .name = "family",
     .summary = "list the forks, children and other relatives of a session",
     .words =
         "Prints what the session was forked from, its forks, its siblings, which were forked from the same "
         "session after the same event, what it is a child of, and its children. EVENT is the number of "
         "the last event that both have in common.",
     .argument = {"SESSION", KIND_SESSION, false, 1},
     .example = " seslite -f agents.db family s1",
     .run = run_family},
    {.group = "Look",
     .name = "state",
     .summary = "show the state of a session, or the value of one key",
     .words = "Prints the merged state: the keys of the app, of the user and of the session. With --at it "
              "prints the session's own keys as they were at that point. The value of one key is printed as "
              "it is, a string without quotes; with --json as JSON.",
     .argument = {"KEY", KIND_TEXT, false, 1},
     .options = OPTIONS_OF(O(AT), O(SHARED)),
     .example = " seslite -f agents.db -s s1 state counter --at last-turn",
     .run = run_state},
    {.group = "Look",
     .name = "events",
     .summary = "list the events of a session, one per line",
     .words = "With --json or --jsonl each event is an object with its number (seq) and the event itself, "
              "byte for byte as stored.",
     .argument = {"SESSION", KIND_SESSION, false, 1},
     .options = OPTIONS_OF(EVENT_RANGE, O(REVERSE)),
     .example = " seslite -f agents.db events s1 --jsonl | jq .event.author",
     .run = run_events},
    {.group = "Look",
     .name = "tail",
     .summary = "show the newest events, and follow new ones",
     .words =
         "Prints the newest 10 events, or as many as --newest says. With --follow it continues with the "
         "events that any program appends, until it is interrupted or the session is deleted. With --follow "
         "and --all it shows the new events of all sessions of a user; with --follow and --everything those of "
         "--app, or if no app is given, of the store.",
     .argument = {"SESSION", KIND_SESSION, false, 1},
     .options = OPTIONS_OF(O(NEWEST), O(FOLLOW), O(ALL), O(EVERYBODY)),
     .example = " seslite -f agents.db tail -f s1\n seslite -f agents.db --user alice tail --follow --all\n"
                " seslite -f agents.db tail -f --everything",
     .run = run_tail},
    {.group = "Look",
     .name = "search",
     .summary = "find events that contain a text",
     .words =
         "Searches all sessions of the store, of --app or of --user, or one session. The sessions that were "
         "updated last come first, and in each the newest events. It searches "
         "messages and calls, then the event as it is stored. With --words it finds events in whose "
         "messages, calls and responses all the words are; of Chinese, Japanese, "
         "Korean and Thai also parts of words. It reads every event, unless the store has an index of words "
         "that is up to date (see seslite help index); a note says so. What is not in an event, such as a "
         "title, is found by seslite find.",
     .argument = {"TEXT", KIND_TEXT, true, 1},
     .options = OPTIONS_OF(O(IGNORE_CASE), O(WORDS), O(LIMIT), O(SINCE), O(FROM), O(UP_TO), O(LIVE)),
     .example =
         " seslite -f agents.db search -i \"winter coat\"\n seslite -f agents.db search --words \"coat winter\"",
     .run = run_search},
    {.group = "Look",
     .name = "find",
     .summary = "find all that the store holds about somebody",
     .words =
         "Looks for a text, or for what --pattern matches, wherever it can be: in ids, titles and labels, in "
         "the names and values of state, in what sessions began with, in drafts and inboxes, in all events and in "
         "artifacts, with their bytes. It looks in the whole store, or in an app, a user or a session. It is what a request of "
         "somebody who asks for their data, or for its erasure, begins with: see redact and delete. To look "
         "for messages, use search. It ends with 3 if it finds nothing.",
     .argument = {"TEXT", KIND_TEXT, false, 1},
     .options = OPTIONS_OF(O(PATTERN), O(IGNORE_CASE), O(LIMIT)),
     .example = " seslite -f agents.db find alice@example.org\n"
                " seslite -f agents.db --app chat find --pattern 'sk-[A-Za-z0-9]{20,}' --json",
     .run = run_find},
    {.group = "Look",
     .name = "usage",
     .summary = "add up the tokens that models have used",
     .words =
         "Adds up the tokens of the calls in all sessions of the store, of --app or of --user, or in one "
         "session. Calls that a rewind took back count; those of deleted and pruned events do not. Save what "
         "--json prints before you delete.\n"
         "The file of --prices names for each model what a million tokens cost: {\"some-model\": {\"prompt\": "
         "0.3, \"cached\": 0.03, \"candidates\": 2.5, \"thoughts\": 2.5, \"toolUse\": 0.3}}. Only prompt and "
         "candidates are needed: the others cost the same as the prompt, and thoughts as candidates. A price "
         "has up to 6 decimals. Costs are exact: --json prints all of their digits, a table 4 decimals. Rows "
         "are then by model, too. Models without a price are named, and not in the sum.",
     .options = OPTIONS_OF(O(BY), O(LABEL), O(SINCE), O(BEFORE), O(DAY_ZONE), O(PRICES), O(TALLY)),
     .example =
         " seslite -f agents.db usage --by user,model --since 30d\n seslite -f agents.db usage --by day "
         "--zone Europe/Berlin --prices prices.json --json",
     .run = run_usage},
    {.group = "Look",
     .name = "html",
     .summary = "write a session as a page for a browser",
     .words =
         "Writes one file with the transcript, the calls, times and tokens, also as bars, and a slider that shows the "
         "state at each event. The page loads no other file and contacts no server, and nothing in the log "
         "can run in it. Without -o it goes to standard output, which must not be a terminal. Messages of "
         "agents are shown as Markdown, without links. Images appear only as type and size unless --images "
         "is given, which includes those of up to 8 MiB, and 64 MiB in all.\n"
         "--redact hides the value of a state key. Wherever an event or the state has a member of that name, "
         "its value is replaced by [redacted]; for user:token and app:token also where a member is named "
         "token. Strings and numbers of at least 6 bytes in these values are also replaced everywhere else "
         "in the page. A value written in another form is not found: in upper case, encoded, in an "
         "image, or in pieces, as Markdown splits a word that is partly bold. Look at the page before you "
         "share it.",
     .argument = {"SESSION", KIND_SESSION, false, 1},
     .options = OPTIONS_OF(O(OUTPUT), O(REPLACE), O(REDACT), O(IMAGES), O(NEWEST), O(FROM), O(UP_TO)),
     .example = " seslite -f agents.db html s1 -o s1.html --redact user:token",
     .run = run_html},
    {.group = "Write",
     .name = "create",
     .summary = "create a session",
     .words =
         "Prints the id of the new session. If none is given, one is made. Name a new app or user with --app "
         "and --user; if both are given, the store is created if it does not exist. If one of them is left "
         "out, it is the only one in the store.\n"
         "The initial state may have keys of every scope: app: and user: keys are set for the whole app and "
         "user, and temp: keys are dropped. A session that exists is an error unless --if-not-exists is given. "
         "--child-of names a session of the same user that the new one belongs to; list then leaves it out.",
     .argument = {"SESSION", KIND_SESSION, false, 1},
     .options =
         OPTIONS_OF(O(STATE), O(STATE_FILE), O(TITLE), O(GIVE_LABEL), O(TTL), O(CHILD_OF), O(IF_NOT_EXISTS)),
     .example =
         " seslite -f agents.db --app chat --user alice create s1 --state 'user:lang=\"en\"' --ttl 90d",
     .run = run_create},
    {.group = "Write",
     .name = "append",
     .summary = "append events to a session",
     .words =
         "Reads events as JSON, as the ADK writes them, from --input or standard input: one, or several, "
         "usually one on each line. They are stored in one transaction, all or none. At most 10,000 events "
         "and 64 MiB can be stored at once. Events keep their bytes, except that a missing id or timestamp is "
         "added and temp: keys are removed. The report lists what was stored. Partial events are not stored, "
         "and an event that is stored already, with the same id and content, is not stored again.\n"
         "With --text or --author nothing is read: the command makes the event. A message of the user begins "
         "an invocation, and an event of another author continues that of the newest event, unless "
         "--invocation is given.\n"
         "--state changes state together with the event. With --author and without --text, the event only "
         "changes state. The value \"__ADK_SENTINEL_REMOVED__\", with its quotes, removes a key; as "
         "--expected-state it means that there is no such key.\n"
         "--title and --label are set in the same transaction, if it stores an event.\n"
         "The id of the session must be complete.",
     .argument = {"SESSION", KIND_SESSION, false, 1},
     .options = OPTIONS_OF(O(INPUT), O(TEXT), O(AUTHOR), O(INVOCATION), O(STATE), O(EXPECTED_STATE),
                           O(EXPECTED_VERSION), O(TITLE), O(GIVE_LABEL)),
     .whole_id = true,
     .example = " seslite -f agents.db append s1 --text \"Do I need a coat?\"\n"
                " seslite -f agents.db append s1 --expected-version 12 < events.jsonl",
     .run = run_append},
    {.group = "Artifacts",
     .name = "artifact list",
     .summary = "list the artifacts of a session or a user",
     .words = "Lists the artifacts of the session and those of its user, whose names begin with user:, each "
              "with its newest version. Without a session, only the user's. With --versions it lists the "
              "versions of one. With --json or --jsonl each has its address, the hash of its bytes (SHA-256) "
              "and its metadata, too.",
     .options = OPTIONS_OF(O(VERSIONS)),
     .example = " seslite -f agents.db -s s1 artifact list --versions report.pdf",
     .run = run_artifact_list},
    {.group = "Artifacts",
     .name = "artifact get",
     .summary = "write the bytes of an artifact to a file or standard output",
     .words =
         "Writes the newest version, or that of --version. A reference to another artifact writes the bytes "
         "to which it refers. Without -o they go to standard output, which must not be a terminal unless "
         "\"-o -\" is given.\n"
         "At the end the bytes are compared with their hash: if they differ, the exit code is 7. The file is "
         "complete or does not exist at all, and only its owner can read it. An existing file is kept unless "
         "--replace is given. Without a session the artifact is the user's.",
     .argument = {"NAME", KIND_ARTIFACT, true, 1},
     .options = OPTIONS_OF(O(ARTIFACT_VERSION), O(OUTPUT), O(REPLACE)),
     .example = " seslite -f agents.db -s s1 artifact get report.pdf -o report.pdf",
     .run = run_artifact_get},
    {.group = "Artifacts",
     .name = "artifact put",
     .summary = "save a file as the next version of an artifact",
     .words =
         "Saves the file, or standard input if it is \"-\", and prints the number of the version; the first "
         "is 0. Without --type, the type follows from the ending of the file's name. Without a session the "
         "artifact is the user's: user: is put in front of its name. Up to 64 GiB are saved. Programs do not "
         "see the version before all of it is there.",
     .argument = {"NAME FILE", KIND_FILE, true, 2},
     .options = OPTIONS_OF(O(TYPE), O(METADATA), O(ANYWAY)),
     .whole_id = true,
     .example = " seslite -f agents.db -s s1 artifact put report.pdf ./report.pdf --metadata '{\"pages\":3}'",
     .run = run_artifact_put},
    {.group = "Artifacts",
     .name = "artifact delete",
     .summary = "delete all versions of an artifact",
     .words = "Without a session the artifact is the user's.",
     .argument = {"NAME", KIND_ARTIFACT, true, 1},
     .options = OPTIONS_OF(O(SECURE), O(DRY_RUN), O(YES)),
     .example = " seslite -f agents.db -s s1 artifact delete report.pdf",
     .run = run_artifact_delete},
    {.group = "Inboxes",
     .name = "inbox list",
     .summary = "list the inputs that wait for their turn",
     .words = "Inputs of the whole store, or of an app, a user or a session, the oldest first. Those that a "
              "worker has taken are among them, until they are answered.",
     .options = OPTIONS_OF(O(LIMIT)),
     .example = " seslite -f agents.db inbox list",
     .run = run_inbox_list},
    {.group = "Inboxes",
     .name = "inbox add",
     .summary = "add an input to the inbox of a session",
     .words =
         "The input is a JSON value. If an input with the same id of a request, and with the same JSON, waits "
         "already, or the session has an event with that id, nothing is added.",
     .argument = {"REQUEST", KIND_TEXT, true, 1},
     .options = OPTIONS_OF(O(BODY)),
     .example = " echo '{\"text\":\"Hello\"}' | seslite -f agents.db -s s1 inbox add request-1",
     .run = run_inbox_add},
    {.group = "Inboxes",
     .name = "inbox remove",
     .summary = "remove an input that nobody is to answer",
     .argument = {"REQUEST", KIND_TEXT, true, 1},
     .options = OPTIONS_OF(O(YES)),
     .example = " seslite -f agents.db -s s1 inbox remove request-1",
     .run = run_inbox_remove},
    {.group = "Memory",
     .name = "memory list",
     .summary = "list what is remembered of a user",
     .words =
         "Lists what was said in sessions that are remembered, and notes, the latest first: 100 of them, or "
         "as many as -n says. With --project also what belongs to that project.",
     .options = OPTIONS_OF(O(LIMIT), O(SINCE), O(BEFORE), O(PROJECT)),
     .example = " seslite -f agents.db --user alice memory list",
     .run = run_memory_list},
    {.group = "Memory",
     .name = "memory search",
     .summary = "find what is remembered of a user and fits a message",
     .words =
         "Finds what has at least one word of the query; what has most of them comes first. It prints 10, or "
         "as many as -n says.",
     .argument = {"QUERY", KIND_TEXT, true, 1},
     .options = OPTIONS_OF(O(LIMIT), O(SINCE), O(BEFORE), O(PROJECT)),
     .example = " seslite -f agents.db --user alice memory search \"Are there nuts in it?\"",
     .run = run_memory_search},
    {.group = "Memory",
     .name = "memory add",
     .summary = "remember a session, or a text",
     .words =
         "Without a text it remembers the session that --session names, up to its newest event or to --up-to. "
         "A text becomes a note; with --session it comes from that session.",
     .argument = {"TEXT", KIND_TEXT, false, 1},
     .options = OPTIONS_OF(O(UP_TO), O(PROJECT)),
     .example = " seslite -f agents.db -s s1 memory add\n"
                " seslite -f agents.db --user alice memory add \"Alice is allergic to nuts.\"",
     .run = run_memory_add},
    {.group = "Memory",
     .name = "memory forget",
     .summary = "forget what is remembered of a session or a user",
     .words =
         "Conversations stay as they are, but are not remembered any more; copies of events, and notes, are "
         "deleted. With --project only what belongs to that project, and with --events only these events.",
     .options = OPTIONS_OF(O(EVENTS), O(PROJECT), O(SECURE), O(YES)),
     .example = " seslite -f agents.db -s s1 memory forget",
     .run = run_memory_forget},
    {.group = "History",
     .name = "fork",
     .summary = "make a new session that begins with this one's events up to a point",
     .words =
         "Prints the id of the new session, which expires when the old one does. The old one stays as it is.",
     .argument = {"SESSION", KIND_SESSION, false, 1},
     .options = OPTIONS_OF(O(AT), O(AS), O(AS_USER)),
     .example = " seslite -f agents.db fork s1 --at last-turn --as s1-again",
     .run = run_fork},
    {.group = "History",
     .name = "rewind",
     .summary = "take back the events after a point",
     .words = "Takes back the last turn, or everything after --to. Nothing is deleted: an event is added "
              "that records the rewind and restores the earlier values of the session's own keys. redo "
              "undoes it.",
     .argument = {"SESSION", KIND_SESSION, false, 1},
     .options = OPTIONS_OF(O(TO)),
     .example = " seslite -f agents.db rewind s1\n seslite -f agents.db rewind s1 --to 12",
     .run = run_rewind},
    {.group = "History",
     .name = "redo",
     .summary = "undo the newest rewind",
     .argument = {"SESSION", KIND_SESSION, false, 1},
     .example = " seslite -f agents.db redo s1",
     .run = run_redo},
    {.group = "History",
     .name = "cut",
     .summary = "delete the events after a point, for good",
     .words = "The session's own keys get the values they had at the point.",
     .argument = {"SESSION", KIND_SESSION, false, 1},
     .options = OPTIONS_OF(O(TO), O(SECURE), O(DRY_RUN), O(YES)),
     .example = " seslite -f agents.db cut s1 --to 12",
     .run = run_cut},
    {.group = "In and out",
     .name = "import",
     .summary = "import sessions from a file of another program or of seslite",
     .words =
         "The file is recognized by its content: JSON lines of seslite export, or \"-\" for them on standard "
         "input; another store, also by the address of a server; a database of google-adk "
         "(DatabaseSessionService, or SqliteSessionService, which adk web uses), of the ADKs for JavaScript, "
         "Go and Rust, or of the OpenAI Agents SDK (SQLiteSession, AdvancedSQLiteSession); a session as JSON, as the ADKs write it "
         "(*.session.json), or as the REST API of Vertex AI Agent Engine returns it: {\"session\": ..., "
         "\"events\": [...]}, or \"eventPages\": the pages as received; a folder in which google-adk's "
         "FileArtifactService keeps artifacts. The file is opened for reading and never changed. The store is "
         "created if it does not exist.\n"
         "Importing twice is safe: a session that already exists with the same content is passed over. One "
         "that differs is rejected unless --update, --replace or --rename (as ID~2) says what to do with it. "
         "Anything that cannot be stored is rejected too: --skip leaves it out, and --rename gives an app, "
         "user or session whose name is empty, too long or not UTF-8 another name, always the same one: as "
         "much of the name as fits, a \"~\" and eight hexadecimal digits. Unless --skip is given, the whole "
         "file is checked first and nothing is written if any part of it is rejected; after that, only a "
         "concurrent change of the store can still cause a rejection. Standard input is kept in a temporary "
         "file (in TMPDIR) until it ends. Shared keys that already exist with another value keep it. A version "
         "of an artifact whose bytes are already here is passed over. No link in a folder is followed.\n"
         "Events from a session's JSON lose the metadata that only ADK code may write (__adk_internal_*) and "
         "are marked as restored from outside, as in google-adk.\n"
         "The report lists what was imported and what the file did not contain. --app, --user and --session "
         "select what is imported, by the names in the file.",
     .argument = {"FILE", KIND_FILE, true, ARGUMENTS_MAX},
     .options = OPTIONS_OF(O(UPDATE), O(REPLACE), O(RENAME), O(SKIP), O(REPLACE_KEYS), O(TO_APP), O(TO_USER),
                           O(ZONE), O(DRY_RUN), O(YES)),
     .example = " seslite -f agents.db import my_agent/.adk/session.db --dry-run\n"
                " ssh host seslite -f agents.db export | seslite -f agents.db import - --update\n"
                " seslite -f postgresql://db.example/agents import agents.db",
     .run = run_import},
    {.group = "In and out",
     .name = "export",
     .summary = "write sessions to a file for seslite, google-adk or people",
     .words =
         "jsonl: JSON lines, which hold everything the store has of --app, --user or the session, and which "
         "import reads. session: the ADK's session JSON with the stored events but without the metadata that "
         "only ADK code may write (__adk_internal_*); one file per session if --output is a folder. vertex: "
         "the same for Vertex AI Agent Engine, with each event as the request that google-adk would send to "
         "append it. sqlite: a new database that google-adk's SqliteSessionService opens, with events as "
         "they are stored except for what that service would reject. markdown: a document of what was said, "
         "with calls folded, without what rewinds have taken back; one file per session, as for session.\n"
         "--artifacts writes the artifacts of these sessions and of their users in addition, into a folder "
         "that google-adk's FileArtifactService and import read. JSON lines have them anyway. The folder may "
         "exist, but without artifacts in it. Names that are not paths below it, or that the service would "
         "reject, are reported and left out. If the export fails or is killed, complete versions "
         "remain, and perhaps a folder .N.pending.\n"
         "Damage ends the export. With --skip, sessions that are damaged are left out and reported on stderr, "
         "everything sound is written, and the exit code is 1.\n"
         "Whatever the format cannot hold is reported on stderr, or as JSON with --json. The file is "
         "complete or does not exist at all, and only its owner can read it. An existing file is kept unless "
         "--replace is given. If the program is killed, a file FILE.seslite-XXXXXX remains; remove it.",
     .argument = {"SESSION", KIND_SESSION, false, 1},
     .options = OPTIONS_OF(O(FORMAT), O(OUTPUT), O(ARTIFACTS), O(REPLACE), O(SKIP)),
     .example = " seslite -f agents.db export -o agents.jsonl\n"
                " seslite -f agents.db --app chat export --to sqlite -o session.db --artifacts artifacts",
     .run = run_export},
    {.group = "Tidy up",
     .name = "redact",
     .summary = "replace what must not be kept, in events that stay",
     .words =
         "With --events it replaces all contents of these events: texts, arguments, responses, inline data, "
         "errors and metadata; their artifacts are deleted. With --text or --pattern it replaces what is found "
         "in all events of the session, or with --everything of all sessions of the user or app, and leaves "
         "artifacts alone. Numbers, ids, authors, times, names of functions and the usage of tokens stay. Event "
         "0 is the state that the session was created with, which needs --state.\n"
         "With --json it prints a receipt: what was erased, and what is left. Names of state keys, titles, labels "
         "and ids stay. They are counted where --text or --pattern finds something in them, and --names removes "
         "all but ids. Backups and what was exported are not covered. seslite find shows what is left.",
     .argument = {"SESSION", KIND_SESSION, false, 1},
     .options = OPTIONS_OF(O(EVENTS), O(FIND_TEXT), O(PATTERN), O(IGNORE_CASE), O(WITH), O(REDACT_STATE),
                           O(REDACT_NAMES), O(FORKS), O(EVERYTHING), O(SECURE), O(DRY_RUN), O(YES)),
     .example =
         " seslite -f agents.db redact s1 --events 12,15-17 --state --secure\n"
         " seslite -f agents.db --app chat --user alice redact --everything --pattern 'sk-[A-Za-z0-9]{20,}'",
     .run = run_redact},
    {.group = "Tidy up",
     .name = "prune",
     .summary = "delete the oldest events of a session, for good",
     .words = "The state is kept. Events that belong together are not separated, so that fewer may be "
              "deleted than requested. An event must match all of --keep, --before, --up-to and --compacted "
              "that are given.",
     .argument = {"SESSION", KIND_SESSION, false, 1},
     .options = OPTIONS_OF(O(KEEP), O(BEFORE), O(UP_TO), O(COMPACTED), O(SECURE), O(DRY_RUN), O(YES)),
     .example = " seslite -f agents.db prune s1 --keep 1000 --before 30d",
     .run = run_prune},
    {.group = "Tidy up",
     .name = "expire",
     .summary = "delete expired sessions",
     .words = "Deletes the sessions of --app, or of all apps, whose expiry time has passed; with --idle and "
              "--per-user also others. Of a user, --per-user keeps the sessions with the latest update "
              "time, which the clocks of clients give, and with --written those that were written last.",
     .options = OPTIONS_OF(O(IDLE), O(PER_USER), O(WRITTEN), O(SECURE), O(DRY_RUN), O(YES)),
     .example = " seslite -f agents.db expire --idle 90d --dry-run",
     .run = run_expire},
    {.group = "Tidy up",
     .name = "delete",
     .summary = "delete a session, a user or an app",
     .words = "Deletes the named session. With --everything it deletes the whole named user or app, "
              "including its shared state. With --children the session's children go, too, and theirs.",
     .argument = {"SESSION", KIND_SESSION, false, 1},
     .options = OPTIONS_OF(O(EVERYTHING), O(CHILDREN), O(SECURE), O(DRY_RUN), O(YES)),
     .example =
         " seslite -f agents.db delete s1\n seslite -f agents.db --app chat --user alice delete --everything",
     .run = run_delete},
    {.group = "Tidy up",
     .name = "title",
     .summary = "show or set the title of a session",
     .words =
         "The argument is the title, so the session is named with -s. Without -s it is the only one, and the "
         "command says which it was; a title that is the id of this session is then refused.",
     .argument = {"TITLE", KIND_TEXT, false, 1},
     .options = OPTIONS_OF(O(REMOVE)),
     .example = " seslite -f agents.db -s s1 title \"A trip to Oslo\"",
     .run = run_title},
    {.group = "Tidy up",
     .name = "label",
     .summary = "show or set the labels of a session",
     .words = "Sets the given labels and keeps the others. With --remove it removes the labels of these "
              "names. The arguments are labels, so the session is named with -s. Without -s it is the only "
              "one, and the command says which it was; a first label that is the id of this session is then "
              "refused.",
     .argument = {"NAME[=VALUE]", KIND_TEXT, false, ARGUMENTS_MAX},
     .options = OPTIONS_OF(O(REMOVE)),
     .example = " seslite -f agents.db -s s1 label project=oslo starred",
     .run = run_label},
    {.group = "Tidy up",
     .name = "archive",
     .summary = "put a session into the archive",
     .words =
         "The list of sessions then leaves it out. Nothing else is different about it, and an event that "
         "is appended leaves it there. It keeps the time of the first time: see list --archived --json.",
     .argument = {"SESSION", KIND_SESSION, false, 1},
     .example = " seslite -f agents.db archive s1",
     .run = run_archive},
    {.group = "Tidy up",
     .name = "unarchive",
     .summary = "take a session out of the archive",
     .argument = {"SESSION", KIND_SESSION, false, 1},
     .example = " seslite -f agents.db unarchive s1",
     .run = run_unarchive},
    {.group = "Upkeep",
     .name = "stats",
     .summary = "count apps, users, sessions and events",
     .run = run_stats},
    {.group = "Upkeep",
     .name = "doctor",
     .summary = "show versions, modes and the location of the store, and any problems with them",
     .words = "Facts that need attention are marked with \"!\" and come with advice.",
     .run = run_doctor},
    {.group = "Upkeep",
     .name = "check",
     .summary = "look for damage",
     .words = "Checks the pages of the file, or the tables of a server, and every row: that each session's "
              "state follows from its log, that its numbers, times and counts are possible, and that each "
              "event is one that could be stored. Nothing is changed. The exit code is 7 if there is a "
              "problem.",
     .options = OPTIONS_OF(O(QUICK), O(LIMIT)),
     .example = " seslite -f agents.db check",
     .run = run_check},
    {.group = "Upkeep",
     .name = "backup",
     .summary = "copy the store into a file, as of one moment",
     .words =
         "Other programs may continue to write. The file is complete or does not exist at all. It must not "
         "exist unless --replace is given. A signal (Ctrl-C) ends the backup and leaves nothing behind. If "
         "the program is killed, a file FILE.seslite-backup-XXXXXX remains; the next backup into the same "
         "folder removes it. The copy has the key of the store, unless another is given, or --plain.",
     .argument = {"FILE", KIND_FILE, true, 1},
     .options = OPTIONS_OF(O(REPLACE), O(COMPACT), O(TO_KEY_FD), O(PLAIN)),
     .example = " seslite -f agents.db backup agents-2026-11-21.db",
     .instead = "pg_dump copies the database of a server, and seslite export writes a file that any store "
                "can import",
     .run = run_backup},
    {.group = "Upkeep",
     .name = "maintain",
     .summary = "give free pages back and empty the write-ahead log",
     .words = "Other programs may use the store meanwhile.",
     .instead = "a server vacuums by itself",
     .run = run_maintain},
    {.group = "Upkeep",
     .name = "index",
     .summary = "make an index of words for searches, or bring it up to date",
     .words =
         "Searches for words then take milliseconds, where they read every event without an index. Appends do "
         "not write to it. Programs bring it up to date when they search; this command does it for all "
         "sessions, in short steps, and can be ended and run again. In a file the index needs an SQLite with FTS5.",
     .options = OPTIONS_OF(O(REBUILD), O(DROP)),
     .example = " seslite -f agents.db index && seslite -f agents.db search --words \"coat winter\"",
     .run = run_index},
    {.group = "Upkeep",
     .name = "migrate",
     .summary = "upgrade a store of an older version",
     .words =
         "Every other command does this, too, if it may write to the store, and prints it, unless --no-upgrade is given. "
         "Older versions can no longer open the store.",
     .run = run_migrate},
    {.group = "Upkeep",
     .name = "sql",
     .summary = "open the store with the sqlite3 program",
     .words =
         "Runs the SQL, or reads it from standard input if there is none or it is \"-\". The file is opened "
         "read-only unless --write is given. The output of sqlite3 is not cleaned of control characters. The "
         "exit code is 6 if the file was locked, 7 if it is damaged, 8 if it is not a database, and 1 for "
         "any other failure.",
     .argument = {"SQL", KIND_TEXT, false, 1},
     .options = OPTIONS_OF(O(WRITE)),
     .example = " seslite -f agents.db sql \"SELECT * FROM session_overview\"",
     .instead = "psql opens the database of a server; the tables and views are in its schema seslite",
     .run = run_sql},
    {.group = "Help",
     .name = "help",
     .summary = "explain the commands",
     .words =
         "Explains all commands, one command (such as artifact get), or one of the listed topics. It also prints the man page, "
         "and the scripts that complete command lines in bash, zsh and fish. They run \"seslite complete "
         "-- WORDS\", which prints what the last word can become.",
     .argument = {"COMMAND", KIND_COMMAND, false, 2},
     .options = OPTIONS_OF(O(MAN), O(BASH), O(ZSH), O(FISH)),
     .example = " seslite help rewind\n source <(seslite help --bash)",
     .run = run_help},
};

const size_t command_count = sizeof command_table / sizeof command_table[0];
