#include "model/state/expected.h"

#include <string.h>

#include "base/error.h"

static int check_scopes(const struct delta *seen, ses_error *error)
{
    int code = SES_OK;

    for (size_t i = 0; i < seen->count && code == SES_OK; i++) {
        if (!ses__scope_is_shared(seen->ops[i].scope))
            code = ses__error_set(
                error, SES_INVALID,
                "the state key \"%.200s\" is not shared: only app: and user: keys can be expected",
                seen->ops[i].name.ptr);
    }
    return code;
}

void ses__expected_init(struct expected *expected, const ses_allocator *allocator)
{
    *expected = (struct expected){.seen = {NULL, 0, 0}};
    ses__arena_init(&expected->arena, allocator);
}

int ses__expected_read(struct expected *expected, struct span text, ses_error *error)
{
    int code = ses__delta_read_text(text, 0, &expected->arena, &expected->seen, error);

    if (code == SES_OK)
        code = check_scopes(&expected->seen, error);
    if (code != SES_OK && error) {
        ses__error_prefix(error, "append options: `expected`: ");
        error->offset = -1; /* which would be taken for one in the event */
    }
    return code;
}

void ses__expected_free(struct expected *expected)
{
    ses__delta_free(&expected->seen, expected->arena.allocator);
    ses__arena_free(&expected->arena);
}
