#include "import/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/bytes.h"
#include "text/refuse.h"
#include "text/text.h"

static int make_file(int *file, ses_error *error)
{
    const char *folder = getenv("TMPDIR");
    struct text path = {NULL, 0, 0};
    int code = SES_OK;

    text_print(&path, "%s/seslite-import-XXXXXX", folder && *folder ? folder : "/var/tmp");
    *file = mkstemp(path.data);
    if (*file < 0 || unlink(path.data) != 0)
        code = refuse(error, SES_CANTOPEN, "cannot create a temporary file (%s): %s", path.data,
                      strerror(errno));
    text_free(&path);
    return code;
}

static int copy(int from, int to, ses_error *error)
{
    char data[65536];

    for (;;) {
        const ssize_t got = read(from, data, sizeof data);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return refuse(error, SES_IO, "cannot read the input: %s", strerror(errno));
        if (got == 0)
            return SES_OK;
        if (!write_whole(to, data, (size_t)got))
            return refuse(error, errno == ENOSPC ? SES_FULL : SES_IO,
                          "cannot write the input to a temporary file (in TMPDIR): %s", strerror(errno));
    }
}

int spool_input(int from, int *file, ses_error *error)
{
    struct stat info;

    *file = from;
    if (fstat(from, &info) == 0 && S_ISREG(info.st_mode))
        return SES_OK;
    int code = make_file(file, error);
    if (code == SES_OK)
        code = copy(from, *file, error);
    if (code == SES_OK && lseek(*file, 0, SEEK_SET) != 0)
        code = refuse(error, SES_IO, "cannot read the temporary file: %s", strerror(errno));
    if (code != SES_OK && *file >= 0)
        (void)close(*file);
    return code;
}
