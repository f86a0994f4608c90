/*
 * JSON lines: whatever the text, each of its sessions is stored whole or refused, the store stays sound, and
 * what it holds then goes out and comes in elsewhere as it is.
 */
#include "fuzz.h"

struct text {
    char *data;
    size_t len;
    size_t at;
};

static int give(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    struct text *text = context;

    (void)error;
    *len = text->len - text->at < capacity ? text->len - text->at : capacity;
    if (*len > 0)
        memcpy(buffer, text->data + text->at, *len);
    text->at += *len;
    return 0;
}

static int keep(void *context, const char *data, size_t len, ses_error *error)
{
    struct text *text = context;

    (void)error;
    text->data = realloc(text->data, text->len + len);
    must(text->data || text->len + len == 0);
    memcpy(text->data + text->len, data, len);
    text->len += len;
    return 0;
}

static int import(ses_store *store, struct text *text, unsigned flags, ses_import_report *report)
{
    const ses_import_options options = {.size = sizeof options, .flags = flags};
    ses_error error;
    int code;

    *report = (ses_import_report){.size = sizeof *report};
    text->at = 0;
    code = ses_store_import(store, give, text, &options, report, &error);
    must_tell(code, &error);
    return code;
}

static struct text export(ses_store *store)
{
    struct text text = {NULL, 0, 0};
    must(ses_store_export(store, NULL, keep, &text, NULL) == SES_OK);
    return text;
}

static int say_problem(void *context, const ses_problem *problem)
{
    (void)context;
    fprintf(stderr, "%s: event %lld: %s\n", ses_problem_name(problem->kind), (long long)problem->seq,
            problem->message);
    return 0;
}

static void must_be_sound(ses_store *store)
{
    const ses_check_options options = {.size = sizeof options, .level = SES_CHECK_LOG, .report = say_problem};
    int64_t problems = -1;

    must(ses_store_check(store, &options, &problems, NULL) == SES_OK);
    must(problems == 0);
}

/* The copy gives the same text, and has nothing more to take. */
static void must_go_round(ses_store *store)
{
    ses_store *copy = fuzz_store();
    ses_import_report report;
    struct text out = export(store);

    must(import(copy, &out, 0, &report) == SES_OK);
    struct text again = export(copy);
    must(again.len == out.len && memcmp(again.data, out.data, out.len) == 0);
    must(import(copy, &out, 0, &report) == SES_OK);
    must(report.made == 0 && report.refused == 0 && report.keys == 0 && report.artifacts == 0);
    ses_close(copy);
    free(again.data);
    free(out.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text text = {(char *)(uintptr_t)data, size, 0};
    ses_store *store = fuzz_store();
    ses_import_report report;

    (void)import(store, &text, SES_IMPORT_SKIP | (size % 2 ? SES_IMPORT_RENAME : SES_IMPORT_UPDATE), &report);
    if (report.made > 0 || report.keys > 0 || report.artifacts > 0) {
        must_be_sound(store);
        must_go_round(store);
    }
    ses_close(store);
    return 0;
}
