/* A VFS over SQLite's own whose every sync takes a given time: a disk whose flush is slow, for tests and
 * benchmarks of group commit. */
#ifndef SESLITE_SLOW_VFS_H
#define SESLITE_SLOW_VFS_H

/* Makes it the default VFS of this process. Call it before the first store is opened, once. */
int slow_vfs_install(void);
/* From now on a sync sleeps so long, in microseconds. */
void slow_vfs_set_delay(long delay_us);
/* How many syncs there have been. */
long slow_vfs_syncs(void);

#endif
