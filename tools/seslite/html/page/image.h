/* Images, and other inline data of a part: the type and size, and optionally the image itself. */
#ifndef HTML_PAGE_IMAGE_H
#define HTML_PAGE_IMAGE_H

#include "html/page/page.h"
#include "text/scan.h"

/* `data` is the object inlineData. Images are PNG, JPEG, GIF or WebP in base64; for anything else only the
 * type and size are shown. */
void image_put(struct page *page, const struct piece *data);

/* An image whose bytes are elsewhere. */
bool is_image(const char *type);
/* Counts the image. Returns the words that say why it is not in the page, or NULL if it may be. */
const char *image_refused(struct page *page, int64_t bytes);
/* Puts an image that was not refused. */
void image_put_bytes(struct page *page, const char *type, const char *bytes, size_t len);

#endif
