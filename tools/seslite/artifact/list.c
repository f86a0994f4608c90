/* seslite artifact list */
#include "commands.h"

#include "output/table.h"
#include "store/artifacts.h"
#include "store/choose.h"
#include "text/times.h"

static const struct column columns[] = {
    {"NAME", COLOUR_BOLD, 0, 0},
    {"VERSION", COLOUR_NONE, COLUMN_RIGHT, 0},
    {"BYTES", COLOUR_NONE, COLUMN_RIGHT, 0},
    {"CREATED", COLOUR_DIM, COLUMN_TIME, 0},
    {"TYPE", COLOUR_CYAN, COLUMN_CUT, 0},
    {"TITLE", COLOUR_NONE, COLUMN_CUT, 0},
};

struct listing {
    struct run *run;
    struct table table;
    struct json_rows rows;
    int64_t count;
};

static int visit(void *context, const ses_artifact_info *info)
{
    struct listing *listing = context;
    char time[TIME_SIZE];
    struct json json;

    listing->count++;
    if (wants_json(listing->run)) {
        json_begin(&json, listing->run, '{');
        artifact_json(&json, info);
        return json_rows_add(&listing->rows, &json);
    }
    table_puts(&listing->table, info->name);
    table_number(&listing->table, info->version);
    table_number(&listing->table, info->size);
    table_puts(&listing->table, time_text(info->created_us, time));
    table_puts(&listing->table, info->mime_type ? info->mime_type : "");
    table_puts(&listing->table, info->display_name ? info->display_name : "");
    return EXIT_OK;
}

/* An empty list may have its reason in a session or user that is not there: names that were given in full
 * were not looked for. */
static int report_none(struct run *run)
{
    const char *name = run->values[OPTION_VERSIONS];
    int status = EXIT_OK;

    if (given(run, OPTION_APP) && given(run, OPTION_USER))
        status = given(run, OPTION_SESSION) ? choose_session(run) : choose_user(run);
    if (status == EXIT_OK && name) {
        say("no artifact \"%s\" of %s %s", name, given(run, OPTION_SESSION) ? "the session" : "the user",
            given(run, OPTION_SESSION) ? run->key.session : run->key.user);
        status = EXIT_NOTFOUND;
    } else if (status == EXIT_OK && !given(run, OPTION_SESSION)) {
        note("(the user %s has no artifacts; name a session with -s to see those of the session)",
             run->key.user);
    }
    return status;
}

int run_artifact_list(struct run *run)
{
    struct listing listing = {.run = run};
    int status = open_to_read(run);

    if (status == EXIT_OK)
        status = choose_artifacts(run);
    if (status != EXIT_OK)
        return status;
    if (wants_json(run))
        json_rows_begin(&listing.rows, run);
    else
        table_begin(&listing.table, columns, sizeof columns / sizeof columns[0]);
    status = each_artifact(run, run->values[OPTION_VERSIONS], visit, &listing);
    if (wants_json(run))
        json_rows_end(&listing.rows);
    else
        table_end(&listing.table);
    return status == EXIT_OK && listing.count == 0 ? report_none(run) : status;
}
