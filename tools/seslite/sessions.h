/* A session in words and in JSON. */
#ifndef SESSIONS_H
#define SESSIONS_H

#include "json.h"

/* Adds what a session is, without its state and events. */
void session_json(struct json *json, const ses_session *session);
/* Reads the session that was chosen, without events. NULL after it was said why not. */
ses_session *session_read(struct run *run, int *status);

#endif
