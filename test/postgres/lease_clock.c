/* Leases go by the server's clock, whatever the machines of its clients think that it is. */
#include <time.h>

#include "database.h"
#include "seslite_postgres.h"

enum { HOUR_S = 3600 };
#define SECOND_US INT64_C(1000000)

static const ses_key key = {.app = "app", .user = "user", .session = "s"};
static const ses_lease_options at_once = {.size = sizeof at_once, .wait_ms = -1};

/* How far the clock of this machine is wrong. */
static time_t skew_s;

int __real_clock_gettime(clockid_t id, struct timespec *time);
int __wrap_clock_gettime(clockid_t id, struct timespec *time);
int __wrap_clock_gettime(clockid_t id, struct timespec *time)
{
    const int result = __real_clock_gettime(id, time);

    if (id == CLOCK_REALTIME)
        time->tv_sec += skew_s;
    return result;
}

static int64_t real_now(void *context)
{
    struct timespec time;

    (void)context;
    (void)__real_clock_gettime(CLOCK_REALTIME, &time);
    return (int64_t)time.tv_sec * SECOND_US + time.tv_nsec / 1000;
}

static int64_t an_hour_later(void *context)
{
    return real_now(context) + HOUR_S * SECOND_US;
}

static int skew_undo(void **state)
{
    (void)state;
    skew_s = 0;
    return 0;
}

/* Two programs, and the session that they take turns in. */
struct programs {
    char place[600];
    ses_store *one;
    ses_store *other;
};

static void programs_begin(struct programs *programs, const struct database *database, const char *name,
                           const ses_open_options *of_the_other)
{
    ses_error error;

    database_fresh(database, name, "", programs->place);
    assert_ok(ses_open_postgres(programs->place, NULL, NULL, &programs->one, &error));
    assert_ok(ses_open_postgres(programs->place, of_the_other, NULL, &programs->other, &error));
    assert_ok(ses_create(programs->one, &key, NULL, 0, NULL, NULL, &error));
}

static void programs_end(struct programs *programs)
{
    ses_close(programs->other);
    ses_close(programs->one);
}

static void must_take(ses_store *store, const char *owner, ses_lease *lease)
{
    ses_error error;

    assert_ok(ses_lease_take(store, &key, owner, &at_once, lease, &error));
}

static void must_be_refused(ses_store *store, const char *owner)
{
    ses_lease lease;
    ses_error error;

    assert_code(SES_BUSY, ses_lease_take(store, &key, owner, &at_once, &lease, &error));
}

static void assert_ends_in_a_minute(const ses_lease *lease)
{
    const int64_t left_us = lease->until_us - real_now(NULL);

    assert_true(left_us > 0 && left_us <= 60 * SECOND_US);
}

static void set_until(const struct programs *programs, const char *until)
{
    char sql[200];

    snprintf(sql, sizeof sql,
             "UPDATE seslite.session_leases"
             " SET until_us = (extract(epoch FROM clock_timestamp() %s) * 1000000)::bigint",
             until);
    database_run_in(programs->place, sql);
}

#define LEASE_CLOCK_TEST(name) TEST_WITH(struct database *database, NULL, skew_undo, name)

LEASE_CLOCK_TEST(a_lease_is_held_however_late_a_client_thinks_it_is)
{
    struct programs programs;
    ses_lease lease;
    ses_lease taken;

    programs_begin(&programs, database, "late", NULL);
    must_take(programs.one, "a", &lease);
    assert_ends_in_a_minute(&lease);
    skew_s = HOUR_S;
    must_be_refused(programs.other, "b");
    must_take(programs.other, "a", &taken);
    assert_true(taken.token == lease.token);
    assert_ends_in_a_minute(&taken);
    programs_end(&programs);
}

LEASE_CLOCK_TEST(a_lease_runs_out_however_early_a_client_thinks_it_is)
{
    struct programs programs;
    ses_lease lease;
    ses_lease taken;

    programs_begin(&programs, database, "early", NULL);
    must_take(programs.one, "a", &lease);
    skew_s = -HOUR_S;
    set_until(&programs, "- interval '1 second'");
    must_take(programs.other, "b", &taken);
    assert_true(taken.token > lease.token);
    assert_ends_in_a_minute(&taken);
    set_until(&programs, "+ interval '1 hour'");
    must_be_refused(programs.one, "a");
    programs_end(&programs);
}

LEASE_CLOCK_TEST(a_lease_is_renewed_from_the_servers_now)
{
    struct programs programs;
    ses_lease lease;

    programs_begin(&programs, database, "renewed", NULL);
    skew_s = -HOUR_S;
    must_take(programs.one, "a", &lease);
    assert_ends_in_a_minute(&lease);
    skew_s = HOUR_S;
    assert_ok(ses_lease_renew(programs.one, &key, lease.token, NULL, &lease, &error));
    assert_ends_in_a_minute(&lease);
    must_be_refused(programs.other, "b");
    programs_end(&programs);
}

/* A call that waits for a lease that expires soon takes it then, and not an hour later. */
LEASE_CLOCK_TEST(waiting_ends_when_it_runs_out)
{
    const ses_lease_options waits = {.size = sizeof waits, .wait_ms = 30000};
    struct programs programs;
    ses_lease lease;

    programs_begin(&programs, database, "waits", NULL);
    must_take(programs.one, "a", &lease);
    skew_s = -HOUR_S;
    set_until(&programs, "+ interval '0.1 seconds'");
    assert_ok(ses_lease_take(programs.other, &key, "b", &waits, &lease, &error));
    assert_ends_in_a_minute(&lease);
    programs_end(&programs);
}

LEASE_CLOCK_TEST(a_clock_that_was_given_is_the_measure)
{
    const ses_open_options options = {.size = sizeof options, .clock = an_hour_later};
    struct programs programs;
    ses_lease lease;
    ses_lease taken;

    programs_begin(&programs, database, "given", &options);
    must_take(programs.one, "a", &lease);
    must_take(programs.other, "b", &taken);
    assert_true(taken.until_us > lease.until_us + (HOUR_S - 60) * SECOND_US);
    assert_ok(ses_lease_renew(programs.other, &key, taken.token, NULL, &taken, &error));
    assert_true(taken.until_us > lease.until_us + (HOUR_S - 60) * SECOND_US);
    must_be_refused(programs.one, "a");
    programs_end(&programs);
}

TEST_GROUP(database_setup, database_teardown)
