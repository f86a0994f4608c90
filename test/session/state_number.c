/* Numbers of the state as C types: exact integers, nearest doubles, and what does not fit. */
#include "support.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>

static const ses_key key = {"app", "user", "session"};

/* A session whose key "v" has this value; close it. */
static ses_session *with_value(ses_store *store, const char *json)
{
    size_t room = strlen(json) + 16;
    char *state = malloc(room);

    assert_non_null(state);
    snprintf(state, room, "{\"v\":%s}", json);
    ses_session *session = must_open_new(store, &(ses_key){"app", "user", NULL}, state);
    free(state);
    return session;
}

static void check_int64(ses_store *store, const char *json, int code, int64_t expected)
{
    const int64_t before = INT64_C(-5555555555555555555);
    ses_session *session = with_value(store, json);
    int64_t value = before;
    ses_error error;
    int found = ses_state_get_int64(session, "v", &value, &error);

    if (found != code || (code == SES_OK && value != expected))
        print_error("%.100s as an integer: %s, %lld\n", json, ses_code_name(found), (long long)value);
    assert_code(code, found);
    assert_int_equal(value, code == SES_OK ? expected : before);
    ses_session_close(session);
}

static void check_double(ses_store *store, const char *json, int code, double expected)
{
    const double before = -5.5;
    ses_session *session = with_value(store, json);
    double value = before;
    ses_error error;
    int found = ses_state_get_double(session, "v", &value, &error);
    double due = code == SES_OK ? expected : before;

    if (found != code || value != due)
        print_error("%.100s as a double: %s, %.17g\n", json, ses_code_name(found), value);
    assert_code(code, found);
    assert_true(value == due);
    assert_int_equal(signbit(value) != 0, signbit(due) != 0);
    ses_session_close(session);
}

/* ------------------------------------------------------------------------------------------ integers */

TEST(integers_however_they_are_written)
{
    static const struct {
        const char *json;
        int64_t value;
    } good[] = {
        {"42", 42},
        {"-42", -42},
        {"0", 0},
        {"-0", 0},
        {"0.0", 0},
        {"-0.0", 0},
        {"0e0", 0},
        {"0e5", 0},
        {"0.000e-5", 0},
        {"0e999999999999999999999", 0},
        {"-0.0e-999999999999999999999", 0},
        {"42.0", 42},
        {"42.00000000000000000000000000000000000000", 42},
        {"4.2e1", 42},
        {"4.2E+1", 42},
        {"4.20e1", 42},
        {"420e-1", 42},
        {"0.42e2", 42},
        {"0.0042e4", 42},
        {"42e0", 42},
        {"42e-0", 42},
        {"42e00000000000000000000000000000", 42},
        {"42e-00000000000000000000000000000", 42},
        {"420000000000000000000000e-22", 42},
        {"1e18", INT64_C(1000000000000000000)},
        {"9007199254740993", INT64_C(9007199254740993)},
        {"-9007199254740993.0", INT64_C(-9007199254740993)},
        {"9223372036854775807", INT64_MAX},
        {"9223372036854775807.000", INT64_MAX},
        {"9.223372036854775807e18", INT64_MAX},
        {"92233720368547758070e-1", INT64_MAX},
        {"0.9223372036854775807E19", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"-9223372036854775808.0", INT64_MIN},
        {"-9.223372036854775808e18", INT64_MIN},
        {"-922337203685477580800e-2", INT64_MIN},
        {"-9223372036854775807", INT64_MIN + 1},
    };

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        check_int64(fixture->store, good[i].json, SES_OK, good[i].value);
}

TEST(integers_beyond_64_bits_are_out_of_range)
{
    static const char *const beyond[] = {
        "9223372036854775808",
        "-9223372036854775809",
        "9223372036854775808.0",
        "9.223372036854775808e18",
        "92233720368547758080e-1",
        "18446744073709551616",
        "-18446744073709551616",
        "18446744073709551658", /* 2^64 + 42 */
        "1e19",
        "-1e19",
        "0.00001e25",
        "1e400",
        "1e2147483648",
        "1e4294967296",
        "1e9223372036854775808",
        "1e18446744073709551616",
        "1e999999999999999999999",
        "-1e999999999999999999999",
        "123456789012345678901234567890123456789012345678901234567890",
    };

    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++)
        check_int64(fixture->store, beyond[i], SES_RANGE, 0);
}

TEST(numbers_that_are_no_integers_are_of_another_type)
{
    static const char *const fractions[] = {
        "1.5",
        "-1.5",
        "0.1",
        "0.9999999999999999999999999999999999",
        "42.000000000000000000000000000000000001",
        "1e-1",
        "15e-1",
        "10.5e-1",
        "1e-400",
        "1e-2147483649",
        "1e-4294967296",
        "1e-9223372036854775809",
        "1e-18446744073709551616",
        "1e-999999999999999999999",
        "123456789e-999999999999999999999",
        "9007199254740993.5",
    };

    for (size_t i = 0; i < sizeof fractions / sizeof fractions[0]; i++)
        check_int64(fixture->store, fractions[i], SES_TYPE, 0);
}

/* Hundreds of digits that an exponent takes back. */
TEST(long_numbers_are_exact)
{
    char json[1200];

    snprintf(json, sizeof json, "7%0*de-500", 500, 0);
    check_int64(fixture->store, json, SES_OK, 7);
    check_double(fixture->store, json, SES_OK, 7.0);
    snprintf(json, sizeof json, "7%0*de-501", 500, 0);
    check_int64(fixture->store, json, SES_TYPE, 0);
    snprintf(json, sizeof json, "-0.%0*d9223372036854775808e519", 500, 0);
    check_int64(fixture->store, json, SES_OK, INT64_MIN);
    check_double(fixture->store, json, SES_OK, -9223372036854775808.0);
    snprintf(json, sizeof json, "-0.%0*d9223372036854775809e519", 500, 0);
    check_int64(fixture->store, json, SES_RANGE, 0);
    snprintf(json, sizeof json, "42.%0*d", 1000, 0);
    check_int64(fixture->store, json, SES_OK, 42);
    check_double(fixture->store, json, SES_OK, 42.0);
    snprintf(json, sizeof json, "42.%0*d", 1000, 1);
    check_int64(fixture->store, json, SES_TYPE, 0);
}

/* ------------------------------------------------------------------------------------------- doubles */

static const struct {
    const char *json;
    double value;
} doubles[] = {
    {"42", 42.0},
    {"-1.5", -1.5},
    {"0.1", 0.1},
    {"1e22", 1e22},
    {"1E+5", 1e5},
    {"0", 0.0},
    {"-0", -0.0},
    {"-0.0", -0.0},
    {"3.141592653589793238462643383279502884197169399375105820974944592307816406286", 3.141592653589793},
    {"9007199254740993", 9007199254740992.0}, /* a tie, to the even one */
    {"9007199254740993.0000000000000000000000000000000000001", 9007199254740994.0},
    {"1.7976931348623157e308", DBL_MAX},
    {"1.7976931348623158e308", DBL_MAX}, /* rounds down to it */
    {"-1.7976931348623157e308", -DBL_MAX},
    {"2.2250738585072014e-308", DBL_MIN},
    {"2.2250738585072011e-308", 2.2250738585072011e-308}, /* many parsers looped on it */
    {"4.9406564584124654e-324", 4.9406564584124654e-324},
    {"1e-400", 0.0},
    {"-1e-400", -0.0},
    {"1e-999999999999999999999", 0.0},
    {"0e999999999999999999999", 0.0},
    {"0.0000001e7", 1.0},
};
enum { DOUBLES = sizeof doubles / sizeof doubles[0] };

TEST(doubles_are_the_nearest)
{
    for (size_t i = 0; i < DOUBLES; i++)
        check_double(fixture->store, doubles[i].json, SES_OK, doubles[i].value);
}

TEST(doubles_beyond_the_largest_are_out_of_range)
{
    static const char *const beyond[] = {
        "1e400", "-1e400", "1.7976931348623159e308", "1e309", "1e999999999999999999999", "-1e2147483648"};

    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++)
        check_double(fixture->store, beyond[i], SES_RANGE, 0);
}

TEST(the_locale_of_the_thread_is_put_back)
{
    check_double(fixture->store, "1.5", SES_OK, 1.5);
    assert_ptr_equal(uselocale((locale_t)0), LC_GLOBAL_LOCALE);
}

TEST(numbers_do_not_depend_on_the_locale)
{
    if (!support_comma_locale())
        return;
    char written[8];
    snprintf(written, sizeof written, "%.1f", 1.5);
    assert_string_equal(written, "1,5");
    for (size_t i = 0; i < DOUBLES; i++)
        check_double(fixture->store, doubles[i].json, SES_OK, doubles[i].value);
    check_int64(fixture->store, "4.2e1", SES_OK, 42);
    check_int64(fixture->store, "1.5", SES_TYPE, 0);
    snprintf(written, sizeof written, "%.1f", 1.5);
    assert_string_equal(written, "1,5"); /* the library put it back */

    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_appended appended;

    assert_ok(ses_append(session, Q("{'id':'a','timestamp':1.5}"), SES_NUL, NULL, &appended, &error));
    assert_int_equal(appended.time_us, 1500000);
    assert_ok(ses_append(session, Q("{'id':'b'}"), SES_NUL, NULL, &appended, &error));
    assert_non_null(strstr(ses_session_event(session, 1)->json, "\"timestamp\":1700000000."));
    ses_session_close(session);
    setlocale(LC_ALL, "C");
}

/* Reading a number changes nothing: it can be read as every type, in any order, again and again. */
TEST(a_number_can_be_read_in_every_way)
{
    ses_session *session = with_value(fixture->store, "4.20e1");
    const char *json = NULL;
    int64_t integer = 0;
    double real = 0;

    for (int i = 0; i < 3; i++) {
        assert_ok(ses_state_get_double(session, "v", &real, &error));
        assert_ok(ses_state_get_int64(session, "v", &integer, &error));
        assert_ok(ses_state_get(session, "v", &json, NULL, &error));
        assert_true(real == 42.0);
        assert_int_equal(integer, 42);
        assert_string_equal(json, "4.20e1");
    }
    ses_session_close(session);
}
