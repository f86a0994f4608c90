/* A signal that asks the program to end while a call of the library has an unfinished file: the call ends first, and removes
 * the file. A second signal ends the program at once. */
#ifndef STOP_H
#define STOP_H

#include <stdbool.h>

/* From here on SIGINT, SIGTERM and SIGHUP are only noted. */
void stop_watch(void);
/* Has one come? */
bool stop_is_asked(void);
/* Ends the program by the signal that came, if one did. */
void stop_now(void);

#endif
