/* Threads that save, read and delete artifacts of one user at the same time, on two stores that share their
 * rows. */
#ifndef SESLITE_TEST_ARTIFACT_AT_ONCE_H
#define SESLITE_TEST_ARTIFACT_AT_ONCE_H

#include <pthread.h>

#include "../random.h"
#include "seslite_artifact.h"

enum { AT_ONCE_THREADS = 4, AT_ONCE_LONG = 4194304 + 70000 };

struct at_once {
    ses_store *store;
    int number;
    int steps;
    int64_t versions[100];
    char failure[800]; /* of a thread, where no test may fail */
    pthread_t thread;
};

static inline bool at_once_ok(struct at_once *self, const char *what, int code, const ses_error *error)
{
    if (code != SES_OK && !self->failure[0])
        snprintf(self->failure, sizeof self->failure, "%s: %s: %s", what, ses_code_name(code),
                 error->message);
    return code == SES_OK;
}

/* ------------------------------------------------------------------------------------------ the same name */

static inline void *at_once_save_same(void *context)
{
    static const ses_key keys[] = {{"app", "user", "session"}, {"app", "user", NULL}};
    const ses_artifact_save_options anyway = {.size = sizeof anyway, .flags = SES_ARTIFACT_WITHOUT_SESSION};
    struct at_once *self = context;
    ses_error error;
    char text[40];

    for (int i = 0; i < self->steps && !self->failure[0]; i++) {
        const ses_key *of = &keys[i % 2];
        snprintf(text, sizeof text, "%d", i % 4 < 2 ? i : i * 100 + self->number); /* some are equal */
        (void)at_once_ok(self, "save",
                         ses_artifact_save_by_key(self->store, of, "n", text, SES_NUL, &anyway,
                                                  &self->versions[i], &error),
                         &error);
    }
    return NULL;
}

/* ----------------------------------------------------------------------------------------- the same bytes */

static inline void at_once_fill(int which, char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(i * 7 + (i >> 16) + (size_t)which);
}

/* Three contents, of which the last is written in several transactions. */
static inline size_t at_once_len(int which)
{
    return which == 2 ? AT_ONCE_LONG : (size_t)which * 100000 + 10;
}

static inline void at_once_read(struct at_once *self, const ses_key *of, int which, const char *expected,
                                char *buffer)
{
    const size_t len = at_once_len(which);
    ses_artifact *artifact;
    ses_error error;
    size_t got = 0;

    if (!at_once_ok(self, "open", ses_artifact_open_by_key(self->store, of, "x", NULL, &artifact, &error),
                    &error))
        return;
    if (at_once_ok(self, "read", ses_artifact_read(artifact, 0, buffer, AT_ONCE_LONG, &got, &error),
                   &error) &&
        (got != len || memcmp(buffer, expected, len) != 0))
        snprintf(self->failure, sizeof self->failure, "other bytes than were saved");
    ses_artifact_close(artifact);
}

static inline void at_once_remove(struct at_once *self, const ses_key *of, bool all)
{
    ses_error error;

    if (all)
        (void)at_once_ok(self, "delete the session", ses_delete(self->store, of, NULL, NULL, &error), &error);
    else
        (void)at_once_ok(self, "delete", ses_artifact_delete_by_key(self->store, of, "x", NULL, NULL, &error),
                         &error);
}

/* Each thread has a session of its own, and the bytes of all are the user's. */
static inline void *at_once_save_and_delete(void *context)
{
    struct at_once *self = context;
    char *expected = malloc(AT_ONCE_LONG);
    char *buffer = malloc(AT_ONCE_LONG);
    uint64_t seed = (uint64_t)self->number;
    ses_error error;
    char session[20];
    const ses_key of = {"app", "user", session};
    bool exists = false;

    snprintf(session, sizeof session, "s%d", self->number);
    for (int i = 0; i < self->steps && !self->failure[0]; i++) {
        const int which = random_below(&seed, 8) == 0 ? 2 : (int)random_below(&seed, 2);
        at_once_fill(which, expected, at_once_len(which));
        if (!exists)
            exists =
                at_once_ok(self, "create", ses_create(self->store, &of, NULL, 0, NULL, NULL, &error), &error);
        if (!at_once_ok(self, "save",
                        ses_artifact_save_by_key(self->store, &of, "x", expected, at_once_len(which), NULL,
                                                 NULL, &error),
                        &error))
            break;
        at_once_read(self, &of, which, expected, buffer);
        const size_t next = random_below(&seed, 4);
        if (next < 3)
            at_once_remove(self, &of, next == 2);
        exists = next != 2;
    }
    free(expected);
    free(buffer);
    return NULL;
}

static inline void at_once_run(ses_store *const stores[2], int steps, void *(*run)(void *),
                               struct at_once threads[AT_ONCE_THREADS])
{
    for (int i = 0; i < AT_ONCE_THREADS; i++) {
        threads[i] = (struct at_once){.store = stores[i % 2], .number = i, .steps = steps};
        assert_int_equal(pthread_create(&threads[i].thread, NULL, run, &threads[i]), 0);
    }
    for (int i = 0; i < AT_ONCE_THREADS; i++)
        assert_int_equal(pthread_join(threads[i].thread, NULL), 0);
    for (int i = 0; i < AT_ONCE_THREADS; i++)
        assert_string_equal(threads[i].failure, "");
}

/* Each number was given once. */
static inline void at_once_check_versions(const struct at_once threads[AT_ONCE_THREADS], int steps)
{
    for (int parity = 0; parity < 2; parity++) {
        bool seen[AT_ONCE_THREADS * 100] = {false};
        for (int i = 0; i < AT_ONCE_THREADS; i++) {
            for (int k = parity; k < steps; k += 2) {
                const int64_t version = threads[i].versions[k];
                assert_in_range(version, 0, AT_ONCE_THREADS * steps / 2 - 1);
                assert_false(seen[version]);
                seen[version] = true;
            }
        }
    }
}

/* Both, without a session and with one. */
static inline void at_once_run_all(ses_store *const stores[2], int steps)
{
    static struct at_once threads[AT_ONCE_THREADS];
    ses_error error;

    at_once_run(stores, steps, at_once_save_same, threads);
    at_once_check_versions(threads, steps);
    assert_ok(ses_delete_user(stores[0], "app", "user", NULL, NULL, NULL, &error));
    must_create(stores[0], &(ses_key){"app", "user", "session"}, NULL);
    at_once_run(stores, steps, at_once_save_same, threads);
    at_once_check_versions(threads, steps);
    at_once_run(stores, steps, at_once_save_and_delete, threads);
}

#endif
