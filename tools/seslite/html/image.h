/* Inline data of a part: its type and size, and optionally the image itself. */
#ifndef HTML_IMAGE_H
#define HTML_IMAGE_H

#include "html/page.h"
#include "html/scan.h"

/* `data` is the object inlineData. Images are PNG, JPEG, GIF or WebP in base64; for anything else only the
 * type and size are shown. */
void image_put(struct page *page, const struct piece *data);

#endif
