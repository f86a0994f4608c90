#include "html/artifacts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "html/page/image.h"
#include "output/out.h"
#include "store/artifacts.h"

/* Reads an image that is to be shown. Returns the words that say why it is not, if it is one; else "". */
static const char *read_image(struct page *page, ses_artifact *artifact, char **bytes)
{
    const ses_artifact_info *info = ses_artifact_info_of(artifact);
    size_t len = 0;

    if (info->kind != SES_ARTIFACT_BYTES || info->size == 0 || !is_image(info->mime_type))
        return "";
    const char *why = image_refused(page, info->size);
    if (why)
        return why;
    *bytes = allocate((size_t)info->size);
    if (ses_artifact_read(artifact, 0, *bytes, (size_t)info->size, &len, &page->run->error) >= 0)
        return "";
    free(*bytes);
    *bytes = NULL;
    return ", cannot be read";
}

static void put_facts(struct page *page, const ses_artifact_info *info)
{
    if (info->mime_type) {
        page_puts(page, ", ");
        page_words(page, info->mime_type);
    }
    page_print(page, ", %s", counted(info->size, "byte"));
}

/* Ends the paragraph, and puts the image after it. */
static void put_opened(struct page *page, ses_artifact *artifact)
{
    const ses_artifact_info *info = ses_artifact_info_of(artifact);
    char *bytes = NULL;
    const char *why = read_image(page, artifact, &bytes);

    put_facts(page, info);
    page_print(page, "%s</p>\n", why);
    if (bytes)
        image_put_bytes(page, info->mime_type, bytes, (size_t)info->size);
    free(bytes);
}

static void put_saved(void *context, const struct text *name, int64_t version)
{
    struct page *page = context;
    ses_artifact *artifact = open_saved_artifact(page->run, name, version);

    page_puts(page, "<p class=\"action\">artifact <code>");
    page_name(page, name->data, name->len);
    page_puts(page, "</code>");
    if (redactor_hides(&page->redactor, name->data, name->len)) {
        page_puts(page, " " REDACTED "</p>\n");
        ses_artifact_close(artifact);
        return;
    }
    if (version >= 0)
        page_print(page, " version %" PRId64, version);
    if (artifact)
        put_opened(page, artifact);
    else
        page_print(page, ", %s</p>\n",
                   page->run->error.code == SES_NOTFOUND ? "not in the store" : "cannot be read");
    ses_artifact_close(artifact);
}

void artifacts_put(struct page *page, const ses_text *actions)
{
    if (!redactor_hides(&page->redactor, "artifactDelta", strlen("artifactDelta")) &&
        !redactor_hides(&page->redactor, "artifact_delta", strlen("artifact_delta")))
        each_saved_artifact(actions, put_saved, page);
}
