/* The command lists, finds, adds and forgets what is remembered. */
#include "command.h"
#include "seslite_memory.h"

TEST_OF(command_setup, memory_is_listed_found_added_and_forgotten)
{
    run_code(3, "-u", "alice", "memory", "list");
    run_code(2, "-u", "alice", "memory", "add");
    run_code(2, "-s", "one", "memory", "add", "--project", "p");
    run_code(2, "-s", "one", "memory", "add", "A text", "--up-to", "1");
    run_code(2, "-u", "alice", "memory", "list", "-n", "0");
    run_ok("-a", "chat", "-u", "alice", "memory", "add", "Alice is allergic to nuts.");
    run_ok("-a", "chat", "-u", "alice", "memory", "add", "The project likes walnuts.", "--project", "p");
    run_ok("-u", "alice", "memory", "list");
    assert_has(&reply.out, "memory:notes");
    assert_has(&reply.out, "allergic to nuts");
    assert_lacks(&reply.out, "walnuts");
    run_ok("-u", "alice", "memory", "list", "--project", "p", "--jsonl");
    assert_int_equal(reply_lines(&reply), 2);
    run_ok("-u", "alice", "memory", "search", "Are there nuts in it?", "--jsonl");
    assert_int_equal(reply_lines(&reply), 1);
    assert_has(&reply.out, "\"session\":\"memory:notes\",\"seq\":1,\"event\":{");
    assert_has(&reply.out, "Alice is allergic to nuts.");
    run_code(3, "-u", "alice", "memory", "search", "elephants");
    run_code(2, "-u", "alice", "memory", "forget"); /* without --yes */
    run_code(2, "-u", "alice", "memory", "forget", "--events", "1", "-y");
    run_code(2, "-s", "memory:notes", "memory", "forget", "--events", "1,x", "-y");
    run_ok("-s", "memory:notes", "memory", "forget", "--events", "1", "-y");
    run_code(3, "-u", "alice", "memory", "list");
    run_ok("-u", "alice", "memory", "forget", "--project", "p", "-y", "--json");
    assert_has(&reply.out, "\"deleted\":1");
    run_code(3, "-u", "alice", "memory", "list", "--project", "p");
}

TEST_OF(command_setup, a_session_is_remembered_up_to_a_number)
{
    run_ok("-s", "one", "memory", "add", "--up-to", "1");
    run_ok("-u", "alice", "memory", "list", "--jsonl");
    const size_t few = reply_lines(&reply);
    assert_int_equal(few, 1);
    run_ok("-s", "one", "memory", "add");
    run_ok("-u", "alice", "memory", "list", "--jsonl");
    assert_true(reply_lines(&reply) > few);
    run_ok("-u", "alice", "memory", "list", "-n", "1", "--jsonl");
    assert_int_equal(reply_lines(&reply), 1);
    run_ok("-s", "one", "memory", "forget", "-y");
    run_code(3, "-u", "alice", "memory", "list");
    run_ok("show", "one");
}
