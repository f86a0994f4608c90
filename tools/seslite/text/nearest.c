#include "text/nearest.h"

#include <stdlib.h>
#include <string.h>

#include "text/text.h"

enum { LONGEST = 128 /* the longest text that is compared, in bytes */ };

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* The edit distance: bytes to change, insert or delete to turn one text into the other. */
static size_t distance_of(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t row[LONGEST + 1];

    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t changed = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(changed, row[j] + 1, row[j - 1] + 1);
        }
    }
    return row[b_len];
}

/* A text is near if at most a third of it differs. */
void nearest_begin(struct nearest *nearest, const char *wanted)
{
    *nearest = (struct nearest){wanted, strlen(wanted) / 3 + 2, NULL};
}

void nearest_try(struct nearest *nearest, const char *text)
{
    size_t wanted_len = strlen(nearest->wanted);
    size_t len = strlen(text);

    if (wanted_len > LONGEST || len > LONGEST)
        return;
    size_t distance = distance_of(nearest->wanted, wanted_len, text, len);
    if (distance < nearest->distance && distance < len) {
        free(nearest->best);
        nearest->best = copy_text(text);
        nearest->distance = distance;
    }
}

void nearest_free(struct nearest *nearest)
{
    free(nearest->best);
    nearest->best = NULL;
}
