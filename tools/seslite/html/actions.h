/* The parts of an event other than its content: state changes, other actions, errors. */
#ifndef HTML_ACTIONS_H
#define HTML_ACTIONS_H

#include "html/page/page.h"

void error_put(struct page *page, const ses_content *content);
/* Puts all actions except state changes, a compaction and a rewind. */
void actions_put(struct page *page, const ses_text *actions);
void changes_put(struct page *page, const ses_text *delta);

#endif
