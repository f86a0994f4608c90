/* The table of jobs and their announcements. */
#include "storage/postgres/announce.h"
#include "storage/postgres/announce_parts.h"
#include "storage/sql/session/jobs.h"

const struct announcement *ses__announcement_of(storage_job *job)
{
    static const struct announcement announcements[] = {
        {.job = ses__list_job, .announce = ses__announce_list_page},
    };

    for (size_t i = 0; i < sizeof announcements / sizeof announcements[0]; i++) {
        if (announcements[i].job == job)
            return &announcements[i];
    }
    return NULL;
}
