#include "json/token.h"

/* The end of the string that begins here, after its quote. */
static const char *string_token_end(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\' && at + 1 < end;
    return at < end ? at + 1 : end;
}

static bool is_of_number(char byte)
{
    return (byte >= '0' && byte <= '9') || byte == '-' || byte == '+' || byte == '.' || byte == 'e' ||
           byte == 'E';
}

struct span ses__json_token_at(const char *at, const char *end)
{
    const char *last = at;

    if (*at == '"')
        last = string_token_end(at, end);
    else if (*at == '-' || (*at >= '0' && *at <= '9'))
        while (last < end && is_of_number(*last))
            last++;
    return (struct span){at, (size_t)(last - at)};
}
