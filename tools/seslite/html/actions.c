#include "html/actions.h"

#include <string.h>

#include "text/scan.h"

static void put_change(struct page *page, const struct text *name, const struct piece *value)
{
    bool removed = piece_is(value, "\"__ADK_SENTINEL_REMOVED__\"");

    page_print(page, "<li%s><code>", removed ? " class=\"removed\"" : "");
    page_name(page, name->data, name->len);
    page_puts(page, "</code> ");
    if (removed)
        page_puts(page, "removed");
    else if (redactor_hides(&page->redactor, name->data, name->len))
        page_puts(page, REDACTED);
    else
        page_json_short(page, value->text, value->len, 200);
    page_puts(page, "</li>\n");
}

void changes_put(struct page *page, const ses_text *delta)
{
    struct text name = {NULL, 0, 0};
    struct scan scan;
    struct piece value;
    bool any = false;

    if (!delta->text)
        return;
    scan_begin(&scan, delta->text, delta->len);
    while (scan_member(&scan, &name, &value)) {
        page_puts(page, any ? "" : "<ul class=\"changes\" aria-label=\"changes of the state\">");
        put_change(page, &name, &value);
        any = true;
    }
    page_puts(page, any ? "</ul>\n" : "");
    text_free(&name);
}

/* Where they are not hidden, artifacts.c shows the artifacts. */
static bool is_shown_elsewhere(const struct page *page, const struct text *name)
{
    static const char *const names[] = {"stateDelta", "state_delta", "compaction", "rewindBeforeInvocationId",
                                        "rewind_before_invocation_id"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name->data, names[i]) == 0)
            return true;
    return scan_is_named(name, "artifactDelta", "artifact_delta") &&
           !redactor_hides(&page->redactor, name->data, name->len);
}

/* Puts the other actions, such as a transfer, unless they are empty. */
void actions_put(struct page *page, const ses_text *actions)
{
    struct text name = {NULL, 0, 0};
    struct scan scan;
    struct piece value;

    if (!actions->text)
        return;
    scan_begin(&scan, actions->text, actions->len);
    while (scan_member(&scan, &name, &value)) {
        if (is_shown_elsewhere(page, &name) || piece_is(&value, "{}") || piece_is(&value, "null") ||
            piece_is(&value, "[]"))
            continue;
        page_puts(page, "<p class=\"action\"><code>");
        page_name(page, name.data, name.len);
        page_puts(page, "</code> ");
        if (redactor_hides(&page->redactor, name.data, name.len))
            page_puts(page, REDACTED);
        else
            page_json_short(page, value.text, value.len, 200);
        page_puts(page, "</p>\n");
    }
    text_free(&name);
}

void error_put(struct page *page, const ses_content *content)
{
    ses_text code = ses_content_error_code(content);
    ses_text message = ses_content_error_message(content);

    if (!code.text && !message.text)
        return;
    page_puts(page, "<p class=\"error\"><strong>");
    page_text(page, code.text ? code.text : "Error", code.text ? code.len : 5);
    page_puts(page, "</strong> ");
    if (message.text)
        page_text(page, message.text, message.len);
    page_puts(page, "</p>\n");
}
