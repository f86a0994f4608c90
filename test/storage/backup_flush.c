/* The folder of a backup cannot be flushed. (The linker puts the fsync below in place of the system's; see
 * flags.mk.) */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "open.h"

static const ses_key key = {"app", "user", "session"};
static bool fails;

int __real_fsync(int descriptor);
int __wrap_fsync(int descriptor);
int __wrap_fsync(int descriptor)
{
    struct stat info;

    if (fails && fstat(descriptor, &info) == 0 && S_ISDIR(info.st_mode)) {
        errno = EIO;
        return -1;
    }
    return __real_fsync(descriptor);
}

TEST(the_outcome_is_told)
{
    static const ses_backup_options replace = {.size = sizeof replace, .flags = SES_BACKUP_REPLACE};
    char *target = support_path(fixture->folder, "copy.db");

    fails = true;
    assert_code(SES_IO, ses_store_backup(fixture->store, target, NULL, &error));
    assert_int_equal(access(target, F_OK), -1);
    fails = false;
    assert_ok(ses_store_backup(fixture->store, target, NULL, &error));
    must_create(fixture->store, &key, NULL);
    fails = true;
    assert_code(SES_UNKNOWN, ses_store_backup(fixture->store, target, &replace, &error));
    assert_message("in place");
    fails = false;
    assert_query(target, "SELECT name FROM sessions", "session\n"); /* the new one */
    free(target);
}
