/* Runs scripts of several statements, which a pipeline does not allow. */
#include "storage/postgres/connection/connection.h"

int ses__pg_script(struct pg *pg, const char *sql, PGresult **last, ses_error *error)
{
    int code = SES_OK;
    PGresult *result = NULL;

    *last = NULL;
    bool sent = PQsendQuery(pg->conn, sql) == 1;
    for (int left = 1; sent && left == 1 && code == SES_OK;) {
        left = PQflush(pg->conn);
        sent = left >= 0;
        code = left == 1 ? ses__pg_wait(pg, true) : SES_OK;
    }
    while (sent && code == SES_OK) {
        while (code == SES_OK && PQisBusy(pg->conn)) {
            code = ses__pg_wait(pg, false);
            if (code == SES_OK && PQconsumeInput(pg->conn) != 1)
                sent = false;
        }
        if (code != SES_OK || (result = PQgetResult(pg->conn)) == NULL)
            break;
        PQclear(*last);
        *last = result;
    }
    if (code != SES_OK)
        ses__pg_fail_as(pg, code, "a script");
    else if (!sent || PQresultStatus(*last) == PGRES_FATAL_ERROR)
        ses__pg_fail(pg, *last, "a script");
    if (pg->code != SES_OK && error)
        *error = pg->error;
    return pg->code;
}

int ses__pg_run(struct pg *pg, const char *sql, ses_error *error)
{
    PGresult *last = NULL;
    const int code = ses__pg_script(pg, sql, &last, error);

    PQclear(last);
    return code;
}
