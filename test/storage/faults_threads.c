/* Mutexes and conditions that the system cannot make: NOMEM, and each one that was made is destroyed. */
#include "open.h"

#include <errno.h>
#include <stdatomic.h>

/* Calls since `fail_at` was set; the one with its number fails. 0: none. */
static atomic_int calls;
static atomic_int fail_at;
static atomic_int alive;

static int refuses(void)
{
    return atomic_fetch_add(&calls, 1) + 1 == atomic_load(&fail_at);
}

int __real_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int __real_pthread_mutex_destroy(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex);
int __real_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes);
int __wrap_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes);
int __real_pthread_cond_destroy(pthread_cond_t *condition);
int __wrap_pthread_cond_destroy(pthread_cond_t *condition);

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    if (refuses())
        return EAGAIN;
    atomic_fetch_add(&alive, 1);
    return __real_pthread_mutex_init(mutex, attributes);
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    atomic_fetch_sub(&alive, 1);
    return __real_pthread_mutex_destroy(mutex);
}

int __wrap_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
    if (refuses())
        return EAGAIN;
    atomic_fetch_add(&alive, 1);
    return __real_pthread_cond_init(condition, attributes);
}

int __wrap_pthread_cond_destroy(pthread_cond_t *condition)
{
    atomic_fetch_sub(&alive, 1);
    return __real_pthread_cond_destroy(condition);
}

static const ses_key key = {"app", "user", "session"};

static int ignore_problem(void *context, const ses_problem *problem)
{
    (void)context;
    (void)problem;
    return 0;
}

/* The calls that make mutexes or conditions, up to the first that fails. */
static int make_calls(const char *path, ses_error *error)
{
    const ses_lease_options at_once = {.size = sizeof at_once, .wait_ms = 1};
    const ses_check_options check = {.size = sizeof check, .report = ignore_problem};
    ses_store *store = NULL;
    ses_session *session = NULL;
    ses_follower *follower = NULL;
    ses_lease lease;
    int64_t problems = 0;
    int code = ses_open(path, NULL, &store, error);

    if (code == SES_OK)
        code = ses_get_or_create(store, &key, NULL, SES_NUL, NULL, &session, error);
    if (code >= SES_OK)
        code = ses_append(session, "{}", SES_NUL, NULL, NULL, error);
    if (code == SES_OK)
        code = ses_follower_open(store, &key, NULL, &follower, error);
    if (code == SES_OK)
        code = ses_lease_take(store, &key, "owner", NULL, &lease, error);
    if (code == SES_OK && ses_lease_take(store, &key, "other", &at_once, &lease, error) == SES_NOMEM)
        code = SES_NOMEM;
    if (code == SES_OK)
        code = ses_lease_release(store, &key, 0, NULL, error) == SES_NOMEM ? SES_NOMEM : SES_OK;
    if (code == SES_OK)
        code = ses_store_check(store, &check, &problems, error);
    ses_follower_close(follower);
    ses_session_close(session);
    ses_close(store);
    return code;
}

FOLDER_TEST(each_that_cannot_be_made_is_out_of_memory)
{
    int code = SES_NOMEM;
    int at = 0;

    while (code != SES_OK) {
        const int before = atomic_load(&alive);
        assert_in_range(++at, 1, 200);
        atomic_store(&calls, 0);
        atomic_store(&fail_at, at);
        code = make_calls(folder->path, &error);
        atomic_store(&fail_at, 0);
        if (code != SES_OK)
            assert_code(SES_NOMEM, code);
        assert_int_equal(atomic_load(&alive), before);
        if (atomic_load(&calls) < at)
            break;
    }
    assert_in_range(at, 8, 200);
}
