#include "foreign/zone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "foreign/zone_rule.h"
#include "text.h"

enum { MAX_BYTES = 1 << 20, DAY = 86400 };

struct zone {
    struct text file;
    const unsigned char *times;   /* of transitions: eight bytes each */
    const unsigned char *indexes; /* the type after each transition */
    const unsigned char *types;   /* six bytes each, of which the first four are the offset */
    size_t time_count;
    size_t type_count;
    struct zone_rule rule; /* after the last transition */
};

/* ----------------------------------------------------------------------------------------------- the file */

static int64_t number_at(const unsigned char *at, size_t width)
{
    uint64_t number = at[0] & 0x80 ? UINT64_MAX : 0;

    for (size_t i = 0; i < width; i++)
        number = number << 8 | at[i];
    return (int64_t)number;
}

/* RFC 8536: a header of 44 bytes and the data that it counts. Returns the size of both, or 0 if they are
 * incomplete. */
static size_t block_size(const struct zone *zone, size_t start, size_t width, size_t counts[6])
{
    const unsigned char *header = (const unsigned char *)zone->file.data + start;

    if (zone->file.len < start + 44 || memcmp(header, "TZif", 4) != 0)
        return 0;
    for (size_t i = 0; i < 6; i++) {
        counts[i] = (size_t)number_at(header + 20 + 4 * i, 4) & 0xffffffff;
        if (counts[i] > MAX_BYTES)
            return 0;
    }
    /* counts: UT indicators, standard indicators, leap seconds, transitions, types, characters */
    const size_t size = 44 + counts[3] * (width + 1) + counts[4] * 6 + counts[5] + counts[2] * (width + 4) +
                        counts[1] + counts[0];
    return start + size <= zone->file.len ? size : 0;
}

/* Reads the second block, with 64-bit times, and the rule after it. */
static bool read_blocks(struct zone *zone)
{
    size_t counts[6];
    const size_t first = block_size(zone, 0, 4, counts);
    const size_t second = first && zone->file.data[4] >= '2' ? block_size(zone, first, 8, counts) : 0;

    if (!second || counts[4] == 0)
        return false;
    zone->times = (const unsigned char *)zone->file.data + first + 44;
    zone->time_count = counts[3];
    zone->indexes = zone->times + 8 * zone->time_count;
    zone->types = zone->indexes + zone->time_count;
    zone->type_count = counts[4];
    for (size_t i = 0; i < zone->time_count; i++)
        if (zone->indexes[i] >= zone->type_count)
            return false;
    const char *rule = zone->file.data + first + second;
    return *rule != '\n' || zone_rule_read(rule + 1, &zone->rule);
}

static bool read_zone_file(struct zone *zone, const char *path)
{
    char data[4096];
    size_t len = 0;
    FILE *file = fopen(path, "rbe");

    if (!file)
        return false;
    while ((len = fread(data, 1, sizeof data, file)) > 0 && zone->file.len < MAX_BYTES)
        text_add(&zone->file, data, len);
    bool ok = !ferror(file) && zone->file.len > 0 && zone->file.len < MAX_BYTES;
    (void)fclose(file);
    return ok && read_blocks(zone);
}

/* ----------------------------------------------------------------------------------------------- the name */

/* "+05:30" */
static bool read_offset(const char *name, int64_t *offset)
{
    int hours = 0;
    int minutes = 0;
    int end = 0;

    if ((*name != '+' && *name != '-') || sscanf(name + 1, "%2d:%2d%n", &hours, &minutes, &end) != 2 ||
        name[1 + end] != '\0' || end != 5 || hours > 23 || minutes > 59)
        return false;
    *offset = (hours * 60 + minutes) * (*name == '-' ? -60 : 60);
    return true;
}

static bool read_named(struct zone *zone, const char *name)
{
    struct text path = {NULL, 0, 0};
    const char *folder = getenv("TZDIR");

    if (strcmp(name, "UTC") == 0 || strcmp(name, "Z") == 0 || read_offset(name, &zone->rule.offset))
        return true;
    if (strcmp(name, "local") == 0)
        text_puts(&path, "/etc/localtime");
    else if (*name && *name != '/' && *name != '.' && !strstr(name, "/."))
        text_print(&path, "%s/%s", folder && *folder ? folder : "/usr/share/zoneinfo", name);
    bool ok = path.len > 0 && read_zone_file(zone, path.data);
    text_free(&path);
    return ok;
}

int zone_open(const char *name, struct zone **opened, ses_error *error)
{
    struct zone *zone = allocate(sizeof *zone);

    *zone = (struct zone){.time_count = 0};
    if (read_named(zone, name)) {
        *opened = zone;
        return SES_OK;
    }
    zone_close(zone);
    return ses__error_set(error, SES_INVALID,
                          "no time zone \"%s\": give one like Europe/Berlin, +01:00, UTC or local, and check "
                          "that tzdata is installed",
                          name);
}

void zone_close(struct zone *zone)
{
    if (zone)
        text_free(&zone->file);
    free(zone);
}

/* ---------------------------------------------------------------------------------------------- the times */

static int64_t offset_of_type(const struct zone *zone, size_t type)
{
    return number_at(zone->types + 6 * type, 4);
}

/* Seconds east of UTC at a moment. */
static int64_t offset_at(const struct zone *zone, int64_t moment)
{
    size_t low = 0;
    size_t high = zone->time_count;

    while (low < high) { /* the first transition after the moment */
        const size_t middle = low + (high - low) / 2;
        if (number_at(zone->times + 8 * middle, 8) <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == zone->time_count && (zone->rule.known || !zone->types))
        return zone_rule_offset(&zone->rule, moment);
    return offset_of_type(zone, low > 0 ? zone->indexes[low - 1] : 0);
}

/* As in PEP 495, datetime.timestamp() with fold=0. */
int64_t zone_moment(const struct zone *zone, int64_t local_us)
{
    const int64_t us = ((local_us % 1000000) + 1000000) % 1000000;
    const int64_t local = (local_us - us) / 1000000;
    const int64_t offset = offset_at(zone, local);
    const int64_t one = local - offset;
    const int64_t one_shows = one + offset_at(zone, one);
    const int64_t other_offset = offset_at(zone, one_shows == local ? one - DAY : one);
    const int64_t other = local - other_offset;
    int64_t moment = one > other ? one : other; /* the clocks skip this time */

    if (other + offset_at(zone, other) == local)
        moment = other;
    else if (one_shows == local)
        moment = one;
    return moment * 1000000 + us;
}
