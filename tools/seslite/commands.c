/* The table of commands. */
#include "commands.h"

#include "commands_table.h"

#define O(id) (UINT64_C(1) << OPTION_##id)
#define EVENT_RANGE (O(NEWEST) | O(SINCE) | O(FROM) | O(UP_TO) | O(LIVE))

const struct command command_table[] = {
    {.group = "Look",
     .name = "list",
     .summary = "list sessions",
     .words = "Lists the sessions of the store, of --app, or of --user, app by app. With --names it prints "
              "only names: of the "
              "apps, of the users, or the ids of the sessions.",
     .options = O(LIMIT) | O(ORDER) | O(LABEL) | O(PREFIX) | O(SINCE) | O(BEFORE) | O(NAMES),
     .example = " seslite -f agents.db --user alice list --label project=oslo --since 7d",
     .run = run_list},
    {.group = "Look",
     .name = "show",
     .summary = "show the transcript of a session",
     .words = "Prints what was said, and what functions were called and answered. Events that a rewind has "
              "taken back are "
              "marked; --live leaves them out. With --json it prints the session as the ADK writes it, with "
              "its state.",
     .argument = {"SESSION", KIND_SESSION, false, false},
     .options = EVENT_RANGE | O(FULL),
     .example = " seslite -f agents.db show s1 --newest 20",
     .run = run_show},
    {.group = "Look",
     .name = "state",
     .summary = "show the state of a session, or the value of one key",
     .words = "Prints the merged state: the keys of the app, of the user and of the session. With --at it "
              "prints the session's "
              "own keys as they were at that point. The value of one key is printed as it is, a string "
              "without quotes; with "
              "--json as JSON.",
     .argument = {"KEY", KIND_TEXT, false, false},
     .options = O(AT) | O(SHARED),
     .example = " seslite -f agents.db -s s1 state counter --at last-turn",
     .run = run_state},
    {.group = "Look",
     .name = "events",
     .summary = "list the events of a session, a line each",
     .words = "With --json or --jsonl each event is an object with its number (seq) and the event, byte for "
              "byte as it is "
              "stored.",
     .argument = {"SESSION", KIND_SESSION, false, false},
     .options = EVENT_RANGE | O(REVERSE),
     .example = " seslite -f agents.db events s1 --jsonl | jq .event.author",
     .run = run_events},
    {.group = "Help",
     .name = "help",
     .summary = "explain the commands",
     .words = "Explains all commands, one command, or one of the topics that it lists. It also prints the "
              "man page and the "
              "completions for shells.",
     .argument = {"COMMAND", KIND_COMMAND, false, false},
     .options = O(MAN) | O(BASH) | O(ZSH) | O(FISH),
     .example = " seslite help rewind\n source <(seslite help --bash)",
     .run = run_help},
};

const size_t command_count = sizeof command_table / sizeof command_table[0];
