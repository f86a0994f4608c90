/* The artifacts that an event saved. */
#ifndef HTML_ARTIFACTS_H
#define HTML_ARTIFACTS_H

#include "html/page/page.h"

/* Puts the name, version, type and size of each, and with --images the images among them. */
void artifacts_put(struct page *page, const ses_text *actions);

#endif
