/* Shared by the tests of checks: the problems of a store, as lines of text. */
#ifndef SESLITE_TEST_CHECK_H
#define SESLITE_TEST_CHECK_H

#include "open.h"

static inline int note_problem(void *context, const ses_problem *problem)
{
    text_printf(context, "%s %s/%s/%s %lld: %.1500s\n", ses_problem_name(problem->kind),
                problem->app ? problem->app : "-", problem->user ? problem->user : "-",
                problem->session ? problem->session : "-", (long long)problem->seq, problem->message);
    return 0;
}

/* Free it. */
static inline char *problems_of(ses_store *store, int level)
{
    struct text text = {NULL, 0};
    const ses_check_options options = {
        .size = sizeof options, .level = level, .report = note_problem, .report_context = &text};
    int64_t problems = -1;
    int64_t lines = 0;
    ses_error error;

    text_add(&text, "", 0);
    assert_ok(ses_store_check(store, &options, &problems, &error));
    for (size_t i = 0; i < text.len; i++)
        lines += text.data[i] == '\n';
    assert_int_equal(lines, problems);
    return text.data;
}

static inline void assert_no_problems(ses_store *store)
{
    char *problems = problems_of(store, SES_CHECK_LOG);
    assert_string_equal(problems, "");
    free(problems);
}

#endif
