/* The table of jobs and their announcements. */
#include "storage/postgres/announce.h"
#include "storage/postgres/announce_parts.h"
#include "storage/sql/session/jobs.h"

const struct announcement *ses__announcement_of(storage_job *job)
{
    static const struct announcement announcements[] = {
        {.job = ses__list_job, .whole = {{.announce = ses__announce_list_page}}},
        {.job = ses__append_job,
         .whole = {{ses__append_fits, ses__announce_append, true}, {NULL, ses__announce_stored, false}},
         .doubt = ses__doubt_append,
         .claim = ses__claim_append},
    };

    for (size_t i = 0; i < sizeof announcements / sizeof announcements[0]; i++) {
        if (announcements[i].job == job)
            return &announcements[i];
    }
    return NULL;
}
