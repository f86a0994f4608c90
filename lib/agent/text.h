/* Texts as callers see them. */
#ifndef SESLITE_AGENT_TEXT_H
#define SESLITE_AGENT_TEXT_H

#include "base/common.h"

static inline ses_text ses__text(struct span span)
{
    return (ses_text){span.ptr, span.len};
}

#endif
