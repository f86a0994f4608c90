#include "base/limits.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"

/* A call that waits looks at its handle this often. */
static const int64_t LOOK_AT_CANCEL_US = 3000;

bool ses__limits_cancelled(const struct limits *limits)
{
    return limits && limits->cancel && atomic_load_explicit(&limits->cancel->pulled, memory_order_relaxed);
}

bool ses__limits_passed(const struct limits *limits)
{
    return limits && ((limits->deadline_us != 0 && ses__clock_steady_us() >= limits->deadline_us) ||
                      ses__limits_cancelled(limits));
}

int64_t ses__limits_until(const struct limits *limits, int64_t deadline_us)
{
    return limits && limits->deadline_us != 0 && limits->deadline_us < deadline_us ? limits->deadline_us
                                                                                   : deadline_us;
}

int64_t ses__limits_left_ms(const struct limits *limits)
{
    const int64_t left_us = limits->deadline_us - ses__clock_steady_us();

    if (limits->deadline_us == 0)
        return -1;
    return left_us > 1000 ? left_us / 1000 : 1;
}

void ses__limits_waited(const struct limits *limits, int64_t since_us)
{
    if (limits && limits->meter)
        atomic_fetch_add(&limits->meter->wait_us, ses__clock_steady_us() - since_us);
}

bool ses__limits_wait(const struct limits *limits, pthread_cond_t *condition, pthread_mutex_t *lock,
                      int64_t deadline_us)
{
    const int64_t begun_us = ses__clock_steady_us();
    const int64_t look_us = limits && limits->cancel ? begun_us + LOOK_AT_CANCEL_US : deadline_us;

    (void)ses__condition_wait(condition, lock, look_us < deadline_us ? look_us : deadline_us);
    ses__limits_waited(limits, begun_us);
    return !ses__limits_cancelled(limits) && ses__clock_steady_us() < deadline_us;
}

const char ses__limits_text[] = "it was cancelled, or timeout_ms is over";

int ses__limits_refuse(const char *name, ses_error *error)
{
    return ses__error_set(error, SES_INTERRUPTED, "%s: %s", name, ses__limits_text);
}
