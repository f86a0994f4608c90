/* The command's description of itself for other programs: the man page, and completions in a real bash. */
#include <sys/stat.h>

#include "command.h"

static bool has(const char *program)
{
    char command[128];
    int status = 0;

    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    free(support_run(command, &status));
    if (status != 0)
        print_message("skipped: what needs %s, which is not here\n", program);
    return status == 0;
}

static void assert_silent(const char *command)
{
    int status = 0;
    char *text = support_run(command, &status);

    if (status != 0 || *text)
        print_error("%s: %d\n%s\n", command, status, text);
    assert_string_equal(text, "");
    assert_int_equal(status, 0);
    free(text);
}

TEST(the_man_page_has_no_mistakes)
{
    int status = 0;

    if (!has("groff"))
        return;
    assert_silent(COMMAND " help --man | groff -man -ww -z");
    assert_silent(COMMAND " help --man | groff -man -ww -z -rcR=1 -rLL=40n");
    char *text = support_run(COMMAND " help --man | groff -man -Tutf8 -P-cbou -rLL=200n", &status);
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "--dry-run"));
    assert_non_null(strstr(text, "EXIT STATUS"));
    assert_non_null(strstr(text, "before:INVOCATION"));
    assert_null(strstr(text, "\\-"));
    free(text);
}

TEST(the_man_page_and_the_help_name_the_same)
{
    int status = 0;
    char *man = support_run(COMMAND " help --man | tr -d '\\\\'", &status);
    char *help =
        support_run(COMMAND " help | sed '/^More:/,$d' | sed -n 's/^  \\([a-z]*\\)  .*/\\1/p'", &status);
    size_t count = 0;

    for (char *name = strtok(help, "\n"); name; name = strtok(NULL, "\n")) {
        char heading[64];
        snprintf(heading, sizeof heading, ".SS \"seslite %s", name);
        assert_non_null(strstr(man, heading));
        count++;
    }
    assert_in_range(count, 20, 100);
    free(help);
    free(man);
}

TEST(the_help_is_there_as_json)
{
    int status = 0;
    char *all = support_run(COMMAND " help --json", &status);
    char *one_line = support_run(COMMAND " rewind --help --jsonl", &status);
    cJSON *json = cJSON_Parse(all);
    cJSON *rewind = cJSON_Parse(one_line);

    assert_in_range(cJSON_GetArraySize(json), 20, 100);
    assert_string_equal(json_string(rewind, "name"), "rewind");
    assert_string_equal(json_string(rewind, "argument"), "SESSION");
    assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(rewind, "options")) > 8);
    cJSON_Delete(json);
    cJSON_Delete(rewind);
    free(all);
    free(one_line);
}

/* -------------------------------------------------------------------------------------------- completions */

/* The proposals of bash for the last of these words; one a line. */
static char *complete(const struct fixture *fixture, const char *words)
{
    static const char script[] = "#!/bin/bash\n"
                                 "PATH=%s/tools:$PATH\n"
                                 "source <(%s help --bash) || exit 1\n"
                                 "COMP_WORDS=(seslite -f '%s' %s)\n"
                                 "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                                 "_seslite 2>&1\n"
                                 "((${#COMPREPLY[@]} == 0)) || printf '%%s\\n' \"${COMPREPLY[@]}\"\n";
    char *file = support_path(fixture->folder, "complete");
    struct text text = {NULL, 0};
    char command[1024];
    int status = 0;

    text_printf(&text, script, fixture->folder, COMMAND, fixture->path, words);
    write_file(file, text.data, text.len);
    snprintf(command, sizeof command, "mkdir -p '%s/tools'; ln -sf \"$PWD/%s\" '%s/tools/seslite'; bash '%s'",
             fixture->folder, COMMAND, fixture->folder, file);
    char *answer = support_run(command, &status);
    assert_int_equal(status, 0);
    free(text.data);
    free(file);
    return answer;
}

static void assert_completes(const struct fixture *fixture, const char *words, const char *expected)
{
    char *text = complete(fixture, words);

    if (strcmp(text, expected) != 0)
        print_error("%s\n", words);
    assert_string_equal(text, expected);
    free(text);
}

TEST(bash_completes_commands_options_and_values)
{
    if (!has("bash"))
        return;
    assert_completes(fixture, "re", "rewind\nredo\nredact\n");
    assert_completes(fixture, "cut --d", "--dry-run\n");
    assert_completes(fixture, "list --d", "");
    assert_completes(fixture, "list --order ''", "written\nnewest\noldest\ncreated\n");
    assert_completes(fixture, "rewind --to l", "last-turn\n");
    assert_completes(fixture, "list --order = o", "oldest\n"); /* bash makes three words of --order=o */
    assert_completes(fixture, "list --order =", "written\nnewest\noldest\ncreated\n");
    assert_completes(fixture, "help sta", "state\nstats\n");
    assert_completes(fixture, "list --limit ''", "");
}

TEST(bash_completes_names_by_asking)
{
    const ses_key two = {"chat", "bob", "two"};
    const ses_key other = {"other", "carol", "three"};

    if (!has("bash"))
        return;
    must_create(fixture->store, &one, NULL);
    must_create(fixture->store, &two, NULL);
    must_create(fixture->store, &other, NULL);
    assert_completes(fixture, "--app ''", "chat\nother\n");
    assert_completes(fixture, "--app chat --user ''", "alice\nbob\n");
    assert_completes(fixture, "--user bob show ''", "two\n");
    assert_completes(fixture, "--app chat delete o", "one\n");
    assert_completes(fixture, "state --session t", "two\nthree\n");
    assert_completes(fixture, "tail -f t", "two\nthree\n");
}

TEST(a_name_is_never_run)
{
    char name[512];
    char *file = support_path(fixture->folder, "run");
    const ses_key hostile = {"chat", "alice", name};

    if (!has("bash"))
        return;
    snprintf(name, sizeof name, "x$(touch %s)`touch %s`; touch %s 'q\"", file, file, file);
    must_create(fixture->store, &hostile, NULL);
    must_create(fixture->store, &(ses_key){"chat", "alice", "xa b"}, NULL);
    must_create(fixture->store, &(ses_key){"chat", "alice", "*"}, NULL);
    must_create(fixture->store, &(ses_key){"chat", "alice", "--yes"}, NULL);
    char *text = complete(fixture, "show x");
    assert_non_null(strstr(text, "xa\\ b\n"));
    assert_non_null(strstr(text, "x\\$\\(touch\\ "));
    assert_int_equal(access(file, F_OK), -1);
    free(text);
    assert_completes(fixture, "delete --y", "--yes\n"); /* the option alone */
    assert_completes(fixture, "-s -", "");
    assert_completes(fixture, "show '*'", "\\*\n");
    assert_completes(fixture, "--session \"'xa \"", "xa\\ b\n");
    free(file);
}

/* The output of the program; its standard error must stay empty. */
static void assert_answers(const struct fixture *fixture, const char *words, int code, const char *expected)
{
    struct text command = {NULL, 0};
    int status = 0;

    text_printf(&command, "HOME='%s' %s complete -- %s 2>&1", fixture->folder, COMMAND, words);
    char *text = support_run(command.data, &status);
    if (strcmp(text, expected) != 0 || status != code)
        print_error("%s\n", command.data);
    assert_string_equal(text, expected);
    assert_int_equal(status, code);
    free(text);
    free(command.data);
}

TEST(the_program_answers_with_descriptions)
{
    assert_answers(fixture, "red", 0,
                   "redo\tundo the newest rewind\n"
                   "redact\treplace what must not be kept, in events that stay\n");
    assert_answers(fixture, "list --ord", 0,
                   "--order\twritten (the default), newest or oldest update, or created\n");
    assert_answers(fixture, "list --order=o", 0, "--order=oldest\n");
    assert_answers(fixture, "tail --foll", 0, "--follow\tcontinue with new events as they are appended\n");
    assert_answers(fixture, "help poin", 0, "points\tPoints of a log\n");
    assert_answers(fixture, "backup ''", 1, ""); /* a file, which the shell knows */
    assert_answers(fixture, "html -o x", 1, "");
    assert_answers(fixture, "export --output=x", 1, "");
    assert_answers(fixture, "list --json=", 0, "");
    assert_answers(fixture, "list -- --or", 0, "");
    assert_answers(fixture, "show one ''", 0, "");
    assert_answers(fixture, "nonsense --o", 0, "");
    assert_answers(fixture, "--nonsense show ''", 0, "");
}

TEST(a_store_that_cannot_be_read_has_no_candidates)
{
    char *file = support_path(fixture->folder, "text");
    char *pipe = support_path(fixture->folder, "pipe");

    write_file(file, "no store", 8);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    must_create(fixture->store, &one, NULL);
    assert_answers(fixture, "-f ~/missing.db show ''", 0, "");
    assert_answers(fixture, "-f '~/text' show ''", 0, "");
    assert_answers(fixture, "-f '~/pipe' show ''", 0, "");
    assert_answers(fixture, "-f postgresql://user@localhost:1/none show ''", 0, "");
    assert_answers(fixture, "-f '~/store.db' show ''", 0, "one\n");
    char *missing = support_path(fixture->folder, "missing.db");
    assert_int_equal(access(missing, F_OK), -1);
    free(missing);
    free(pipe);
    free(file);
}

TEST(names_that_a_line_cannot_hold_are_left_out)
{
    char words[512];

    must_create(fixture->store, &(ses_key){"chat", "alice", "a\tb"}, NULL);
    must_create(fixture->store, &(ses_key){"chat", "alice", "a\x1b[2J"}, NULL);
    must_create(fixture->store, &(ses_key){"chat", "alice", "--yes"}, NULL);
    must_create(fixture->store, &(ses_key){"chat", "alice", "a b"}, NULL);
    assert_ok(
        ses_title_set_by_key(fixture->store, &(ses_key){"chat", "alice", "a b"}, "A\ttrip\n", NULL, &error));
    snprintf(words, sizeof words, "-f '%s' show ''", fixture->path);
    assert_answers(fixture, words, 0, "a b\tA trip \n");
}

TEST(fish_completes)
{
    struct text command = {NULL, 0};
    int status = 0;

    if (!has("fish"))
        return;
    must_create(fixture->store, &(ses_key){"chat", "alice", "a b"}, NULL);
    text_printf(
        &command,
        "mkdir '%s/tools'; ln -s \"$PWD/%s\" '%s/tools/seslite'; PATH='%s/tools':$PATH fish --no-config -c \""
        "seslite help --fish | source; complete -C 'seslite list --ord'; complete -C 'seslite -f %s show a'\"",
        fixture->folder, COMMAND, fixture->folder, fixture->folder, fixture->path);
    char *text = support_run(command.data, &status);
    assert_string_equal(text, "--order\twritten (the default), newest or oldest update, or created\na b\n");
    free(text);
    free(command.data);
}

/* Outside of an editor of lines zsh completes nothing, so that the script's own part is run: what it asks and
 * adds. */
TEST(zsh_completes)
{
    struct text command = {NULL, 0};
    int status = 0;

    if (!has("zsh"))
        return;
    must_create(fixture->store, &(ses_key){"chat", "alice", "a b"}, NULL);
    text_printf(&command,
                "mkdir '%s/tools'; ln -s \"$PWD/%s\" '%s/tools/seslite'; PATH='%s/tools':$PATH zsh -f -c '"
                "compadd() {print -rl -- $lines}; compset() {}; _files() {print files}; CURRENT=3; "
                "words=(seslite list --ord); PREFIX=--ord; eval \"$(seslite help --zsh)\"; "
                "words=(seslite import x); PREFIX=x; _seslite; CURRENT=5; "
                "words=(seslite -f \"%s\" show a\\\\\\ ); PREFIX=a\\\\\\ ; _seslite'",
                fixture->folder, COMMAND, fixture->folder, fixture->folder, fixture->path);
    char *text = support_run(command.data, &status);
    assert_string_equal(
        text, "--order  -- written (the default), newest or oldest update, or created\nfiles\na b\n");
    free(text);
    free(command.data);
}
