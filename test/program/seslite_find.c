/* The command finds what a store holds about somebody. */
#include "command.h"

static const ses_key two = {"chat", "alice", "two"};

TEST_OF(command_setup, by_text_and_by_pattern)
{
    const ses_create_options options = {.size = sizeof options, .title = "Order of eve@x.org"};

    assert_ok(
        ses_create(fixture->store, &two, Q("{'user:mail':'EVE@x.org'}"), SES_NUL, &options, NULL, &error));
    must_append_by_key(fixture->store, &two,
                       Q("{'id':'1','author':'user','content':{'parts':[{'text':'eve@x.org'}]}}"));
    run_ok("find", "eve@x.org", "--json");
    assert_string_equal(
        reply.out.data,
        Q("[\n{'kind':'title','appName':'chat','userId':'alice','session':'two','text':'Order of "
          "eve@x.org'},\n{'kind':'event','appName':'chat','userId':'alice','session':'two','seq':1,"
          "'text':'eve@x.org'}\n]\n"));
    run_ok("find", "-i", "eve@x.org", "-u", "alice", "-n", "1", "--jsonl");
    assert_string_equal(reply.out.data,
                        Q("{'kind':'value','appName':'chat','userId':'alice','name':'user:mail',"
                          "'text':'EVE@x.org'}\n"));
    run_ok("find", "-s", "two", "--pattern", "e.e@");
    assert_has(&reply.out, "WHAT");
    assert_has(&reply.out, "title");
    run_code(3, "find", "nobody");
    run_code(2, "find");
    assert_has(&reply.err, "find needs a text, or --pattern");
    run_code(2, "find", "--pattern", "(");
    run_ok("help", "find");
    assert_has(&reply.out, "use search");
    run_ok("help", "search");
    assert_has(&reply.out, "seslite find");
}
