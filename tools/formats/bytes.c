#include "formats/bytes.h"

#include <errno.h>
#include <unistd.h>

#include "seslite.h"

int file_code(int number)
{
    return number == ENOSPC || number == EDQUOT || number == EFBIG ? SES_FULL
           : number == EEXIST || number == ENOTEMPTY               ? SES_EXISTS
           : number == EIO                                         ? SES_IO
                                                                   : SES_CANTOPEN;
}

bool write_whole(int fd, const char *data, size_t len)
{
    while (len > 0) {
        const ssize_t written = write(fd, data, len);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            data += written;
            len -= (size_t)written;
        }
    }
    return true;
}
