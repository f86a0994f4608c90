/* Handles a signal to stop while a call of the library has an unfinished file: the call ends first and
 * removes the file. A second signal ends the program at once. */
#ifndef STOP_H
#define STOP_H

#include <stdbool.h>

/* From now on SIGINT, SIGTERM and SIGHUP are only recorded. */
void stop_watch(void);
/* True if a signal has arrived. */
bool stop_is_asked(void);
/* Ends the program by the signal that arrived, if any. */
void stop_now(void);

#endif
