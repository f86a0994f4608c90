/* Where a follower is in each session; and the same as a text that callers keep. */
#include "session/follow/follower.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "session/session.h"
#include "session/token.h"

/* ------------------------------------------------------------------------------------- a place by name */

/* Without a name by the number. */
static int compare(const struct follow_known *known, const char *name, int64_t id)
{
    if (name)
        return strcmp(known->name, name);
    return (known->place.session_id > id) - (known->place.session_id < id);
}

/* Returns the first place whose name is not before `name`. */
static size_t find_name(const struct known_list *list, const char *name, int64_t id)
{
    size_t low = 0;
    size_t high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&list->items[middle], name, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct known_list *list, size_t at, const char *name, int64_t id)
{
    return at < list->count && compare(&list->items[at], name, id) == 0;
}

struct follow_place *ses__known_place(struct known_list *list, const ses_allocator *allocator,
                                      const char *name, int64_t id)
{
    const size_t at = find_name(list, name, id);

    if (!is_at(list, at, name, id)) {
        char *copy = name ? ses__memory_copy(allocator, name, strlen(name)) : NULL;
        if ((name && !copy) || !LIST_GROW(allocator, list)) {
            ses__memory_free(allocator, copy);
            return NULL;
        }
        memmove(list->items + at + 1, list->items + at, (list->count - at) * sizeof *list->items);
        list->items[at] = (struct follow_known){.name = copy, .place.session_id = id};
        list->count++;
    }
    return &list->items[at].place;
}

void ses__known_remove(struct known_list *list, const ses_allocator *allocator, const char *name, int64_t id)
{
    const size_t at = find_name(list, name, id);

    if (is_at(list, at, name, id)) {
        ses__memory_free(allocator, list->items[at].name);
        list->count--;
        memmove(list->items + at, list->items + at + 1, (list->count - at) * sizeof *list->items);
    }
}

void ses__known_free(struct known_list *list, const ses_allocator *allocator)
{
    for (size_t i = 0; i < list->count; i++)
        ses__memory_free(allocator, list->items[i].name);
    ses__memory_free(allocator, list->items);
    *list = (struct known_list){.items = NULL};
}

/* At the end of a log the version is the sum of the epoch and the number. */
static uint64_t version_of(const struct follow_place *place)
{
    return (uint64_t)place->epoch + (uint64_t)place->seq;
}

struct watched ses__known_state(const struct known_list *list, const ses_key *key)
{
    struct watched state = {.app = key->app, .user = key->user, .count = (int64_t)list->count};
    uint64_t sum = 0;

    if (key->session)
        return (struct watched){.session_id = list->items[0].place.session_id,
                                .versions = (int64_t)version_of(&list->items[0].place)};
    for (size_t i = 0; i < list->count; i++) {
        const struct follow_place *place = &list->items[i].place;
        sum += version_of(place) & UINT32_MAX;
        if (place->session_id > state.session_id)
            state.session_id = place->session_id;
    }
    state.versions = (int64_t)sum;
    return state;
}

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

/* Reads the places, for which there is room. False: a number is missing or out of range, or a session appears
 * twice. */
static bool get_places(struct span numbers, struct follow_place *places, size_t *count)
{
    bool ok = true;

    while (ok && numbers.len > 0) {
        struct follow_place *place = &places[(*count)++];
        uint64_t id = 0;
        uint64_t seq = 0;
        ok = ses__token_get(&numbers, &id) && ses__token_get_signed(&numbers, &place->epoch) &&
             ses__token_get(&numbers, &seq);
        place->session_id = (int64_t)id;
        place->seq = (int64_t)seq;
        ok = ok && place->session_id > 0 && place->seq >= 0;
    }
    if (ok)
        qsort(places, *count, sizeof *places, compare_places_by_id);
    for (size_t i = 1; i < *count && ok; i++)
        ok = places[i - 1].session_id != places[i].session_id;
    return ok;
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
