#include "store/numbers.h"

#include <stdlib.h>

#include "output/out.h"

enum { NUMBERS_MAX = 10000 };

static bool read_number(const char **at, int64_t *number)
{
    char *end = NULL;

    if (**at < '0' || **at > '9')
        return false;
    *number = strtoll(*at, &end, 10);
    *at = end;
    return *number < INT64_MAX;
}

/* One number, or a range such as 15-17. */
static bool read_range(const char **at, int64_t *numbers, size_t *count)
{
    int64_t first;
    int64_t last;

    if (!read_number(at, &first))
        return false;
    last = first;
    if (**at == '-') {
        ++*at;
        if (!read_number(at, &last))
            return false;
    }
    for (int64_t seq = first; seq <= last && *count < NUMBERS_MAX; seq++)
        numbers[(*count)++] = seq;
    return first <= last && last - first < NUMBERS_MAX;
}

int numbers_given(const struct run *run, int64_t **numbers, size_t *count)
{
    const char *at = run->values[OPTION_EVENTS];
    bool sound = true;

    *numbers = allocate(NUMBERS_MAX * sizeof **numbers);
    *count = 0;
    do {
        at += *count > 0; /* the comma */
        sound = read_range(&at, *numbers, count) && *count < NUMBERS_MAX;
    } while (sound && *at == ',');
    if (sound && *at == '\0')
        return EXIT_OK;
    return say_usage(run, "--events is a list of fewer than %d numbers, such as 12,15-17", NUMBERS_MAX);
}
