/* Times: numbers and texts, to microseconds and back; and ranges of events. */
#include "model/event/timestamp.h"

#include "model/event/range.h"
#include "random.h"

static const int64_t UNREAD = 77;

static int64_t from_number(const char *number)
{
    int64_t time = UNREAD;
    const char *wrong = ses__timestamp_from_number((struct span){number, strlen(number)}, &time);

    assert_int_equal(wrong != NULL, time == UNREAD);
    return time;
}

static int64_t from_text(const char *text)
{
    int64_t time = UNREAD;
    const char *wrong = ses__timestamp_from_text(text, strlen(text), &time);

    assert_int_equal(wrong != NULL, time == UNREAD);
    return time;
}

PLAIN_TEST(numbers)
{
    assert_int_equal(from_number("0"), 0);
    assert_int_equal(from_number("-1.5"), -1500000);
    assert_int_equal(from_number("-1.0000005"), -1000001); /* away from 0, as above it */
    assert_int_equal(from_number("1741218414.968405"), 1741218414968405);
    assert_int_equal(from_number("1741218414.9684055"), 1741218414968406);
    assert_int_equal(from_number("1.7412184149684055e9"), 1741218414968406);
    assert_int_equal(from_number("99999999999"), INT64_C(99999999999000000));
    assert_int_equal(from_number("99999999999.9999999"), INT64_C(100000000000000000));
    assert_int_equal(from_number("100000000000"), INT64_C(100000000000000));
    assert_int_equal(from_number("1741218414968.4055"), 1741218414968406);
    assert_int_equal(from_number("253402300799999"), INT64_C(253402300799999000));
    assert_int_equal(from_number("253402300799999.999"), TIMESTAMP_MAX);
    assert_int_equal(from_number("253402300800000"), UNREAD);
    assert_int_equal(from_number("-62167219200"), TIMESTAMP_MIN);
    assert_int_equal(from_number("-62167219200.000001"), UNREAD);
    assert_int_equal(from_number("1e400"), UNREAD);
}

PLAIN_TEST(texts)
{
    static const char *const wrong[] = {"",
                                        "2024-01-15",
                                        "2024-01-15T10:20:30",
                                        "2024-01-15T10:20Z",
                                        "2024-02-30T00:00:00Z",
                                        "2023-02-29T00:00:00Z",
                                        "1900-02-29T00:00:00Z",
                                        "2024-13-01T00:00:00Z",
                                        "2024-00-01T00:00:00Z",
                                        "2024-01-00T00:00:00Z",
                                        "2024-01-15T24:00:00Z",
                                        "2024-01-15T00:60:00Z",
                                        "2024-01-15T00:00:61Z",
                                        "2024-01-15T00:00:00.Z",
                                        "2024-01-15T00:00:00+1:00",
                                        "2024-01-15T00:00:00+24:00",
                                        "2024-01-15T00:00:00+00:60",
                                        "2024-01-15T00:00:00ZZ",
                                        " 2024-01-15T00:00:00Z",
                                        "0000-01-01T00:00:00+00:01",
                                        "9999-12-31T23:59:59.9999999Z"};

    assert_int_equal(from_text("1970-01-01T00:00:00Z"), 0);
    assert_int_equal(from_text("2024-01-15T10:20:30.123456+02:00"), INT64_C(1705306830123456));
    assert_int_equal(from_text("2024-01-15t08:20:30.123456z"), INT64_C(1705306830123456));
    assert_int_equal(from_text("2024-01-15 08:20:30.1234564-00:00"), INT64_C(1705306830123456));
    assert_int_equal(from_text("2024-01-15 08:20:30.1234556Z"), INT64_C(1705306830123456));
    assert_int_equal(from_text("2024-02-29T00:00:00Z"), INT64_C(1709164800000000));
    assert_int_equal(from_text("2000-02-29T23:59:60Z"), from_text("2000-03-01T00:00:00Z"));
    assert_int_equal(from_text("0000-01-01T00:00:00Z"), TIMESTAMP_MIN);
    assert_int_equal(from_text("9999-12-31T23:59:59.999999Z"), TIMESTAMP_MAX);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(from_text(wrong[i]), UNREAD);
}

/* Every time that can be kept is written so that the same is read. */
static void assert_round_trip(int64_t time)
{
    char text[TIMESTAMP_ROOM];
    size_t len = ses__timestamp_to_number(time, text);

    assert_int_equal(len, strlen(text));
    assert_int_equal(ses__json_check(text, len, NULL), SES_OK);
    assert_int_equal(from_number(text), time);
}

PLAIN_TEST(every_time_is_read_back)
{
    static const int64_t edges[] = {0,
                                    -1,
                                    1,
                                    -999999,
                                    -1000000,
                                    TIMESTAMP_MIN,
                                    TIMESTAMP_MAX,
                                    INT64_C(99999999999999999),
                                    INT64_C(100000000000000000),
                                    INT64_C(100000000000000001)};
    enum { ROUNDS = 50000 };
    uint64_t seed = 7;

    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++)
        assert_round_trip(edges[i]);
    for (int round = 0; round < ROUNDS; round++)
        assert_round_trip(TIMESTAMP_MIN +
                          (int64_t)(random_next(&seed) % (uint64_t)(TIMESTAMP_MAX - TIMESTAMP_MIN)));
}

/* Held against the calendar, walked day by day. */
PLAIN_TEST(every_day_of_the_calendar)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t expected = TIMESTAMP_MIN;

    for (int year = 0; year < 10000; year++) {
        bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        for (int month = 1; month <= 12; month++) {
            int last = days[month - 1] + (month == 2 && leap);
            char text[64];
            snprintf(text, sizeof text, "%04d-%02d-01T00:00:00Z", year, month);
            assert_int_equal(from_text(text), expected);
            snprintf(text, sizeof text, "%04d-%02d-%02dT00:00:00Z", year, month, last);
            assert_int_equal(from_text(text), expected + (last - 1) * INT64_C(86400000000));
            snprintf(text, sizeof text, "%04d-%02d-%02dT00:00:00Z", year, month, last + 1);
            assert_int_equal(from_text(text), UNREAD);
            expected += last * INT64_C(86400000000);
        }
    }
    assert_int_equal(expected, TIMESTAMP_MAX + 1);
}

/* -------------------------------------------------------------------------------------------- ranges */

PLAIN_TEST(ranges_are_taken_as_they_are_meant)
{
    const ses_range all = {.size = sizeof all, .newest = -5, .first_seq = -5}; /* which nobody asked for */
    const ses_range some = {.size = sizeof some,
                            .which = SES_RANGE_NEWEST | SES_RANGE_SINCE | SES_RANGE_SEQ,
                            .newest = 0,
                            .since_us = -3,
                            .first_seq = 2,
                            .last_seq = 2};
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    struct range range;

    for (int given = 0; given < 2; given++) {
        assert_ok(ses__range_take(given ? &all : NULL, &range, &error));
        assert_false(range.none);
        assert_int_equal(range.newest, INT64_MAX);
        assert_int_equal(range.since_us, INT64_MIN);
        assert_int_equal(range.first_seq, 1);
        assert_int_equal(range.last_seq, INT64_MAX);
    }
    assert_ok(ses__range_take(&some, &range, &error));
    assert_false(range.none);
    assert_int_equal(range.newest, 0);
    assert_int_equal(range.since_us, -3);
    assert_int_equal(range.first_seq, 2);
    assert_int_equal(range.last_seq, 2);
    assert_ok(ses__range_take(&none, &range, &error));
    assert_true(range.none);
}

PLAIN_TEST(ranges_that_are_refused)
{
    static const struct {
        ses_range range;
        int code;
    } cases[] = {
        {{.size = 0}, SES_MISUSE},
        {{.size = sizeof(ses_range), .which = 0x20u}, SES_MISUSE},
        {{.size = sizeof(ses_range), .which = SES_RANGE_NEWEST, .newest = -1}, SES_INVALID},
        {{.size = sizeof(ses_range), .which = SES_RANGE_SEQ, .first_seq = 0, .last_seq = 1}, SES_INVALID},
        {{.size = sizeof(ses_range), .which = SES_RANGE_SEQ, .first_seq = 2, .last_seq = 1}, SES_INVALID},
    };
    struct range range;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_code(cases[i].code, ses__range_take(&cases[i].range, &range, &error));
}
