/*
 * A place is a head and, for each session, three numbers of 7 bits a byte: the session's, its epoch and the
 * event's; all in base64url. The head holds the version of this form, and a check sum over the numbers and
 * over the session or user of the place. The sum detects damaged places and those of others. It is not keyed,
 * so the numbers can be forged and must be checked.
 */
#include "session/follow/follower_place.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "session/session.h"

enum { PLACE_VERSION = 1, PLACE_HEAD = 5, LEAST_PLACE_BYTES = 3 };

static uint32_t place_sum(const ses_key *key, const char *numbers, size_t len)
{
    uint32_t sum = ses__hash32(HASH32_BASIS, key->app, strlen(key->app) + 1);

    sum = ses__hash32(sum, key->user, strlen(key->user) + 1);
    if (key->session)
        sum = ses__hash32(sum, key->session, strlen(key->session) + 1);
    return ses__hash32(sum, numbers, len);
}

static void put_sum(char *to, uint32_t sum)
{
    for (int i = 0; i < 4; i++)
        to[i] = (char)(unsigned char)(sum >> (24 - 8 * i));
}

/* ------------------------------------------------------------------------------------------- numbers */

/* Maps small numbers of either sign to small unsigned ones. */
static uint64_t fold(int64_t number)
{
    return number < 0 ? ~((uint64_t)number << 1) : (uint64_t)number << 1;
}

static int64_t unfold(uint64_t folded)
{
    uint64_t half = folded >> 1;
    return (int64_t)(folded & 1 ? ~half : half);
}

static void put_varint(struct buffer *bytes, uint64_t number)
{
    do {
        char byte = (char)(unsigned char)((number & 0x7F) | (number > 0x7F ? 0x80 : 0));
        ses__buffer_add(bytes, &byte, 1);
        number >>= 7;
    } while (number > 0);
}

/* False at the end of the text, and for bytes that are not a number. */
static bool get_varint(struct span *bytes, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; shift < 64 && bytes->len > 0; shift += 7) {
        const unsigned char byte = (unsigned char)*bytes->ptr;
        bytes->ptr++;
        bytes->len--;
        *number |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return (byte > 0 || shift == 0) && (shift < 63 || byte == 1);
    }
    return false;
}

/* ------------------------------------------------------------------------------------------ base64url */

static const char place_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static char *encode(const ses_allocator *allocator, const char *bytes, size_t len)
{
    char *text = ses__memory_new(allocator, len / 3 * 4 + 5);
    char *to = text;
    uint32_t bits = 0;
    unsigned count = 0;

    if (!text)
        return NULL;
    for (size_t i = 0; i < len; i++) {
        bits = bits << 8 | (unsigned char)bytes[i];
        for (count += 8; count >= 6; count -= 6)
            *to++ = place_digits[bits >> (count - 6) & 63];
    }
    if (count > 0)
        *to++ = place_digits[bits << (6 - count) & 63];
    *to = '\0';
    return text;
}

/* False: there is an invalid character, or bits are left over. `bytes` has room for three quarters of the
 * text. */
static bool decode(const char *text, size_t len, char *bytes, size_t *bytes_len)
{
    uint32_t bits = 0;
    unsigned count = 0;

    *bytes_len = 0;
    for (size_t i = 0; i < len; i++) {
        const char *digit = strchr(place_digits, text[i]);
        if (!digit)
            return false;
        bits = bits << 6 | (uint32_t)(digit - place_digits);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes[(*bytes_len)++] = (char)(unsigned char)(bits >> count & 0xFF);
        }
    }
    return count < 6 && (bits & ((UINT32_C(1) << count) - 1)) == 0;
}

/* ------------------------------------------------------------------------------------------- writing */

char *ses__place_write(const ses_allocator *allocator, const ses_key *key, const struct follow_known *known,
                       size_t count)
{
    const char head[PLACE_HEAD] = {PLACE_VERSION};
    struct buffer bytes;
    char *text = NULL;

    ses__buffer_init(&bytes, allocator);
    ses__buffer_add(&bytes, head, sizeof head);
    for (size_t i = 0; i < count; i++) {
        put_varint(&bytes, (uint64_t)known[i].place.session_id);
        put_varint(&bytes, fold(known[i].place.epoch));
        put_varint(&bytes, (uint64_t)known[i].place.seq);
    }
    if (!bytes.failed) {
        put_sum(bytes.data + 1, place_sum(key, bytes.data + PLACE_HEAD, bytes.len - PLACE_HEAD));
        text = encode(allocator, bytes.data, bytes.len);
    }
    ses__buffer_free(&bytes);
    return text;
}

const char *ses_session_place(ses_session *session)
{
    const struct session_row *row = &session->snapshot.row;
    const struct follow_known known = {NULL, {row->id, ses__row_epoch(row), row->last_seq}};
    const ses_allocator *allocator = &session->store->allocator;
    const ses_key key = ses__session_key(session);

    ses__memory_free(allocator, session->place);
    session->place = ses__place_write(allocator, &key, &known, 1);
    return session->place;
}

/* ------------------------------------------------------------------------------------------- reading */

static bool get_place(struct span *bytes, struct follow_place *place)
{
    uint64_t id = 0;
    uint64_t epoch = 0;
    uint64_t seq = 0;
    bool ok = get_varint(bytes, &id) && get_varint(bytes, &epoch) && get_varint(bytes, &seq);

    *place = (struct follow_place){(int64_t)id, unfold(epoch), (int64_t)seq};
    return ok && place->session_id > 0 && place->seq >= 0;
}

static int compare_places_by_id(const void *left, const void *right)
{
    int64_t a = ((const struct follow_place *)left)->session_id;
    int64_t b = ((const struct follow_place *)right)->session_id;
    return a < b ? -1 : a > b;
}

const struct follow_place *ses__place_find(const struct follow_place *places, size_t count,
                                           const struct follow_place *place)
{
    return bsearch(place, places, count, sizeof *places, compare_places_by_id);
}

static bool are_different(const struct follow_place *places, size_t count)
{
    bool different = true;
    for (size_t i = 1; i < count; i++)
        different = different && places[i - 1].session_id != places[i].session_id;
    return different;
}

/* `places` has room for as many as the bytes can hold. */
static bool get_places(struct span numbers, struct follow_place *places, size_t *count)
{
    bool ok = true;

    while (ok && numbers.len > 0)
        ok = get_place(&numbers, &places[(*count)++]);
    if (!ok)
        return false;
    qsort(places, *count, sizeof *places, compare_places_by_id);
    return are_different(places, *count);
}

/* True if the place belongs to that key. */
static bool check_head(const ses_key *key, const char *bytes, size_t len)
{
    char sum[4];

    if (len < PLACE_HEAD || bytes[0] != PLACE_VERSION)
        return false;
    put_sum(sum, place_sum(key, bytes + PLACE_HEAD, len - PLACE_HEAD));
    return memcmp(sum, bytes + 1, sizeof sum) == 0;
}

int ses__place_read(const ses_allocator *allocator, const ses_key *key, const char *text,
                    struct follow_place **places, size_t *count, ses_error *error)
{
    const size_t text_len = strlen(text);
    char *bytes = ses__memory_new(allocator, text_len + 1);
    size_t len = 0;
    int code = SES_OK;

    *places = NULL;
    *count = 0;
    if (!bytes)
        return ses__error_nomem(error);
    bool good = decode(text, text_len, bytes, &len) && check_head(key, bytes, len);
    const size_t limit = good ? (len - PLACE_HEAD) / LEAST_PLACE_BYTES + 1 : 0;
    if (good) {
        *places = ses__memory_new(allocator, limit * sizeof **places);
        if (!*places)
            code = ses__error_nomem(error);
    }
    if (code == SES_OK)
        good = good && get_places((struct span){bytes + PLACE_HEAD, len - PLACE_HEAD}, *places, count) &&
               (!key->session || *count == 1);
    ses__memory_free(allocator, bytes);
    if (code == SES_OK && !good)
        code = ses__error_set(error, SES_INVALID, "the place is not one of a follower of this %s",
                              key->session ? "session" : "user");
    return code;
}
