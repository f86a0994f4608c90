/* Refuses stores with features that this library does not know. */
#ifndef SESLITE_STORAGE_SQL_FEATURES_H
#define SESLITE_STORAGE_SQL_FEATURES_H

#include "storage/sql/query.h"

/* In a transaction. TOONEW: the store has an unknown feature that needs 3. `denied` (SES_OK: none) is the
 * code for one that needs 2, if there is none that needs 3: READONLY to a writer, UNSUPPORTED to an export.
 * The message names it. */
SESLITE_PRIVATE int ses__features_check(struct db *db, int denied, ses_error *error);
/* The refusal of a feature with one of these codes, or SES_OK. */
SESLITE_PRIVATE int ses__feature_refuse(const char *store, struct span feature, int code, ses_error *error);

#endif
