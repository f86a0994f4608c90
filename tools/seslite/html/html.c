/* seslite html: a session as a page. */
#include "commands.h"

#include <string.h>

#include "html/head.h"
#include "html/transcript.h"
#include "output/json.h"
#include "output/out.h"
#include "output/progress.h"
#include "store/choose.h"
#include "store/sessions.h"
#include "store/walk.h"

/* ---------------------------------------------------------------------------------------------- redaction */

static int collect_event(void *context, const ses_event *event)
{
    struct page *page = context;
    int code = SES_OK;

    ses_content_close(open_event(page->run, event, &code));
    if (code != SES_JSON && code != SES_NOMEM)
        redactor_collect(&page->redactor, event->json, event->json_len);
    return EXIT_OK;
}

/* Collects from the initial state and the current state: pruned events may have written values of the first,
 * and other sessions values of the second. */
static int collect_states(struct page *page, const ses_session *session, int64_t base_seq)
{
    struct run *run = page->run;
    char *json = NULL;
    const char *now = NULL;
    size_t len = 0;

    if (ses_state_json_initial_by_key(run->store, &run->key, NULL, &json, &len, &run->error) < 0)
        return fail(run);
    redactor_collect(&page->redactor, json, len);
    ses_free(json);
    json = NULL;
    if (ses_state_json(session, &now, &len, &run->error) < 0)
        return fail(run);
    redactor_collect(&page->redactor, now, len);
    int status = state_after(run, base_seq, &json, &len);
    if (status == EXIT_OK)
        redactor_collect(&page->redactor, json, len);
    ses_free(json);
    return status;
}

/* Collects the secrets from the whole log, even if only a part of it is shown. */
static int collect_secrets(struct page *page, const ses_session *session)
{
    int status;

    if (page->redactor.key_count == 0)
        return EXIT_OK;
    status = collect_states(page, session, ses_session_base_seq(session));
    if (status == EXIT_OK)
        status = each_event(page->run, &page->run->key, NULL, false, collect_event, page);
    redactor_sort(&page->redactor);
    for (size_t i = 0; status == EXIT_OK && i < page->redactor.key_count; i++)
        if (!page->redactor.found[i])
            say("nothing to redact: the session has no \"%s\"", page->redactor.keys[i]);
    return status;
}

/* ------------------------------------------------------------------------------------------------ writing */

static int write_page(struct page *page, const ses_session *session, struct survey *survey)
{
    head_begin(page, session);
    int status = survey_take(survey, page);
    if (status != EXIT_OK)
        return status;
    status = head_put(page, session, survey);
    if (status == EXIT_OK)
        status = state_put(page, survey, ses_session_last_seq(session));
    if (status == EXIT_OK)
        status = transcript_put(page, survey);
    foot_put(page);
    return status;
}

static int report(const struct page *page, const struct survey *survey)
{
    const struct images *images = &page->images;
    struct run *run = page->run;
    struct json json;

    if (!run->values[OPTION_OUTPUT] || strcmp(run->values[OPTION_OUTPUT], "-") == 0)
        return EXIT_OK;
    if (!wants_json(run)) {
        note("%s: %s of the session %s", run->values[OPTION_OUTPUT], counted(survey->count, "event"),
             run->key.session);
        if (images->left_out > 0)
            note("%s not in it: %s", counted(images->left_out, "image"),
                 images->wanted ? "larger than 8 MiB, or the page has 64 MiB of images"
                                : "--images includes them");
        return EXIT_OK;
    }
    json_begin(&json, run, '{');
    json_text(&json, "file", run->values[OPTION_OUTPUT]);
    json_text(&json, "id", run->key.session);
    json_number(&json, "eventCount", survey->count);
    json_number(&json, "imagesLeftOut", images->left_out);
    return json_print_object(&json);
}

static int put_session(struct page *page, const ses_session *session)
{
    struct run *run = page->run;
    struct survey survey = {.count = 0};
    int status = collect_secrets(page, session);

    if (status == EXIT_OK)
        status = page_begin(page);
    if (status == EXIT_OK)
        status = output_open(&page->output, run);
    if (status == EXIT_OK) {
        progress_begin("writing");
        status = write_page(page, session, &survey);
        progress_end();
        status = output_close(&page->output, status);
    }
    if (status == EXIT_OK)
        status = report(page, &survey);
    survey_free(&survey);
    return status;
}

int run_html(struct run *run)
{
    struct page page = {.run = run, .images.wanted = given(run, OPTION_IMAGES)};
    bool to_file = given(run, OPTION_OUTPUT) && strcmp(run->values[OPTION_OUTPUT], "-") != 0;

    if (wants_json(run) && !to_file)
        return say_usage(run, "--json reports what was written to a file: name one with -o");
    int status = open_session_to_read(run);
    if (status != EXIT_OK)
        return status;
    ses_session *session = session_read(run, &status);
    if (session) {
        redactor_begin(&page.redactor, run->repeated, run->repeated_count);
        status = put_session(&page, session);
        redactor_free(&page.redactor);
    }
    ses_session_close(session);
    return status;
}
