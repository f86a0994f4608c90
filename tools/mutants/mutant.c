/* Selects the mutant of a run from the environment: see mutants.py. SES_MUTANT is its number.
 * SES_MUTANT_REACHED names a file of zeros in which the run marks the mutants that it reached; it is mapped,
 * so that a killed process leaves its marks too. */
#include "base/mutant.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mutant_count.h"

static unsigned char ignored[MUTANTS + 1];

int ses__mutant;
volatile unsigned char *ses__reached = ignored;

__attribute__((constructor)) static void choose(void)
{
    const char *number = getenv("SES_MUTANT");
    const char *path = getenv("SES_MUTANT_REACHED");
    int file = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *map =
        file >= 0 ? mmap(NULL, sizeof ignored, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;

    if (number != NULL)
        ses__mutant = atoi(number);
    if (map != MAP_FAILED)
        ses__reached = map;
    if (file >= 0)
        (void)close(file);
}
