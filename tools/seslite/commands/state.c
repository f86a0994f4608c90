/* seslite state */
#include "commands.h"

#include <string.h>

#include "output/json.h"
#include "output/table.h"
#include "store/choose.h"
#include "store/points.h"
#include "text/nearest.h"

/*
 * The state is read through a handle, which can find and walk keys: the session itself or, as of a point, a
 * session in memory that was created with the state at that point.
 */
struct shown {
    ses_store *memory;
    ses_session *session;
};

static void shown_close(struct shown *shown)
{
    ses_session_close(shown->session);
    ses_close(shown->memory);
}

static int read_as_of(struct run *run, struct shown *shown)
{
    const ses_key key = {"as", "of", "then"};
    const ses_open_options big = {.size = sizeof big, .max_event_bytes = (size_t)512 << 20};
    const ses_as_of_options options = {.size = sizeof options,
                                       .flags = given(run, OPTION_SHARED) ? SES_AS_OF_SHARED : 0};
    ses_point point;
    char *json = NULL;
    size_t len = 0;

    point_given(run, OPTION_AT, &point);
    int code = ses_state_json_as_of_by_key(run->store, &run->key, &point, &options, &json, &len, &run->error);
    if (code >= 0)
        code = ses_open(":memory:", &big, &shown->memory, &run->error);
    if (code >= 0)
        code = ses_create(shown->memory, &key, json, len, NULL, &shown->session, &run->error);
    ses_free(json);
    return code;
}

static int read_now(struct run *run, struct shown *shown)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const ses_get_options options = {.size = sizeof options, .range = &none};

    return ses_get(run->store, &run->key, &options, &shown->session, &run->error);
}

/* ----------------------------------------------------------------------------------------------- printing */

static int print_whole(struct run *run, const ses_session *session)
{
    const char *json = NULL;
    size_t len = 0;

    if (ses_state_json(session, &json, &len, &run->error) < 0)
        return fail(run);
    json_print(json, len);
    return EXIT_OK;
}

static int print_table(struct run *run, const ses_session *session)
{
    static const struct column columns[] = {{"KEY", COLOUR_CYAN, 0, 0},
                                            {"VALUE", COLOUR_NONE, COLUMN_CUT, 0}};
    struct table table;
    int code = SES_OK;

    table_begin(&table, columns, 2);
    for (size_t i = 0; code >= 0 && i < ses_state_count(session); i++) {
        const char *name = NULL;
        const char *json = NULL;
        size_t len = 0;
        code = ses_state_at(session, i, &name, &json, &len, &run->error);
        if (code >= 0) {
            table_puts(&table, name);
            table_cell(&table, json, len);
        }
    }
    table_end(&table);
    return code < 0 ? fail(run) : EXIT_OK;
}

static int report_absent(struct run *run, const ses_session *session, const char *wanted)
{
    struct nearest nearest;
    const char *name = NULL;

    nearest_begin(&nearest, wanted);
    for (size_t i = 0; i < ses_state_count(session); i++)
        if (ses_state_at(session, i, &name, NULL, NULL, &run->error) >= 0)
            nearest_try(&nearest, name);
    if (nearest.best)
        say("no key \"%s\". Did you mean \"%s\"?", wanted, nearest.best);
    else
        say("no key \"%s\"", wanted);
    nearest_free(&nearest);
    return EXIT_NOTFOUND;
}

/* Prints a string as its text and any other value as JSON; with --json every value as JSON. */
static int print_value(struct run *run, const ses_session *session, const char *name)
{
    const char *value = NULL;
    struct text clean = {NULL, 0, 0};
    size_t len = 0;
    int code = ses_state_get(session, name, &value, &len, &run->error);

    if (code == SES_ABSENT)
        return report_absent(run, session, name);
    if (code < 0)
        return fail(run);
    if (wants_json(run)) {
        json_print(value, len);
        return EXIT_OK;
    }
    const char *text = NULL;
    size_t text_len = 0;
    if (ses_state_get_string(session, name, &text, &text_len, &run->error) == SES_OK)
        text_add_clean(&clean, text, text_len, LINES_KEEP);
    else
        text_add_clean(&clean, value, len, LINES_KEEP);
    out_text(clean.data, clean.len);
    out_puts("\n");
    text_free(&clean);
    return EXIT_OK;
}

int run_state(struct run *run)
{
    struct shown shown = {NULL, NULL};
    int status = open_session_to_read(run);

    if (status != EXIT_OK)
        return status;
    if ((given(run, OPTION_AT) ? read_as_of(run, &shown) : read_now(run, &shown)) < 0)
        status = fail(run);
    else if (run->argument_count > 0)
        status = print_value(run, shown.session, run->arguments[0]);
    else
        status = wants_json(run) ? print_whole(run, shown.session) : print_table(run, shown.session);
    shown_close(&shown);
    return status;
}
