#include "html/parts.h"

#include <inttypes.h>
#include <string.h>

#include "html/page/image.h"
#include "html/page/markdown.h"
#include "store/walk.h"
#include "text/scan.h"

enum { BRIEF = 64 /* columns of JSON in the summary of a fold */ };

/* -------------------------------------------------------------------------------------------------- folds */

static void begin_fold(struct page *page, const char *kind, const char *mark, const ses_text *name,
                       const ses_text *json)
{
    page_print(page, "<details class=\"fold %s\"><summary>%s<code>", kind, mark);
    if (name && name->text)
        page_text(page, name->text, name->len);
    else
        page_puts(page, name ? "?" : "JSON");
    page_puts(page, "</code>");
    if (!name || !json->text)
        return;
    page_puts(page, " <span class=\"brief\">");
    page_json_short(page, json->text, json->len, BRIEF);
    page_puts(page, "</span>");
}

static void put_block(struct page *page, const ses_text *json)
{
    page_puts(page, "<pre>");
    if (json->text)
        page_json(page, json->text, json->len, LAYOUT_LINES);
    page_puts(page, "</pre>");
}

void fold_put(struct page *page, const char *kind, const ses_text *name, const ses_text *json)
{
    begin_fold(page, kind, "", name, json);
    page_puts(page, "</summary>");
    put_block(page, json);
    page_puts(page, "</details>\n");
}

/* ------------------------------------------------------------------------------------ calls and responses */

/* The response that was searched for. */
struct answer {
    struct run *run;
    const ses_text *id;
    int64_t seq; /* of its event; 0 if it was not found */
    int64_t time_us;
    struct text json;
};

static bool is_same(const ses_text *a, const ses_text *b)
{
    return a->text && b->text && a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

static int look_for_answer(void *context, const ses_event *event)
{
    struct answer *answer = context;
    int code = SES_OK;
    ses_content *content = open_event(answer->run, event, &code);

    for (size_t i = 0; answer->seq == 0 && i < ses_content_response_count(content); i++) {
        const ses_function *response = ses_content_response(content, i);
        if (!is_same(&response->id, answer->id))
            continue;
        answer->seq = event->seq;
        answer->time_us = event->time_us;
        text_add(&answer->json, response->json.text ? response->json.text : "", response->json.len);
    }
    ses_content_close(content);
    return EXIT_OK;
}

static void find_answer(struct parts *parts, struct answer *answer)
{
    int64_t seq = number_at(&parts->survey->calls.answers, parts->call);
    const ses_range range = {.size = sizeof range, .which = SES_RANGE_SEQ, .first_seq = seq, .last_seq = seq};

    if (seq > 0 && parts->status == EXIT_OK)
        parts->status = each_event(answer->run, &answer->run->key, &range, false, look_for_answer, answer);
}

static const char FAILED[] = " <span class=\"mark\">failed</span>";

static void put_call(struct parts *parts, const ses_event *event, const ses_function *call)
{
    struct page *page = parts->page;
    struct answer answer = {.run = page->run, .id = &call->id};

    find_answer(parts, &answer);
    parts->call++;
    const bool failed = response_failed(&(ses_text){answer.json.data, answer.json.len});
    begin_fold(page, failed ? "call failed" : "call", "", &call->name, &call->json);
    page_puts(page, failed ? FAILED : "");
    page_puts(page, " <span class=\"took\">");
    if (answer.seq > 0)
        page_span(page, answer.time_us - event->time_us);
    else
        page_puts(page, "no response");
    page_puts(page, "</span></summary><h3>Arguments</h3>");
    put_block(page, &call->json);
    if (answer.seq > 0) {
        page_print(page, "<h3>Response, in event <a href=\"#e%" PRId64 "\">%" PRId64 "</a></h3>", answer.seq,
                   answer.seq);
        put_block(page, &(ses_text){answer.json.data, answer.json.len});
    }
    page_puts(page, "</details>\n");
    text_free(&answer.json);
}

static void put_response(struct parts *parts, const ses_function *response)
{
    struct page *page = parts->page;
    int64_t seq = number_at(&parts->survey->calls.askers, parts->response++);
    const bool failed = response_failed(&response->json);

    if (seq == 0) {
        begin_fold(page, failed ? "response failed" : "response", "\xe2\x86\x90 ", &response->name,
                   &response->json);
        page_print(page, "%s</summary>", failed ? FAILED : "");
        put_block(page, &response->json);
        page_puts(page, "</details>\n");
        return;
    }
    page_puts(page, "<p class=\"answer\">\xe2\x86\x90 <code>");
    page_text(page, response->name.text ? response->name.text : "?",
              response->name.text ? response->name.len : 1);
    page_print(page, "</code> %s: see the call in event <a href=\"#e%" PRId64 "\">%" PRId64 "</a></p>\n",
               failed ? "failed" : "answered", seq, seq);
}

/* -------------------------------------------------------------------------------------------- other parts */

/* The member that determines the kind of the part: the first that does not qualify it as a thought. */
static void put_other_part(struct page *page, const ses_text *part)
{
    struct text name = {NULL, 0, 0};
    struct scan scan;
    struct piece value;
    bool found = false;

    scan_begin(&scan, part->text, part->len);
    while (!found && scan_member(&scan, &name, &value))
        found = strcmp(name.data, "thought") != 0 &&
                !scan_is_named(&name, "thoughtSignature", "thought_signature");
    if (found && scan_is_named(&name, "inlineData", "inline_data") && value.text[0] == '{')
        image_put(page, &value);
    else
        fold_put(page, "part", &(ses_text){found ? name.data : "part", found ? name.len : 4}, part);
    text_free(&name);
}

/* Consecutive texts are joined, since a model streams one text in several. Returns the index of the last
 * one. */
static size_t put_texts(struct page *page, const ses_event *event, const ses_content *content, size_t index)
{
    const bool thought = ses_content_part(content, index)->thought;
    const bool marked = strcmp(event->author, "user") != 0;
    struct text whole = {NULL, 0, 0};

    for (;; index++) {
        const ses_part *part = ses_content_part(content, index);
        const ses_part *next = ses_content_part(content, index + 1);
        text_add(&whole, part->text.text, part->text.len);
        if (!next || next->call || next->response || !next->text.text || (bool)next->thought != thought)
            break;
    }
    page_print(page, "<div class=\"text%s%s\">", thought ? " thought" : "", marked ? " marked" : "");
    if (marked)
        markdown_put(page, whole.data, whole.len);
    else
        page_text(page, whole.data, whole.len);
    page_puts(page, "</div>\n");
    text_free(&whole);
    return index;
}

void parts_put(struct parts *parts, const ses_event *event, const ses_content *content)
{
    struct page *page = parts->page;

    for (size_t i = 0; i < ses_content_part_count(content); i++) {
        const ses_part *part = ses_content_part(content, i);
        if (part->call)
            put_call(parts, event, part->call);
        else if (part->response)
            put_response(parts, part->response);
        else if (part->text.text)
            i = put_texts(page, event, content, i);
        else
            put_other_part(page, &part->json);
    }
}
