/* The events of a page, one after the other. */
#ifndef HTML_TRANSCRIPT_H
#define HTML_TRANSCRIPT_H

#include "html/survey.h"

/* Puts the events that the survey found. EXIT_OK, or it was said why not. */
int transcript_put(struct page *page, struct survey *survey);

#endif
