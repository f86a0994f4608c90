#include "html/head.h"

#include <inttypes.h>

#include "embedded.h"
#include "output/out.h"
#include "text/scan.h"

void head_begin(struct page *page, const ses_session *session)
{
    page_print(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'nonce-%s'; "
        "style-src 'nonce-%s'; %sbase-uri 'none'; form-action 'none'\">\n",
        page->nonce, page->nonce, page->images.wanted ? "img-src data:; " : "");
    page_puts(page, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<meta name=\"color-scheme\" content=\"light dark\">\n"
                    "<meta name=\"referrer\" content=\"no-referrer\">\n"
                    "<meta name=\"generator\" content=\"seslite\">\n<title>");
    page_words(page, ses_session_title(session) ? ses_session_title(session) : ses_session_id(session));
    page_print(page, "</title>\n<style nonce=\"%s\">", page->nonce);
    page_puts(page, page_css);
    page_puts(page, "</style>\n</head>\n<body>\n");
}

/* --------------------------------------------------------------------------------------------- the header */

static void begin_field(struct page *page, const char *name)
{
    page_print(page, "<div><dt>%s</dt><dd>", name);
}

static void end_field(struct page *page)
{
    page_puts(page, "</dd></div>\n");
}

static void put_field(struct page *page, const char *name, const char *value)
{
    begin_field(page, name);
    page_words(page, value);
    end_field(page);
}

static void put_labels(struct page *page, const ses_session *session)
{
    if (ses_session_label_count(session) == 0)
        return;
    begin_field(page, "Labels");
    for (size_t i = 0; i < ses_session_label_count(session); i++) {
        const ses_label *label = ses_session_label(session, i);
        page_puts(page, "<span class=\"label\">");
        page_words(page, label->name);
        if (*label->value) {
            page_puts(page, "\xc2\xa0= ");
            page_words(page, label->value);
        }
        page_puts(page, "</span> ");
    }
    end_field(page);
}

static void put_log(struct page *page, const ses_session *session, const struct survey *survey)
{
    int64_t stored = ses_session_stored(session);

    begin_field(page, "Events");
    if (survey->count == stored)
        page_print(page, "%" PRId64, survey->count);
    else
        page_print(page, "%" PRId64 " of %" PRId64 ", from %" PRId64 " to %" PRId64, survey->count, stored,
                   survey->first_seq, survey->last_seq);
    if (ses_session_base_seq(session) > 0)
        page_print(page, "; those up to %" PRId64 " were pruned", ses_session_base_seq(session));
    if (survey->errors > 0)
        page_print(page, "; <span class=\"errors\">%s</span>", counted(survey->errors, "error"));
    if (survey->failed > 0)
        page_print(page, "; <span class=\"errors\">%s</span>", counted(survey->failed, "failed call"));
    end_field(page);
}

static void put_times(struct page *page, const ses_session *session, const struct survey *survey)
{
    begin_field(page, "Time (UTC)");
    page_moment(page, survey->count > 0 ? survey->first_us : ses_session_created_us(session));
    page_puts(page, " to ");
    page_moment(page, survey->count > 0 ? survey->last_us : ses_session_updated_us(session));
    if (survey->count > 0 && survey->last_us >= survey->first_us) {
        page_puts(page, ", ");
        page_span(page, survey->last_us - survey->first_us);
    }
    end_field(page);
}

static void put_tokens(struct page *page, const struct survey *survey)
{
    const ses_usage *tokens = &survey->tokens;

    if (survey->used == 0)
        return;
    begin_field(page, "Tokens");
    page_print(page, "%" PRId64 " in", tokens->prompt);
    if (tokens->cached > 0)
        page_print(page, " (%" PRId64 " cached)", tokens->cached);
    page_print(page, ", %" PRId64 " out", tokens->candidates);
    if (tokens->thoughts > 0)
        page_print(page, ", %" PRId64 " thought", tokens->thoughts);
    page_print(page, ", %" PRId64 " in all, in %s", tokens->total, counted(survey->used, "event"));
    end_field(page);
}

static void put_parent(struct page *page, const ses_session *session)
{
    int64_t seq = 0;
    const ses_key *parent = ses_session_parent(session, &seq);

    if (!parent)
        return;
    begin_field(page, "Fork of");
    page_words(page, parent->session);
    page_print(page, ", after event %" PRId64, seq);
    end_field(page);
}

enum { RELATIVES_MAX = 20 /* of a kind that are named */ };

/* One kind of relatives; the parent has a line of its own, since it may be deleted. */
static void put_relatives(struct page *page, const ses_family *family, int relation, const char *name)
{
    size_t count = 0;

    for (size_t i = 0; i < ses_family_count(family); i++) {
        const ses_relative *relative = ses_family_at(family, i);
        if (relative->relation != relation || ++count > RELATIVES_MAX)
            continue;
        if (count == 1)
            begin_field(page, name);
        else
            page_puts(page, "; ");
        page_words(page, relative->session);
        if (relative->seq > 0)
            page_print(page, ", after <a href=\"#e%" PRId64 "\">event %" PRId64 "</a>", relative->seq,
                       relative->seq);
    }
    if (count > RELATIVES_MAX)
        page_print(page, "; and %zu more", count - RELATIVES_MAX);
    if (count > 0)
        end_field(page);
}

static int put_family(struct page *page)
{
    struct run *run = page->run;
    ses_family *family = NULL;

    if (ses_family_open(run->store, &run->key, NULL, &family, &run->error) < 0)
        return fail(run);
    put_relatives(page, family, SES_RELATION_FORK, "Forks");
    put_relatives(page, family, SES_RELATION_SIBLING, "Siblings");
    put_relatives(page, family, SES_RELATION_CHILD_OF, "Child of");
    put_relatives(page, family, SES_RELATION_CHILD, "Children");
    ses_family_close(family);
    return EXIT_OK;
}

static void put_redacted(struct page *page)
{
    const struct redactor *redactor = &page->redactor;

    if (redactor->key_count == 0)
        return;
    begin_field(page, "Redacted");
    for (size_t i = 0; i < redactor->key_count; i++) {
        page_puts(page, i > 0 ? ", <code>" : "<code>");
        page_words(page, redactor->keys[i]);
        page_puts(page, "</code>");
    }
    end_field(page);
}

int head_put(struct page *page, const ses_session *session, const struct survey *survey)
{
    const char *title = ses_session_title(session);

    page_puts(page, "<header class=\"top\">\n<h1>");
    page_words(page, title ? title : ses_session_id(session));
    page_puts(page, "</h1>\n<dl>\n");
    put_field(page, "App", ses_session_app(session));
    put_field(page, "User", ses_session_user(session));
    put_field(page, "Session", ses_session_id(session));
    put_labels(page, session);
    put_parent(page, session);
    const int status = put_family(page);
    put_log(page, session, survey);
    put_times(page, session, survey);
    put_tokens(page, survey);
    put_redacted(page);
    page_puts(page, "</dl>\n");
    turns_put(page, &survey->turns);
    page_puts(page, "<noscript><p>Without scripts this page has no search and shows only the state "
                    "after the last event.</p></noscript>\n</header>\n");
    return status;
}

/* ---------------------------------------------------------------------------------------------- the state */

static void put_rows(struct page *page, const char *json, size_t len)
{
    struct text name = {NULL, 0, 0};
    struct scan scan;
    struct piece value;

    scan_begin(&scan, json, len);
    while (scan_member(&scan, &name, &value)) {
        page_puts(page, "<div><dt>");
        page_name(page, name.data, name.len);
        page_puts(page, "</dt><dd>");
        if (redactor_hides(&page->redactor, name.data, name.len))
            page_puts(page, REDACTED);
        else
            page_json(page, value.text, value.len, value.len > 60 ? LAYOUT_LINES : LAYOUT_LINE);
        page_puts(page, "</dd></div>\n");
    }
    text_free(&name);
}

static const char panel_begin[] =
    "<aside><div class=\"panel\">\n"
    "<div class=\"search\" role=\"search\" hidden>"
    "<input type=\"search\" placeholder=\"Search\" aria-label=\"Search in the transcript\" "
    "title=\"Search: /\">"
    "<output></output>"
    "<button type=\"button\" class=\"previous\" aria-label=\"Previous\" "
    "title=\"Previous: N\">\xe2\x86\x91</button>"
    "<button type=\"button\" class=\"next\" aria-label=\"Next\" "
    "title=\"Next: n\">\xe2\x86\x93</button></div>\n"
    "<div class=\"where\" hidden><input class=\"slider\" type=\"range\" min=\"0\" value=\"0\" "
    "aria-label=\"Event whose state is shown\" title=\"Move: j, k\"></div>\n"
    "<details class=\"state\" open><summary>State <span class=\"at\">";

static const char panel_end[] = "</dl>\n<p class=\"note\">Keys that begin with app: or user: have the values "
                                "that this session wrote. Other sessions may have changed "
                                "them.</p>\n</details>\n</div></aside>\n";

int state_put(struct page *page, const struct survey *survey, int64_t last_seq)
{
    char *json = NULL;
    size_t len = 0;
    int status = state_after(page->run, survey->count > 0 ? survey->last_seq : last_seq, &json, &len);

    if (status != EXIT_OK)
        return status;
    page_puts(page, panel_begin);
    if (survey->count > 0)
        page_print(page, "after event %" PRId64, survey->last_seq);
    page_puts(page, "</span></summary>\n<dl class=\"values\">\n");
    put_rows(page, json, len);
    page_puts(page, panel_end);
    ses_free(json);
    return EXIT_OK;
}

void foot_put(struct page *page)
{
    page_print(page, "<footer>Written by seslite %s</footer>\n<script nonce=\"%s\">", ses_version(),
               page->nonce);
    page_puts(page, page_js);
    page_puts(page, "</script>\n</body>\n</html>\n");
}
