/* seslite title, label, archive and unarchive */
#include "commands.h"

#include <string.h>

#include "output/json.h"
#include "output/table.h"
#include "store/choose.h"
#include "store/labels.h"
#include "store/sessions.h"

/* Opens the session to be written. Without --session the only one is meant, but not where the first argument
 * is its id: other commands take that as the session, and here it would become a title or a label. */
static int open_to_annotate(struct run *run)
{
    int status = open_session_to_write(run);

    if (status != EXIT_OK || given(run, OPTION_SESSION) || run->argument_count == 0 ||
        strcmp(run->arguments[0], run->key.session) != 0)
        return status;
    return say_usage(run, "\"%s\" is a session. Name it with -s: seslite -s %s %s", run->arguments[0],
                     run->arguments[0], run->command->name);
}

/* Without --session, says which session was meant. */
static void note_where(const struct run *run, const char *what)
{
    if (!given(run, OPTION_SESSION))
        note("session %s (user %s, app %s): %s", run->key.session, run->key.user, run->key.app, what);
}

/* -------------------------------------------------------------------------------------------------- title */

static int print_title(struct run *run)
{
    struct json json;
    struct text clean = {NULL, 0, 0};
    int status = open_session_to_read(run);
    ses_session *session = status == EXIT_OK ? session_read(run, &status) : NULL;
    const char *title = session ? ses_session_title(session) : NULL;

    if (session && wants_json(run)) {
        json_begin(&json, run, '{');
        json_text(&json, "title", title);
        status = json_print_object(&json);
    } else if (session && title) {
        text_add_clean(&clean, title, strlen(title), LINES_ONE);
        out_print("%s\n", clean.data);
        text_free(&clean);
    }
    ses_session_close(session);
    return status;
}

static int set_title(struct run *run, const char *title)
{
    struct text what = {NULL, 0, 0};
    int status = open_to_annotate(run);

    if (status == EXIT_OK && ses_title_set_by_key(run->store, &run->key, title, NULL, &run->error) < 0)
        status = fail(run);
    if (title)
        text_print(&what, "the title is now \"%s\"", title);
    else
        text_puts(&what, "the title was removed");
    if (status == EXIT_OK)
        note_where(run, what.data);
    text_free(&what);
    return status;
}

int run_title(struct run *run)
{
    bool remove = given(run, OPTION_REMOVE);

    if (remove && run->argument_count > 0)
        return say_usage(run, "--remove removes the title and takes no other");
    if (!remove && run->argument_count == 0)
        return print_title(run);
    return set_title(run, remove ? NULL : run->arguments[0]);
}

/* ------------------------------------------------------------------------------------------------- labels */

static int print_label_table(const ses_session *session)
{
    static const struct column columns[] = {{"LABEL", COLOUR_CYAN, 0, 0},
                                            {"VALUE", COLOUR_NONE, COLUMN_CUT, 0}};
    struct table table;

    table_begin(&table, columns, 2);
    for (size_t i = 0; i < ses_session_label_count(session); i++) {
        table_puts(&table, ses_session_label(session, i)->name);
        table_puts(&table, ses_session_label(session, i)->value);
    }
    table_end(&table);
    return EXIT_OK;
}

static int print_label_json(struct run *run, const ses_session *session)
{
    struct json json;

    json_begin(&json, run, '{');
    for (size_t i = 0; i < ses_session_label_count(session); i++)
        json_member(&json, ses_session_label(session, i)->name, ses_session_label(session, i)->value);
    return json_print_object(&json);
}

static int print_labels(struct run *run)
{
    int status = open_session_to_read(run);
    ses_session *session = status == EXIT_OK ? session_read(run, &status) : NULL;

    if (session)
        status = wants_json(run) ? print_label_json(run, session) : print_label_table(session);
    ses_session_close(session);
    return status;
}

static int set_labels(struct run *run)
{
    const bool remove = given(run, OPTION_REMOVE);
    ses_label labels[ARGUMENTS_MAX];
    struct text what = {NULL, 0, 0};
    int status = open_to_annotate(run);

    if (status != EXIT_OK)
        return status;
    text_print(&what, "%s %s", run->argument_count == 1 ? "label" : "labels", remove ? "removed:" : "set:");
    for (size_t i = 0; i < run->argument_count; i++) {
        label_given(run->arguments[i], remove, &labels[i]);
        text_print(&what, " %s", run->arguments[i]);
    }
    if (ses_labels_set_by_key(run->store, &run->key, labels, run->argument_count, NULL, &run->error) < 0)
        status = fail(run);
    else
        note_where(run, what.data);
    labels_free(labels, run->argument_count);
    text_free(&what);
    return status;
}

int run_label(struct run *run)
{
    if (run->argument_count > 0)
        return set_labels(run);
    return given(run, OPTION_REMOVE) ? say_usage(run, "--remove needs the names of labels")
                                     : print_labels(run);
}

/* ------------------------------------------------------------------------------------------------ archive */

static int set_archived(struct run *run, bool archived)
{
    const int status = open_session_to_write(run);

    if (status != EXIT_OK)
        return status;
    if (ses_archive_set_by_key(run->store, &run->key, archived, NULL, &run->error) < 0)
        return fail(run);
    note("%s is %s the archive.", run->key.session, archived ? "in" : "not in");
    return EXIT_OK;
}

int run_archive(struct run *run)
{
    return set_archived(run, true);
}

int run_unarchive(struct run *run)
{
    return set_archived(run, false);
}
