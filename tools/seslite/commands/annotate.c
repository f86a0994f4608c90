/* seslite title and label */
#include "commands.h"

#include <string.h>

#include "output/json.h"
#include "output/table.h"
#include "store/choose.h"
#include "store/labels.h"
#include "store/sessions.h"

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

int run_title(struct run *run)
{
    bool remove = given(run, OPTION_REMOVE);

    if (remove && run->argument_count > 0)
        return say_usage(run, "--remove removes the title and takes no other");
    if (!remove && run->argument_count == 0)
        return print_title(run);
    int status = open_session_to_write(run);
    if (status != EXIT_OK)
        return status;
    const char *title = remove ? NULL : run->arguments[0];
    return ses_title_set_by_key(run->store, &run->key, title, NULL, &run->error) < 0 ? fail(run) : EXIT_OK;
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
    ses_label labels[ARGUMENTS_MAX];
    int status = open_session_to_write(run);

    if (status != EXIT_OK)
        return status;
    for (size_t i = 0; i < run->argument_count; i++)
        label_given(run->arguments[i], given(run, OPTION_REMOVE), &labels[i]);
    if (ses_labels_set_by_key(run->store, &run->key, labels, run->argument_count, NULL, &run->error) < 0)
        status = fail(run);
    labels_free(labels, run->argument_count);
    return status;
}

int run_label(struct run *run)
{
    if (run->argument_count > 0)
        return set_labels(run);
    return given(run, OPTION_REMOVE) ? say_usage(run, "--remove needs the names of labels")
                                     : print_labels(run);
}
