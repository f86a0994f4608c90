/*
 *     bench [--quick] [--million] [--json FILE] [--folder FOLDER] [basics] [threads] [scale] [agent]
 *           [history] [length] [follow] [list] [lines] [backup] [foreign] [artifact] [search] [key]
 *
 * Without names, runs everything. The exit code is 2 if a claim is not reached. --quick does a hundredth of
 * the work, to check that everything runs. --million: the lengths go up to a million events.
 */
#include "bench.h"

#include <sqlite3.h>
#include <string.h>

#include "slow_vfs.h"

static bool wanted(int argc, char **argv, const char *name)
{
    bool named = false;
    bool any = false;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') {
            i += strcmp(argv[i], "--quick") != 0 && strcmp(argv[i], "--million") != 0;
        } else {
            any = true;
            named = named || strcmp(argv[i], name) == 0;
        }
    }
    return named || !any;
}

int main(int argc, char **argv)
{
    const char *folder = ".";
    FILE *json = NULL;
    bool quick = false;
    bool million = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            CHECK((json = fopen(argv[++i], "w")) != NULL);
        else if (strcmp(argv[i], "--folder") == 0 && i + 1 < argc)
            folder = argv[++i];
        else if (strcmp(argv[i], "--quick") == 0)
            quick = true;
        else if (strcmp(argv[i], "--million") == 0)
            million = true;
        else
            CHECK(argv[i][0] != '-');
    }
    measure_begin(folder, json, quick);
    printf("seslite %s, SQLite %s%s\n\n", ses_version(), sqlite3_libversion(),
           quick ? ", a quick run: the figures mean nothing" : "");
    printf("%-44s %11s %-7s %-22s %11s   %6s\n", "what", "seslite", "", "compared with", "", "ratio");
    if (wanted(argc, argv, "key"))
        bench_key();
    CHECK(slow_vfs_install() == SQLITE_OK);
    if (wanted(argc, argv, "basics"))
        bench_basics();
    if (wanted(argc, argv, "threads"))
        bench_threads();
    if (wanted(argc, argv, "scale"))
        bench_scale();
    if (wanted(argc, argv, "agent"))
        bench_agent();
    if (wanted(argc, argv, "history"))
        bench_history();
    if (wanted(argc, argv, "length"))
        bench_length(million);
    if (wanted(argc, argv, "follow"))
        bench_follow();
    if (wanted(argc, argv, "list"))
        bench_list();
    if (wanted(argc, argv, "lines"))
        bench_lines();
    if (wanted(argc, argv, "backup"))
        bench_backup();
    if (wanted(argc, argv, "foreign"))
        bench_foreign();
    if (wanted(argc, argv, "artifact"))
        bench_artifact();
    if (wanted(argc, argv, "search"))
        bench_search();
    if (json)
        fclose(json);
    return measure_all_reached() ? 0 : 2;
}
