/* seslite family */
#include "commands.h"

#include "output/json.h"
#include "output/table.h"
#include "store/choose.h"
#include "text/times.h"

static const struct column columns[] = {
    {"RELATION", COLOUR_NONE, 0, 0}, {"EVENT", COLOUR_NONE, COLUMN_RIGHT, 0}, {"SESSION", COLOUR_BOLD, 0, 0},
    {"USER", COLOUR_CYAN, 0, 0},     {"CREATED", COLOUR_DIM, COLUMN_TIME, 0},
};

static const char *relation_word(int relation)
{
    return relation == SES_RELATION_PARENT     ? "parent"
           : relation == SES_RELATION_FORK     ? "fork"
           : relation == SES_RELATION_SIBLING  ? "sibling"
           : relation == SES_RELATION_CHILD_OF ? "child of"
                                               : "child";
}

static void print_table(const ses_family *family)
{
    struct table table;
    char time[TIME_SIZE];

    table_begin(&table, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < ses_family_count(family); i++) {
        const ses_relative *relative = ses_family_at(family, i);
        table_puts(&table, relation_word(relative->relation));
        if (relative->seq > 0)
            table_number(&table, relative->seq);
        else
            table_puts(&table, "");
        table_puts(&table, relative->session);
        table_puts(&table, relative->user);
        table_puts(&table, time_text(relative->created_us, time));
    }
    table_end(&table);
}

static int print_rows(struct run *run, const ses_family *family)
{
    struct json_rows rows;
    struct json json;
    int status = EXIT_OK;

    json_rows_begin(&rows, run);
    for (size_t i = 0; i < ses_family_count(family) && status == EXIT_OK; i++) {
        const ses_relative *relative = ses_family_at(family, i);
        json_begin(&json, run, '{');
        json_text(&json, "relation", relation_word(relative->relation));
        json_text(&json, "id", relative->session);
        json_text(&json, "userId", relative->user);
        if (relative->seq > 0)
            json_number(&json, "seq", relative->seq);
        json_time(&json, "createTime", relative->created_us);
        status = json_rows_add(&rows, &json);
    }
    json_rows_end(&rows);
    return status;
}

int run_family(struct run *run)
{
    ses_family *family = NULL;
    int status = open_to_read(run);

    if (status == EXIT_OK)
        status = choose_session(run);
    if (status == EXIT_OK && ses_family_open(run->store, &run->key, NULL, &family, &run->error) < 0)
        status = fail(run);
    if (status != EXIT_OK)
        return status;
    if (wants_json(run))
        status = print_rows(run, family);
    else
        print_table(family);
    if (ses_family_count(family) == 0)
        note("(the session %s was not forked, and has no forks, siblings or children)", run->key.session);
    ses_family_close(family);
    return status;
}
