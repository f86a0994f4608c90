/* What an event does besides what it says: changes of the state, other actions, errors. */
#ifndef HTML_ACTIONS_H
#define HTML_ACTIONS_H

#include "html/page.h"

void error_put(struct page *page, const ses_content *content);
/* All actions but changes of the state, a compaction and a rewind. */
void actions_put(struct page *page, const ses_text *actions);
/* Is it a rewind? Sets the id of the invocation before which it goes back. */
bool rewind_target(const ses_content *content, struct text *id);
void changes_put(struct page *page, const ses_text *delta);

#endif
