#include "html/survey.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/out.h"
#include "output/progress.h"
#include "store/live.h"
#include "store/walk.h"
#include "text/scan.h"

struct walk {
    struct survey *survey;
    struct page *page;
    struct live live;
    bool changed; /* a change was written, so the next one needs a comma */
    struct text name;
    struct text shown;
};

ses_content *open_event(struct run *run, const ses_event *event, int *code)
{
    ses_content *content = NULL;

    *code = ses_content_open(run->store, event->json, event->json_len, &content, &run->error);
    return content;
}

int state_after(struct run *run, int64_t seq, char **json, size_t *len)
{
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = seq};
    const ses_as_of_options options = {.size = sizeof options, .flags = SES_AS_OF_SHARED};

    return ses_state_json_as_of_by_key(run->store, &run->key, &point, &options, json, len, &run->error) < 0
               ? fail(run)
               : EXIT_OK;
}

/* ------------------------------------------------------------------------------------- data of the script */

/* Each value is a string with the text to show, or null for a removed key. */
static void put_members(struct walk *walk, const char *json, size_t len)
{
    static const char removed[] = "\"__ADK_SENTINEL_REMOVED__\"";
    struct page *page = walk->page;
    struct scan scan;
    struct piece value;
    bool first = true;

    page_puts(page, "{");
    scan_begin(&scan, json, len);
    while (scan_member(&scan, &walk->name, &value)) {
        if (!first)
            page_puts(page, ",");
        first = false;
        text_clear(&walk->shown);
        view_name(&walk->shown, &page->redactor, walk->name.data, walk->name.len);
        page_string(page, &walk->shown);
        page_puts(page, ":");
        text_clear(&walk->shown);
        if (piece_is(&value, removed)) {
            page_puts(page, "null");
            continue;
        }
        if (redactor_hides(&page->redactor, walk->name.data, walk->name.len))
            text_puts(&walk->shown, REDACTED);
        else
            view_value(&walk->shown, &page->redactor, value.text, value.len);
        page_string(page, &walk->shown);
    }
    page_puts(page, "}");
}

static int put_first_state(struct walk *walk, int64_t seq)
{
    char *json = NULL;
    size_t len = 0;
    int status = state_after(walk->page->run, seq, &json, &len);

    if (status == EXIT_OK) {
        page_puts(walk->page, "<script type=\"application/json\" id=\"data\">{\"state\":");
        put_members(walk, json, len);
        page_puts(walk->page, ",\n\"changes\":[");
    }
    ses_free(json);
    return status;
}

static void put_changes(struct walk *walk, const ses_event *event, const ses_content *content)
{
    ses_text delta = ses_content_state_delta(content);

    if (!delta.text)
        return;
    page_print(walk->page, "%s\n[%" PRId64 ",", walk->changed ? "," : "", event->seq);
    put_members(walk, delta.text, delta.len);
    page_puts(walk->page, "]");
    walk->changed = true;
}

/* ------------------------------------------------------------------------------------------ what is known */

/* A sum that does not overflow for any log. */
static void add_tokens(int64_t *sum, int64_t more)
{
    if (more > 0)
        *sum = more > INT64_MAX - *sum ? INT64_MAX : *sum + more;
}

static void add_usage(struct survey *survey, const ses_usage *usage)
{
    if (!usage)
        return;
    survey->used++;
    add_tokens(&survey->tokens.prompt, usage->prompt);
    add_tokens(&survey->tokens.cached, usage->cached);
    add_tokens(&survey->tokens.candidates, usage->candidates);
    add_tokens(&survey->tokens.thoughts, usage->thoughts);
    add_tokens(&survey->tokens.total, usage->total);
}

static bool overlap(const struct covered *a, const struct covered *b)
{
    return a->start_us <= b->end_us && b->start_us <= a->end_us;
}

/* The first lane without an overlapping compaction. If there is none, the last lane is shared. */
static int lane_of(const struct survey *survey, const struct covered *compaction)
{
    bool taken[LANES] = {false};
    int lane = 0;

    for (size_t i = 0; i < survey->compaction_count; i++)
        if (overlap(&survey->compactions[i], compaction))
            taken[survey->compactions[i].lane] = true;
    while (lane < LANES - 1 && taken[lane])
        lane++;
    return lane;
}

static void add_compaction(struct survey *survey, const ses_event *event, const ses_compaction *compaction)
{
    if (!compaction || survey->compaction_count == COMPACTIONS_MAX)
        return;
    if (!survey->compactions)
        survey->compactions = allocate(COMPACTIONS_MAX * sizeof *survey->compactions);
    struct covered *covered = &survey->compactions[survey->compaction_count];
    *covered =
        (struct covered){.seq = event->seq, .start_us = compaction->start_us, .end_us = compaction->end_us};
    covered->lane = lane_of(survey, covered);
    survey->compaction_count++;
}

static void add_content(struct walk *walk, const ses_event *event, const ses_content *content, bool is_live)
{
    struct survey *survey = walk->survey;

    for (size_t i = 0; i < ses_content_response_count(content); i++) {
        const ses_function *response = ses_content_response(content, i);
        calls_add_response(&survey->calls, &response->id, event->seq);
        survey->failed += response_failed(&response->json);
    }
    for (size_t i = 0; i < ses_content_call_count(content); i++)
        calls_add_call(&survey->calls, &ses_content_call(content, i)->id, event->seq);
    if (ses_content_error_code(content).text || ses_content_error_message(content).text)
        survey->errors++;
    add_usage(survey, ses_content_usage(content));
    turns_add(&survey->turns, event, ses_content_usage(content));
    if (is_live)
        add_compaction(survey, event, ses_content_compaction(content));
    put_changes(walk, event, content);
}

static int visit(void *context, const ses_event *event)
{
    struct walk *walk = context;
    struct survey *survey = walk->survey;
    bool is_live = false;
    int code = SES_OK;
    int status = live_look(&walk->live, event->seq, &is_live);

    if (status == EXIT_OK && survey->count == 0)
        status = put_first_state(walk, event->seq - 1);
    if (status != EXIT_OK)
        return status;
    if (survey->count++ == 0) {
        survey->first_seq = event->seq;
        survey->first_us = event->time_us;
    }
    survey->last_seq = event->seq;
    survey->last_us = event->time_us;
    survey->any_gone = survey->any_gone || !is_live;
    ses_content *content = open_event(walk->page->run, event, &code);
    if (content)
        add_content(walk, event, content, is_live);
    ses_content_close(content);
    return EXIT_OK;
}

/* Without events the current state is shown. */
static int put_only_state(struct walk *walk)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const ses_get_options options = {.size = sizeof options, .range = &none};
    struct run *run = walk->page->run;
    ses_session *session = NULL;

    if (ses_get(run->store, &run->key, &options, &session, &run->error) < 0)
        return fail(run);
    int64_t last_seq = ses_session_last_seq(session);
    ses_session_close(session);
    return put_first_state(walk, last_seq);
}

int survey_take(struct survey *survey, struct page *page)
{
    struct walk walk = {.survey = survey, .page = page, .live = {.run = page->run, .key = &page->run->key}};
    ses_range range;

    *survey = (struct survey){.count = 0};
    range_given(page->run, &range);
    int status = each_event(page->run, &page->run->key, &range, false, visit, &walk);
    if (status == EXIT_OK && survey->count == 0)
        status = put_only_state(&walk);
    if (status == EXIT_OK)
        page_puts(page, "]}</script>\n");
    live_close(&walk.live);
    text_free(&walk.name);
    text_free(&walk.shown);
    return status;
}

void survey_free(struct survey *survey)
{
    calls_free(&survey->calls);
    free(survey->compactions);
    turns_free(&survey->turns);
    *survey = (struct survey){.count = 0};
}
