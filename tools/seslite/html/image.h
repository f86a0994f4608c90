/* Inline data of a part: its type and size, and on request the image itself. */
#ifndef HTML_IMAGE_H
#define HTML_IMAGE_H

#include "html/page.h"
#include "html/scan.h"

/* `data` is the object inlineData. An image is a PNG, JPEG, GIF or WebP in base64; of nothing else more than the size is shown. */
void image_put(struct page *page, const struct piece *data);

#endif
