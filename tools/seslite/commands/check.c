/* seslite check */
#include "commands.h"

#include "output/json.h"
#include "output/progress.h"
#include "store/choose.h"

struct checking {
    struct run *run;
    struct json_rows rows;
    struct json json; /* with --json: the whole */
};

static void add_problem_members(struct json *json, const ses_problem *problem)
{
    json_text(json, "kind", ses_problem_name(problem->kind));
    if (problem->app)
        json_text(json, "appName", problem->app);
    if (problem->user)
        json_text(json, "userId", problem->user);
    if (problem->session)
        json_text(json, "id", problem->session);
    if (problem->seq > 0)
        json_number(json, "seq", problem->seq);
    json_text(json, "message", problem->message);
}

static int put_json_problem(struct checking *checking, const ses_problem *problem)
{
    struct json json;

    if (given(checking->run, OPTION_JSONL)) {
        json_begin(&json, checking->run, '{');
        add_problem_members(&json, problem);
        return json_rows_add(&checking->rows, &json);
    }
    json_open(&checking->json, NULL, '{');
    add_problem_members(&checking->json, problem);
    json_close(&checking->json, '}');
    return EXIT_OK;
}

static int put_problem(void *context, const ses_problem *problem)
{
    struct checking *checking = context;
    struct text line = {NULL, 0, 0};
    struct text clean = {NULL, 0, 0};
    const char *names[] = {problem->app, problem->user, problem->session};

    progress_hide();
    if (wants_json(checking->run))
        return put_json_problem(checking, problem);
    out_coloured(COLOUR_RED, "! ", 2);
    text_print(&line, "%s: ", ses_problem_name(problem->kind));
    for (size_t i = 0; i < sizeof names / sizeof names[0] && names[i]; i++)
        text_print(&line, "%s%s", i > 0 ? "/" : "", names[i]);
    if (problem->seq > 0)
        text_print(&line, " event %lld", (long long)problem->seq);
    text_print(&line, "%s%s", names[0] ? ": " : "", problem->message);
    text_add_clean(&clean, line.data, line.len, LINES_ONE);
    out_text(clean.data, clean.len);
    out_puts("\n");
    text_free(&clean);
    text_free(&line);
    return 0;
}

static int check(struct checking *checking, int64_t *problems)
{
    struct run *run = checking->run;
    const ses_check_options options = {.size = sizeof options,
                                       .level = given(run, OPTION_QUICK) ? SES_CHECK_QUICK : SES_CHECK_LOG,
                                       .limit = number_given(run, OPTION_LIMIT, 0),
                                       .report = put_problem,
                                       .report_context = checking,
                                       .progress = progress_report};

    progress_begin("checking");
    int code = ses_store_check(run->store, &options, problems, &run->error);
    progress_end();
    return code < 0 ? fail(run) : EXIT_OK;
}

static int check_to_json(struct checking *checking, int64_t *problems)
{
    json_begin(&checking->json, checking->run, '{');
    json_open(&checking->json, "problems", '[');
    int status = check(checking, problems);
    json_close(&checking->json, ']');
    json_bool(&checking->json, "sound", *problems == 0);
    if (status == EXIT_OK)
        return json_print_object(&checking->json);
    text_free(&checking->json.text);
    return status;
}

static int check_to_lines(struct checking *checking, int64_t *problems)
{
    if (given(checking->run, OPTION_JSONL))
        json_rows_begin(&checking->rows, checking->run);
    return check(checking, problems);
}

int run_check(struct run *run)
{
    struct checking checking = {.run = run};
    int64_t problems = 0;
    int status = open_to_read(run);

    if (status != EXIT_OK)
        return status;
    status =
        given(run, OPTION_JSON) ? check_to_json(&checking, &problems) : check_to_lines(&checking, &problems);
    if (status != EXIT_OK)
        return status;
    if (!wants_json(run))
        note(problems == 0 ? "The store is sound." : "%s found. Nothing was changed.",
             counted(problems, "problem"));
    return problems == 0 ? EXIT_OK : EXIT_DAMAGED;
}
