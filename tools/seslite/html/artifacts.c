#include "html/artifacts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "html/page/image.h"
#include "output/out.h"
#include "store/artifacts.h"

/* A larger image would make the page slow to open. */
enum { MAX_IMAGE_MIB = 8 };

static bool is_image_to_show(const struct page *page, const ses_artifact_info *info)
{
    return page->images && info->kind == SES_ARTIFACT_BYTES && info->size > 0 &&
           info->size <= (int64_t)MAX_IMAGE_MIB << 20;
}

/* Puts nothing if it is no image or cannot be read. */
static void put_image(struct page *page, ses_artifact *artifact)
{
    const ses_artifact_info *info = ses_artifact_info_of(artifact);
    struct text type = {NULL, 0, 0};
    size_t len = 0;

    if (!is_image_to_show(page, info) || !info->mime_type)
        return;
    char *bytes = allocate((size_t)info->size);
    text_puts(&type, info->mime_type);
    if (ses_artifact_read(artifact, 0, bytes, (size_t)info->size, &len, &page->run->error) >= 0)
        image_put_bytes(page, &type, bytes, len);
    text_free(&type);
    free(bytes);
}

static void put_facts(struct page *page, const ses_artifact_info *info)
{
    if (info->mime_type) {
        page_puts(page, ", ");
        page_words(page, info->mime_type);
    }
    page_print(page, ", %s", counted(info->size, "byte"));
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
        put_facts(page, ses_artifact_info_of(artifact));
    else
        page_puts(page, page->run->error.code == SES_NOTFOUND ? ", not in the store" : ", cannot be read");
    page_puts(page, "</p>\n");
    if (artifact)
        put_image(page, artifact);
    ses_artifact_close(artifact);
}

void artifacts_put(struct page *page, const ses_text *actions)
{
    if (!redactor_hides(&page->redactor, "artifactDelta", strlen("artifactDelta")) &&
        !redactor_hides(&page->redactor, "artifact_delta", strlen("artifact_delta")))
        each_saved_artifact(actions, put_saved, page);
}
