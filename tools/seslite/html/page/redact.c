#include "html/page/redact.h"

#include <stdlib.h>
#include <string.h>

#include "text/scan.h"

void redactor_begin(struct redactor *redactor, const char *const *keys, size_t key_count)
{
    *redactor = (struct redactor){.keys = keys, .key_count = key_count};
}

void redactor_free(struct redactor *redactor)
{
    for (size_t i = 0; i < redactor->count; i++)
        free(redactor->secrets[i].text);
    free(redactor->secrets);
    *redactor = (struct redactor){.keys = NULL};
}

static const char *bare_name(const char *key)
{
    return strncmp(key, "app:", 4) == 0 ? key + 4 : strncmp(key, "user:", 5) == 0 ? key + 5 : key;
}

static bool is_name(const char *key, const char *name, size_t len)
{
    return strlen(key) == len && memcmp(key, name, len) == 0;
}

/* The index of the first key, from `from` on, that hides a member of this name; key_count if none does. */
static size_t key_of(const struct redactor *redactor, size_t index, const char *name, size_t len)
{
    while (index < redactor->key_count && !is_name(redactor->keys[index], name, len) &&
           !is_name(bare_name(redactor->keys[index]), name, len))
        index++;
    return index;
}

bool redactor_hides(const struct redactor *redactor, const char *name, size_t len)
{
    return key_of(redactor, 0, name, len) < redactor->key_count;
}

/* ------------------------------------------------------------------------------------- collecting secrets */

static int compare(const void *a, const void *b)
{
    const struct secret *one = a;
    const struct secret *other = b;
    size_t len = one->len < other->len ? one->len : other->len;
    int order = memcmp(one->text, other->text, len);

    return order != 0 ? order : (one->len > other->len) - (one->len < other->len);
}

/* Sorts the secrets and removes duplicates. */
void redactor_sort(struct redactor *redactor)
{
    size_t kept = 0;

    if (redactor->count > 0)
        qsort(redactor->secrets, redactor->count, sizeof redactor->secrets[0], compare);
    for (size_t i = 0; i < redactor->count; i++) {
        struct secret *secret = &redactor->secrets[i];
        if (kept > 0 && compare(secret, &redactor->secrets[kept - 1]) == 0) {
            free(secret->text);
        } else {
            unsigned pair = (unsigned)(unsigned char)secret->text[0] << 8 | (unsigned char)secret->text[1];
            redactor->begins[pair / 8] |= (unsigned char)(1U << pair % 8);
            redactor->secrets[kept++] = *secret;
        }
    }
    redactor->count = kept;
}

static void grow(struct redactor *redactor)
{
    size_t capacity = redactor->capacity ? redactor->capacity * 2 : 16;
    struct secret *secrets = allocate(capacity * sizeof *secrets);

    if (redactor->count > 0)
        memcpy(secrets, redactor->secrets, redactor->count * sizeof *secrets);
    free(redactor->secrets);
    redactor->secrets = secrets;
    redactor->capacity = capacity;
}

/* A key that is written often has few distinct values, so duplicates are removed before the array grows. */
static void add_secret(struct redactor *redactor, const char *text, size_t len)
{
    if (len < SECRET_MIN || is_name("__ADK_SENTINEL_REMOVED__", text, len))
        return;
    if (redactor->count == redactor->capacity) {
        redactor_sort(redactor);
        if (redactor->count * 2 >= redactor->capacity)
            grow(redactor);
    }
    char *copy = allocate(len);
    memcpy(copy, text, len);
    redactor->secrets[redactor->count++] = (struct secret){copy, len};
}

/* Adds it both decoded and as spelled in JSON: either form may occur within a text. */
static void add_string(struct redactor *redactor, const struct piece *string)
{
    struct text decoded = {NULL, 0, 0};

    scan_decode(&decoded, string);
    add_secret(redactor, decoded.data, decoded.len);
    if (string->len != decoded.len + 2)
        add_secret(redactor, string->text + 1, string->len - 2);
    text_free(&decoded);
}

static void collect_value(struct redactor *redactor, const char *json, size_t len)
{
    struct scan scan;
    struct piece piece;

    scan_begin(&scan, json, len);
    for (enum token token; (token = scan_next(&scan, &piece)) != TOKEN_END;)
        if (token == TOKEN_STRING)
            add_string(redactor, &piece);
        else if (token == TOKEN_OTHER)
            add_secret(redactor, piece.text, piece.len);
}

void redactor_collect(struct redactor *redactor, const char *json, size_t len)
{
    struct scan scan;
    struct piece piece;
    struct text name = {NULL, 0, 0};

    scan_begin(&scan, json, len);
    for (enum token token; (token = scan_next(&scan, &piece)) != TOKEN_END;) {
        if (token != TOKEN_NAME)
            continue;
        text_clear(&name);
        scan_decode(&name, &piece);
        size_t key = key_of(redactor, 0, name.data, name.len);
        if (key < redactor->key_count && scan_value(&scan, &piece))
            collect_value(redactor, piece.text, piece.len);
        for (; key < redactor->key_count; key = key_of(redactor, key + 1, name.data, name.len))
            redactor->found[key] = true;
    }
    text_free(&name);
}

/* ------------------------------------------------------------------------------------------------- hiding */

/* The first secret that is not less than these SECRET_MIN bytes. */
static size_t first_from(const struct redactor *redactor, const char *bytes)
{
    size_t low = 0;
    size_t high = redactor->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memcmp(redactor->secrets[middle].text, bytes, SECRET_MIN) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The length of the longest secret that the text begins with, or 0. */
static size_t secret_at(const struct redactor *redactor, const char *text, size_t len)
{
    size_t longest = 0;

    if (len < SECRET_MIN)
        return 0;
    unsigned pair = (unsigned)(unsigned char)text[0] << 8 | (unsigned char)text[1];
    if (!(redactor->begins[pair / 8] >> pair % 8 & 1))
        return 0;
    for (size_t i = first_from(redactor, text); i < redactor->count; i++) {
        const struct secret *secret = &redactor->secrets[i];
        if (memcmp(secret->text, text, SECRET_MIN) != 0)
            break;
        if (secret->len <= len && secret->len > longest && memcmp(secret->text, text, secret->len) == 0)
            longest = secret->len;
    }
    return longest;
}

/* A ses_redact_finder. Secrets that overlap are one piece. */
static int find_secret(void *context, const char *text, size_t len, size_t from, size_t *begin, size_t *end,
                       ses_error *error)
{
    const struct redactor *redactor = context;
    (void)error;

    for (size_t at = from; at < len; at++) {
        size_t last = at + secret_at(redactor, text + at, len - at);
        if (last == at)
            continue;
        for (size_t inner = at + 1; inner < last; inner++) {
            size_t other = inner + secret_at(redactor, text + inner, len - inner);
            last = other > last ? other : last;
        }
        *begin = at;
        *end = last;
        return 1;
    }
    return 0;
}

bool redactor_add(const struct redactor *redactor, struct text *text, const char *more, size_t len)
{
    if (redactor->count > 0)
        return text_add_hidden(text, more, len, find_secret, (void *)redactor);
    text_add(text, more, len);
    return false;
}
