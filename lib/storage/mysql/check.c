/* A check of all rows, as of one moment. It changes nothing. Pages and indexes are the server's concern. */
#include "storage/sql/upkeep/check.h"

#include "storage/mysql/parts.h"

int ses__mysql_check(struct storage *storage, struct check *check)
{
    static const struct server_checks checks = {.columns = STATEMENT_CHECK_COLUMNS,
                                                .indexes = STATEMENT_CHECK_INDEXES,
                                                .orphans = STATEMENT_CHECK_ORPHANS,
                                                .floors = STATEMENT_CHECK_FLOORS,
                                                .count = STATEMENT_CHECK_COUNT,
                                                .floor_of = "new sessions of some users begin"};

    return ses__check_server(storage, check, &checks);
}
