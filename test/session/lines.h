/* Shared by the tests of JSON lines: a store with everything in it. */
#ifndef SESLITE_TEST_LINES_H
#define SESLITE_TEST_LINES_H

#include "history.h"
#include "lines_text.h"

static inline void must_prune_to(ses_store *store, const ses_key *of, int64_t last_seq)
{
    const ses_prune_options options = {.size = sizeof options, .which = SES_PRUNE_SEQ, .last_seq = last_seq};
    ses_error error;
    assert_ok(ses_prune_by_key(store, of, &options, NULL, &error));
}

/* One app with few sessions, in which everything occurs. */
static inline void fill_session(ses_store *store, const ses_key *of)
{
    static const ses_label labels[] = {{"b", "2 \"x\""}, {"a", ""}};
    const ses_create_options options = {.size = sizeof options,
                                        .created_us = &(int64_t){INT64_C(-5000000)},
                                        .expires_us = &(int64_t){INT64_C(4000000000000000)},
                                        .title = "A \xC3\xA9 title",
                                        .labels = labels,
                                        .label_count = 2};
    ses_error error;

    assert_ok(ses_create(store, of,
                         "{\"app:a\":[1,\n 2],\"user:u\":1.10,\"temp:t\":1,\"k\" : \"v\",\n\"app:user:x\":0}",
                         SES_NUL, &options, NULL, &error));
    must_append_by_key(
        store, of,
        "{\"id\":\"e1\",\"timestamp\":100,\"invocationId\":\"i1\",\"author\":\"user\",\"content\":"
        "{\"parts\":[{\"text\":\"x\"}]},\"actions\":{\"stateDelta\":{\"k\":1e400,\"user:u\":{\"z\":\n1}}}}");
    must_append_by_key(
        store, of,
        " {\"id\":\"e\\u0032\",\n \"timestamp\":50,\"invocationId\":\"i2\",\"x\":\"\\ud800\\\"\",\"actions\":"
        "{\"stateDelta\":{\"l\":-0.0,\"k\":" REMOVED "}}}\r\n");
    must_append_by_key(store, of,
                       "{\"id\":\"e3\",\"timestamp\":70,\"invocationId\":\"i3\",\"author\":\"a\"}");
    must_rewind(store, of, BEFORE_INVOCATION("i3"));
    must_append_by_key(store, of,
                       "{\"id\":\"e5\",\"timestamp\":60,\"invocationId\":\"i5\",\"actions\":{\"compaction\":"
                       "{\"startTimestamp\":1,\"endTimestamp\":2,\"compactedContent\":{}}}}");
}

static inline void fill_store(ses_store *store)
{
    const ses_key one = {"app", "user", "one"};
    const ses_key cut = {"app", "user", "cut"};
    const ses_key fork = {"app", "other \"user\"", "fork"};
    const ses_fork_options other = {
        .size = sizeof other, .flags = SES_FORK_OTHER_USER, .created_us = &(int64_t){1}};
    const ses_create_options early = {.size = sizeof early, .created_us = &(int64_t){7}};
    ses_error error;

    assert_ok(ses_shared_state_change(store, "z app", "only shared", "{\"k\":{\"a\": 1},\"\":2}", SES_NUL,
                                      NULL, &error));
    fill_session(store, &one);
    assert_ok(ses_create(store, &cut, NULL, 0, &early, NULL, &error));
    for (int i = 0; i < 6; i++) {
        char event[160];
        snprintf(event, sizeof event,
                 "{\"id\":\"c%d\",\"timestamp\":%d,\"invocationId\":\"i%d\",\"actions\":{\"stateDelta\":{"
                 "\"n\":%d}}}",
                 i, i == 3 ? 5000 : 1000 + i, i, i);
        must_append_by_key(store, &cut, event);
    }
    assert_ok(ses_cut_by_key(store, &cut, AFTER_SEQ(3), NULL, NULL, &error));
    must_append_by_key(store, &cut, "{\"id\":\"after\",\"timestamp\":1,\"invocationId\":\"x\"}");
    must_prune_to(store, &cut, 2);
    assert_ok(ses_fork_by_key(store, &one, AFTER_SEQ(3), &fork, &other, NULL, &error));
    assert_ok(ses_create(store, &(ses_key){"app", "user", "empty"}, NULL, 0, &early, NULL, &error));
}

#endif
