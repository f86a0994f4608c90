/*
 * Signals that end the program while it has an unfinished file: SIGINT, SIGTERM and SIGHUP. An ignored signal
 * stays ignored, because nohup and background jobs of a shell rely on that.
 */
#ifndef FILES_SIGNALS_H
#define FILES_SIGNALS_H

#include <stdbool.h>

/* From now on a signal is only recorded, so that a call of the library ends first and removes its file. A
 * second signal ends the program at once. */
void stop_watch(void);
/* True if a signal has arrived. */
bool stop_is_asked(void);
/* Ends the program by the signal that arrived, if any. */
void stop_now(void);

/* From now on a signal removes the file and ends the program. There is only one file at a time. */
void leftover_watch(const char *path);
void leftover_forget(void);

#endif
