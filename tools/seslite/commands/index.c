/* seslite index */
#include "commands.h"

#include "output/json.h"
#include "output/progress.h"
#include "seslite_search.h"
#include "store/choose.h"

static int report_index(struct run *run, int64_t events)
{
    struct json json;

    if (wants_json(run)) {
        json_begin(&json, run, '{');
        json_bool(&json, "index", !given(run, OPTION_DROP));
        json_number(&json, "eventsAdded", events);
        return json_print_object(&json);
    }
    if (given(run, OPTION_DROP))
        note("The store has no index of words now. Searches read the events.");
    else
        note("%s added to the index of words.", counted(events, "event"));
    return EXIT_OK;
}

int run_index(struct run *run)
{
    const bool drops = given(run, OPTION_DROP);
    const unsigned flags =
        (drops ? SES_INDEX_DROP : 0U) | (given(run, OPTION_REBUILD) ? SES_INDEX_REBUILD : 0U);
    const ses_index_options options = {.size = sizeof options, .flags = flags, .progress = progress_report};
    int64_t events = 0;

    if (drops && given(run, OPTION_REBUILD))
        return say_usage(run, "--drop and --rebuild exclude each other");
    const int status = open_to_write(run);
    if (status != EXIT_OK)
        return status;
    progress_begin("indexing");
    const int code = ses_store_index(run->store, &options, &events, &run->error);
    progress_end();
    return code < 0 ? fail(run) : report_index(run, events);
}
