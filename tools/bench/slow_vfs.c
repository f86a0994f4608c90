#include "slow_vfs.h"

#include <stdatomic.h>
#include <time.h>

#include "over_vfs.h"

static atomic_long delay_us;
static atomic_long syncs;

static int slow_sync(sqlite3_file *file, int flags)
{
    long delay = atomic_load(&delay_us);
    const struct timespec time = {delay / 1000000, delay % 1000000 * 1000};

    atomic_fetch_add(&syncs, 1);
    if (delay > 0)
        nanosleep(&time, NULL);
    return over_file_of(file)->real->xSync(file, flags);
}

int slow_vfs_install(void)
{
    over_init("slow", (sqlite3_io_methods){.xSync = slow_sync});
    return sqlite3_vfs_register(&over_vfs, 1);
}

void slow_vfs_set_delay(long delay)
{
    atomic_store(&delay_us, delay);
}

long slow_vfs_syncs(void)
{
    return atomic_load(&syncs);
}
