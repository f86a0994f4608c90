#include "model/event/update_times.h"

#include "model/event/timestamp.h"

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void ses__update_times_begin(struct update_times *times, int64_t created_us, int64_t base_seq,
                             int64_t inherited)
{
    *times = (struct update_times){.created_us = created_us,
                                   .base_seq = base_seq,
                                   .inherited = inherited,
                                   .seq = base_seq,
                                   .high_us = inherited > base_seq ? TIMESTAMP_MIN : created_us};
}

int64_t ses__update_times_after(const struct update_times *times, int64_t seq, int64_t time_us)
{
    const int64_t high_us = later(times->high_us, time_us);
    const bool is_first_own = seq > times->inherited && times->seq <= times->inherited;
    return is_first_own ? later(high_us, times->created_us) : high_us;
}

bool ses__update_times_allow(const struct update_times *times, int64_t seq, int64_t time_us, int64_t high_us)
{
    const bool follows = seq == times->seq + 1 && (times->seq > times->base_seq || seq == 1);

    if (seq <= times->inherited)
        return high_us >= times->high_us;
    if (follows)
        return high_us == ses__update_times_after(times, seq, time_us);
    return high_us >= ses__update_times_after(times, seq, time_us);
}

void ses__update_times_pass(struct update_times *times, int64_t seq, int64_t high_us)
{
    times->seq = seq;
    times->high_us = high_us;
}

int64_t ses__update_times_end(const struct update_times *times)
{
    return later(times->high_us, times->created_us);
}
