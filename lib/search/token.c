#include "search/token.h"

#include <stdio.h>

#include "base/error.h"

/* `s1.SEQ.LENGTH.LENGTH.` and then the user, the session and the list's token, of which only the last has no length. */
static const char token_begin[] = "s1.";

char *ses__search_token_make(struct arena *arena, const struct search_place *place)
{
    const size_t user_len = strlen(place->user);
    const size_t session_len = strlen(place->session);
    const size_t room = 80 + user_len + session_len + strlen(place->list);
    char *token = ses__arena_new(arena, room);

    if (token)
        (void)snprintf(token, room, "%s%lld.%zu.%zu.%s%s%s", token_begin, (long long)place->seq, user_len,
                       session_len, place->user, place->session, place->list);
    return token;
}

/* Reads digits and the dot after them. */
static bool read_number(const char **at, int64_t most, int64_t *number)
{
    const char *const begin = *at;

    *number = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        const int digit = **at - '0';
        if (*number > (most - digit) / 10)
            return false;
        *number = *number * 10 + digit;
    }
    return *at > begin && *(*at)++ == '.';
}

int ses__search_token_read(struct arena *arena, const char *token, struct search_place *place,
                           ses_error *error)
{
    const char *at = token;
    int64_t user_len = 0;
    int64_t session_len = 0;
    bool is_token = strncmp(token, token_begin, sizeof token_begin - 1) == 0;

    at += is_token ? sizeof token_begin - 1 : 0;
    is_token = is_token && read_number(&at, INT64_MAX, &place->seq) && place->seq > 0 &&
               read_number(&at, SES_ID_MAX, &user_len) && read_number(&at, SES_ID_MAX, &session_len) &&
               strlen(at) >= (size_t)(user_len + session_len);
    if (!is_token)
        return ses__error_set(error, SES_INVALID, "search options: the token is not one of a search");
    place->user = ses__arena_text(arena, at, (size_t)user_len);
    place->session = ses__arena_text(arena, at + user_len, (size_t)session_len);
    place->list = ses__arena_text(arena, at + user_len + session_len, strlen(at + user_len + session_len));
    return place->user && place->session && place->list ? SES_OK : ses__error_nomem(error);
}
