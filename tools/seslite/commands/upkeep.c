/* seslite maintain and migrate */
#include "commands.h"

#include "files/place.h"
#include "output/json.h"
#include "output/progress.h"
#include "store/choose.h"

/* ----------------------------------------------------------------------------------------------- maintain */

static int64_t bytes_of(struct run *run)
{
    ses_stats stats = {.size = sizeof stats};

    return ses_store_stats(run->store, &stats, NULL) < 0 ? 0
                                                         : stats.sqlite.file_bytes + stats.sqlite.wal_bytes;
}

static int report_maintained(struct run *run, int64_t before, int64_t after, bool more)
{
    struct json json;

    if (wants_json(run)) {
        json_begin(&json, run, '{');
        json_number(&json, "bytesBefore", before);
        json_number(&json, "bytesAfter", after);
        json_bool(&json, "more", more);
        return json_print_object(&json);
    }
    note("The file and its log now have %lld bytes, before %lld.", (long long)after, (long long)before);
    return EXIT_OK;
}

/* If a step leaves the file as large as before, it was only waiting for a reader of the WAL. */
int run_maintain(struct run *run)
{
    int status = open_to_write(run);
    int64_t before = status == EXIT_OK ? bytes_of(run) : 0;
    int64_t after = before;
    int64_t last = 0;
    int code;

    if (status != EXIT_OK)
        return status;
    progress_begin("giving pages back, bytes:");
    do {
        last = after;
        code = ses_store_maintain(run->store, NULL, &run->error);
        after = bytes_of(run);
        progress_set(before - after, 0);
    } while (code == SES_MORE && after < last);
    progress_end();
    if (code < 0)
        return fail(run);
    status = report_maintained(run, before, after, code == SES_MORE);
    if (code == SES_MORE) {
        say("a reader kept the write-ahead log from being emptied: run seslite maintain again later");
        status = EXIT_BUSY;
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------ migrate */

static int report_migrated(struct run *run, bool migrated)
{
    struct json json;

    if (wants_json(run)) {
        json_begin(&json, run, '{');
        json_bool(&json, "migrated", migrated);
        json_number(&json, "schema", SES_SCHEMA_VERSION);
        return json_print_object(&json);
    }
    note(migrated ? "The store now has schema %d." : "The store already has schema %d.", SES_SCHEMA_VERSION);
    return EXIT_OK;
}

/* Opening an older schema read-only returns READONLY. Opening it for writing migrates it. */
int run_migrate(struct run *run)
{
    ses_open_options options = {.size = sizeof options, .flags = SES_OPEN_READ_ONLY | SES_OPEN_MUST_EXIST};
    const char *path = place_given(run);

    if (!path)
        return EXIT_USAGE;
    if (given(run, OPTION_NO_UPGRADE))
        return say_usage(run, "migrate upgrades the store: leave out --no-upgrade");
    give_access(run, &options);
    int code = place_open(path, &options, &run->store, &run->error);
    if (code >= 0)
        return report_migrated(run, false);
    if (code != SES_READONLY)
        return fail(run);
    options.flags &= ~(unsigned)SES_OPEN_READ_ONLY;
    code = place_open(path, &options, &run->store, &run->error);
    return code < 0 ? fail(run) : report_migrated(run, true);
}
