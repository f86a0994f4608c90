/* The command on a terminal: colours, width, the bar, and texts that would drive the terminal. */
#include "command.h"

static const struct how terminal = {.terminal = TERMINAL_ALL};
static const struct how without_colour = {.terminal = TERMINAL_ALL, .env = "NO_COLOR=1"};

/* ------------------------------------------------------------------------------------------------ colours */

TEST_OF(command_setup, colours_are_for_terminals)
{
    const struct how dumb = {.terminal = TERMINAL_ALL, .env = "TERM=dumb"};

    run_at(&reply, 0, &terminal, fixture->path, "list");
    assert_has(&reply.screen, "\033[1m");
    run_at(&reply, 0, &without_colour, fixture->path, "list");
    assert_lacks(&reply.screen, "\033");
    assert_has(&reply.screen, "alice");
    run_at(&reply, 0, &dumb, fixture->path, "show");
    assert_lacks(&reply.screen, "\033");
    run_at(&reply, 0, NULL, fixture->path, "show");
    assert_lacks(&reply.out, "\033");
    run_at(&reply, 0, &(struct how){.terminal = TERMINAL_IN | TERMINAL_ERR}, fixture->path, "show");
    assert_lacks(&reply.out, "\033");
}

/* -------------------------------------------------------------------------------------------------- width */

/* The columns of the widest line, where every character is of one column or is one of these two columns. */
static size_t widest(const char *text, const char *wide)
{
    size_t most = 0;
    size_t columns = 0;

    for (; *text; text++) {
        if (*text == '\n' || *text == '\r')
            columns = 0;
        else if (((unsigned char)*text & 0xc0) != 0x80)
            columns += strncmp(text, wide, strlen(wide)) == 0 ? 2 : 1;
        most = columns > most ? columns : most;
    }
    return most;
}

TEST_OF(command_setup, tables_are_as_wide_as_the_terminal)
{
    static const char wide[] = "\xe4\xb8\xad";
    struct text title = {NULL, 0};
    struct how how = without_colour;

    for (int i = 0; i < 60; i++)
        text_add(&title, wide, 3);
    assert_ok(ses_title_set_by_key(fixture->store, &one, title.data, NULL, &error));
    for (how.columns = 63; how.columns < 140; how.columns = (unsigned short)(how.columns + 13)) {
        run_at(&reply, 0, &how, fixture->path, "list");
        assert_in_range(widest(reply.screen.data, wide), how.columns - 1, how.columns);
        assert_has(&reply.screen, "\xe2\x80\xa6\r\n");
    }
    run_at(&reply, 0, NULL, fixture->path, "list");
    assert_has(&reply.out, title.data);
    free(title.data);
}

TEST_OF(command_setup, ids_numbers_and_times_are_never_cut)
{
    static const char id[] = "0198c0de-0000-7000-8000-00000000002a";
    const struct how narrow = {.terminal = TERMINAL_ALL, .columns = 20, .env = "NO_COLOR=1"};

    must_create(fixture->store, &(ses_key){"a-long-name-of-an-app", "somebody@example.org", id}, "{}");
    run_at(&reply, 0, &narrow, fixture->path, "list", "--order", "created");
    assert_has(&reply.screen, id);
    assert_has(&reply.screen, "a-long-name-of-an-app");
    assert_has(&reply.screen, "somebody@example.org");
    assert_has(&reply.screen, "2023-11-14 22:13:26");
    run_at(&reply, 0, &narrow, fixture->path, "-s", "one", "events");
    assert_has(&reply.screen, "2023-11-14 22:13:26");
}

/* A table begins to be printed before the command knows its last rows. */
TEST_OF(command_setup, late_rows_have_the_whole_width)
{
    enum { SHORT_EVENTS = 500 };
    static const ses_key key = {"late", "late", "late"};
    static const char shorter[] = "{\"author\":\"bot\"}";
    static const char longer[] = "a text that is longer than those of all rows before it";
    struct how how = without_colour;
    ses_text events[SHORT_EVENTS + 1];
    char last[256];

    snprintf(last, sizeof last, "{\"author\":\"bot\",\"content\":{\"parts\":[{\"text\":\"%s\"}]}}", longer);
    for (size_t i = 0; i < SHORT_EVENTS; i++)
        events[i] = (ses_text){shorter, strlen(shorter)};
    events[SHORT_EVENTS] = (ses_text){last, strlen(last)};
    must_create(fixture->store, &key, "{}");
    assert_ok(ses_append_batch_by_key(fixture->store, &key, events, SHORT_EVENTS + 1, NULL, NULL, &error));
    for (how.columns = 60; how.columns <= 120; how.columns = (unsigned short)(how.columns + 60)) {
        run_at(&reply, 0, &how, fixture->path, "events", "late");
        assert_true((strstr(reply.screen.data, longer) != NULL) == (how.columns == 120));
        assert_in_range(widest(reply.screen.data, longer), 1, how.columns);
    }
}

TEST_OF(command_setup, accents_do_not_disturb_the_columns)
{
    must_append_by_key(fixture->store, &one,
                       Q("{'author':'e\xcc\x81t\xc3\xa9','content':{'parts':[{'text':'MARK'}]}}"));
    must_append_by_key(fixture->store, &one, Q("{'author':'ete','content':{'parts':[{'text':'MARK'}]}}"));
    run_at(&reply, 0, NULL, fixture->path, "tail", "-n", "2");
    const char *first = strchr(reply.out.data, '\n') + 1;
    const char *second = strchr(first, '\n') + 1;
    assert_int_equal(strstr(first, "MARK") - first, strstr(second, "MARK") - second + 3);
}

TEST_OF(command_setup, a_transcript_is_wrapped)
{
    const struct how narrow = {.terminal = TERMINAL_ALL, .columns = 40, .env = "NO_COLOR=1"};

    must_append_by_key(
        fixture->store, &one,
        Q("{'author':'bot','content':{'parts':[{'text':'one two three four five six seven eight nine ten "
          "eleven twelve thirteen'}]}}"));
    run_at(&reply, 0, &narrow, fixture->path, "show", "-n", "1");
    assert_has(&reply.screen,
               "\r\n    one two three four five six seven\r\n    eight nine ten eleven twelve\r\n");
}

/* ---------------------------------------------------------------------------------------------------- bar */

TEST_OF(command_setup, long_work_shows_a_bar)
{
    const struct how slow = {.terminal = TERMINAL_ERR, .out_after_ms = 1600};
    const struct how no_terminal = {.out_after_ms = 1600};
    struct text event = {NULL, 0};

    text_printf(&event, "{\"author\":\"user\",\"x\":\"%01000d\"}", 0);
    for (int i = 0; i < 600; i++)
        must_append_by_key(fixture->store, &one, event.data);
    run_at(&reply, 0, &slow, fixture->path, "search", "0000000000", "--jsonl");
    assert_has(&reply.screen, "searching [");
    assert_has(&reply.screen, "%");
    assert_lacks(&reply.out, "searching");
    assert_int_equal(reply_lines(&reply), 600);
    run_at(&reply, 0, &no_terminal, fixture->path, "search", "0000000000", "--jsonl");
    assert_string_equal(reply.err.data, "");
    run_at(&reply, 0, &terminal, fixture->path, "search", "coat");
    assert_lacks(&reply.screen, "searching");
    free(event.data);
}

/* ------------------------------------------------------------------------------------------ hostile texts */

/* ESC, BEL, DEL, CSI of C1, an override of direction, a separator of lines, and something to be read. */
#define HOSTILE                                                   \
    "\033]0;x\007\033[2J\x7f\xc2\x9b"                             \
    "31m\xe2\x80\xaegpj.\xe2\x81\xa6\xe2\x80\xa8\xf3\xa0\x81\xa1" \
    "end"

static void assert_harmless(const struct text *text)
{
    static const char *const bad[] = {"\033",         "\007",         "\x7f",         "\xc2\x9b",
                                      "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\xa8", "\xf3\xa0\x81\xa1"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_lacks(text, bad[i]);
    for (size_t i = 0; i < text->len; i++)
        if ((unsigned char)text->data[i] < ' ' && !strchr("\r\n", text->data[i]))
            fail_msg("there is the byte %d", text->data[i]);
}

static void fill_hostile(ses_store *store, const ses_key *key)
{
    static const char event[] =
        "{\"author\":\"\\u001b[31m\xc2\x9b"
        "a\\u202e\",\"id\":\"\\u0007\",\"x\":\""
        "\x7f\xc2\x9b\xe2\x80\xae"
        "\",\"content\":{\"parts\":[{\"text\":\"\\u001b]0;x\\u0007\\u001b["
        "2J\\r\\u009b31m\xe2\x80\xae\\n\\u001b[1mend\"},"
        "{\"functionCall\":{\"name\":\"f\\u001b[0m\",\"args\":{\"\xc2\x9b\":\"\xe2\x80\xae\"}}}]},"
        "\"actions\":{\"stateDelta\":{\"k\\u001b[1m\xc2\x9b\":\"\xe2\x80\xae\x7f\",\"key\":\"\\u001b[5m\"}}}";
    const ses_label label = {HOSTILE, HOSTILE};
    ses_error error;

    must_create(store, key, "{}");
    must_append_by_key(store, key, event);
    assert_ok(ses_title_set_by_key(store, key, HOSTILE, NULL, &error));
    assert_ok(ses_labels_set_by_key(store, key, &label, 1, NULL, &error));
}

TEST_OF(command_setup, no_text_drives_the_terminal)
{
    static const char *const commands[][4] = {
        {"list"},
        {"list", "--json"},
        {"list", "--names", "users"},
        {"list", "--names", "sessions", "--jsonl"},
        {"show"},
        {"show", "--json"},
        {"state"},
        {"state", "--json"},
        {"state", "key"},
        {"events"},
        {"events", "--jsonl"},
        {"tail"},
        {"search", "end"},
        {"search", "end", "--json"},
        {"title"},
        {"label"},
        {"label", "--json"},

        {"title", "--json"},
        {"delete", HOSTILE, "--dry-run"},
        {"fork", "--at", "start"},
    };
    const ses_key key = {"h" HOSTILE, HOSTILE, HOSTILE};

    fill_hostile(fixture->store, &key);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const bool lists = strcmp(commands[i][0], "list") == 0; /* takes no session */
        const char *const scope[] = {lists ? "-u" : "-s", lists ? key.user : key.session};
        const char *const arguments[] = {
            COMMAND,  "-f",     fixture->path,  "-a",           key.app,        "-u",           key.user,
            scope[0], scope[1], commands[i][0], commands[i][1], commands[i][2], commands[i][3], NULL};
        command_run(&reply, &without_colour, arguments);
        if (reply.status != 0)
            print_error("%s: %s\n", commands[i][0], reply.screen.data);
        assert_int_equal(reply.status, 0);
        assert_harmless(&reply.screen);
        assert_true(reply.screen.len > 0);
    }
}

TEST_OF(command_setup, no_message_drives_the_terminal)
{
    const ses_key key = {"h" HOSTILE, HOSTILE, HOSTILE};
    const struct how no = {.terminal = TERMINAL_ALL, .env = "NO_COLOR=1", .input = "n\n"};

    fill_hostile(fixture->store, &key);
    run_at(&reply, 2, &without_colour, fixture->path, "events");
    assert_harmless(&reply.screen);
    run_at(&reply, 0, &without_colour, fixture->path, "stats");
    assert_harmless(&reply.screen);
    run_at(&reply, 3, &without_colour, fixture->path, "events", HOSTILE "1");
    assert_harmless(&reply.screen);
    run_at(&reply, 2, &without_colour, fixture->path, HOSTILE);
    assert_harmless(&reply.screen);
    run_at(&reply, 2, &without_colour, fixture->path, "list", "--" HOSTILE);
    assert_harmless(&reply.screen);
    run_at(&reply, 1, &no, fixture->path, "delete", HOSTILE);
    assert_has(&reply.screen, "[y/N]");
    assert_harmless(&reply.screen);
    run_at(&reply, 3, &without_colour, HOSTILE, "list");
    assert_harmless(&reply.screen);
}

TEST_OF(command_setup, such_characters_are_made_visible)
{
    const ses_key key = {"h", "h", "h"};

    fill_hostile(fixture->store, &key);
    run_at(&reply, 0, NULL, fixture->path, "-s", "h", "title");
    assert_string_equal(reply.out.data,
                        "^[]0;x^G^[[2J^?<U+009B>31m<U+202E>gpj.<U+2066><U+2028><U+E0061>end\n");
    run_at(&reply, 0, &without_colour, fixture->path, "-s", "h", "title", "--json");
    assert_has(&reply.screen, "\\u007f\\u009b31m\\u202egpj.\\u2066\\u2028\\udb40\\udc61end");
    run_at(&reply, 0, NULL, fixture->path, "-s", "h", "events", "--jsonl");
    assert_has(
        &reply.out,
        "\"\x7f\xc2\x9b\xe2\x80\xae\""); /* where no terminal is, the bytes are those that are stored */
}
