#include "model/expected.h"

#include <string.h>

#include "base/error.h"
#include "json/reader.h"

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

static int read_expected(struct expected *expected, struct span text, ses_error *error)
{
    struct json_reader reader;
    struct edits edits = {0}; /* for temp: keys, which are refused */
    int code;

    ses__json_start(&reader, text.ptr, text.len);
    if (ses__json_peek(&reader) != JSON_OBJECT) {
        code = ses__json_check(text.ptr, text.len, error);
        if (code == SES_OK)
            code = ses__error_set(error, SES_INVALID, "it must be a JSON object");
    } else {
        code = ses__delta_read(&reader, &expected->arena, &expected->seen, &edits, error);
        if (code == SES_OK && !ses__json_finish(&reader))
            code = ses__json_error(&reader, error);
    }
    ses__edits_free(&edits, expected->arena.allocator);
    return code;
}

int ses__expected_read(struct expected *expected, const ses_allocator *allocator, struct span text,
                       ses_error *error)
{
    *expected = (struct expected){.seen = {NULL, 0, 0}};
    ses__arena_init(&expected->arena, allocator);
    int code = read_expected(expected, text, error);

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
