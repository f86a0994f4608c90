#include "complete/complete.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/out.h"
#include "parse.h"
#include "store/artifacts.h"
#include "store/choose.h"
#include "store/walk.h"

enum { MAX_NAMES = 1000, MAX_SECONDS = 2 };

struct completion {
    struct run *run;
    struct text before; /* the part of the word before the value, such as --app= */
    const char *begun;  /* the beginning of the value */
    size_t names;
};

static void propose(const struct completion *completion, const char *candidate, const char *description)
{
    struct text line = {NULL, 0, 0};

    if (strncmp(candidate, completion->begun, strlen(completion->begun)) != 0)
        return;
    if (completion->before.len > 0)
        text_puts(&line, completion->before.data);
    text_puts(&line, candidate);
    if (description) {
        text_puts(&line, "\t");
        text_add_clean(&line, description, strlen(description), LINES_ONE);
    }
    text_puts(&line, "\n");
    out_text(line.data, line.len);
    text_free(&line);
}

/* ------------------------------------------------------------------------------------- names in the store */

/* A line cannot hold every name, and a name like an option would be taken for one: those are left out. */
static int propose_name(struct completion *completion, const char *name, const char *description)
{
    struct text clean = {NULL, 0, 0};

    text_add_clean(&clean, name, strlen(name), LINES_ONE);
    if (*name != '-' && strcmp(clean.data, name) == 0)
        propose(completion, name, description);
    text_free(&clean);
    return ++completion->names < MAX_NAMES ? EXIT_OK : STOP;
}

static int visit_name_of(void *context, const char *name)
{
    return propose_name(context, name, NULL);
}

static int visit_user_name(void *context, const char *app, const char *user)
{
    (void)app;
    return propose_name(context, user, NULL);
}

static int visit_session_of(void *context, const ses_page *page, size_t at)
{
    const ses_session *session = ses_page_session(page, at);
    return propose_name(context, ses_session_id(session), ses_session_title(session));
}

/* A server that does not answer, or a pipe in place of a file, must not hold up the shell. */
static void give_up(int number)
{
    (void)number;
    _exit(EXIT_OK);
}

/* Opens the store for reading. An unexpanded ~/ comes from the shell, which expands it only when it runs. */
static int open_store_of(struct run *run)
{
    const char *place = run->values[OPTION_STORE];
    const char *home = getenv("HOME");
    struct text path = {NULL, 0, 0};

    if (signal(SIGALRM, give_up) == SIG_ERR)
        return EXIT_FAILED;
    (void)alarm(MAX_SECONDS);
    if (place && home && strncmp(place, "~/", 2) == 0) {
        text_print(&path, "%s%s", home, place + 1);
        run->values[OPTION_STORE] = path.data;
    }
    run->values[OPTION_NO_UPGRADE] = "";
    int status = open_to_read(run);
    run->values[OPTION_STORE] = place;
    text_free(&path);
    return status;
}

static int visit_artifact_of(void *context, const ses_artifact_info *info)
{
    return propose_name(context, info->name, info->mime_type);
}

static void propose_names(struct completion *completion, enum kind kind)
{
    const struct sessions sessions = {
        .order = SES_ORDER_NEWEST, .visit = visit_session_of, .context = completion};
    struct run *run = completion->run;

    if (open_store_of(run) != EXIT_OK)
        return;
    if (kind == KIND_APP)
        (void)each_name(run, NULL, visit_name_of, completion);
    else if (kind == KIND_USER)
        (void)each_user(run, visit_user_name, completion);
    else if (kind == KIND_ARTIFACT && choose_artifacts(run) == EXIT_OK)
        (void)each_artifact(run, NULL, visit_artifact_of, completion);
    else if (kind == KIND_SESSION)
        (void)each_session(run, &sessions);
}

/* --------------------------------------------------------------------------------------------- candidates */

/* Proposes the first words of commands, or after `first` the second ones. */
static void propose_commands(const struct completion *completion, const char *first)
{
    const struct manual *manual = completion->run->manual;
    struct text word = {NULL, 0, 0};
    struct text before = {NULL, 0, 0};

    for (size_t i = 0; i < manual->command_count; i++) {
        const struct command *command = &manual->commands[i];
        const char *name = command_name_after(command, first);
        if (!name)
            continue;
        text_clear(&word);
        text_add(&word, name, strcspn(name, " "));
        if (before.data && strcmp(before.data, word.data) == 0)
            continue;
        propose(completion, word.data, name[word.len] == ' ' ? NULL : command->summary);
        text_clear(&before);
        text_add(&before, word.data, word.len);
    }
    text_free(&word);
    text_free(&before);
}

static void propose_topics(const struct completion *completion)
{
    const struct manual *manual = completion->run->manual;

    for (size_t i = 0; i < manual->topic_count; i++)
        propose(completion, manual->topics[i].name, manual->topics[i].title);
}

/* A global option whose name the command uses for another. */
static bool is_hidden(const struct run *run, size_t option)
{
    for (size_t i = GLOBAL_OPTIONS; option < GLOBAL_OPTIONS && i < OPTION_COUNT; i++)
        if (parse_knows(run, i) && strcmp(option_table[i].name, option_table[option].name) == 0)
            return true;
    return false;
}

static void propose_options(const struct completion *completion)
{
    struct text name = {NULL, 0, 0};

    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (!parse_knows(completion->run, i) || is_hidden(completion->run, i))
            continue;
        text_clear(&name);
        text_print(&name, "--%s", option_table[i].name);
        propose(completion, name.data, option_table[i].help);
    }
    text_free(&name);
}

static int propose_values(struct completion *completion, enum kind kind)
{
    static const char *const points[] = {"start", "now", "last-turn", "before:"};

    if (kind == KIND_FILE)
        return EXIT_FAILED;
    if (kind == KIND_APP || kind == KIND_USER || kind == KIND_SESSION || kind == KIND_ARTIFACT)
        propose_names(completion, kind);
    for (size_t i = 0; kind == KIND_POINT && i < sizeof points / sizeof points[0]; i++)
        propose(completion, points[i], NULL);
    for (size_t i = 0; kind_word(kind, i); i++)
        propose(completion, kind_word(kind, i), NULL);
    if (kind == KIND_COMMAND) {
        const struct run *run = completion->run;
        propose_commands(completion, run->argument_count > 0 ? run->arguments[0] : NULL);
        if (run->argument_count == 0)
            propose_topics(completion);
    }
    return EXIT_OK;
}

static int propose_word(struct completion *completion, const struct unfinished *line)
{
    const struct run *run = completion->run;

    if (line->option != OPTION_COUNT)
        return propose_values(completion, option_table[line->option].kind);
    if (*completion->begun == '-' && !line->options_end)
        propose_options(completion);
    else if (!run->command)
        propose_commands(completion, run->family);
    else if (run->command->argument.name && run->argument_count < run->command->argument.limit)
        return propose_values(completion, run->command->argument.kind);
    return EXIT_OK;
}

int complete(struct run *run, int count, char **words)
{
    char *last = count > 0 ? words[--count] : NULL;
    char *equals = last && strncmp(last, "--", 2) == 0 ? strchr(last, '=') : NULL;
    struct completion completion = {.run = run, .begun = last ? last : ""};
    struct unfinished line;
    int status = EXIT_OK;

    if (!freopen("/dev/null", "w", stderr))
        return EXIT_OK;
    if (equals) { /* --app=ch is read as the two words --app and ch */
        text_add(&completion.before, last, (size_t)(equals - last) + 1);
        completion.begun = equals + 1;
        *equals = '\0';
        count++;
    }
    if (parse_unfinished(run, count, words, &line) && (!equals || line.option != OPTION_COUNT))
        status = propose_word(&completion, &line);
    text_free(&completion.before);
    return status;
}
