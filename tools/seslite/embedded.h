/* Files that are not C, converted to C by tools/embed_files.awk: page.css is page_css. */
#ifndef EMBEDDED_H
#define EMBEDDED_H

extern const char page_css[];
extern const char page_js[];
extern const char completion_bash[];
extern const char completion_zsh[];
extern const char completion_fish[];

#endif
