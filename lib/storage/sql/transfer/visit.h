/* Shared by the parts of a walk over all that is stored. */
#ifndef SESLITE_STORAGE_SQL_TRANSFER_VISIT_H
#define SESLITE_STORAGE_SQL_TRANSFER_VISIT_H

#include "storage/sql/rows/artifact.h"

/* visit_artifacts.c: visits the artifacts of one owner, in order. */
SESLITE_PRIVATE int ses__visit_artifacts(struct db *db, const struct visit_op *op,
                                         const struct artifact_owner *owner, ses_error *error);
/* Those of the user, and, unless the walk is over one session, those whose session does not exist. */
SESLITE_PRIVATE int ses__visit_user_artifacts(struct db *db, const struct visit_op *op, int64_t user_id,
                                              ses_error *error);

#endif
