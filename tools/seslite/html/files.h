/* The files page.css and page.js, converted to C by tools/embed_page.awk. */
#ifndef HTML_FILES_H
#define HTML_FILES_H

extern const char page_css[];
extern const char page_js[];

#endif
