#include "command.h"

#include <stdlib.h>

const struct option option_table[OPTION_COUNT] = {
#define OPTION_(id, letter, name, value, kind, help) {letter, name, value, kind, help},
    OPTIONS(OPTION_)
#undef OPTION_
};

const char *kind_word(enum kind kind, size_t index)
{
    static const char *const orders[] = {"written", "newest", "oldest", "created", NULL};
    static const char *const kinds[] = {"conversation", "child", "memory", NULL};
    static const char *const names[] = {"apps", "users", "sessions", NULL};

    return kind == KIND_ORDER   ? orders[index]
           : kind == KIND_NAMES ? names[index]
           : kind == KIND_KINDS ? kinds[index]
                                : NULL;
}

int64_t number_given(const struct run *run, enum option_id option, int64_t otherwise)
{
    return given(run, option) ? (int64_t)strtoll(run->values[option], NULL, 10) : otherwise;
}
