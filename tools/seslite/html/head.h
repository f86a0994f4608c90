/* The parts of the document before and after the transcript. */
#ifndef HTML_HEAD_H
#define HTML_HEAD_H

#include "html/survey.h"

/* Puts the document up to the data, which the survey writes. */
void head_begin(struct page *page, const ses_session *session);
/* Puts the header: the session, its relatives, its times and its counts. Returns EXIT_OK, or prints the
 * error. */
int head_put(struct page *page, const ses_session *session, const struct survey *survey);
/* Puts the state after the last event; the script can show it at any event. Returns EXIT_OK, or prints the
 * error. */
int state_put(struct page *page, const struct survey *survey, int64_t last_seq);
/* Puts the script and the end of the document. */
void foot_put(struct page *page);

#endif
