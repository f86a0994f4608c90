/* Measures, compares and reports. */
#include "bench.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *folder;
static FILE *json;
static bool is_quick;
static bool all_reached = true;

void measure_begin(const char *files_in, FILE *json_to, bool quick)
{
    folder = files_in;
    json = json_to;
    is_quick = quick;
}

bool measure_is_quick(void)
{
    return is_quick;
}

int scaled(int count)
{
    return !is_quick ? count : count > 100 ? count / 100 : 1;
}

int scaled_rounds(int rounds)
{
    return is_quick && rounds > 2 ? 2 : rounds;
}

bool measure_all_reached(void)
{
    return all_reached || is_quick;
}

double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

void report(const struct figure *figure)
{
    bool reached = figure->at_most > 0 ? figure->ratio <= figure->at_most : figure->ratio >= figure->at_least;
    double bound = figure->at_most > 0 ? figure->at_most : figure->at_least;

    all_reached = all_reached && reached;
    printf("%-44s %11.2f %-7s %-22s %11.2f   %6.2f   at %s %.1f%s\n", figure->name, figure->left,
           figure->unit, figure->right_name, figure->right, figure->ratio,
           figure->at_most > 0 ? "most" : "least", bound, reached || is_quick ? "" : "   NOT REACHED");
    if (!reached && !is_quick && figure->limit)
        printf("    reason: %s\n", figure->limit);
    fflush(stdout);
    if (json)
        fprintf(json,
                "{\"name\":\"%s\",\"unit\":\"%s\",\"left\":\"%s\",\"left_value\":%.3f,\"right\":\"%s\","
                "\"right_value\":%.3f,\"ratio\":%.3f,\"%s\":%.2f,\"reached\":%s}\n",
                figure->name, figure->unit, figure->left_name, figure->left, figure->right_name,
                figure->right, figure->ratio, figure->at_most > 0 ? "at_most" : "at_least", bound,
                reached ? "true" : "false");
}

void report_time(const char *name, const char *what, const char *unit, double value, double most)
{
    report(&(struct figure){.name = name,
                            .unit = unit,
                            .left_name = what,
                            .left = value,
                            .right_name = "limit",
                            .right = most,
                            .ratio = value / most,
                            .at_most = 1});
}

void compare(const struct comparison *comparison)
{
    enum { MAX_ROUNDS = 400 };
    double left[MAX_ROUNDS];
    double right[MAX_ROUNDS];
    const struct side *l = &comparison->left;
    const struct side *r = &comparison->right;

    const int rounds = scaled_rounds(comparison->rounds);

    CHECK(rounds <= MAX_ROUNDS);
    l->work(l->context, comparison->count);
    r->work(r->context, comparison->count);
    for (int round = 0; round < rounds; round++) {
        double start = now_us();
        l->work(l->context, comparison->count);
        double middle = now_us();
        r->work(r->context, comparison->count);
        double end = now_us();
        left[round] = (middle - start) / comparison->count;
        right[round] = (end - middle) / comparison->count;
    }
    double l_us = median(left, (size_t)rounds);
    double r_us = median(right, (size_t)rounds);
    report(&(struct figure){.name = comparison->name,
                            .unit = "us",
                            .left_name = l->name,
                            .left = l_us,
                            .right_name = r->name,
                            .right = r_us,
                            .ratio = comparison->at_most > 0 ? l_us / r_us : r_us / l_us,
                            .at_most = comparison->at_most,
                            .at_least = comparison->at_least});
}

char *fresh_path(const char *name)
{
    static const char *const suffixes[] = {"-wal", "-shm", "-journal", ""};
    size_t size = strlen(folder) + strlen(name) + 16;
    char *path = malloc(size);
    CHECK(path);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        snprintf(path, size, "%s/%s%s", folder, name, suffixes[i]);
        unlink(path);
    }
    return path;
}
