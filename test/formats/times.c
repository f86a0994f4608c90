/* Time zones by name: what clocks show becomes the moment that Python's zoneinfo and datetime.timestamp()
 * say. */
#include "support.h"

#include <unistd.h>

#include "formats/times.h"

static ses_error last;

static const struct {
    const char *zone;
    int64_t local; /* seconds, as if it were UTC */
    int64_t moment;
} moments[] = {
    {"Europe/Berlin", 1711852200, 1711848600},       {"Europe/Berlin", 1729996200, 1729989000},
    {"Europe/Berlin", 1710036900, 1710033300},       {"Europe/Berlin", 1730597400, 1730593800},
    {"Europe/Berlin", 2540289600, 2540282400},       {"Europe/Berlin", 2524651200, 2524647600},
    {"Europe/Berlin", -618105600, -618109200},       {"Europe/Berlin", 4109884200, 4109880600},
    {"Europe/Berlin", 4128633000, 4128625800},       {"Europe/Berlin", 1728180600, 1728173400},
    {"Europe/Berlin", 1325246400, 1325242800},       {"America/New_York", 1711852200, 1711866600},
    {"America/New_York", 1729996200, 1730010600},    {"America/New_York", 1710036900, 1710054900},
    {"America/New_York", 1730597400, 1730611800},    {"America/New_York", 2540289600, 2540304000},
    {"America/New_York", 2524651200, 2524669200},    {"America/New_York", -618105600, -618091200},
    {"America/New_York", 4109884200, 4109898600},    {"America/New_York", 4128633000, 4128647400},
    {"America/New_York", 1728180600, 1728195000},    {"America/New_York", 1325246400, 1325264400},
    {"Asia/Kolkata", 1711852200, 1711832400},        {"Asia/Kolkata", 1729996200, 1729976400},
    {"Asia/Kolkata", 1710036900, 1710017100},        {"Asia/Kolkata", 1730597400, 1730577600},
    {"Asia/Kolkata", 2540289600, 2540269800},        {"Asia/Kolkata", 2524651200, 2524631400},
    {"Asia/Kolkata", -618105600, -618125400},        {"Asia/Kolkata", 4109884200, 4109864400},
    {"Asia/Kolkata", 4128633000, 4128613200},        {"Asia/Kolkata", 1728180600, 1728160800},
    {"Asia/Kolkata", 1325246400, 1325226600},        {"Australia/Lord_Howe", 1711852200, 1711812600},
    {"Australia/Lord_Howe", 1729996200, 1729956600}, {"Australia/Lord_Howe", 1710036900, 1709997300},
    {"Australia/Lord_Howe", 1730597400, 1730557800}, {"Australia/Lord_Howe", 2540289600, 2540251800},
    {"Australia/Lord_Howe", 2524651200, 2524611600}, {"Australia/Lord_Howe", -618105600, -618141600},
    {"Australia/Lord_Howe", 4109884200, 4109844600}, {"Australia/Lord_Howe", 4128633000, 4128593400},
    {"Australia/Lord_Howe", 1728180600, 1728142800}, {"Australia/Lord_Howe", 1325246400, 1325206800},
    {"Europe/Dublin", 1711852200, 1711848600},       {"Europe/Dublin", 1729996200, 1729996200},
    {"Europe/Dublin", 1710036900, 1710036900},       {"Europe/Dublin", 1730597400, 1730597400},
    {"Europe/Dublin", 2540289600, 2540286000},       {"Europe/Dublin", 2524651200, 2524651200},
    {"Europe/Dublin", -618105600, -618109200},       {"Europe/Dublin", 4109884200, 4109880600},
    {"Europe/Dublin", 4128633000, 4128633000},       {"Europe/Dublin", 1728180600, 1728177000},
    {"Europe/Dublin", 1325246400, 1325246400},       {"Pacific/Apia", 1711852200, 1711805400},
    {"Pacific/Apia", 1729996200, 1729949400},        {"Pacific/Apia", 1710036900, 1709990100},
    {"Pacific/Apia", 1730597400, 1730550600},        {"Pacific/Apia", 2540289600, 2540242800},
    {"Pacific/Apia", 2524651200, 2524604400},        {"Pacific/Apia", -618105600, -618066000},
    {"Pacific/Apia", 4109884200, 4109837400},        {"Pacific/Apia", 4128633000, 4128586200},
    {"Pacific/Apia", 1728180600, 1728133800},        {"Pacific/Apia", 1325246400, 1325282400},
    {"America/St_Johns", 1711852200, 1711861200},    {"America/St_Johns", 1729996200, 1730005200},
    {"America/St_Johns", 1710036900, 1710049500},    {"America/St_Johns", 1730597400, 1730606400},
    {"America/St_Johns", 2540289600, 2540298600},    {"America/St_Johns", 2524651200, 2524663800},
    {"America/St_Johns", -618105600, -618096600},    {"America/St_Johns", 4109884200, 4109893200},
    {"America/St_Johns", 4128633000, 4128642000},    {"America/St_Johns", 1728180600, 1728189600},
    {"America/St_Johns", 1325246400, 1325259000},
};

static void assert_moment(const char *name, int64_t local, int64_t moment)
{
    assert_int_equal(zone_set(name, &last), SES_OK);
    if (zone_moment(local * 1000000 + 123456) != moment * 1000000 + 123456)
        print_error("%s, %lld\n", name, (long long)local);
    assert_int_equal(zone_moment(local * 1000000 + 123456), moment * 1000000 + 123456);
}

PLAIN_TEST(moments_are_as_python_has_them)
{
    if (zone_set("Europe/Berlin", &error) != SES_OK) {
        print_message("skipped: there is no tzdata\n");
        skip();
    }
    for (size_t i = 0; i < sizeof moments / sizeof moments[0]; i++)
        assert_moment(moments[i].zone, moments[i].local, moments[i].moment);
}

PLAIN_TEST(offsets_need_no_file)
{
    assert_moment("UTC", 1700000000, 1700000000);
    assert_moment("Z", -1, -1);
    assert_moment("+05:30", 1700000000, 1700000000 - 19800);
    assert_moment("-03:00", 0, 10800);
}

PLAIN_TEST(text_that_is_not_a_zone_is_refused)
{
    static const char *const names[] = {
        "",     "Mars/Olympus", "../zoneinfo/UTC", "/etc/passwd", "Europe/../../passwd",
        "+5:3", "+25:00",       "+05:30x",         "Europe",      "tzdata.zi"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal(zone_set(names[i], &error), SES_INVALID);
}

/* The C library keeps a zone that it has read, so that each damage has a name of its own. */
static void try_damaged(const char *folder, const char *data, size_t len)
{
    static int count;
    char name[32];

    snprintf(name, sizeof name, "Zone%d", count++);
    char *path = support_path(folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
    if (zone_set(name, &last) == SES_OK)
        for (int64_t year = -100; year < 300; year += 13)
            (void)zone_moment(year * INT64_C(31556952000000));
    assert_int_equal(unlink(path), 0);
    free(path);
}

/* Any zone file is read within its bounds, or refused. */
PLAIN_TEST(a_damaged_file_is_refused_or_read_within_its_bounds)
{
    size_t len = 0;
    char *folder = support_folder_make();
    char *data = support_read_file("/usr/share/zoneinfo/Europe/Berlin", &len);

    assert_int_equal(setenv("TZDIR", folder, 1), 0);
    for (size_t i = 0; data && i < len; i += i < 200 || i + 60 > len ? 1 : 7) {
        data[i] = (char)(data[i] ^ 0x55);
        try_damaged(folder, data, len);
        try_damaged(folder, data, i);
        data[i] = (char)(data[i] ^ 0x55);
    }
    assert_int_equal(unsetenv("TZDIR"), 0);
    free(data);
    support_folder_remove(folder);
}
