#include "html/transcript.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "html/actions.h"
#include "html/artifacts.h"
#include "html/page/markdown.h"
#include "html/parts.h"
#include "output/out.h"
#include "output/progress.h"
#include "store/live.h"
#include "store/rewinds.h"
#include "store/walk.h"
#include "text/times.h"

enum { SECTION = 50 /* events laid out together by a browser */ };
enum { COLORS = 6 /* as in page.css */, AUTHORS_MAX = 60 };

/* The agents seen so far. */
struct authors {
    char *names[AUTHORS_MAX];
    size_t count;
};

struct transcript {
    struct page *page;
    struct survey *survey;
    struct rewinds rewinds;
    struct authors authors;
    struct parts parts;
    struct live live;
    int64_t before_us; /* the time of the previous event */
    int64_t count;     /* of the events put so far */
};

/* ------------------------------------------------------------------------------------------------ authors */

/* Agents get colors in the order of their first event. After the last color the first one is used again. */
static size_t color_of(struct authors *authors, const char *author)
{
    size_t i = 0;

    while (i < authors->count && strcmp(authors->names[i], author) != 0)
        i++;
    if (i == authors->count && i < AUTHORS_MAX)
        authors->names[authors->count++] = copy_text(author);
    return i % COLORS;
}

static void authors_free(struct authors *authors)
{
    for (size_t i = 0; i < authors->count; i++)
        free(authors->names[i]);
}

/* --------------------------------------------------------------------------------------------------- bars */

static bool covers(const struct covered *covered, const ses_event *event)
{
    return event->seq != covered->seq && event->time_us >= covered->start_us &&
           event->time_us <= covered->end_us;
}

/* Puts a piece of the bar of each compaction that covers the event, if the event is live. */
static void put_bars(struct transcript *transcript, const ses_event *event)
{
    for (size_t i = 0; i < transcript->survey->compaction_count; i++) {
        struct covered *covered = &transcript->survey->compactions[i];
        if (!covers(covered, event))
            continue;
        covered->first_seq = covered->count++ == 0 ? event->seq : covered->first_seq;
        covered->last_seq = event->seq;
        page_print(transcript->page,
                   "<a class=\"bar lane%d\" href=\"#e%" PRId64 "\" aria-label=\"summed up in event %" PRId64
                   "\"></a>",
                   covered->lane, covered->seq, covered->seq);
    }
}

/* Puts the texts of a content, which is read like that of an event. */
static void put_summary(struct page *page, const ses_text *summary)
{
    struct text json = {NULL, 0, 0};
    ses_content *content = NULL;

    text_puts(&json, "{\"content\":");
    text_add(&json, summary->text, summary->len);
    text_puts(&json, "}");
    if (ses_content_open(page->run->store, json.data, json.len, &content, &page->run->error) >= 0) {
        size_t len = 0;
        const char *text = ses_content_text(content, &len);
        page_puts(page, "<div class=\"text marked\">");
        markdown_put(page, text ? text : "", text ? len : 0);
        page_puts(page, "</div>\n");
    }
    ses_content_close(content);
    text_free(&json);
}

static void put_compaction(struct transcript *transcript, const ses_event *event,
                           const ses_compaction *compaction)
{
    struct page *page = transcript->page;
    const struct covered *covered = NULL;

    for (size_t i = 0; i < transcript->survey->compaction_count; i++)
        if (transcript->survey->compactions[i].seq == event->seq)
            covered = &transcript->survey->compactions[i];
    page_print(page, "<div class=\"compaction lane%d\"><p>Summary of the events from ",
               covered ? covered->lane : 0);
    page_moment(page, compaction->start_us);
    page_puts(page, " to ");
    page_moment(page, compaction->end_us);
    if (covered && covered->count > 0)
        page_print(page,
                   ": %s, <a href=\"#e%" PRId64 "\">%" PRId64 "</a> to <a href=\"#e%" PRId64 "\">%" PRId64
                   "</a>",
                   counted(covered->count, "event"), covered->first_seq, covered->first_seq,
                   covered->last_seq, covered->last_seq);
    page_puts(page, "</p>\n");
    put_summary(page, &compaction->content);
    page_puts(page, "</div>\n");
}

/* ----------------------------------------------------------------------------------------------- an event */

static void put_count(struct page *page, int64_t count, const char *what)
{
    if (count > 0)
        page_print(page, " <span>%" PRId64 " %s</span>", count, what);
}

static void put_usage(struct page *page, const ses_usage *usage)
{
    if (!usage)
        return;
    page_puts(page, "<span class=\"usage\">");
    put_count(page, usage->prompt, "in");
    put_count(page, usage->cached, "cached");
    put_count(page, usage->candidates, "out");
    put_count(page, usage->thoughts, "thought");
    page_puts(page, " <span>tokens</span></span>");
}

/* Puts a heading where a day begins. */
static void put_day(struct transcript *transcript, const ses_event *event)
{
    const int64_t day = INT64_C(86400000000);
    struct page *page = transcript->page;

    if (transcript->count > 0 && event->time_us / day == transcript->before_us / day)
        return;
    page_puts(page, "<h2 class=\"day\">");
    page_day(page, event->time_us);
    page_puts(page, "</h2>\n");
}

static void begin_article(struct transcript *transcript, const ses_event *event, const struct rewind *rewind,
                          bool is_live)
{
    struct page *page = transcript->page;

    page_print(page, "<article id=\"e%" PRId64 "\" class=\"", event->seq);
    if (strcmp(event->author, "user") == 0)
        page_puts(page, "user");
    else
        page_print(page, "agent color%zu", color_of(&transcript->authors, event->author));
    page_puts(page, rewind ? " rewind" : "");
    page_puts(page, rewind ? (rewind->gone ? " gone" : "") : is_live ? "" : " gone");
    page_puts(page, "\">");
}

/* Puts the time and the gap since the previous event. */
static void put_times(struct transcript *transcript, const ses_event *event)
{
    struct page *page = transcript->page;

    page_time_of_day(page, event->time_us);
    if (transcript->count == 0)
        return;
    page_puts(page, " <span class=\"gap\">");
    page_puts(page, event->time_us < transcript->before_us ? "\xe2\x88\x92" : "+");
    page_span(page, event->time_us < transcript->before_us ? transcript->before_us - event->time_us
                                                           : event->time_us - transcript->before_us);
    page_puts(page, "</span>");
}

static void put_marks(struct page *page, const ses_event *event, const struct rewind *rewind, bool is_live)
{
    if (event->branch && *event->branch) {
        page_puts(page, " <span class=\"branch\" title=\"branch\">");
        page_words(page, event->branch);
        page_puts(page, "</span>");
    }
    if (rewind)
        page_print(page, " <span class=\"mark kind\">%s</span>", rewind->redo ? "redo" : "rewind");
    if (rewind ? rewind->gone : !is_live)
        page_puts(page, " <span class=\"mark\">taken back</span>");
}

static void put_head(struct transcript *transcript, const ses_event *event, const ses_content *content,
                     const struct rewind *rewind, bool is_live)
{
    struct page *page = transcript->page;

    put_day(transcript, event);
    begin_article(transcript, event, rewind, is_live);
    if (is_live)
        put_bars(transcript, event);
    page_print(page, "<header><a class=\"seq\" href=\"#e%" PRId64 "\">%" PRId64 "</a> <b>", event->seq,
               event->seq);
    page_words(page, event->author);
    page_puts(page, "</b> ");
    put_times(transcript, event);
    put_marks(page, event, rewind, is_live);
    put_usage(page, content ? ses_content_usage(content) : NULL);
    page_puts(page, "</header>\n");
}

/* ------------------------------------------------------------------------------------------------ rewinds */

/* Puts the number of an event, as a link if it is in the page. */
static void put_link(const struct transcript *transcript, int64_t seq)
{
    const struct survey *survey = transcript->survey;

    if (seq >= survey->first_seq && seq <= survey->last_seq)
        page_print(transcript->page, "<a href=\"#e%" PRId64 "\">%" PRId64 "</a>", seq, seq);
    else
        page_print(transcript->page, "%" PRId64, seq);
}

static void put_events(const struct transcript *transcript, int64_t first, int64_t last)
{
    page_puts(transcript->page, first == last ? "event " : "events ");
    put_link(transcript, first);
    if (first == last)
        return;
    page_puts(transcript->page, " to ");
    put_link(transcript, last);
}

/* Puts the events that it took back, and for a redo those that it restored. */
static void put_rewind(const struct transcript *transcript, const struct rewind *rewind)
{
    struct page *page = transcript->page;
    const struct rewind *undone = rewind->redo ? rewinds_in(&transcript->rewinds, rewind->first_seq) : NULL;

    page_puts(page, "<p class=\"action\">");
    if (rewind->first_seq == 0) {
        page_puts(page, "Took nothing back: no earlier event belongs to the invocation that it names.");
    } else {
        page_puts(page, "Took back ");
        put_events(transcript, rewind->first_seq, rewind->seq - 1);
    }
    if (undone) {
        page_print(page, ", and with it the %s", undone->redo ? "redo" : "rewind");
        page_puts(page, undone->redo || undone->first_seq == 0 ? "" : " of ");
        if (!undone->redo && undone->first_seq > 0)
            put_events(transcript, undone->first_seq, undone->seq - 1);
    }
    page_puts(page, "</p>\n");
}

/* ----------------------------------------------------------------------------------------------- an event */

/* An unreadable event may not even be JSON. Then a secret cannot be recognized in it, so all of it is hidden
 * if anything is to be. The error message can contain a piece of it too. */
static void put_unreadable(struct page *page, const ses_event *event, int code)
{
    bool hides = page->redactor.key_count > 0;

    page_puts(page, "<p class=\"error\"><strong>This event cannot be read</strong> ");
    page_words(page, hides ? ses_code_text(code) : page->run->error.message);
    page_puts(page, "</p>\n");
    if (code == SES_JSON && !hides) {
        page_puts(page, "<pre>");
        page_text(page, event->json, event->json_len);
        page_puts(page, "</pre>\n");
    }
}

static void put_event(struct transcript *transcript, const ses_event *event, bool is_live)
{
    struct page *page = transcript->page;
    int code = SES_OK;
    ses_content *content = open_event(page->run, event, &code);
    const ses_text whole = {event->json, event->json_len};
    const struct rewind *rewind = rewinds_in(&transcript->rewinds, event->seq);

    put_head(transcript, event, content, rewind, is_live);
    if (rewind)
        put_rewind(transcript, rewind);
    if (content) {
        const ses_compaction *compaction = ses_content_compaction(content);
        const ses_text delta = ses_content_state_delta(content);
        const ses_text actions = ses_content_actions(content);
        error_put(page, content);
        parts_put(&transcript->parts, event, content);
        if (compaction)
            put_compaction(transcript, event, compaction);
        actions_put(page, &actions);
        artifacts_put(page, &actions);
        changes_put(page, &delta);
    } else {
        put_unreadable(page, event, code);
    }
    if (code != SES_JSON && code != SES_NOMEM)
        fold_put(page, "event", NULL, &whole);
    page_puts(page, "</article>\n");
    ses_content_close(content);
}

static int visit(void *context, const ses_event *event)
{
    struct transcript *transcript = context;
    const struct survey *survey = transcript->survey;
    bool is_live = false;
    int status = live_look(&transcript->live, event->seq, &is_live);

    if (status != EXIT_OK)
        return status;
    progress_set(event->seq - survey->first_seq + 1, survey->last_seq - survey->first_seq + 1);
    if (transcript->count % SECTION == 0)
        page_puts(transcript->page, transcript->count > 0 ? "</section>\n<section>\n" : "<section>\n");
    put_event(transcript, event, is_live);
    transcript->before_us = event->time_us;
    transcript->count++;
    return transcript->parts.status;
}

int transcript_put(struct page *page, struct survey *survey)
{
    struct transcript transcript = {.page = page,
                                    .survey = survey,
                                    .parts = {.page = page, .survey = survey},
                                    .live = {.run = page->run, .key = &page->run->key}};
    const ses_range range = {.size = sizeof range,
                             .which = SES_RANGE_SEQ,
                             .first_seq = survey->first_seq,
                             .last_seq = survey->last_seq};
    int status = EXIT_OK;

    if (survey->any_gone)
        status = rewinds_find(&transcript.rewinds, page->run, &page->run->key);
    page_puts(page, "<main>\n");
    if (status == EXIT_OK && survey->count > 0)
        status = each_event(page->run, &page->run->key, &range, false, visit, &transcript);
    page_puts(page, survey->count > 0 ? "</section>\n</main>\n" : "<p>There are no events.</p>\n</main>\n");
    live_close(&transcript.live);
    rewinds_free(&transcript.rewinds);
    authors_free(&transcript.authors);
    return status;
}
