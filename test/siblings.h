/* Whether two sessions are known to be forks of one that was deleted. */
#ifndef SESLITE_TEST_SIBLINGS_H
#define SESLITE_TEST_SIBLINGS_H

#include "support.h"

/* They have no events yet, and get the same. One is deleted. */
static inline void assert_siblings(ses_store *store, const ses_key *one, const ses_key *other)
{
    ses_erased erased = {.size = sizeof erased};
    const ses_delete_options options = {.size = sizeof options, .erased = &erased};
    ses_error error;

    must_append_by_key(store, one, Q("{'id':'e','author':'user','timestamp':1700000000}"));
    must_append_by_key(store, other, Q("{'id':'e','author':'user','timestamp':1700000000}"));
    assert_ok(ses_delete(store, one, &options, NULL, &error));
    assert_int_equal(erased.forks_left, 1);
}

#endif
