/*
 * The same calls for programs that use cJSON. The rules at the top of seslite.h hold here too.
 *
 * cJSON keeps numbers as doubles and strings as C strings. Values that these calls read may therefore be
 * rounded (9007199254740993 becomes 9007199254740992) or cut at a NUL; the stored text does not change. They
 * write exactly the values of the tree: a number has as many digits as it takes to read the same double
 * again. To store other numbers exactly, pass text, or use cJSON_CreateRaw. Strings and doubles are written
 * as by every other call of the library, so an event that a builder made and the same event as a tree have
 * the same bytes.
 *
 * A tree that a call returns belongs to the caller (cJSON_Delete). Trees use cJSON's memory hooks, not the
 * store's allocator. Link with -lcjson. A program that calls nothing of this header does not need cJSON.
 *
 * Every call that takes a tree can also return INVALID for a tree that is not JSON (a number that is infinite
 * or NaN, an item without a type, an object member without a name), LIMIT for a tree that is nested more than
 * 1000 levels deep, and NOMEM.
 */
#ifndef SESLITE_CJSON_H
#define SESLITE_CJSON_H

#include <cjson/cJSON.h>

#include "seslite_agent.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Creates a session as ses_create does, with its initial state as a tree (NULL: empty). Codes: those of
 * ses_create. */
SES_API int ses_create_cjson(ses_store *store, const ses_key *key, const cJSON *state,
                             const ses_create_options *options, ses_session **session, ses_error *error);

/* These calls append one event as ses_append and ses_append_by_key do. `error->offset` is a byte offset in
 * the text of the tree, printed without spaces. Codes: those of ses_append. */
SES_API int ses_append_cjson(ses_session *session, const cJSON *event, const ses_append_options *options,
                             ses_appended *appended, ses_error *error);
SES_API int ses_append_by_key_cjson(ses_store *store, const ses_key *key, const cJSON *event,
                                    const ses_append_options *options, ses_appended *appended,
                                    ses_error *error);

/*
 * These calls give the whole merged state, one value, and an event. For a missing key ses_state_get_cjson
 * returns SES_ABSENT and sets `*value` to NULL. LIMIT: cJSON rejects the text (a lone surrogate; in older
 * versions a number of more than 63 characters) or is out of memory. CORRUPT: the stored value or event is
 * not JSON.
 *
 * Codes: MISUSE, LIMIT, CORRUPT; for the whole state also NOMEM.
 */
SES_API int ses_state_cjson(const ses_session *session, cJSON **state, ses_error *error);
SES_API int ses_state_get_cjson(const ses_session *session, const char *name, cJSON **value,
                                ses_error *error);
SES_API int ses_event_cjson(const ses_event *event, cJSON **tree, ses_error *error);

/* Writes a value to a view as ses_tracked_set does. Codes: those of ses_tracked_set. */
SES_API int ses_tracked_set_cjson(ses_tracked *tracked, const char *name, const cJSON *value,
                                  ses_error *error);
/* Reads a value from a view as ses_tracked_get does; the tree belongs to the caller. LIMIT: as for
 * ses_state_get_cjson. Codes: MISUSE, LIMIT, CORRUPT, NOMEM. */
SES_API int ses_tracked_get_cjson(const ses_tracked *tracked, const char *name, cJSON **value,
                                  ses_error *error);
/* These calls set the content and a field of an event as ses_builder_content and ses_builder_field do. Codes:
 * MISUSE, INVALID, JSON, LIMIT, NOMEM. */
SES_API int ses_builder_content_cjson(ses_builder *builder, const cJSON *content, ses_error *error);
SES_API int ses_builder_field_cjson(ses_builder *builder, const char *field, const cJSON *value,
                                    ses_error *error);

#ifdef __cplusplus
}
#endif

#endif /* SESLITE_CJSON_H */
