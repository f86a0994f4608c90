/* What stands before and after the transcript. */
#ifndef HTML_HEAD_H
#define HTML_HEAD_H

#include "html/survey.h"

/* The document up to where the survey writes its data. */
void head_begin(struct page *page, const ses_session *session);
/* Who, when and how much. */
void head_put(struct page *page, const ses_session *session, const struct survey *survey);
/* The state after the last event, which the script moves through the log. EXIT_OK, or it was said why not. */
int state_put(struct page *page, const struct survey *survey, int64_t last_seq);
/* The script, and the end of the document. */
void foot_put(struct page *page);

#endif
