# What single tests are built with beyond the rest: TEST_CFLAGS_<name>, TEST_OBJECTS_<name>, TEST_LIBS_<name>,
# where <name> is test_<something>.

# Calls of SQLite that the test puts its own functions in place of.
WRAPPED := step bind_int64 bind_text64 prepare_v2 prepare_v3 exec open_v2 busy_handler extended_result_codes
TEST_LIBS_test_faults_sqlite := $(WRAPPED:%=-Wl,--wrap=sqlite3_%)
