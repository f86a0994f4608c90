#include "store/points.h"

#include <stdlib.h>
#include <string.h>

static bool is_number(const char *text)
{
    return *text != '\0' && strlen(text) < 19 && text[strspn(text, "0123456789")] == '\0';
}

/* The text after the word, or NULL if the text does not begin with it. */
static const char *after(const char *text, const char *word)
{
    size_t len = strlen(word);
    return strncmp(text, word, len) == 0 ? text + len : NULL;
}

void point_given(const struct run *run, enum option_id option, ses_point *point)
{
    const char *text = given(run, option) ? run->values[option] : "now";
    const char *id = NULL;

    *point = (ses_point){.size = sizeof *point, .kind = SES_POINT_NOW};
    if (strcmp(text, "start") == 0) {
        point->kind = SES_POINT_SEQ;
    } else if (strcmp(text, "last-turn") == 0) {
        point->kind = SES_POINT_LAST_TURN;
    } else if ((id = after(text, "before:")) != NULL) {
        point->kind = SES_POINT_INVOCATION;
        point->id = id;
    } else if (is_number(text)) {
        point->kind = SES_POINT_SEQ;
        point->seq = (int64_t)strtoll(text, NULL, 10);
    } else if (strcmp(text, "now") != 0) {
        point->kind = SES_POINT_EVENT;
        point->id = (id = after(text, "event:")) != NULL ? id : text;
    }
}
