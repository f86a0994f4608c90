/*
 * The example server beside google-adk's own: server_adk.py compares their replies, and uses google-adk's
 * client. Skipped, with a word, where there is no google-adk: SESLITE_PYTHON names a Python that has it.
 */
#include "server.h"

FOLDER_TEST(the_server_replies_as_google_adks_does)
{
    static const char check[] = "-c 'import google.adk.cli.fast_api, uvicorn, httpx' 2>/dev/null";
    const char *python = getenv("SESLITE_PYTHON") ? getenv("SESLITE_PYTHON") : "python3";
    struct server server = {.options = {"--allow-origins", "https://one.example", "--allow-origins",
                                        "regex:https://.*\\.two\\.example", "--web=/dev/null"}};
    struct text command = {NULL, 0};
    int status = 0;

    text_printf(&command, "%s %s", python, check);
    free(support_run(command.data, &status));
    if (status != 0) {
        print_message("skipped: there is no google-adk (set SESLITE_PYTHON to a python that has it)\n");
        free(command.data);
        skip();
    }
    server_start_at(&server, folder->path, "0");
    command.len = 0;
    text_printf(&command, "%s test/program/server_adk.py %s 2>&1", python, server.url);
    char *said = support_run(command.data, &status);
    server_stop(&server);
    print_message("%s", said);
    free(said);
    free(command.data);
    assert_int_equal(status, 0);
}
