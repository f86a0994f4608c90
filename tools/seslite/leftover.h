/* An unfinished file, which is removed when a signal ends the program. There is only one at a time. */
#ifndef LEFTOVER_H
#define LEFTOVER_H

void leftover_watch(const char *path);
void leftover_forget(void);

#endif
