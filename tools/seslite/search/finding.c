/* seslite find: what the store holds about a text, wherever it is. */
#include "commands.h"

#include <stdio.h>

#include "output/json.h"
#include "output/out.h"
#include "output/progress.h"
#include "output/table.h"
#include "seslite_erase.h"
#include "store/choose.h"
#include "text/find.h"

static const struct column finding_columns[] = {
    {"WHAT", COLOUR_BOLD, 0, 8},
    {"APP", COLOUR_DIM, 0, 8},
    {"USER", COLOUR_CYAN, 0, 8},
    {"SESSION", COLOUR_BOLD, 0, 12},
    {"SEQ", COLOUR_DIM, COLUMN_RIGHT, 4},
    {"NAME", COLOUR_CYAN, COLUMN_CUT, 12},
    {"FOUND", COLOUR_NONE, COLUMN_CUT, 30},
};

struct find_run {
    struct run *run;
    struct finder finder;
    ses_find_options options;
    const ses_key *scope;
    int64_t left;
    int64_t count;
    struct table table;
    struct json_rows rows;
};

static const char *word_of(int kind)
{
    static const char *const words[] = {[SES_FOUND_ID] = "id",           [SES_FOUND_PARENT] = "parent",
                                        [SES_FOUND_TITLE] = "title",     [SES_FOUND_LABEL] = "label",
                                        [SES_FOUND_KEY] = "key",         [SES_FOUND_VALUE] = "value",
                                        [SES_FOUND_INITIAL] = "initial", [SES_FOUND_BASE] = "base",
                                        [SES_FOUND_EVENT] = "event",     [SES_FOUND_ARTIFACT] = "artifact",
                                        [SES_FOUND_BYTES] = "bytes",     [SES_FOUND_DRAFT] = "draft",
                                        [SES_FOUND_INPUT] = "input"};

    return kind > 0 && (size_t)kind < sizeof words / sizeof words[0] ? words[kind] : "other";
}

static int print_finding_json(struct find_run *own, const ses_finding *finding)
{
    struct json json;
    struct text text = {NULL, 0, 0};

    json_begin(&json, own->run, '{');
    json_text(&json, "kind", word_of(finding->kind));
    json_text(&json, "appName", finding->app);
    if (finding->user)
        json_text(&json, "userId", finding->user);
    if (finding->session)
        json_text(&json, "session", finding->session);
    if (finding->name)
        json_text(&json, "name", finding->name);
    if (finding->seq > 0)
        json_number(&json, "seq", finding->seq);
    if (finding->version >= 0)
        json_number(&json, "version", finding->version);
    if (finding->text) {
        text_add(&text, finding->text, finding->text_len);
        json_text(&json, "text", text.data);
        text_free(&text);
    }
    return json_rows_add(&own->rows, &json);
}

static int print_finding(struct find_run *own, const ses_finding *finding)
{
    const char *const texts[] = {word_of(finding->kind), finding->app, finding->user, finding->session};

    own->count++;
    own->left--;
    if (wants_json(own->run))
        return print_finding_json(own, finding);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        table_puts(&own->table, texts[i] ? texts[i] : "");
    if (finding->seq > 0)
        table_number(&own->table, finding->seq);
    else
        table_puts(&own->table, "");
    table_puts(&own->table, finding->name ? finding->name : "");
    table_cell(&own->table, finding->text ? finding->text : "", finding->text_len);
    return EXIT_OK;
}

static int print_findings(struct find_run *own, const ses_findings *findings)
{
    int status = EXIT_OK;

    for (size_t i = 0; status == EXIT_OK && own->left > 0 && i < ses_findings_count(findings); i++)
        status = print_finding(own, ses_findings_at(findings, i));
    return status;
}

static int find_pages(struct find_run *own)
{
    struct run *run = own->run;
    ses_findings *before = NULL; /* has the token */
    const char *text = given(run, OPTION_PATTERN) ? NULL : run->arguments[0];
    int status = EXIT_OK;

    do {
        ses_findings *findings = NULL;
        if (ses_store_find(run->store, own->scope, text, SES_NUL, &own->options, &findings, &run->error) < 0)
            status = fail(run);
        ses_findings_close(before);
        before = findings;
        if (findings)
            status = print_findings(own, findings);
        own->options.token = findings ? ses_findings_token(findings) : NULL;
    } while (status == EXIT_OK && own->left > 0 && own->options.token);
    ses_findings_close(before);
    return status;
}

static int choose_scope(struct find_run *own)
{
    struct run *run = own->run;

    own->scope = &run->key;
    if (given(run, OPTION_SESSION))
        return choose_session(run);
    run->key.session = NULL;
    if (given(run, OPTION_USER))
        return choose_user(run);
    if (given(run, OPTION_APP))
        return choose_app(run);
    own->scope = NULL;
    return EXIT_OK;
}

static int find_in_scope(struct find_run *own)
{
    struct run *run = own->run;
    int status = open_to_read(run);

    if (status == EXIT_OK)
        status = choose_scope(own);
    if (status != EXIT_OK)
        return status;
    if (wants_json(run))
        json_rows_begin(&own->rows, run);
    else
        table_begin(&own->table, finding_columns, sizeof finding_columns / sizeof finding_columns[0]);
    progress_begin("searching");
    status = find_pages(own);
    progress_end();
    if (wants_json(run))
        json_rows_end(&own->rows);
    else
        table_end(&own->table);
    return status == EXIT_OK && own->count == 0 ? EXIT_NOTFOUND : status;
}

int run_find(struct run *run)
{
    struct find_run own = {.run = run, .left = number_given(run, OPTION_LIMIT, INT64_MAX)};
    const char *pattern = run->values[OPTION_PATTERN];
    struct text why = {NULL, 0, 0};
    int status = EXIT_OK;

    own.options =
        (ses_find_options){.size = sizeof own.options,
                           .flags = !pattern && given(run, OPTION_IGNORE_CASE) ? SES_FIND_IGNORE_CASE : 0};
    if ((pattern != NULL) == (run->argument_count > 0))
        return say_usage(run, "find needs a text, or --pattern");
    if (!pattern)
        return find_in_scope(&own);
    if (finder_begin(&own.finder, NULL, pattern, given(run, OPTION_IGNORE_CASE), &why)) {
        own.options.find = finder_find;
        own.options.find_context = &own.finder;
        status = find_in_scope(&own);
        finder_end(&own.finder);
    } else {
        status = say_usage(run, "--pattern: %s", why.data);
    }
    text_free(&why);
    return status;
}
