/* The command shows, adds and removes inputs that wait. */
#include "command.h"
#include "seslite_inbox.h"

#define add_code(code, text, ...) \
    run_at(&reply, (code), (&(const struct how){.input = (text)}), fixture->path, __VA_ARGS__)

TEST_OF(command_setup, inputs_are_listed_added_and_removed)
{
    run_ok("inbox", "list", "--json");
    assert_string_equal(reply.out.data, "[]\n");
    add_code(0, "{\"text\": \"Hi\"}\n", "-s", "one", "inbox", "add", "r1");
    assert_string_equal(reply.err.data, "");
    add_code(0, "{\"text\": \"Hi\"}", "-s", "one", "inbox", "add", "r1");
    assert_string_equal(reply.err.data, "the request r1 was there already\n");
    add_code(4, "[]", "-s", "one", "inbox", "add", "r1");
    add_code(0, "[2]", "-s", "one", "inbox", "add", "r2", "-i", "-");
    add_code(3, "[2]", "-s", "none", "inbox", "add", "r2");
    run_ok("inbox", "list");
    assert_has(&reply.out, "REQUEST");
    assert_has(&reply.out, "{\"text\": \"Hi\"}");
    run_ok("-u", "alice", "inbox", "list", "-n", "1", "--jsonl");
    assert_int_equal(reply_lines(&reply), 1);
    assert_has(&reply.out, "\"session\":\"one\",\"request\":\"r1\",\"added\":");
    assert_has(&reply.out, "\"input\":{\"text\": \"Hi\"}");
    run_code(2, "-s", "one", "inbox", "remove", "r1"); /* without --yes */
    run_ok("-s", "one", "inbox", "remove", "r1", "-y");
    run_code(3, "-s", "one", "inbox", "remove", "r1", "-y");
    run_ok("-s", "one", "inbox", "list", "--jsonl");
    assert_has(&reply.out, "\"request\":\"r2\"");
    run_code(2, "inbox");
}
