# Lists of tests, by their paths below test/ without the .c; then what single ones are built with beyond the
# rest: TEST_CFLAGS_<name>, TEST_OBJECTS_<name>, TEST_LIBS_<name>.

# Scripts that look at the whole tree: test/<name>.sh.
CHECK_ALL := headers readme chat $(if $(filter release,$(FLAVOUR)),artefacts format english subjects pictures layers abi \
    version abidiff exports names linking amalgamation embed schema cells docs install dist)

# What takes more than about 0.7 seconds, of work or of waiting: begun first, and left out by `make quick`.
LONG_TESTS := mysql/galera storage/upgrade_beside program/server_streams storage/backup_at_once postgres/failover postgres/stopped postgres/races postgres/open postgres/machines postgres/hosts \
    postgres/refused postgres/bouncer postgres/given_up storage/faults_sqlite storage/faults_company postgres/undone mysql/undone storage/faults_disk storage/damage \
    storage/faults_disk_crash storage/derived_damage artifact/transfer storage/secure storage/combo \
    storage/usage_tally storage/redact_crash erase/histories storage/faults_sqlite_text storage/faults_memory storage/faults_sqlite_memory storage/open_damaged session/list_token \
    session/filters session/property storage/processes storage/checkpoint session/shared_counter storage/stress storage/checkpoint_reader \
    json/writer storage/index_kills storage/inbox_kills inbox/waiting search/index session/bytes cjson/cjson session/state_number storage/damaged_rows storage/damaged_trees \
    storage/open_identity storage/open_guard storage/open_files storage/group_commit_waiting storage/readers session/session_range storage/migrate \
    program/sqlite3_guards storage/threads storage/group_commit storage/interrupt storage/open storage/readers_waiting \
    storage/open_schema storage/plans_room storage/open_journal storage/plans_views storage/faults_memory_handle \
    storage/open_life storage/group_commit_outcome storage/processes_fair program/sqlite3 agent/tracked_model install dist chat \
    amalgamation session/lease_waiting storage/lease_processes session/lines session/load storage/lines_kills \
    session/follow_wait storage/follow_watch storage/follow_at_once session/list_filter_model \
    storage/check_tampering storage/backup_killed storage/backup storage/check program/seslite_habits \
    program/seslite_terminal program/seslite_write program/seslite_read program/seslite_pages \
    program/seslite_import program/seslite_import_bad program/seslite_import_large \
    program/seslite_create program/seslite_append \
    program/seslite_html program/seslite_html_safe program/seslite_html_browser \
    postgres/proxy postgres/replica mysql/failover mysql/faults postgres/upgrade mysql/upgrade \
    storage/upgrade_stopped program/seslite_upgrade storage/cells

# What takes longest: left out by `make test`, and run by `make test-all`. No test of an acknowledged event, an upgrade
# or an error code is among these. README.md has their seconds.
LONGEST_TESTS := search/index json/writer cjson/cjson session/list_filter_model storage/damage storage/derived_damage \
    storage/check_tampering storage/combo program/seslite_html_browser program/seslite_import_large dist install \
    amalgamation abidiff docs format

# They run the example server, and ask it with libcurl.
SERVER_TESTS := $(wildcard test/program/server*.c)
CURL_TESTS   := $(SERVER_TESTS) test/program/seslite_html_browser.c

# The rooms that run on a server, MySQL without an index of words. Left out: what wraps SQLite's functions
# (codes), holds an engine of its own to be what is opened (door), begins with a file that SQL has filled
# (parent, list_filter_model), or asks for its path (store). Single tests that look into the file say so.
SERVER_ROOMS := session agent artifact erase inbox memory usage $(if $(filter postgres,$(ENGINE)),search)
ABOUT_FILES  := session/codes session/door session/door_faults session/parent session/list_filter_model session/store

# What compares times, but for tests in which a failure may mean lost data.
TIMED_TESTS = $(filter-out %kills %crash %failover %threads,$(patsubst test/%.c,%,$(shell \
    grep -lE 'support_steady_us|timeout_ms|wait_ms' $(TEST_SOURCES))))

# What starts threads: by the system's call, by test/group.h, and in some tests of processes by the library,
# which checkpoints a log that has become long.
STARTS_THREADS     := pthread_create|"group\.h"
THREADS_OF_LIBRARY := $(patsubst %,test/storage/%.c,checkpoint_reader processes processes_fair processes_fork)
THREADED_TESTS      = $(sort $(shell grep -lE '$(STARTS_THREADS)' $(TEST_SOURCES)) $(THREADS_OF_LIBRARY))

# Those whose outcome may depend on the version of SQLite.
VERSION_TESTS := program/recover session/codes $(addprefix storage/,check checkpoint damaged_trees interrupt list_statements live_steps \
    maintain marks migrate open_journal open_schema plans plans_references plans_views secure upgrade upgrade_stopped views)

# Those whose outcome may depend on encryption. Not: what is about files in plain text, and what puts a VFS
# before that of the cipher, which is refused.
ENCRYPTED_TESTS := program/seslite_key $(addprefix storage/,key key_backup key_damage key_journal key_traces artifact_kills backup_at_once backup_killed checkpoint \
    history_kills interrupt lines_kills maintain marks open open_journal open_life open_permissions processes \
    processes_fork readers search_index threads upgrade views) $(addprefix session/,append append_batch cursor fork lines list prune state)

# Those whose outcome may depend on the processor.
MACHINE_TESTS := json/accepted json/reader json/writer json/object $(addprefix model/,event live rewind scope snapshot state timestamp) \
    base $(addprefix storage/,event_forms event_ids features marks open_schema search_index) \
    session/list_token artifact/append
# ------------------------------------------------------------------------------------------------ single tests


# Calls of SQLite that the test puts its own functions in place of.
WRAPPED := step bind_int64 bind_text64 prepare_v2 prepare_v3 exec open_v2 busy_handler extended_result_codes \
    create_module bind_pointer backup_step
TEST_LIBS_storage/faults_sqlite := $(WRAPPED:%=-Wl,--wrap=sqlite3_%)

# The library with later schema scripts, in place of the archive.
LATER_SCRIPTS := $(SCRIPTS) $(sort $(wildcard test/sql/0*.sql))
$(B)/test/gen/schema.sql: $(LATER_SCRIPTS) tools/schema.sh
	$(call generate,sh tools/schema.sh $(LATER_SCRIPTS))

$(B)/test/gen/scripts.c: $(B)/test/gen/schema.sql $(LATER_SCRIPTS) tools/embed_scripts.awk
	$(call generate,$(AWK) -f tools/embed_scripts.awk $(B)/test/gen/schema.sql $(LATER_SCRIPTS))

$(B)/test/gen/scripts.o: $(B)/test/gen/scripts.c $(B)/gen/statements.h
	$(call compile)

TEST_OBJECTS_storage/migrate := $(filter-out $(B)/lib/storage-sqlite-scripts.o,$(OBJECTS)) $(B)/test/gen/scripts.o
$(B)/test/storage/migrate: $(TEST_OBJECTS_storage/migrate)
TEST_LIBS_session/codes := -Wl,--wrap=sqlite3_step
TEST_LIBS_storage/live_steps := -Wl,--wrap=sqlite3_step
TEST_LIBS_storage/history_moved := -Wl,--wrap=sqlite3_step

TEST_OBJECTS_storage/group_commit := $(B)/tools/bench/slow_vfs.o
TEST_LIBS_storage/group_commit := -Wl,--wrap=sqlite3_step
$(B)/test/storage/group_commit: $(TEST_OBJECTS_storage/group_commit)

WRAPPED_TEXTS := column_text value_text db_config wal_checkpoint_v2
TEST_LIBS_storage/faults_sqlite_text := $(WRAPPED_TEXTS:%=-Wl,--wrap=sqlite3_%)

# Groups of calls that are made to share a commit: see group.h.
GROUP_TESTS := storage/group_commit_outcome storage/group_commit_undone storage/group_commit_waiting storage/limits storage/limits_late
$(foreach name,$(GROUP_TESTS),$(eval TEST_LIBS_$(name) := -Wl,--wrap=sqlite3_step))

# Calls that fail between others: see company.h.
COMPANY_WRAPS := sqlite3_step ses__connection_start_call
TEST_CFLAGS_storage/faults_company := -DHEADERS='"$(CURDIR)/include"'
TEST_LIBS_storage/faults_company := $(COMPANY_WRAPS:%=-Wl,--wrap=%)

# A disk whose flush takes long.
SLOW_TESTS := $(GROUP_TESTS) storage/processes_fair
$(foreach name,$(SLOW_TESTS),$(eval TEST_OBJECTS_$(name) := $(B)/tools/bench/slow_vfs.o))
$(SLOW_TESTS:%=$(B)/test/%): $(B)/tools/bench/slow_vfs.o

TEST_LIBS_storage/list_statements := -Wl,--wrap=sqlite3_step
TEST_LIBS_storage/expire_statements := -Wl,--wrap=sqlite3_step
TEST_LIBS_storage/prune_statements := -Wl,--wrap=sqlite3_step
TEST_LIBS_storage/readers_waiting := -Wl,--wrap=sqlite3_step
TEST_LIBS_storage/checkpoint_reader := -Wl,--wrap=sqlite3_interrupt
TEST_LIBS_storage/interrupt := -Wl,--wrap=sqlite3_step -Wl,--wrap=sqlite3_interrupt -Wl,--wrap=sqlite3_declare_vtab

# The library of a released version, which is built there once for all flavours, and loaded.
TEST_CFLAGS_storage/upgrade_beside := -DBUILD_FOLDER='"build"'
TEST_LIBS_storage/upgrade_beside := -ldl

# They read the statements of SQLite.
$(foreach test,storage/plans postgres/same_rows postgres/same_writes,$(eval TEST_CFLAGS_$(test) := -DBUILD_FOLDER='"$(B)"'))

TEST_LIBS_json/writer := -lm

# A machine whose clock is wrong.
TEST_LIBS_postgres/lease_clock := -Wl,--wrap=clock_gettime

# A clock that counts what a call works: see work_clock.h.
WORK_CLOCK := clock_gettime nanosleep pthread_cond_timedwait sqlite3_step sqlite3_wal_checkpoint_v2
TEST_LIBS_storage/damage := $(WORK_CLOCK:%=-Wl,--wrap=%)

TEST_LIBS_storage/backup_flush := -Wl,--wrap=fsync
TEST_LIBS_storage/open_media := -Wl,--wrap=sqlite3_initialize
TEST_LIBS_storage/open_identity := -Wl,--wrap=sqlite3_open_v2
TEST_LIBS_storage/open_bugs := -Wl,--wrap=sqlite3_libversion_number
WRAPPED_THREADS := mutex_init mutex_destroy cond_init cond_destroy
TEST_LIBS_storage/faults_threads := $(WRAPPED_THREADS:%=-Wl,--wrap=pthread_%)

# The example server, which is run as a program, and asked with libcurl.
$(foreach test,$(SERVER_TESTS:test/%.c=%),$(eval TEST_CFLAGS_$(test) := -DSERVER='"$(SERVER)"')$(eval TEST_LIBS_$(test) = $$(CURL_LIBS)))
$(SERVER_TESTS:test/%.c=$(B)/test/%): $(if $(WITH_SERVER),$(SERVER))

# The command, which is run as a program.
COMMAND_TESTS := $(patsubst test/%.c,%,$(wildcard test/program/seslite_*.c)) $(if $(POSTGRES),postgres/command)
$(foreach test,$(COMMAND_TESTS),$(eval TEST_CFLAGS_$(test) := -DCOMMAND='"$(COMMAND)"' $(if $(POSTGRES),-DWITH_POSTGRES) $(if $(MYSQL),-DWITH_MYSQL))$(eval TEST_LIBS_$(test) := -lutil))
$(COMMAND_TESTS:%=$(B)/test/%): $(COMMAND)
TEST_LIBS_program/seslite_html_browser += $(CURL_LIBS)

# The formats are tested without the command, and need nothing of it.
FORMAT_TESTS := $(patsubst test/%.c,%,$(wildcard test/formats/*.c))
$(foreach test,$(FORMAT_TESTS),$(eval TEST_CFLAGS_$(test) := -Itools)$(eval TEST_OBJECTS_$(test) := $(FORMAT_OBJECTS)))
$(FORMAT_TESTS:%=$(B)/test/%): $(FORMAT_OBJECTS)

# A part of the command that is tested by itself.
TEST_CFLAGS_program/leftover := -Itools/seslite
TEST_OBJECTS_program/leftover := $(B)/tools/seslite/files/signals.o
$(B)/test/program/leftover: $(B)/tools/seslite/files/signals.o

# What asks a PostgreSQL server looks at the statements' texts, which the library keeps to itself.
$(patsubst test/%.c,$(B)/test/%.o,$(wildcard test/postgres/*.c)): $(B)/gen/postgres_statements.h

# What writes to files.
WRAPPED_WRITES := write pwrite pwrite64
TEST_CFLAGS_storage/key_traces := -D_GNU_SOURCE
TEST_LIBS_storage/key_traces := $(WRAPPED_WRITES:%=-Wl,--wrap=%)
