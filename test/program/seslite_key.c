/* The command on stores with a key, which it reads from a descriptor. */
#include "key.h"

static const char digits[] = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";

/* Runs the command with the keys on descriptors 3 and 4; what it prints must have these words. */
static void run_keyed(const struct folder *folder, int expected, const char *words, const char *arguments)
{
    struct text line = {NULL, 0};
    int status = -1;

    text_printf(&line, "cd '%s' && NO_COLOR=1 '%s/" COMMAND "' %s 3<first 4<second", folder->folder,
                getenv("PWD") ? getenv("PWD") : ".", arguments);
    char *said = support_run(line.data, &status);
    if (status != expected || !strstr(said, words))
        print_error("%s\n    %d: %s\n", line.data, status, said);
    assert_int_equal(status, expected);
    assert_non_null(strstr(said, words));
    assert_null(strstr(said, "000102030405"));
    free(said);
    free(line.data);
}

static int keys_setup(void **state)
{
    if (folder_setup(state) != 0)
        return -1;
    const struct folder *folder = *state;
    char *first = support_path(folder->folder, "first");
    char *second = support_path(folder->folder, "second");
    write_file(first, first_key, sizeof first_key);
    write_file(second, digits, sizeof digits - 1);
    free(second);
    free(first);
    return 0;
}

#define SESLITE_KEY_TEST(name) TEST_WITH(struct folder *folder, keys_setup, folder_teardown, name)

SESLITE_KEY_TEST(an_invalid_key_is_refused)
{
    char *first = support_path(folder->folder, "first");

    run_keyed(folder, 2, "--key-fd has no key", "-f a.db --key-fd 9 list");
    run_keyed(folder, 2, "number", "-f a.db --key-fd three list");
    run_keyed(folder, 2, "cannot be combined", "-f a.db backup --plain --to-key-fd 4 b.db");
    run_keyed(folder, 2, "the sqlite3 program cannot read", "-f a.db --key-fd 3 sql 'SELECT 1'");
    write_file(first, "short", 5);
    run_keyed(folder, 2, "expected 32 bytes", "-f a.db --key-fd 3 list");
    write_file(first, digits, 63);
    run_keyed(folder, 2, "64 hexadecimal digits", "-f a.db --key-fd 3 list");
    free(first);
}

SESLITE_KEY_TEST(without_a_cipher_nothing_is_made)
{
    char *path = support_path(folder->folder, "a.db");

    if (!key_is_possible()) {
        run_keyed(folder, 8, "cannot encrypt files", "-f a.db --key-fd 3 create -a app -u user s1");
        assert_int_not_equal(access(path, F_OK), 0);
    }
    free(path);
}

SESLITE_KEY_TEST(every_kind_of_command_takes_the_key)
{
    key_need();
    run_keyed(folder, 0, "s1", "-f a.db --key-fd 3 create -a app -u user s1");
    run_keyed(folder, 0, "", "-f a.db --key-fd 3 append -s s1 --text 'a word to be found'");
    run_keyed(folder, 0, "a word to be found", "-f a.db --key-fd 3 show");
    run_keyed(folder, 0, "sound", "-f a.db --key-fd 3 check");
    run_keyed(folder, 0, "bytes", "-f a.db --key-fd 3 maintain");
    run_keyed(folder, 0, "already", "-f a.db --key-fd 3 migrate");
    run_keyed(folder, 8, "no key is given", "-f a.db show");
    run_keyed(folder, 8, "wrong key", "-f a.db --key-fd 4 show");
    run_keyed(folder, 8, "no key is given", "-f a.db sql 'SELECT 1'");
    run_keyed(folder, 0, "a word to be found", "-f a.db --key-fd 3 export");
    run_keyed(folder, 2, "the store itself", "-f a.db --key-fd 3 export -o a.db --replace");
    run_keyed(folder, 0, "", "-f b.db --key-fd 3 import a.db");
    run_keyed(folder, 4, "is a store", "-f b.db --key-fd 3 export -o a.db --replace");
    run_keyed(folder, 0, "a word to be found", "-f b.db --key-fd 3 show");
    run_keyed(folder, 8, "wrong key", "-f plain.db import a.db");
}

SESLITE_KEY_TEST(a_backup_takes_another_key)
{
    key_need();
    run_keyed(folder, 0, "s1", "-f a.db --key-fd 3 create -a app -u user s1");
    run_keyed(folder, 0, "Wrote", "-f a.db --key-fd 3 backup same.db");
    run_keyed(folder, 0, "s1", "-f same.db --key-fd 3 list");
    run_keyed(folder, 0, "Wrote", "-f a.db --key-fd 3 backup --to-key-fd 4 other.db");
    run_keyed(folder, 0, "s1", "-f other.db --key-fd 4 list");
    run_keyed(folder, 0, "Wrote", "-f a.db --key-fd 3 backup --plain plain.db");
    run_keyed(folder, 0, "s1", "-f plain.db list");
    run_keyed(folder, 0, "Wrote", "-f plain.db backup --to-key-fd 3 again.db");
    run_keyed(folder, 0, "s1", "-f again.db --key-fd 3 list");
}
