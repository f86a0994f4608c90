#include "html/page/image.h"

#include <string.h>

/* The string `data`, without its quotes. */
static size_t size_of(const struct piece *base64)
{
    if (base64->len < 2)
        return 0;
    return base64->len / 4 * 3 + base64->len % 4 * 3 / 4 - (size_t)(base64->text[base64->len - 1] == '=') -
           (size_t)(base64->text[base64->len - 2] == '=');
}

/* The type if it is one that cannot contain a script, otherwise NULL. */
static const char *type_of(const char *type)
{
    static const char *const types[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};

    for (size_t i = 0; type && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(type, types[i]) == 0)
            return types[i];
    return NULL;
}

bool is_image(const char *type)
{
    return type_of(type) != NULL;
}

static const char not_shown[] = ", not shown";

const char *image_refused(struct page *page, int64_t bytes)
{
    struct images *images = &page->images;
    const char *why = NULL;

    if (!images->wanted)
        why = not_shown;
    else if (bytes > (int64_t)MAX_IMAGE_MIB << 20)
        why = ", not shown: more than 8 MiB";
    else if (bytes > ((int64_t)MAX_IMAGES_MIB << 20) - images->bytes)
        why = ", not shown: the page has 64 MiB of images";
    images->left_out += why != NULL;
    images->bytes += why ? 0 : bytes;
    return why;
}

static bool is_base64(char byte)
{
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') ||
           (byte && strchr("+/-_=", byte));
}

/* The data itself, or one of its names, may have to be hidden. */
static bool is_hidden(const struct page *page, const struct piece *base64)
{
    struct text shown = {NULL, 0, 0};
    const bool hidden = redactor_hides(&page->redactor, "data", 4) ||
                        redactor_hides(&page->redactor, "inlineData", 10) ||
                        redactor_hides(&page->redactor, "inline_data", 11) ||
                        redactor_add(&page->redactor, &shown, base64->text, base64->len);

    text_free(&shown);
    return hidden;
}

static bool can_be_shown(const struct page *page, const struct piece *base64)
{
    bool can = !is_hidden(page, base64);

    for (size_t i = 0; i < base64->len && can; i++)
        can = is_base64(base64->text[i]);
    return can;
}

/* google-genai writes the URL-safe alphabet. */
static void put_image(struct page *page, const struct piece *base64, const char *type)
{
    page_print(page, "<img class=\"image\" alt=\"\" loading=\"lazy\" src=\"data:%s;base64,", type);
    for (size_t i = 0; i < base64->len; i++) {
        const char byte = base64->text[i];
        (void)fputc(byte == '-' ? '+' : byte == '_' ? '/' : byte, page->output.file);
    }
    page_puts(page, "\">\n");
}

void image_put(struct page *page, const struct piece *data)
{
    struct text name = {NULL, 0, 0};
    struct text type = {NULL, 0, 0};
    struct piece base64 = {"", 0};
    struct scan scan;
    struct piece value;

    scan_begin(&scan, data->text, data->len);
    while (scan_member(&scan, &name, &value)) {
        if (scan_is_named(&name, "mimeType", "mime_type") && value.text[0] == '"') {
            text_clear(&type);
            scan_decode(&type, &value);
        } else if (strcmp(name.data, "data") == 0 && value.text[0] == '"' && value.len > 2) {
            base64 = (struct piece){value.text + 1, value.len - 2};
        }
    }
    const char *why =
        is_image(type.data) && base64.len > 0 ? image_refused(page, (int64_t)size_of(&base64)) : not_shown;
    if (!why && !can_be_shown(page, &base64))
        why = not_shown;
    page_puts(page, "<p class=\"blob\">");
    page_text(page, type.len > 0 ? type.data : "data", type.len > 0 ? type.len : 4);
    page_print(page, ", %zu bytes%s</p>\n", size_of(&base64), why ? why : "");
    if (!why)
        put_image(page, &base64, type_of(type.data));
    text_free(&name);
    text_free(&type);
}

/* ------------------------------------------------------------------------------------------------- bytes */

static void add_base64(struct text *base64, const char *bytes, size_t len)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < len; i += 3) {
        const size_t left = len - i;
        const unsigned bits = (unsigned)(unsigned char)bytes[i] << 16 |
                              (left > 1 ? (unsigned)(unsigned char)bytes[i + 1] << 8 : 0) |
                              (left > 2 ? (unsigned)(unsigned char)bytes[i + 2] : 0);
        const char four[] = {letters[bits >> 18], letters[bits >> 12 & 63],
                             left > 1 ? letters[bits >> 6 & 63] : '=', left > 2 ? letters[bits & 63] : '='};
        text_add(base64, four, sizeof four);
    }
}

void image_put_bytes(struct page *page, const char *type, const char *bytes, size_t len)
{
    struct text base64 = {NULL, 0, 0};

    add_base64(&base64, bytes, len);
    const struct piece piece = {base64.data, base64.len};
    if (can_be_shown(page, &piece))
        put_image(page, &piece, type_of(type));
    text_free(&base64);
}
