/* Shared by the tests here, in a database of their own, on every engine: place.h of its folder has the
 * rest. */
#ifndef SESLITE_TEST_SERVER_PLACE_H
#define SESLITE_TEST_SERVER_PLACE_H

static inline void place_run(const struct place *place, const char *sql)
{
    const char *message = place_try(place, sql);

    if (message[0])
        fail_msg("%.200s: %s", sql, message);
}

/* A store there, whose calls take at most 20 seconds. */
static inline ses_store *place_store(const struct place *place)
{
    const ses_open_options options = {.size = sizeof options, .busy_timeout_ms = 20000};
    ses_store *store = NULL;
    ses_error error;

    assert_ok(place_open(place, &options, &store, &error));
    return store;
}

#endif
