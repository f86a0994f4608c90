/* What an event does besides what it says: changes of the state, other actions, errors. */
#ifndef HTML_ACTIONS_H
#define HTML_ACTIONS_H

#include "html/page.h"

void error_put(struct page *page, const ses_content *content);
/* All actions but changes of the state and a compaction. */
void actions_put(struct page *page, const ses_text *actions);
/* Does the event take others back? */
bool is_rewind(const ses_content *content);
void changes_put(struct page *page, const ses_text *delta);

#endif
