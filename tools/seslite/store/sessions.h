/* A session in words and in JSON. */
#ifndef STORE_SESSIONS_H
#define STORE_SESSIONS_H

#include "output/json.h"

/* Adds the properties of a session, without its state and events. */
void session_json(struct json *json, const ses_session *session);
/* Reads the chosen session without events. On failure prints the error and returns NULL. */
ses_session *session_read(struct run *run, int *status);

#endif
