/* The timestamp of an event: numbers of seconds and milliseconds, and RFC 3339. */
#include "support.h"

static const ses_key key = {"app", "user", "session"};

/* An append whose event has this text for a timestamp: the code, and the time it was understood as. */
static int append_at(ses_session *session, const char *timestamp, int64_t *time_us, ses_error *error)
{
    static unsigned long number;
    char event[512];
    ses_appended appended = {0};

    snprintf(event, sizeof event, "{\"id\":\"e%lu\",\"timestamp\":%s}", ++number, timestamp);
    int code = ses_append(session, event, SES_NUL, NULL, &appended, error);
    *time_us = appended.time_us;
    if (code == SES_OK) {
        const ses_event *stored = ses_session_event(session, ses_session_event_count(session) - 1);
        assert_int_equal(stored->time_us, appended.time_us);
        assert_string_equal(stored->json, event);
    }
    return code;
}

struct good_time {
    const char *timestamp;
    int64_t time_us;
};

static void assert_times(struct fixture *fixture, const struct good_time *cases, size_t count)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_error error;
    int64_t time_us = 0;

    for (size_t i = 0; i < count; i++) {
        assert_ok(append_at(session, cases[i].timestamp, &time_us, &error));
        if (time_us != cases[i].time_us) {
            print_error("%s was understood as %lld, not %lld\n", cases[i].timestamp, (long long)time_us,
                        (long long)cases[i].time_us);
            fail();
        }
    }
    ses_session_close(session);
    fixture_reopen(fixture);
    session = must_get(fixture->store, &key);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ses_session_event(session, i)->time_us, cases[i].time_us);
    ses_session_close(session);
}

static void assert_refused(struct fixture *fixture, const char *const *cases, size_t count)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_error error;
    int64_t time_us = 0;

    for (size_t i = 0; i < count; i++) {
        int code = append_at(session, cases[i], &time_us, &error);
        if (code != SES_INVALID || !strstr(error.message, "timestamp")) {
            print_error("%s was understood as %lld: %s, %s\n", cases[i], (long long)time_us,
                        ses_code_name(code), error.message);
            fail();
        }
    }
    must_refresh(session);
    assert_int_equal(ses_session_version(session), 0);
    assert_int_equal(ses_session_event_count(session), 0);
    ses_session_close(session);
}

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

TEST(seconds)
{
    static const struct good_time cases[] = {
        {"0", 0},
        {"-0", 0},
        {"-0.0", 0},
        {"1", 1000000},
        {"-1", -1000000},
        {"1741218414", INT64_C(1741218414000000)},
        {"1741218414.0", INT64_C(1741218414000000)},
        {"99999999999", INT64_C(99999999999000000)},   /* the last whole second before milliseconds begin */
        {"-62167219200", INT64_C(-62167219200000000)}, /* the year 0 */
    };
    assert_times(fixture, cases, COUNT(cases));
}

/* Doubles have 15 to 17 digits: a number of seconds with six places must not go through one. */
TEST(fractions_are_exact_to_the_microsecond)
{
    static const struct good_time cases[] = {
        {"0.000001", 1},
        {"-0.000001", -1},
        {"0.5", 500000},
        {"-1.5", -1500000},
        {"1741218414.968405", INT64_C(1741218414968405)},
        {"1741218414.968406", INT64_C(1741218414968406)},
        {"1741218414.9", INT64_C(1741218414900000)},
        {"1741218414.000000000", INT64_C(1741218414000000)},
        {"1741218414.96840500000000000000000000", INT64_C(1741218414968405)},
        {"99999999999.999999", INT64_C(99999999999999999)},
        {"99999999998.999999", INT64_C(99999999998999999)},
        {"-62135596800.000001", INT64_C(-62135596800000001)},
        /* Further places go to the nearest microsecond. */
        {"1741218414.9684054", INT64_C(1741218414968405)},
        {"1741218414.9684056", INT64_C(1741218414968406)},
        {"1741218414.9999999", INT64_C(1741218415000000)},
        {"0.0000001", 0},
    };
    assert_times(fixture, cases, COUNT(cases));
}

TEST(milliseconds_begin_at_1e11)
{
    static const struct good_time cases[] = {
        {"100000000000", INT64_C(100000000000000)},
        {"100000000000.0", INT64_C(100000000000000)},
        {"100000000001", INT64_C(100000000001000)},
        {"1741218414968", INT64_C(1741218414968000)},
        {"1741218414968.405", INT64_C(1741218414968405)},
        {"1741218414968.4", INT64_C(1741218414968400)},
        {"1741218414968.4054", INT64_C(1741218414968405)},
        {"253402300799999", INT64_C(253402300799999000)},
        {"253402300799999.999", INT64_C(253402300799999999)},
    };
    assert_times(fixture, cases, COUNT(cases));
}

/* It is the number that was written that counts, not what is left of it after rounding. */
TEST(a_number_just_below_1e11_is_seconds)
{
    static const struct good_time cases[] = {
        {"99999999999.9999999", INT64_C(100000000000000000)},
    };
    assert_times(fixture, cases, COUNT(cases));
}

TEST(exponents)
{
    static const struct good_time cases[] = {
        {"1e0", 1000000},
        {"1E9", INT64_C(1000000000000000)},
        {"1.741218414968405e9", INT64_C(1741218414968405)},
        {"1.741218414968405E+9", INT64_C(1741218414968405)},
        {"1.741218414968405e12", INT64_C(1741218414968405)},
        {"17412184149684050000e-10", INT64_C(1741218414968405)},
        {"1e11", INT64_C(100000000000000)},
        {"1000e8", INT64_C(100000000000000)},
        {"999e8", INT64_C(99900000000000000)},
        {"1e-6", 1},
        {"10e-7", 1},
        {"-25e-1", -2500000},
        {"1e-400", 0},
        {"1e-99999999999999999999", 0},
        {"0e400", 0},
        {"0.000e99999999999999999999", 0},
    };
    assert_times(fixture, cases, COUNT(cases));
}

TEST(rfc_3339)
{
    static const struct good_time cases[] = {
        {"\"1970-01-01T00:00:00Z\"", 0},
        {"\"2024-01-15T10:20:30Z\"", INT64_C(1705314030000000)},
        {"\"2024-01-15t10:20:30z\"", INT64_C(1705314030000000)},
        {"\"1969-12-31T23:59:59Z\"", -1000000},
        {"\"1969-12-31T23:59:59.999999Z\"", -1},
        /* Fractions. */
        {"\"2024-01-15T10:20:30.5Z\"", INT64_C(1705314030500000)},
        {"\"2024-01-15T10:20:30.123456Z\"", INT64_C(1705314030123456)},
        {"\"2024-01-15T10:20:30.000001Z\"", INT64_C(1705314030000001)},
        {"\"2024-01-15T10:20:30.123456400Z\"", INT64_C(1705314030123456)},
        {"\"2024-01-15T10:20:30.123456789Z\"", INT64_C(1705314030123457)},
        {"\"2024-01-15T10:20:30.9999999Z\"", INT64_C(1705314031000000)},
        /* Offsets. */
        {"\"2024-01-15T10:20:30+00:00\"", INT64_C(1705314030000000)},
        {"\"2024-01-15T10:20:30-00:00\"", INT64_C(1705314030000000)},
        {"\"2024-01-15T12:20:30.25+02:00\"", INT64_C(1705314030250000)},
        {"\"2024-01-15T02:20:30-08:00\"", INT64_C(1705314030000000)},
        {"\"2024-01-15T15:50:30+05:30\"", INT64_C(1705314030000000)},
        {"\"2024-01-14T10:21:30-23:59\"", INT64_C(1705314030000000)},
        {"\"2024-01-16T10:19:30+23:59\"", INT64_C(1705314030000000)},
        /* The calendar. */
        {"\"2000-02-29T00:00:00Z\"", INT64_C(951782400000000)},
        {"\"2000-03-01T00:00:00Z\"", INT64_C(951868800000000)},
        {"\"2024-02-29T12:00:00Z\"", INT64_C(1709208000000000)},
        {"\"1900-03-01T00:00:00Z\"", INT64_C(-2203891200000000)},
        {"\"1900-02-28T00:00:00Z\"", INT64_C(-2203977600000000)},
        {"\"2023-12-31T23:59:59Z\"", INT64_C(1704067199000000)},
        {"\"0001-01-01T00:00:00Z\"", INT64_C(-62135596800000000)},
        {"\"0000-01-01T00:00:00Z\"", INT64_C(-62167219200000000)},
        {"\"9999-12-31T23:59:59.999999Z\"", INT64_C(253402300799999999)},
        /* A leap second is the first second of the next day. */
        {"\"2016-12-31T23:59:60Z\"", INT64_C(1483228800000000)},
        {"\"2016-12-31T15:59:60.5-08:00\"", INT64_C(1483228800500000)},
        /* Escapes. */
        {"\"2024\\u002d01-15T10:20:30\\u005A\"", INT64_C(1705314030000000)},
    };
    assert_times(fixture, cases, COUNT(cases));
}

MEMORY_TEST(numbers_out_of_range_are_invalid)
{
    static const char *const cases[] = {
        "253402300800000",
        "253402300799999.9999", /* rounds up into the year 10000 */
        "-62167219201",
        "-62167219200.000001",
        "-100000000000",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "1e400",
        "-1e400",
        "1e99999999999999999999",
        "123456789012345678901234567890",
    };
    assert_refused(fixture, cases, COUNT(cases));
}

MEMORY_TEST(texts_that_are_no_rfc_3339_are_invalid)
{
    static const char *const cases[] = {
        "\"\"",
        "\" \"",
        "\"now\"",
        "\"1700000000\"",
        "\"2024\"",
        "\"2024-01-15\"",
        "\"2024-01-15T10:20:30\"", /* no offset: whose time is it? */
        "\"2024-01-15T10:20Z\"",
        "\"2024-01-15T10Z\"",
        "\"2024-01-15Z\"",
        "\"10:20:30Z\"",
        "\" 2024-01-15T10:20:30Z\"",
        "\"2024-01-15T10:20:30Z \"",
        "\"2024-01-15T10:20:30Z\\u0000\"",
        "\"2024-01-15T10:20:30ZZ\"",
        "\"2024-01-15T10:20:30Z+00:00\"",
        "\"2024-01-15T10:20:30 Z\"",
        "\"2024-01-15_10:20:30Z\"",
        "\"20240115T102030Z\"",
        "\"2024/01/15T10:20:30Z\"",
        "\"24-01-15T10:20:30Z\"",
        "\"+2024-01-15T10:20:30Z\"",
        "\"-2024-01-15T10:20:30Z\"",
        "\"12024-01-15T10:20:30Z\"",
        "\"2024-1-15T10:20:30Z\"",
        "\"2024-01-5T10:20:30Z\"",
        "\"2024-01-15T1:20:30Z\"",
        "\"2024-W03-1T10:20:30Z\"",
        "\"2024-015T10:20:30Z\"",
        "\"2024-00-15T10:20:30Z\"",
        "\"2024-13-15T10:20:30Z\"",
        "\"2024-01-00T10:20:30Z\"",
        "\"2024-01-32T10:20:30Z\"",
        "\"2024-04-31T10:20:30Z\"",
        "\"2023-02-29T10:20:30Z\"",
        "\"1900-02-29T10:20:30Z\"",
        "\"2100-02-29T10:20:30Z\"",
        "\"2024-02-30T10:20:30Z\"",
        "\"2024-01-15T24:00:00Z\"",
        "\"2024-01-15T25:00:00Z\"",
        "\"2024-01-15T10:60:00Z\"",
        "\"2024-01-15T10:20:61Z\"",
        "\"2024-01-15T10:20:-1Z\"",
        "\"2024-01-15T10:20:30.Z\"",
        "\"2024-01-15T10:20:30,5Z\"",
        "\"2024-01-15T10:20:30.5.5Z\"",
        "\"2024-01-15T10:20:30.1e1Z\"",
        "\"2024-01-15T10:20:30+0200\"",
        "\"2024-01-15T10:20:30+02\"",
        "\"2024-01-15T10:20:30+2:00\"",
        "\"2024-01-15T10:20:30+24:00\"",
        "\"2024-01-15T10:20:30+02:60\"",
        "\"2024-01-15T10:20:30+\"",
        "\"2024-01-15T10:20:30 +02:00\"",
        "\"2024-01-15T10:20:30UTC\"",
        "\"2024-01-15T10:20:30\\u0660Z\"",
        /* Before the year 0 and behind the year 9999, in UTC. */
        "\"0000-01-01T00:00:00+00:01\"",
        "\"9999-12-31T23:59:59-00:01\"",
        "\"9999-12-31T23:59:60Z\"",
    };
    assert_refused(fixture, cases, COUNT(cases));
}
