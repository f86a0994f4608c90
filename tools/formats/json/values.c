#include "formats/json/members.h"

#include <stdlib.h>
#include <string.h>

#include "formats/text.h"
#include "json/decimal.h"

struct sorted_member {
    struct text key; /* decoded, or unchanged if it contains a lone surrogate */
    struct span value;
};

struct sorted {
    struct sorted_member *items;
    size_t count;
    size_t capacity;
};

static bool same_strings(struct span a, struct span b)
{
    struct json_string left = ses__json_string_of(a);
    struct json_string right = ses__json_string_of(b);
    size_t left_len = 0;
    size_t right_len = 0;

    char *left_text = allocate(left.raw.len + 1);
    char *right_text = allocate(right.raw.len + 1);
    bool same = ses__json_unescape(left, left_text, &left_len) &&
                ses__json_unescape(right, right_text, &right_len) && left_len == right_len &&
                memcmp(left_text, right_text, left_len) == 0;
    free(left_text);
    free(right_text);
    return same;
}

static bool same_numbers(struct span a, struct span b, bool *rounded)
{
    double left = 0;
    double right = 0;
    int64_t left_int = 0;
    int64_t right_int = 0;
    bool half = false;
    bool nomem = false;

    const bool finite = ses__decimal_to_double(a, &left, &nomem);
    if (ses__decimal_to_double(b, &right, &nomem) != finite || (finite && (left < right || left > right)))
        return false;
    /* 3 and 3.0 are the same number, as are two spellings of the same fraction. */
    const enum decimal_result of_a = ses__decimal_truncate(a, 0, &left_int, &half);
    const enum decimal_result of_b = ses__decimal_truncate(b, 0, &right_int, &half);
    if (rounded && (of_a != of_b || left_int != right_int || of_a == DECIMAL_TOO_LARGE))
        *rounded = true;
    return true;
}

static bool same_arrays(struct span a, struct span b, bool *rounded)
{
    struct json_reader left;
    struct json_reader right;
    struct span left_value;
    struct span right_value;

    ses__json_start(&left, a.ptr, a.len);
    ses__json_start(&right, b.ptr, b.len);
    if (!ses__json_enter(&left) || !ses__json_enter(&right))
        return false;
    for (;;) {
        const bool more = ses__json_element(&left);
        if (ses__json_element(&right) != more)
            return false;
        if (!more)
            return true;
        if (!ses__json_skip(&left, &left_value) || !ses__json_skip(&right, &right_value) ||
            !values_same(left_value, right_value, rounded))
            return false;
    }
}

/* ------------------------------------------------------------------------------------------------ objects */

static void add_member(struct sorted *members, struct json_string key, struct span value)
{
    size_t len = 0;

    members->items = enlarge(members->items, members->count, &members->capacity, sizeof *members->items);
    struct sorted_member *member = &members->items[members->count++];
    *member = (struct sorted_member){.value = value};
    char *decoded = allocate(key.raw.len + 1);
    if (ses__json_unescape(key, decoded, &len))
        text_add(&member->key, decoded, len);
    else
        text_add(&member->key, key.raw.ptr, key.raw.len);
    free(decoded);
}

static int by_key(const void *a, const void *b)
{
    const struct sorted_member *left = a;
    const struct sorted_member *right = b;
    const size_t shorter = left->key.len < right->key.len ? left->key.len : right->key.len;
    const int order = shorter > 0 ? memcmp(left->key.data, right->key.data, shorter) : 0;

    if (order != 0)
        return order;
    return (left->key.len > right->key.len) - (left->key.len < right->key.len);
}

static void read_members(struct sorted *members, struct span object)
{
    struct json_reader reader;
    struct json_string key;
    struct span value;

    ses__json_start(&reader, object.ptr, object.len);
    if (!ses__json_enter(&reader))
        return;
    while (ses__json_member(&reader, &key) && ses__json_skip(&reader, &value))
        add_member(members, key, value);
    if (members->count > 0)
        qsort(members->items, members->count, sizeof *members->items, by_key);
}

static void free_members(struct sorted *members)
{
    for (size_t i = 0; i < members->count; i++)
        text_free(&members->items[i].key);
    free(members->items);
}

static bool same_objects(struct span a, struct span b, bool *rounded)
{
    struct sorted left = {NULL, 0, 0};
    struct sorted right = {NULL, 0, 0};

    read_members(&left, a);
    read_members(&right, b);
    bool same = left.count == right.count;
    for (size_t i = 0; i < left.count && same; i++)
        same = by_key(&left.items[i], &right.items[i]) == 0 &&
               values_same(left.items[i].value, right.items[i].value, rounded);
    free_members(&left);
    free_members(&right);
    return same;
}

bool values_same(struct span a, struct span b, bool *rounded)
{
    a = ses__json_trim(a);
    b = ses__json_trim(b);
    const enum json_type type = ses__json_type_of(a);

    if (a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0)
        return true;
    if (type != ses__json_type_of(b))
        return false;
    switch (type) {
    case JSON_STRING:
        return same_strings(a, b);
    case JSON_NUMBER:
        return same_numbers(a, b, rounded);
    case JSON_ARRAY:
        return same_arrays(a, b, rounded);
    case JSON_OBJECT:
        return same_objects(a, b, rounded);
    default:
        return false;
    }
}
