/*
 * The model of the history test: logs in plain arrays, and every rule in its plainest form, however slow.
 * Sequence numbers, invocations and calls are few, so that steps meet the same ones again.
 */
#ifndef SESLITE_TEST_HISTORY_MODEL_H
#define SESLITE_TEST_HISTORY_MODEL_H

#include "random.h"

enum { USERS = 2, NAMES = 3, SLOTS = USERS * NAMES };
enum { OWN = 4, KEYS = OWN + 2, MOST_EVENTS = 80 };
enum { UNTOUCHED = -2, ABSENT = -1 };

/* Sorted as the library sorts them, but for the shared ones, which come first there. */
static const char *const key_names[KEYS] = {"", "a", "b", "c/d", "app:s", "user:s"};
static const char *const value_texts[] = {
    "1", "2", "1.0", "true", "null", "\"x\"", "[ -0.0 ]", "{\"k\":1}", "9007199254740993"};
enum { VALUES = sizeof value_texts / sizeof value_texts[0] };

struct entry {
    int value; /* ABSENT, or a place in value_texts */
    int64_t seq;
};

struct logged {
    int64_t seq;
    int64_t time_us;
    int64_t high_us;
    char id[64];
    char invocation[64]; /* "": none */
    char rewinds[64];    /* the invocation that it rewinds to before; "": it is no rewind */
    bool by_user;
    bool has_content; /* other than responses */
    int call;         /* its function's number; 0: none */
    int response;
    int changes[KEYS];
    char json[700];
};

struct log {
    bool exists;
    int number; /* of its life: never again the same */
    int64_t created_us;
    int64_t updated_us;
    int64_t changed_us; /* by the store's clock */
    int64_t expires_us;
    int64_t version;
    int64_t last_seq;
    int64_t base_seq;
    int parent; /* a slot; -1: it is no fork */
    int64_t parent_seq;
    int initial[KEYS];
    struct entry base[KEYS];
    struct logged events[MOST_EVENTS];
    int count;
};

static bool same_text(const char *left, const char *right)
{
    return strcmp(left, right) == 0;
}

/* ------------------------------------------------------------------------------------------ what is known */

static int first_of_invocation(const struct log *log, const char *invocation)
{
    for (int i = 0; i < log->count; i++) {
        if (same_text(log->events[i].invocation, invocation))
            return i;
    }
    return -1;
}

/* By the ADK's rule, over the first `count` events. */
static void find_live(const struct log *log, int count, bool live[MOST_EVENTS])
{
    memset(live, 0, MOST_EVENTS * sizeof live[0]);
    for (int i = count - 1; i >= 0; i--) {
        const char *rewinds = log->events[i].rewinds;
        int first = rewinds[0] ? first_of_invocation(log, rewinds) : -1;
        if (!rewinds[0])
            live[i] = true;
        else if (first >= 0 && first < i)
            i = first;
    }
}

/* The number of events up to `seq`. */
static int count_until(const struct log *log, int64_t seq)
{
    int count = 0;
    while (count < log->count && log->events[count].seq <= seq)
        count++;
    return count;
}

static void state_as_of(const struct log *log, int64_t seq, struct entry state[KEYS])
{
    memcpy(state, log->base, sizeof log->base);
    for (int i = 0; i < count_until(log, seq); i++) {
        const struct logged *event = &log->events[i];
        for (int key = 0; key < KEYS; key++) {
            if (event->changes[key] != UNTOUCHED)
                state[key] = (struct entry){event->changes[key], event->seq};
        }
    }
}

static bool same_own(const struct entry left[KEYS], const struct entry right[KEYS])
{
    bool same = true;
    for (int key = 0; key < OWN; key++)
        same = same && left[key].value == right[key].value;
    return same;
}

static void add_text(char *out, size_t room, const char *text)
{
    assert_true(strlen(out) + strlen(text) < room);
    strcat(out, text);
}

/* As one object: the shared keys first if they are wanted, then own ones. */
static const char *state_text(const struct entry state[KEYS], bool shared, char out[400])
{
    snprintf(out, 400, "{");
    for (int i = 0; i < KEYS; i++) {
        int key = (i + OWN) % KEYS;
        if ((key >= OWN && !shared) || state[key].value == ABSENT)
            continue;
        add_text(out, 400, out[1] ? ",\"" : "\"");
        add_text(out, 400, key_names[key]);
        add_text(out, 400, "\":");
        add_text(out, 400, value_texts[state[key].value]);
    }
    add_text(out, 400, "}");
    return out;
}

/* True if the point after the first `count` events divides nothing that belongs together. */
static bool parts_nothing(const struct log *log, int count)
{
    for (int i = 0; i < count; i++) {
        const struct logged *before = &log->events[i];
        for (int j = count; j < log->count; j++) {
            const struct logged *after = &log->events[j];
            bool same_run = before->invocation[0] && same_text(before->invocation, after->invocation);
            bool answered = before->call > 0 && before->call == after->response;
            bool taken_back = after->rewinds[0] && first_of_invocation(log, after->rewinds) >= 0 &&
                              first_of_invocation(log, after->rewinds) < count;
            if (same_run || answered || taken_back)
                return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------------------ what happens */

/* Gives the event its number and its effect. */
static void log_add(struct log *log, const struct logged *event)
{
    struct logged *added = &log->events[log->count++];

    *added = *event;
    added->seq = ++log->last_seq;
    added->high_us = event->time_us > log->updated_us ? event->time_us : log->updated_us;
    log->updated_us = added->high_us;
    log->version++;
}

static void log_cut(struct log *log, int64_t seq)
{
    log->count = count_until(log, seq);
    log->version++;
}

/* The last number up to which events can go. */
static int64_t log_prune_to(const struct log *log, int64_t goal)
{
    int count = count_until(log, goal);
    while (count > 0 && !parts_nothing(log, count))
        count--;
    return count > 0 ? log->events[count - 1].seq : log->base_seq;
}

static void log_prune(struct log *log, int64_t seq)
{
    int gone = count_until(log, seq);

    state_as_of(log, seq, log->base);
    log->base_seq = seq;
    memmove(log->events, log->events + gone, (size_t)(log->count - gone) * sizeof log->events[0]);
    log->count -= gone;
}

static void log_fork(const struct log *from, int64_t seq, int64_t now, struct log *to)
{
    *to = *from;
    to->count = count_until(from, seq);
    to->last_seq = to->count > 0 ? to->events[to->count - 1].seq : to->base_seq;
    to->created_us = now;
    to->updated_us =
        to->count > 0 && to->events[to->count - 1].high_us > now ? to->events[to->count - 1].high_us : now;
    to->expires_us = from->expires_us;
    to->parent_seq = to->last_seq;
}

#endif
