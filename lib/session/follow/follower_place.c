#include "session/follow/follower_place.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "session/session.h"
#include "session/token.h"

/* A place has three numbers for each session: the session's, its epoch and the event's. */
enum { LEAST_PLACE_BYTES = 3 };

/* ------------------------------------------------------------------------------------------- writing */

char *ses__place_write(const ses_allocator *allocator, const ses_key *key, const struct follow_known *known,
                       size_t count)
{
    struct buffer bytes;

    ses__token_begin(&bytes, allocator);
    for (size_t i = 0; i < count; i++) {
        ses__token_put(&bytes, (uint64_t)known[i].place.session_id);
        ses__token_put_signed(&bytes, known[i].place.epoch);
        ses__token_put(&bytes, (uint64_t)known[i].place.seq);
    }
    return ses__token_end(&bytes, ses__hash32_key(key));
}

const char *ses_session_place(ses_session *session)
{
    const struct session_row *row = &session->snapshot.row;
    const struct follow_known known = {NULL, {row->id, ses__row_epoch(row), row->last_seq}};
    const ses_allocator *allocator = &session->store->allocator;

    ses__memory_free(allocator, session->place);
    session->place = ses__place_write(allocator, &session->key, &known, 1);
    return session->place;
}

/* ------------------------------------------------------------------------------------------- reading */

static bool get_place(struct span *bytes, struct follow_place *place)
{
    uint64_t id = 0;
    uint64_t seq = 0;
    bool ok = ses__token_get(bytes, &id) && ses__token_get_signed(bytes, &place->epoch) &&
              ses__token_get(bytes, &seq);

    place->session_id = (int64_t)id;
    place->seq = (int64_t)seq;
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

int ses__place_read(const ses_allocator *allocator, const ses_key *key, const char *text,
                    struct follow_place **places, size_t *count, ses_error *error)
{
    struct buffer bytes;
    struct span numbers;
    int code = SES_OK;

    *places = NULL;
    *count = 0;
    ses__buffer_init(&bytes, allocator);
    const bool good = ses__token_read(text, ses__hash32_key(key), &bytes, &numbers);
    if (good)
        *places = ses__memory_new(allocator, (numbers.len / LEAST_PLACE_BYTES + 1) * sizeof **places);
    if (bytes.failed || (good && !*places))
        code = ses__error_nomem(error);
    else if (!good || !get_places(numbers, *places, count) || (key->session && *count != 1))
        code = ses__error_set(error, SES_INVALID, "the place is not one of a follower of this %s",
                              key->session ? "session" : "user");
    ses__buffer_free(&bytes);
    return code;
}
