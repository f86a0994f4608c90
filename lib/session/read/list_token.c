#include "session/read/list_token.h"

#include <string.h>

#include "base/error.h"
#include "base/hash.h"

/*
 * In hexadecimal: a check sum, three numbers, the session's name. The check sum is over these and over what
 * the token belongs to. It detects damaged tokens and tokens of other lists. It is not keyed.
 */
enum { TOKEN_NUMBERS = 4, TOKEN_HEAD = TOKEN_NUMBERS * 8 };

static uint64_t add_number(uint64_t hash, int64_t number)
{
    return ses__hash64(hash, &number, sizeof number);
}

/* A member that is not set adds nothing; one that is set begins with a letter for its kind. */
static uint64_t add_filter(uint64_t hash, const struct list_filter *filter)
{
    if (filter->label)
        hash = ses__hash64(ses__hash64(hash, "l", 1), filter->label, strlen(filter->label) + 1);
    if (filter->label_value)
        hash = ses__hash64(ses__hash64(hash, "v", 1), filter->label_value, strlen(filter->label_value) + 1);
    if (filter->id_prefix)
        hash = ses__hash64(ses__hash64(hash, "p", 1), filter->id_prefix, strlen(filter->id_prefix) + 1);
    if (filter->since_us != INT64_MIN)
        hash = add_number(ses__hash64(hash, "s", 1), filter->since_us);
    if (filter->before_us != INT64_MAX)
        hash = add_number(ses__hash64(hash, "b", 1), filter->before_us);
    return hash;
}

static uint64_t check_sum(const struct list_identity *identity, const unsigned char *payload, size_t len)
{
    const char *user = identity->user ? identity->user : ""; /* an id is never empty */
    unsigned char order = (unsigned char)identity->order;
    uint64_t hash = ses__hash64(HASH64_BASIS, &order, 1);

    hash = ses__hash64(hash, identity->app, strlen(identity->app) + 1);
    hash = ses__hash64(hash, user, strlen(user) + 1);
    hash = add_filter(hash, identity->filter);
    return ses__hash64(hash, payload, len);
}

static void put_number(unsigned char *bytes, uint64_t number)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(number >> (56 - 8 * i));
}

static uint64_t get_number(const unsigned char *bytes)
{
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number = number << 8 | bytes[i];
    return number;
}

char *ses__list_token_write(const struct list_identity *identity, const struct list_place *place,
                            struct arena *arena)
{
    static const char hex[] = "0123456789abcdef";
    size_t len = TOKEN_HEAD + place->name.len;
    unsigned char *bytes = ses__arena_new(arena, len);
    char *token = bytes ? ses__arena_new(arena, len * 2 + 1) : NULL;

    if (token) {
        put_number(bytes + 8, (uint64_t)place->updated_us);
        put_number(bytes + 16, (uint64_t)place->user_id);
        put_number(bytes + 24, (uint64_t)place->session_id);
        memcpy(bytes + TOKEN_HEAD, place->name.ptr, place->name.len);
        put_number(bytes, check_sum(identity, bytes + 8, len - 8));
        for (size_t i = 0; i < len; i++) {
            token[2 * i] = hex[bytes[i] >> 4];
            token[2 * i + 1] = hex[bytes[i] & 15];
        }
        token[2 * len] = '\0';
    }
    return token;
}

static bool from_hex(const char *token, unsigned char *bytes, size_t len)
{
    static const char hex[] = "0123456789abcdef";
    bool ok = true;
    for (size_t i = 0; i < len && ok; i++) {
        const char *high = strchr(hex, token[2 * i]);
        const char *low = strchr(hex, token[2 * i + 1]);
        ok = high && low;
        if (ok)
            bytes[i] = (unsigned char)((high - hex) << 4 | (low - hex));
    }
    return ok;
}

int ses__list_token_read(const struct list_identity *identity, const char *token, struct arena *arena,
                         struct list_place *place, ses_error *error)
{
    size_t longest = 2 * (TOKEN_HEAD + SES_ID_MAX);
    size_t digits = strnlen(token, longest + 1);
    size_t len = digits / 2;
    unsigned char *bytes = NULL;
    bool good = digits <= longest && digits % 2 == 0 && len > TOKEN_HEAD;
    int code = SES_OK;

    if (good) {
        bytes = ses__arena_new(arena, len);
        if (!bytes)
            code = ses__error_nomem(error);
    }
    if (code == SES_OK) {
        good = good && from_hex(token, bytes, len) &&
               get_number(bytes) == check_sum(identity, bytes + 8, len - 8);
        if (good) {
            place->updated_us = (int64_t)get_number(bytes + 8);
            place->user_id = (int64_t)get_number(bytes + 16);
            place->session_id = (int64_t)get_number(bytes + 24);
            place->name = (struct span){(const char *)bytes + TOKEN_HEAD, len - TOKEN_HEAD};
        } else {
            code = ses__error_set(error, SES_INVALID,
                                  "the token is not from a list of this app, user, order and filter");
        }
    }
    return code;
}
