/* A VFS on top of SQLite's own in which every sync takes a given time, like a disk with slow flushes. For
 * tests and benchmarks of group commit. */
#ifndef SESLITE_SLOW_VFS_H
#define SESLITE_SLOW_VFS_H

/* Makes it the default VFS of this process. Call it once, before opening the first store. */
int slow_vfs_install(void);
/* Sets how long a sync sleeps from now on, in microseconds. */
void slow_vfs_set_delay(long delay_us);
/* The number of syncs so far. */
long slow_vfs_syncs(void);

#endif
