/* The events of a page, in order. */
#ifndef HTML_TRANSCRIPT_H
#define HTML_TRANSCRIPT_H

#include "html/survey.h"

/* Puts the events that the survey found. Returns EXIT_OK, or prints the error. */
int transcript_put(struct page *page, struct survey *survey);

#endif
