/* Measures the CPU time of the server itself, regardless of other load on the machine. */
#include "sides.h"

#include <libpq-fe.h>

struct cpu {
    PGconn *conn;
};

struct cpu *cpu_open(const char *place)
{
    struct cpu *cpu = calloc(1, sizeof *cpu);

    CHECK(cpu);
    cpu->conn = PQconnectdb(place);
    CHECK(PQstatus(cpu->conn) == CONNECTION_OK);
    return cpu;
}

void cpu_close(struct cpu *cpu)
{
    PQfinish(cpu->conn);
    free(cpu);
}

/* The CPU time is the first number in the file, which exists only on Linux. */
static double process_us(const char *pid)
{
    char path[64];
    uint64_t ns = 0;

    snprintf(path, sizeof path, "/proc/%s/schedstat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    CHECK(fscanf(file, "%" SCNu64, &ns) == 1);
    fclose(file);
    return (double)ns / 1000;
}

double cpu_us(struct cpu *cpu)
{
    double sum = 0;
    PGresult *result =
        PQexec(cpu->conn, "SELECT pid FROM pg_stat_activity"
                          " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()");

    CHECK(PQresultStatus(result) == PGRES_TUPLES_OK);
    for (int i = 0; i < PQntuples(result); i++)
        sum += process_us(PQgetvalue(result, i, 0));
    PQclear(result);
    return sum;
}
