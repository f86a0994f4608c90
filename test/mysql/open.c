/* Opening: addresses, servers that are not there or refuse, settings of the server that must not matter, and
 * TLS. */
#include <unistd.h>

#include "mysql/database.h"

static const ses_key key = {"app", "user", "s1"};

static int open_code(const char *uri, unsigned flags, ses_error *error)
{
    const ses_open_options options = {.size = sizeof options, .flags = flags, .busy_timeout_ms = 3000};
    ses_store *store = NULL;
    const int code = ses_open_mysql(uri, &options, NULL, &store, error);

    ses_close(store);
    return code;
}

SERVER_TEST(text_that_is_not_an_address_is_invalid)
{
    static const char *const bad[] = {"",
                                      "agents.db",
                                      "postgresql://host/agents",
                                      "mysql://",
                                      "mysql://host",
                                      "mysql://host/",
                                      "mysql://host:0/agents",
                                      "mysql://host:70000/agents",
                                      "mysql://host:x/agents",
                                      "mysql://us%er@host/agents",
                                      "mysql://us%00er@host/agents",
                                      "mysql://host/agents?color=red",
                                      "mysql://host/agents?socket",
                                      "mysql://host/agents?tls=maybe"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const int code = open_code(bad[i], 0, &error);
        if (code != SES_INVALID && !(code == SES_MISUSE && !*bad[i]))
            fail_msg("%s: %d %s", bad[i], code, error.message);
    }
}

SERVER_TEST(servers_that_refuse_cannot_be_opened)
{
    const char *socket = strstr(database->server, "socket=");
    char uri[600];

    assert_code(SES_CANTOPEN, open_code("mysql://seslite@127.0.0.1:1/agents", 0, &error));
    assert_code(SES_CANTOPEN, open_code("mysql://seslite@localhost/agents?socket=/nowhere", 0, &error));
    snprintf(uri, sizeof uri, "mysql://seslite:wrong%%20secret@localhost/agents?%s", socket);
    assert_code(SES_CANTOPEN, open_code(uri, 0, &error));
    assert_null(strstr(error.message, "wrong"));
    snprintf(uri, sizeof uri, "mysql://seslite:secret@localhost/no_such_database?%s", socket);
    assert_code(SES_CANTOPEN, open_code(uri, 0, &error));
}

SERVER_TEST(a_store_is_made_once)
{
    char uri[600];

    (void)database_ask(database, "CREATE DATABASE fresh");
    address_of(database->server, "fresh", uri, sizeof uri);
    assert_code(SES_NOTFOUND, open_code(uri, SES_OPEN_MUST_EXIST, &error));
    assert_code(SES_NOTFOUND, open_code(uri, SES_OPEN_READ_ONLY, &error));
    assert_ok(open_code(uri, 0, &error));
    assert_ok(open_code(uri, SES_OPEN_READ_ONLY, &error));
    (void)database_ask(database, "DELETE FROM fresh.seslite_schema_version"); /* as if it had been cut off */
    (void)database_ask(database, "DROP TABLE fresh.seslite_events");
    assert_ok(open_code(uri, 0, &error));
    (void)database_ask(database, "UPDATE fresh.seslite_schema_version SET version = 99");
    assert_code(SES_TOONEW, open_code(uri, 0, &error));
    (void)database_ask(database, "UPDATE fresh.seslite_schema_version SET version = -1");
    assert_code(SES_NOTASTORE, open_code(uri, 0, &error));
    (void)database_ask(database, "UPDATE fresh.seslite_schema_version SET version = 0");
    assert_code(SES_NOTASTORE, open_code(uri, 0, &error));
    (void)database_ask(database, "UPDATE fresh.seslite_schema_version SET version = 1");
    assert_code(SES_NOTASTORE, open_code(uri, 0, &error));
    assert_non_null(
        strstr(error.message, "an unreleased version of seslite wrote this store (schema version 1)"));
    (void)database_ask(database, "UPDATE fresh.seslite_schema_version SET version = 3");
    (void)database_ask(database, "INSERT INTO fresh.seslite_features VALUES ('colors', 2)");
    assert_code(SES_READONLY, open_code(uri, 0, &error));
    assert_non_null(strstr(error.message, "colors"));
    assert_ok(open_code(uri, SES_OPEN_READ_ONLY, &error));
}

/* Runs the script by hand. */
static void run_script(const struct database *database, const char *path)
{
    char *script = support_read_file(path, NULL);

    assert_non_null(script);
    assert_int_equal(mysql_set_server_option(database->conn, MYSQL_OPTION_MULTI_STATEMENTS_ON), 0);
    if (mysql_query(database->conn, script) != 0)
        fail_msg("%s: %s", path, mysql_error(database->conn));
    do
        mysql_free_result(mysql_store_result(database->conn));
    while (mysql_next_result(database->conn) == 0);
    assert_int_equal(mysql_errno(database->conn), 0);
    assert_int_equal(mysql_set_server_option(database->conn, MYSQL_OPTION_MULTI_STATEMENTS_OFF), 0);
    free(script);
}

SERVER_TEST(the_script_leaves_a_store_at_its_version)
{
    static const char versions[] = "SELECT concat(count(*), ' ', max(version)) FROM seslite_schema_version";

    (void)database_ask(database, "CREATE DATABASE scripted");
    (void)database_ask(database, "USE scripted");
    run_script(database, "sql/mysql/0002_initial.sql");
    assert_string_equal(database_ask(database, versions), "1 2");
    run_script(database, "sql/mysql/0002_initial.sql");
    assert_string_equal(database_ask(database, versions), "1 2");
    for (int i = 0; i < 2; i++) {
        run_script(database, "sql/mysql/0003_families.sql");
        assert_string_equal(database_ask(database, versions), "1 3");
    }
    (void)database_ask(database, "UPDATE seslite_schema_version SET version = 4");
    run_script(database, "sql/mysql/0002_initial.sql");
    run_script(database, "sql/mysql/0003_families.sql");
    assert_string_equal(database_ask(database, versions), "1 4");
}

SERVER_TEST(a_store_with_an_unknown_feature_is_not_altered)
{
    static const char tables[] =
        "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'future'";
    char uri[600];

    (void)database_ask(database, "CREATE DATABASE future");
    address_of(database->server, "future", uri, sizeof uri);
    assert_ok(open_code(uri, 0, &error));
    (void)database_ask(database, "DELETE FROM future.seslite_schema_version"); /* so a script has to be run */
    (void)database_ask(database, "DROP TABLE future.seslite_event_marks");
    const int64_t count = database_number(database, tables);
    (void)database_ask(database, "INSERT INTO future.seslite_features VALUES ('aaa', 2), ('colors', 3)");
    assert_code(SES_TOONEW, open_code(uri, 0, &error));
    assert_non_null(strstr(error.message, "colors"));
    (void)database_ask(database, "DELETE FROM future.seslite_features WHERE name = 'colors'");
    assert_code(SES_READONLY, open_code(uri, 0, &error));
    assert_int_equal(database_number(database, tables), count);
    (void)database_ask(database, "DELETE FROM future.seslite_features");
    assert_ok(open_code(uri, 0, &error));
    assert_int_equal(database_number(database, tables), count + 1);
}

/* A group of servers takes no other tables. */
SERVER_TEST(every_table_has_a_primary_key)
{
    ses_close(database_open(database->uri, 5000));
    assert_string_equal(
        database_ask(
            database,
            "SELECT group_concat(t.table_name) FROM information_schema.tables AS t"
            " WHERE t.table_schema = 'agents' AND t.table_type = 'BASE TABLE' AND NOT EXISTS"
            " (SELECT 1 FROM information_schema.table_constraints AS c WHERE c.table_schema = 'agents'"
            " AND c.table_name = t.table_name AND c.constraint_type = 'PRIMARY KEY')"),
        "");
}

SERVER_TEST(a_feature_that_comes_later_ends_writing)
{
    ses_store *store = database_open(database->uri, 5000);

    must_create(store, &key, NULL);
    (void)database_ask(database, "INSERT INTO agents.seslite_features VALUES ('colors', 2)");
    assert_code(SES_READONLY, ses_append_by_key(store, &key, "{}", SES_NUL, NULL, NULL, &error));
    ses_session *session = must_get(store, &key);
    assert_int_equal(ses_session_last_seq(session), 0);
    ses_session_close(session);
    /* As a later script adds it with its change. */
    (void)database_ask(database, "UPDATE agents.seslite_features SET needs = 3");
    assert_code(SES_READONLY, ses_append_by_key(store, &key, "{}", SES_NUL, NULL, NULL, &error));
    assert_code(SES_READONLY, ses_delete(store, &key, NULL, NULL, &error));
    (void)database_ask(database, "DELETE FROM agents.seslite_features");
    must_append_by_key(store, &key, "{}");
    ses_close(store);
}

SERVER_TEST(a_user_who_may_only_read_cannot_write)
{
    const char *socket = strstr(database->server, "socket=");
    ses_store *store = NULL;
    char uri[600];

    (void)database_ask(database, "CREATE USER reader@localhost IDENTIFIED BY 'p@ss/word'");
    (void)database_ask(database, "GRANT SELECT ON agents.* TO reader@localhost");
    snprintf(uri, sizeof uri, "mysql://reader:p%%40ss%%2fword@localhost/agents?%s", socket);
    assert_ok(ses_open_mysql(uri, NULL, NULL, &store, &error));
    ses_session *session = must_get(store, &key);
    ses_session_close(session);
    assert_code(SES_READONLY, ses_append_by_key(store, &key, "{}", SES_NUL, NULL, NULL, &error));
    assert_non_null(strstr(error.message, "rights"));
    ses_close(store);
}

static void run(const char *command)
{
    if (system(command) != 0)
        fail_msg("%s", command);
}

/* A server with a certificate of an authority of its own, on a port. */
SERVER_TEST(tls_is_verified)
{
    char command[2000];
    char line[512];
    char uri[900];

    if (system("command -v openssl >/dev/null 2>&1") != 0) {
        print_message("skipped: TLS, for want of openssl\n");
        skip();
    }
    snprintf(
        command, sizeof command,
        "cd %s && mkdir tls && chmod 755 . tls && cd tls && {"
        " openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem &&"
        " openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=other -keyout other.key -out other.pem &&"
        " openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr &&"
        " printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\\n' >names &&"
        " openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names"
        " -out server.pem && chmod 644 *; } >/dev/null 2>&1",
        database->folder);
    run(command);
    const int port = 20000 + (int)(getpid() % 20000);
    snprintf(
        command, sizeof command,
        "SERVER_OPTIONS='--ssl-ca=%s/tls/ca.pem --ssl-cert=%s/tls/server.pem --ssl-key=%s/tls/server.key' sh "
        "test/mysql/server.sh start %s/second %d",
        database->folder, database->folder, database->folder, database->folder, port);
    assert_int_equal(database_shell(line, sizeof line, command, ""), 0);
    struct database second = {.folder = NULL};
    snprintf(second.server, sizeof second.server, "%s", line);
    database_connect(&second);
    (void)database_ask(&second, "CREATE DATABASE agents");
    (void)database_ask(&second, "CREATE USER safe@'%' IDENTIFIED BY 'secret' REQUIRE SSL");
    (void)database_ask(&second, "GRANT ALL ON agents.* TO safe@'%'");
    snprintf(uri, sizeof uri, "mysql://safe:secret@127.0.0.1:%d/agents", port);
    assert_code(SES_CANTOPEN, open_code(uri, 0, &error));
    snprintf(uri, sizeof uri, "mysql://safe:secret@127.0.0.1:%d/agents?tls=encrypt", port);
    assert_ok(open_code(uri, 0, &error));
    snprintf(uri, sizeof uri, "mysql://safe:secret@127.0.0.1:%d/agents?tls-ca=%s/tls/ca.pem", port,
             database->folder);
    assert_ok(open_code(uri, 0, &error));
    snprintf(uri, sizeof uri, "mysql://safe:secret@127.0.0.1:%d/agents?tls-ca=%s/tls/other.pem", port,
             database->folder);
    assert_code(SES_CANTOPEN, open_code(uri, 0, &error));
    mysql_close(second.conn);
    snprintf(command, sizeof command, "sh test/mysql/server.sh stop %s/second", database->folder);
    assert_int_equal(database_shell(line, sizeof line, command, ""), 0);
}

/* Every setting that could change what statements mean, or which bytes come back, is another. */
SERVER_TEST(settings_of_the_server_do_not_matter)
{
    static const char *const settings[] = {
        "SET GLOBAL sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,PAD_CHAR_TO_FULL_LENGTH'",
        "SET GLOBAL time_zone = '+05:45'",
        "SET GLOBAL autocommit = 0",
        "SET GLOBAL completion_type = 'RELEASE'",
        "SET GLOBAL transaction_isolation = 'SERIALIZABLE'",
        "SET GLOBAL character_set_server = latin1",
        "SET GLOBAL group_concat_max_len = 10",
        "SET GLOBAL sql_select_limit = 1",
        "SET GLOBAL sql_safe_updates = 1"};
    static const char text[] =
        "{\"author\":\"it's \\\\ \\\"quoted\\\"\",\"content\":{\"parts\":[{\"text\":\"a\\u0000b "
        "\xf0\x9f\x90\xac '' \\\\' %s $1 @ses_user --\"}]}}";
    const ses_key other = {"app", "o'\\brien", "\xc3\xa9 ' \\"};
    ses_page *page = NULL;

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (mysql_query(database->conn, settings[i]) != 0) /* MySQL has another name for it */
            print_message("%s: %s\n", settings[i], mysql_error(database->conn));
    }
    ses_store *store = database_open(database->uri, 5000);
    must_create(store, &other, "{\"k\":\"\\u0000'\\\\\"}");
    for (int i = 0; i < 3; i++)
        must_append_by_key(store, &other, text);
    ses_session *session = must_get(store, &other);
    assert_int_equal(ses_session_last_seq(session), 3);
    assert_non_null(strstr(ses_session_event(session, 2)->json, text + 1));
    ses_session_close(session);
    assert_ok(ses_list(store, "app", NULL, NULL, &page, &error));
    assert_int_equal(ses_page_count(page), 2);
    ses_page_close(page);
    ses_close(store);
}
