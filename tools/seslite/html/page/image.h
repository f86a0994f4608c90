/* Inline data of a part: its type and size, and optionally the image itself. */
#ifndef HTML_PAGE_IMAGE_H
#define HTML_PAGE_IMAGE_H

#include "html/page/page.h"
#include "text/scan.h"

/* `data` is the object inlineData. Images are PNG, JPEG, GIF or WebP in base64; for anything else only the
 * type and size are shown. */
void image_put(struct page *page, const struct piece *data);
/* Puts the bytes as an image if the page shows images and this is one of these types; otherwise nothing. */
void image_put_bytes(struct page *page, const struct text *type, const char *bytes, size_t len);

#endif
