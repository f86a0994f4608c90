# seslite. `make help` lists what there is to make.
# Variables to set: CC, CFLAGS, LDFLAGS, PREFIX, LIBDIR, DESTDIR, SQLITE (see below), and for libraries in unusual places
# SQLITE_CFLAGS, SQLITE_LIBS, CJSON_CFLAGS, CJSON_LIBS. After a change of CC or flags `make clean`, or name a FLAVOUR: each has a folder
# of its own below build/. make FLAVOUR=lto CFLAGS='-O2 -flto' leaves build/libseslite.a as it is.

# Runs half as many jobs again as there are processors, unless -j is given: many tests wait for a clock. Only for goals that may run in parallel: not for
# `make deps demo`, whose second goal needs what the first one installs.
ifeq ($(MAKELEVEL),0)
ifeq ($(filter-out all check test quick asan tsan coverage tree-check,$(or $(MAKECMDGOALS),all)),)
MAKEFLAGS += -j$(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1); echo $$((n + n / 2)))
endif
endif

CFLAGS     ?= -O2 -g
AWK        ?= awk
INSTALL    ?= install
PKG_CONFIG ?= pkg-config
NM         ?= nm
ifeq ($(origin AR),default)
AR = $(shell sh tools/archiver.sh $(CC))
endif

PREFIX       ?= /usr/local
LIBDIR       ?= $(PREFIX)/lib
INCLUDEDIR   ?= $(PREFIX)/include
BINDIR       ?= $(PREFIX)/bin
DATADIR      ?= $(PREFIX)/share
MANDIR       ?= $(DATADIR)/man
DOCDIR       ?= $(DATADIR)/doc/seslite
BASHDIR      ?= $(DATADIR)/bash-completion/completions
ZSHDIR       ?= $(DATADIR)/zsh/site-functions
FISHDIR      ?= $(DATADIR)/fish/vendor_completions.d
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
CMAKEDIR     ?= $(LIBDIR)/cmake/seslite

VERSION := $(shell $(AWK) '/define SES_VERSION_(MAJOR|MINOR|PATCH) /{v = v s $$3; s = "."} END {print v}' include/seslite.h)
# The shared library's: raised when a program has to be compiled again. Before 1.0 that is every minor version.
ABI     := $(shell echo $(VERSION) | $(AWK) -F. '{print $$1 == 0 ? $$1 "." $$2 : $$1}')

# A line for each file that is made; V=1 prints the commands, and -s nothing. What compilers say is printed in any case.
SILENT := $(findstring s,$(firstword -$(MAKEFLAGS)))
says    = $(if $(filter 1,$(V)),,@$(if $(SILENT),,echo '$(1) $(or $(2),$@)';) )

# Looked up only when something is built, since `make deps` may just have installed them.
SQLITE_CFLAGS ?= $(shell $(PKG_CONFIG) --cflags sqlite3 2>/dev/null)
SQLITE_LIBS   ?= $(shell $(PKG_CONFIG) --libs sqlite3 2>/dev/null || echo -lsqlite3)
CJSON_CFLAGS  ?= $(shell $(PKG_CONFIG) --cflags libcjson 2>/dev/null)
CJSON_LIBS    ?= $(shell $(PKG_CONFIG) --libs libcjson 2>/dev/null || echo -lcjson)
CMOCKA_LIBS   ?= $(shell $(PKG_CONFIG) --libs cmocka 2>/dev/null || echo -lcmocka)
# The example server, and its test, are built where these are. WITH_SERVER= leaves them out.
WITH_SERVER   ?= $(shell $(PKG_CONFIG) --exists libmicrohttpd libcurl 2>/dev/null && echo yes)
MHD_CFLAGS    ?= $(shell $(PKG_CONFIG) --cflags libmicrohttpd 2>/dev/null)
MHD_LIBS      ?= $(shell $(PKG_CONFIG) --libs libmicrohttpd 2>/dev/null || echo -lmicrohttpd)
CURL_LIBS     ?= $(shell $(PKG_CONFIG) --libs libcurl 2>/dev/null || echo -lcurl)
# The engines for servers, by POSTGRES=1 and MYSQL=1. ENGINE=postgres: the tests run on it, with a server of their own, but for
# those that are about files. ENGINE=mysql: the same on the other.
ifeq ($(ENGINE),postgres)
override POSTGRES := 1
endif
ifeq ($(ENGINE),mysql)
override MYSQL := 1
endif
ifneq ($(POSTGRES),)
POSTGRES_CFLAGS ?= $(shell $(PKG_CONFIG) --cflags libpq 2>/dev/null || echo -I$$(pg_config --includedir))
POSTGRES_LIBS   ?= $(shell $(PKG_CONFIG) --libs libpq 2>/dev/null || echo -lpq)
endif
ifneq ($(MYSQL),)
MYSQL_CFLAGS    ?= $(shell $(PKG_CONFIG) --cflags libmariadb 2>/dev/null || mariadb_config --include)
MYSQL_LIBS      ?= $(shell $(PKG_CONFIG) --libs libmariadb 2>/dev/null || echo -lmariadb)
endif
SERVERS := $(if $(POSTGRES),postgres) $(if $(MYSQL),mysql)
SERVER_LIBS      = $(POSTGRES_LIBS) $(MYSQL_LIBS)

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
# The macros: POSIX and a little more; files above 2 GB and times after 2038 on 32-bit Linux.
BASE     := -std=c11 -D_DEFAULT_SOURCE -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 \
            -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -pthread $(WARNINGS)

# FLAVOUR names a set of flags: asan, tsan, coverage, asan-coverage, fuzz, fuzz-coverage have theirs here, which come after CFLAGS; release
# and any other takes CFLAGS alone.
FLAVOUR ?= release
FLAVOUR_FLAGS_asan     := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FLAVOUR_FLAGS_tsan     := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
FLAVOUR_FLAGS_coverage := -O0 -g --coverage
FLAVOUR_FLAGS_asan-coverage := $(FLAVOUR_FLAGS_asan) --coverage
FLAVOUR_FLAGS_fuzz     := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
                          -fno-omit-frame-pointer
FLAVOUR_FLAGS_fuzz-coverage := -O1 -g -fsanitize=fuzzer-no-link -fprofile-instr-generate -fcoverage-mapping
FLAVOUR_FLAGS          := $(FLAVOUR_FLAGS_$(FLAVOUR))
# What is built names no folder of this machine: two builds of a version are equal. (gdb finds the files from this folder.)
MAPPED_PATHS           := $(if $(FLAVOUR_FLAGS),,'-ffile-prefix-map=$(CURDIR)=.')

# SQLITE=path/sqlite3mc.c builds that amalgamation into the library, in place of the system's SQLite: any, or SQLite3 Multiple
# Ciphers, with which files can be encrypted. Its header is in the same folder. It has a folder of its own below build/.
SQLITE     ?=
OWN_SQLITE := $(if $(SQLITE),$(if $(filter encrypted,$(ENGINE)),encrypted,own-sqlite))
B := build$(addprefix /,$(subst $() ,-,$(strip $(filter-out release,$(FLAVOUR)) $(OWN_SQLITE))))
ifneq ($(SQLITE),)
SQLITE_OBJECT  := $(B)/sqlite3.o
SQLITE_HAS_KEYS := $(shell grep -q sqlite3mc_config $(SQLITE) && echo -DSESLITE_WITH_KEYS)
SQLITE_CFLAGS   = -isystem $(dir $(SQLITE)) $(SQLITE_HAS_KEYS)
SQLITE_LIBS     = -lm -ldl
SQLITE_FLAGS   ?= $(CFLAGS) $(filter-out --coverage,$(FLAVOUR_FLAGS))
SQLITE_OPTIONS ?= -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ENABLE_STAT4
endif

# ------------------------------------------------------------------------------------------- the library

# Every file below lib/ is part of it: a new one is named nowhere. An object is called after its room as well, since
# rooms may have files of one name and an archive may not.
SOURCES := $(sort $(wildcard $(addprefix lib/,*/*.c */*/*.c */*/*/*.c)))
LEFT_OUT := $(filter-out $(SERVERS),postgres mysql) $(if $(strip $(SERVERS)),,server)
SOURCES := $(foreach source,$(SOURCES),$(if $(strip $(foreach name,$(LEFT_OUT),$(findstring /$(name)/,$(source)))),,$(source)))
HEADERS := $(filter-out $(foreach name,$(LEFT_OUT),%/seslite_$(name).h),$(sort $(wildcard include/*.h)))
STATEMENTS := $(B)/gen/sqlite.sql
SCRIPTS    := $(sort $(wildcard sql/sqlite/0*.sql))
SCHEMA     := sql/sqlite/schema.sql
object_of   = $(B)/lib/$(subst /,-,$(patsubst lib/%.c,%,$(1))).o
MADE_OBJECTS := $(B)/lib/storage-sql-statements.o $(B)/lib/storage-sqlite-scripts.o
POSTGRES_STATEMENTS := $(B)/gen/postgres.sql
POSTGRES_SCRIPTS    := $(sort $(wildcard sql/postgres/0*.sql))
POSTGRES_OBJECT     := $(if $(POSTGRES),$(B)/lib/storage-postgres-sql_text.o)
MYSQL_STATEMENTS := $(B)/gen/mysql.sql
MYSQL_SCRIPTS    := $(sort $(wildcard sql/mysql/0*.sql))
MYSQL_OBJECT     := $(if $(MYSQL),$(B)/lib/storage-mysql-sql_text.o)
OBJECTS    := $(foreach source,$(SOURCES),$(call object_of,$(source))) $(MADE_OBJECTS) $(POSTGRES_OBJECT) $(MYSQL_OBJECT) $(SQLITE_OBJECT)
LIBRARY    := $(B)/libseslite.a

# The compiler says what it builds for, since that need not be this system. The programs of a macOS find the library by
# the path that stands in it, which `make install` writes.
TARGET     := $(shell $(CC) -dumpmachine 2>/dev/null)
ifneq ($(findstring darwin,$(TARGET))$(findstring macos,$(TARGET)),)
shared_name = libseslite$(1).dylib
SONAME_FLAGS = -dynamiclib -Wl,-headerpad_max_install_names -install_name @rpath/$(SHARED_ABI)
SET_SONAME   = $(INSTALL_NAME_TOOL) -id '$(LIBDIR)/$(SHARED_ABI)'
INSTALL_NAME_TOOL ?= install_name_tool
else
shared_name = libseslite.so$(1)
# The version of each call, so that a program which needs a later one is refused as it starts, by its name.
SYMBOLS      := $(B)/gen/symbols.map
SONAME_FLAGS = -shared -Wl,-soname,$(SHARED_ABI) -Wl,--version-script=$(SYMBOLS)
SET_SONAME   = :
endif
SHARED     := $(B)/$(call shared_name,.$(VERSION))
SHARED_ABI := $(call shared_name,.$(ABI))
SHARED_DEV := $(call shared_name,)

COMPILE = $(CC) $(BASE) $(MAPPED_PATHS) -Iinclude -Ilib -I$(B)/gen $(CPPFLAGS) $(CFLAGS) $(FLAVOUR_FLAGS) -MMD -MP
# Coverage is that of lib/: nothing else counts. (gcc takes no option that takes --coverage back.)
COMPILE_UNCOUNTED = $(filter-out --coverage,$(COMPILE))

COMMAND    := $(B)/tools/seslite/seslite

.PHONY: all shared
## all: the static library, build/libseslite.a, and the command, build/tools/seslite/seslite
all: $(LIBRARY) $(COMMAND)

# The books: all statements of an engine, those of sql/statements.sql in its own way.
$(B)/gen/%.sql: sql/statements.sql sql/%/statements.sql tools/book.awk
	@mkdir -p $(@D)
	$(call says,GEN)$(AWK) -f tools/book.awk -v engine=$* sql/statements.sql sql/$*/statements.sql > $@.new && mv $@.new $@

$(B)/gen/statements.h: $(STATEMENTS) tools/embed.awk
	@mkdir -p $(@D)
	$(call says,GEN)$(AWK) -f tools/embed.awk -v mode=names $(STATEMENTS) > $@.new && mv $@.new $@

$(B)/gen/statements.c: $(STATEMENTS) tools/embed.awk
	@mkdir -p $(@D)
	$(call says,GEN)$(AWK) -f tools/embed.awk -v mode=texts $(STATEMENTS) > $@.new && mv $@.new $@

$(B)/gen/scripts.c: $(SCHEMA) $(SCRIPTS) tools/embed_scripts.awk
	@mkdir -p $(@D)
	$(call says,GEN)$(AWK) -f tools/embed_scripts.awk $(SCHEMA) $(SCRIPTS) > $@.new && mv $@.new $@

$(B)/lib/storage-sql-statements.o: $(B)/gen/statements.c $(B)/gen/statements.h
$(B)/lib/storage-sqlite-scripts.o: $(B)/gen/scripts.c
$(MADE_OBJECTS):
	@mkdir -p $(@D)
	$(call says,CC,$<)$(COMPILE) -c -o $@ $<

$(B)/gen/postgres_statements.h: $(STATEMENTS) $(POSTGRES_STATEMENTS) tools/embed_server.awk
	@mkdir -p $(@D)
	$(call says,GEN)$(AWK) -f tools/embed_server.awk -v engine=postgres -v mode=names $(STATEMENTS) $(POSTGRES_STATEMENTS) > $@.new && mv $@.new $@

$(B)/gen/postgres_sql.c: $(STATEMENTS) $(POSTGRES_STATEMENTS) $(POSTGRES_SCRIPTS) tools/embed_server.awk
	@mkdir -p $(@D)
	$(call says,GEN)$(AWK) -f tools/embed_server.awk -v engine=postgres -v mode=text $(STATEMENTS) $(POSTGRES_STATEMENTS) $(POSTGRES_SCRIPTS) > $@.new && mv $@.new $@

$(POSTGRES_OBJECT): $(B)/gen/postgres_sql.c $(B)/gen/postgres_statements.h $(B)/gen/statements.h
	@mkdir -p $(@D)
	$(call says,CC,$<)$(COMPILE) -c -o $@ $<

$(B)/gen/mysql_statements.h: $(STATEMENTS) $(MYSQL_STATEMENTS) tools/embed_server.awk
	@mkdir -p $(@D)
	$(call says,GEN)$(AWK) -f tools/embed_server.awk -v engine=mysql -v mode=names $(STATEMENTS) $(MYSQL_STATEMENTS) > $@.new && mv $@.new $@

$(B)/gen/mysql_sql.c: $(STATEMENTS) $(MYSQL_STATEMENTS) $(MYSQL_SCRIPTS) tools/embed_server.awk
	@mkdir -p $(@D)
	$(call says,GEN)$(AWK) -f tools/embed_server.awk -v engine=mysql -v mode=text $(STATEMENTS) $(MYSQL_STATEMENTS) $(MYSQL_SCRIPTS) > $@.new && mv $@.new $@

$(MYSQL_OBJECT): $(B)/gen/mysql_sql.c $(B)/gen/mysql_statements.h $(B)/gen/statements.h
	@mkdir -p $(@D)
	$(call says,CC,$<)$(COMPILE) $(MYSQL_CFLAGS) -c -o $@ $<

# The files of the amalgamation that are not in lib/.
AMALGAMATED := $(addprefix $(B)/gen/,statements.h statements.c scripts.c postgres_statements.h postgres_sql.c mysql_statements.h mysql_sql.c)

# Only the room that knows a foreign library is given its headers.
# What runs when a store is opened or a session created, when a call fails, for leases, titles and labels, and beside the
# calls, is short rather than fast. So is what takes a small part of the time of an append: with all of it, an append has
# 0.3% more instructions.
SHORT := lib/session/open.c lib/session/sqlite/open.c lib/session/create.c lib/session/followers.c lib/model/annotations.c \
    $(patsubst %,lib/storage/sql/%.c,rows/details rows/lease rows/state) lib/session/append.c lib/model/state/delta.c lib/model/event/timestamp.c \
    $(patsubst %,lib/storage/sqlite/%.c,engine wal/checkpoint wal/checkpoint_concurrent) \
    $(patsubst %,lib/storage/sqlite/connection/%.c,connection_file connection_open failure file key registry schema schema_check)
cflags_of = $(if $(filter lib/storage/sqlite/%,$(1)),$(SQLITE_CFLAGS)) $(if $(filter lib/cjson/%,$(1)),$(CJSON_CFLAGS)) \
    $(if $(filter lib/storage/postgres/%,$(1)),$(POSTGRES_CFLAGS)) $(if $(filter lib/storage/mysql/%,$(1)),$(MYSQL_CFLAGS)) \
    $(if $(filter $(SHORT),$(1)),$(patsubst -O2,-Os,$(filter -O2,$(CFLAGS))))
define compile_rule
$(call object_of,$(1)): $(1) $(B)/gen/statements.h $(foreach name,postgres mysql,$(if $(findstring /$(name)/,$(1)),$(B)/gen/$(name)_statements.h))
	@mkdir -p $$(@D)
	$$(call says,CC,$$<)$$(COMPILE) $$(call cflags_of,$(1)) -c -o $$@ $$<
endef
$(foreach source,$(SOURCES),$(eval $(call compile_rule,$(source))))

$(SQLITE_OBJECT): $(SQLITE)
	@mkdir -p $(@D)
	$(call says,CC,$<)$(CC) -fPIC -fvisibility=hidden -pthread -w $(SQLITE_FLAGS) $(SQLITE_OPTIONS) -c -o $@ $<

# The engines in the library, which is rebuilt when they change.
$(B)/gen/engines: FORCE
	@mkdir -p $(@D)
	@echo sqlite $(SERVERS) | cmp -s - $@ || echo sqlite $(SERVERS) > $@

# Everything that is linked is rebuilt when a source is removed, which no time of a file shows.
$(B)/gen/objects: FORCE
	@mkdir -p $(@D)
	@echo $(OBJECTS) $(COMMAND_OBJECTS) $(SERVER_OBJECTS) | cmp -s - $@ || \
	    echo $(OBJECTS) $(COMMAND_OBJECTS) $(SERVER_OBJECTS) > $@

$(LIBRARY): $(OBJECTS) $(B)/gen/objects
	@rm -f $@
	$(call says,AR)$(AR) rcs $@ $(OBJECTS)

## shared: the shared library, build/libseslite.so
shared: $(SHARED)

$(SYMBOLS): tools/abi/symbols.map tools/abi/symbols.awk $(HEADERS) $(B)/gen/engines
	$(call says,GEN)$(AWK) -f tools/abi/symbols.awk tools/abi/symbols.map $(HEADERS) > $@.new && mv $@.new $@

$(SHARED): $(OBJECTS) $(B)/gen/objects $(SYMBOLS)
	$(call says,LD)$(CC) $(SONAME_FLAGS) $(CFLAGS) $(FLAVOUR_FLAGS) -pthread -o $@ $(OBJECTS) $(LDFLAGS) $(SQLITE_LIBS) $(CJSON_LIBS) $(SERVER_LIBS)
	@ln -sf $(@F) $(B)/$(SHARED_ABI)
	@ln -sf $(@F) $(B)/$(SHARED_DEV)

# ---------------------------------------------------------------------------------------------- the tools

LINK = $(CC) $(CFLAGS) $(FLAVOUR_FLAGS) -pthread
BENCH_OBJECTS := $(patsubst tools/%.c,$(B)/tools/%.o,$(wildcard tools/bench/*.c))
SERVER_OBJECTS := $(patsubst tools/%.c,$(B)/tools/%.o,$(wildcard tools/server/*.c))
SERVER := $(B)/tools/server/server
COMMAND_OBJECTS := $(patsubst tools/%.c,$(B)/tools/%.o,$(wildcard $(addprefix tools/seslite/,*.c */*.c */*/*.c)))

$(B)/tools/%.o: tools/%.c
	@mkdir -p $(@D)
	$(call says,CC,$<)$(COMPILE_UNCOUNTED) $(SQLITE_CFLAGS) $(TOOL_CFLAGS) -c -o $@ $<

$(B)/tools/%: $(B)/tools/%.o $(LIBRARY)
	$(call says,LD)$(LINK) -o $@ $^ $(LDFLAGS) $(SQLITE_LIBS)

$(B)/tools/bench/bench: $(BENCH_OBJECTS) $(LIBRARY)
	$(call says,LD)$(LINK) -o $@ $^ $(LDFLAGS) $(SQLITE_LIBS)

# The engine for servers, beside bare programs and google-adk. BENCH_LIBRARY: another build's library is measured.
BENCH_POSTGRES_OBJECTS := $(patsubst tools/%.c,$(B)/tools/%.o,$(wildcard tools/bench/postgres/*.c)) $(B)/tools/bench/measure.o
BENCH_LIBRARY ?= $(LIBRARY)
BENCH_PYTHON  ?=
$(BENCH_POSTGRES_OBJECTS): TOOL_CFLAGS = -Itest $(POSTGRES_CFLAGS)

$(B)/tools/bench/postgres/bench: $(BENCH_POSTGRES_OBJECTS) $(BENCH_LIBRARY) FORCE
	$(call says,LD)$(LINK) -o $@ $(BENCH_POSTGRES_OBJECTS) $(BENCH_LIBRARY) $(LDFLAGS) $(SQLITE_LIBS) $(POSTGRES_LIBS)

BENCH_MYSQL_OWN     := $(patsubst tools/%.c,$(B)/tools/%.o,$(wildcard tools/bench/mysql/*.c))
BENCH_MYSQL_OBJECTS := $(BENCH_MYSQL_OWN) $(addprefix $(B)/tools/bench/,measure.o postgres/library.o postgres/adk.o)
$(BENCH_MYSQL_OWN): TOOL_CFLAGS = -Itest $(MYSQL_CFLAGS)

$(B)/tools/bench/mysql/bench: $(BENCH_MYSQL_OBJECTS) $(BENCH_LIBRARY) FORCE
	$(call says,LD)$(LINK) -o $@ $(BENCH_MYSQL_OBJECTS) $(BENCH_LIBRARY) $(LDFLAGS) $(SQLITE_LIBS) $(MYSQL_LIBS)

# The page of `seslite html`, and the scripts for shells.
COMMAND_FILES := $(addprefix tools/seslite/html/page/page.,css js) $(addprefix tools/seslite/complete/completion.,bash zsh fish)
COMMAND_OBJECTS += $(B)/tools/seslite/embedded.o

$(B)/gen/command_files.c: $(COMMAND_FILES) tools/embed_files.awk
	@mkdir -p $(@D)
	$(call says,GEN)$(AWK) -f tools/embed_files.awk $(COMMAND_FILES) > $@.new && mv $@.new $@

$(B)/tools/seslite/embedded.o: $(B)/gen/command_files.c
	@mkdir -p $(@D)
	$(call says,CC,$<)$(COMPILE) $(TOOL_CFLAGS) -c -o $@ $<

$(COMMAND_OBJECTS): TOOL_CFLAGS = -Itools/seslite $(if $(POSTGRES),-DWITH_POSTGRES) $(if $(MYSQL),-DWITH_MYSQL)
$(B)/tools/seslite/files/place.o: $(B)/gen/engines

$(COMMAND): $(COMMAND_OBJECTS) $(LIBRARY)
	$(call says,LD)$(LINK) -o $@ $^ $(LDFLAGS) $(SQLITE_LIBS) $(SERVER_LIBS)

# The command is run to print its man page, so that is not made when cross-compiling.
COMMAND_PAGE := $(B)/tools/seslite/seslite.1
$(COMMAND_PAGE): $(COMMAND)
	$(call says,GEN)$(COMMAND) help --man > $@.new && mv $@.new $@

# The reference: from all public headers, whatever is built.
DOCS      := $(B)/docs
REFERENCE_FIRST := $(patsubst %,include/%.h,seslite seslite_history seslite_live seslite_transfer)
REFERENCE := $(REFERENCE_FIRST) $(filter-out $(REFERENCE_FIRST),$(sort $(wildcard include/*.h)))
.PHONY: docs
## docs: a page for each call and type from the headers, build/docs/man (man -l) and build/docs/html (index.html)
docs: $(DOCS)/records

$(DOCS)/records: $(REFERENCE) $(wildcard tools/docs/*)
	@AWK='$(AWK)' sh tools/docs/make.sh $(DOCS) $(VERSION) $(REFERENCE)

$(SERVER_OBJECTS): TOOL_CFLAGS = $(MHD_CFLAGS) $(CJSON_CFLAGS)

$(SERVER): $(SERVER_OBJECTS) $(LIBRARY)
	$(call says,LD)$(LINK) -o $@ $^ $(LDFLAGS) $(MHD_LIBS) $(SQLITE_LIBS) $(CJSON_LIBS)

.PHONY: deps deps-browser demo command server bench
## deps: install the packages for building and testing, with the system's package manager; POSTGRES=1: also libpq and a server; MYSQL=1: the same of MariaDB
deps:
	@sh tools/deps.sh $(SERVERS)

## deps-browser: also Chromium and chromedriver, in which the page of `seslite html` is tested
deps-browser:
	@sh tools/deps.sh browser

## demo: store a conversation and show it; FULL=1: also with the command in many ways, and run a small agent
demo: $(B)/tools/demo $(B)/tools/agent $(COMMAND)
	@FULL='$(FULL)' sh tools/demo.sh $(B)/tools/demo $(B)/demo.db $(B)/tools/agent $(COMMAND)

## command: the command and its man page, in build/tools/seslite
command: $(COMMAND) $(COMMAND_PAGE)

## server: the example chat server, build/tools/server/server
server: $(SERVER)

## bench: time seslite against a bare SQLite program and itself; also writes build/bench.jsonl (QUICK=1 only checks that it runs)
QUICK ?=
bench: $(B)/tools/bench/bench
	@mkdir -p $(B)/bench
	@# 2: a figure is not reached, which the table says; that is no failure of making it
	$(B)/tools/bench/bench $(if $(QUICK),--quick) --json $(B)/bench.jsonl --folder $(B)/bench || [ $$? -eq 2 ]

## compare: time seslite beside the stores of google-adk, adk-rust and the OpenAI Agents SDK, after make clients (COMPARE='--rounds 20')
.PHONY: compare
COMPARE ?=
compare: $(B)/tools/bench/compare/worker
	@! command -v cargo >/dev/null 2>&1 || { cd tools/rust && CARGO_TARGET_DIR=$(abspath build/rust) \
	    cargo build --quiet --release --locked -p adk-session-seslite --example compare; } || echo "without Rust"
	@mkdir -p $(B)/bench
	python3 tools/bench/compare/compare.py --c $< --rust build/rust/release/examples/compare \
	    --python build/python/venv/bin/python --folder $(B)/bench $(COMPARE)

## bench-postgres: time seslite on a server, directly and 1 ms away (BENCH_PYTHON=one with google-adk, BENCH_LIBRARY=another build's)
.PHONY: bench-postgres
ifeq ($(POSTGRES),)
bench-postgres:
	@$(MAKE) --no-print-directory $@ POSTGRES=1
else
bench-postgres: $(B)/tools/bench/postgres/bench
	sh test/postgres/with_server.sh sh -c '"$$0" $(if $(QUICK),--quick) $(if $(BENCH_PYTHON),--adk $(BENCH_PYTHON)) \
	    --json $(B)/bench-postgres.jsonl "$$SESLITE_POSTGRES" || [ $$? -eq 2 ]' $<
endif

## bench-mysql: the same on MySQL
.PHONY: bench-mysql
ifeq ($(MYSQL),)
bench-mysql:
	@$(MAKE) --no-print-directory $@ MYSQL=1
else
bench-mysql: $(B)/tools/bench/mysql/bench
	sh test/mysql/with_server.sh sh -c '"$$0" $(if $(QUICK),--quick) $(if $(BENCH_PYTHON),--adk $(BENCH_PYTHON)) \
	    --json $(B)/bench-mysql.jsonl "$$SESLITE_MYSQL" || [ $$? -eq 2 ]' $<
endif

# ---------------------------------------------------------------------------------------------- the tests

# Each C file in a room of test/ is a program of its own, linked with the archive as a user's program would be. What one
# needs beyond that stands in test/flags.mk. The tests run from this folder.
SERVER_TESTS := $(wildcard test/program/server*.c)
CURL_TESTS   := $(SERVER_TESTS) test/program/seslite_html_browser.c
TEST_SOURCES := $(filter-out test/fuzz/% $(if $(WITH_SERVER),,$(CURL_TESTS)) $(patsubst %,test/%/%,$(LEFT_OUT)),$(sort $(wildcard test/*/*.c)))
TEST_ALL     := $(TEST_SOURCES:test/%.c=%)
TEST_SUPPORT := $(B)/test/support.o
PROGRAMS     := $(B)
CHECK_ALL    := $(if $(ENGINE),,headers readme) $(if $(filter release,$(FLAVOUR)),artefacts format english subjects pictures layers abi version abidiff exports names linking amalgamation embed schema cells docs install dist)

include test/flags.mk

ifeq ($(ENGINE),postgres)
# Opening is replaced: each path is a database. Left out: what wraps SQLite's functions (codes), holds an engine of its own
# to be what is opened (door), begins with a file that SQL has filled (parent, list_filter_model), or asks for its path
# (store). Single tests that look into the file say so.
ABOUT_FILES  := session/codes session/door session/door_faults session/parent session/list_filter_model session/store
TEST_ALL     := $(filter-out $(ABOUT_FILES),$(filter session/% agent/% artifact/% search/% erase/% usage/%,$(TEST_ALL)))
CHECK_ALL    :=
PROGRAMS     := $(B)/on-postgres
TEST_SUPPORT += $(B)/test/engine_postgres.o
TEST_LINK    := -Wl,--wrap=ses_open -Wl,--wrap=ses_close
endif

ifeq ($(ENGINE),mysql)
# The same; and there is no index of words.
ABOUT_FILES  := session/codes session/door session/door_faults session/parent session/list_filter_model session/store
TEST_ALL     := $(filter-out $(ABOUT_FILES),$(filter session/% agent/% artifact/% erase/% usage/%,$(TEST_ALL)))
CHECK_ALL    :=
PROGRAMS     := $(B)/on-mysql
TEST_SUPPORT += $(B)/test/engine_mysql.o
TEST_LINK    := -Wl,--wrap=ses_open -Wl,--wrap=ses_close
endif

ifeq ($(ENGINE),encrypted)
# Each store that a test opens has a key. Left out by `make encrypted`: what is about files in plain text, and what puts a
# VFS before that of the cipher, which is refused.
ifeq ($(SQLITE),)
$(error ENGINE=encrypted needs SQLITE=, the path of the amalgamation of SQLite3 Multiple Ciphers)
endif
TEST_ALL     := $(filter session/% agent/% artifact/% search/% storage/% program/seslite_key,$(TEST_ALL))
CHECK_ALL    :=
TEST_SUPPORT += $(B)/test/engine_encrypted.o
TEST_LINK    := -Wl,--wrap=ses_open
TEST_ENGINE  := -include test/engine_encrypted.h
endif

# TESTS=list,append: only these, by name; or whole rooms; or scripts that look at the whole. What takes long begins first,
# so that -j has less to wait for.
comma := ,
empty :=
space := $(empty) $(empty)
TESTS ?=
tests_called = $(filter $(1),$(CHECK_ALL)) $(foreach test,$(TEST_ALL),$(if $(filter $(1),$(test) $(notdir $(test)) $(patsubst %/,%,$(dir $(test)))),$(test)))
WANTED       := $(subst $(comma), ,$(TESTS))
$(foreach name,$(WANTED),$(if $(strip $(call tests_called,$(name))),,$(error there is no test called $(name))))
CALLED       := $(if $(WANTED),$(sort $(foreach name,$(WANTED),$(call tests_called,$(name)))),$(TEST_ALL) $(CHECK_ALL))
CHECKS       := $(filter $(CALLED),$(CHECK_ALL))
TEST_NAMES   := $(filter $(CALLED),$(TEST_ALL))
TEST_NAMES   := $(foreach name,$(LONG_TESTS),$(filter $(name),$(TEST_NAMES))) $(filter-out $(LONG_TESTS),$(TEST_NAMES))

# The library is built with the flags that users have. The tests' own code, half of what is compiled, is built fast.
TEST_OPTIMIZATION ?= -O0
TEST_COMPILE = $(COMPILE_UNCOUNTED) $(TEST_OPTIMIZATION)

$(TEST_SUPPORT): $(B)/test/%.o: test/%.c
	@mkdir -p $(@D)
	$(call says,CC,$<)$(TEST_COMPILE) $(SQLITE_CFLAGS) $(POSTGRES_CFLAGS) $(MYSQL_CFLAGS) -c -o $@ $<

$(B)/test/%.o: test/%.c $(B)/gen/statements.h
	@mkdir -p $(@D)
	$(call says,CC,$<)$(TEST_COMPILE) -Itest $(SQLITE_CFLAGS) $(TEST_ENGINE) $(CJSON_CFLAGS) $(POSTGRES_CFLAGS) $(MYSQL_CFLAGS) $(TEST_CFLAGS_$*) -c -o $@ $<

$(PROGRAMS)/test/%: $(B)/test/%.o $(TEST_SUPPORT) $(LIBRARY)
	@mkdir -p $(@D)
	$(call says,LD)$(LINK) -o $@ $< $(TEST_SUPPORT) $(TEST_OBJECTS_$*) $(LIBRARY) \
	    $(LDFLAGS) $(TEST_LINK) $(TEST_LIBS_$*) $(CMOCKA_LIBS) $(SQLITE_LIBS) $(CJSON_LIBS) $(SERVER_LIBS)

# The code of the chapters, which are README files: all their fragments as one program, and the whole programs. The packages
# for Python and Rust test their own. Without POSTGRES=1 the program for a server is compiled, but not linked.
CHAPTERS         := README.md $(filter-out tools/python/% tools/rust/%,$(wildcard lib/README.md sql/README.md tools/README.md */*/README.md */*/*/README.md))
CHAPTER_PROGRAMS := $(patsubst %.md,$(B)/test/chapters/%,$(shell grep -l '^.include <' $(CHAPTERS)))
CHAPTER_OBJECTS  := $(addsuffix .o,$(B)/test/chapters/fragments $(CHAPTER_PROGRAMS))

$(B)/test/chapters/fragments.c: $(CHAPTERS) test/readme.awk
	@mkdir -p $(@D)
	$(call says,GEN)$(AWK) -f test/readme.awk $(CHAPTERS) > $@.new && mv $@.new $@

$(B)/test/chapters/%.c: %.md test/readme.awk
	@mkdir -p $(@D)
	$(call says,GEN)$(AWK) -v whole=1 -f test/readme.awk $< > $@.new && mv $@.new $@

# They have a main of their own.
$(CHAPTER_OBJECTS:.o=): TEST_SUPPORT :=

$(CHAPTER_OBJECTS): %.o: %.c
	$(call says,CC,$<)$(COMPILE) $(SQLITE_CFLAGS) $(CJSON_CFLAGS) -Wno-unused-function -c -o $@ $<

.SECONDARY:

# Scripts that check the whole tree. test/NAME.sh gets its settings in the environment.
CHECK_SETTINGS = HEADERS='$(HEADERS)' REFERENCE='$(REFERENCE)' AWK='$(AWK)' NM='$(NM)' CC='$(CC)' CXX='$(CXX)' MAKE='$(MAKE)' PKG_CONFIG='$(PKG_CONFIG)' CFLAGS='$(CFLAGS)' LDFLAGS='$(LDFLAGS)' TEST_OPTIMIZATION='$(TEST_OPTIMIZATION)' \
    SQLITE_CFLAGS='$(SQLITE_CFLAGS)' SQLITE_LIBS='$(SQLITE_LIBS)' CJSON_CFLAGS='$(CJSON_CFLAGS)' CJSON_LIBS='$(CJSON_LIBS)' \
    POSTGRES='$(POSTGRES)' POSTGRES_CFLAGS='$(POSTGRES_CFLAGS)' POSTGRES_LIBS='$(POSTGRES_LIBS)' \
    MYSQL='$(MYSQL)' MYSQL_CFLAGS='$(MYSQL_CFLAGS)' MYSQL_LIBS='$(MYSQL_LIBS)'

# A run of one test is a target, so that -j runs several at once. One that fails leaves the others to run, and the sum to
# be printed. All are built before the first runs: else make begins with those that are built last, and what takes long is
# left to run alone.
RUNS := $(TEST_NAMES:%=run-%)
.PHONY: check test quick tree-check asan tsan coverage sqlite-versions stress damage $(RUNS) $(CHECKS:%=check-%)
$(RUNS): run-%: $(PROGRAMS)/test/% | $(TEST_NAMES:%=$(PROGRAMS)/test/%)
	@sh test/run.sh one $(PROGRAMS) $* $(if $(RUNNER),$(RUNNER) $<)

check-layers: $(OBJECTS) $(BENCH_OBJECTS) $(COMMAND_OBJECTS) $(if $(WITH_SERVER),$(SERVER_OBJECTS))
check-layers: export OBJECTS := $(OBJECTS)
check-layers: export BENCH_OBJECTS := $(BENCH_OBJECTS)
check-layers: export COMMAND_OBJECTS := $(COMMAND_OBJECTS)
check-layers: export SERVER_OBJECTS := $(if $(WITH_SERVER),$(SERVER_OBJECTS))
check-readme: $(CHAPTER_OBJECTS) $(filter-out $(foreach name,$(LEFT_OUT),%/$(name)/README),$(CHAPTER_OBJECTS:.o=)) $(COMMAND)
check-amalgamation: $(AMALGAMATED) $(B)/test/chapters/README.c
check-exports check-linking check-install: $(LIBRARY)
check-exports check-abidiff check-install: $(SHARED)
check-install: $(COMMAND) $(COMMAND_PAGE) $(DOCS)/records
$(CHECKS:%=check-%): check-%:
	@$(CHECK_SETTINGS) sh test/run.sh one $(B) $* sh test/$*.sh $(B)

## check: build and run all tests (also: make test); TESTS=list runs one, TESTS=agent a room of them
SERVER_ADDRESS := $(if $(filter postgres,$(ENGINE)),$(SESLITE_POSTGRES),$(SESLITE_MYSQL))
ifneq ($(if $(SERVER_ADDRESS),,$(filter postgres mysql,$(ENGINE))),)
check test:
	@sh test/$(ENGINE)/with_server.sh $(MAKE) --no-print-directory $@
else
check test: $(RUNS) $(CHECKS:%=check-%)
	@TIMED='$(TIMED_TESTS)' RUNNER='$(RUNNER)' sh test/run.sh sum $(PROGRAMS) $(TEST_NAMES) $(CHECKS)
endif

# Tests that compare times, but for those in which a failure may mean lost data.
TIMED_TESTS = $(filter-out %kills %crash %failover %threads,$(patsubst test/%.c,%,$(shell \
    grep -lE 'support_steady_us|timeout_ms|wait_ms' $(TEST_SOURCES))))

## quick: the tests except those that take long
QUICK_TESTS := $(filter-out $(LONG_TESTS),$(TEST_NAMES))
QUICK_CHECKS := $(filter-out $(LONG_TESTS),$(CHECKS))
quick: $(QUICK_TESTS:%=run-%) $(QUICK_CHECKS:%=check-%)
	@sh test/run.sh sum $(PROGRAMS) $(QUICK_TESTS) $(QUICK_CHECKS)

## tree-check: the tests of the whole: no artefacts, subjects of commits, pictures, layers, headers, what is exported and linked, the amalgamation, the reference, installing
tree-check: $(CHECKS:%=check-%)
	@sh test/run.sh sum $(B) $(CHECKS)

## asan: the tests with the address, leak and undefined-behaviour sanitizers
asan:
	@$(MAKE) --no-print-directory check FLAVOUR=asan

## tsan: the tests that start threads, with the thread sanitizer
# In one thread it finds nothing that asan does not. What starts threads: the system's call, test/group.h, and in some tests
# of processes the library, which checkpoints a log that has become long.
STARTS_THREADS  := pthread_create|"group\.h"
THREADS_OF_LIBRARY := $(patsubst %,test/storage/%.c,checkpoint_reader processes processes_fair processes_fork)
THREADED_TESTS   = $(sort $(shell grep -lE '$(STARTS_THREADS)' $(TEST_SOURCES)) $(THREADS_OF_LIBRARY))
tsan:
	@$(MAKE) --no-print-directory check FLAVOUR=tsan \
	    TESTS=$(subst $(space),$(comma),$(strip $(if $(WANTED),$(WANTED),$(THREADED_TESTS:test/%.c=%))))

## sqlite-versions: tests with the oldest version of SQLite, Debian 13's and the newest, which cargo fetches (SQLITE_CRATES=...)
# Those whose outcome may depend on the version. TESTS= are others.
VERSION_TESTS := program/recover session/codes $(addprefix storage/,check checkpoint damaged_trees interrupt list_statements live_steps \
    maintain marks migrate open_journal open_schema plans plans_references plans_views secure upgrade upgrade_stopped views)
sqlite-versions:
	@MAKE='$(MAKE)' CC='$(CC)' sh test/sqlite_versions.sh build/sqlite-versions \
	    $(subst $(space),$(comma),$(strip $(if $(WANTED),$(WANTED),$(VERSION_TESTS))))

## encrypted: tests on encrypted stores, with SQLite3 Multiple Ciphers, which npm fetches or SQLITE=path/sqlite3mc.c names
# Those whose outcome may depend on it.
ENCRYPTED_TESTS := program/seslite_key $(addprefix storage/,key key_backup key_damage key_journal key_traces artifact_kills backup_at_once checkpoint \
    history_kills interrupt lines_kills maintain marks open open_journal open_life open_permissions processes \
    processes_fork readers search_index threads upgrade views) $(addprefix session/,append append_batch cursor fork lines list prune state)
.PHONY: encrypted
encrypted:
	@MAKE='$(MAKE)' SQLITE='$(SQLITE)' sh test/encrypted.sh build/encrypted-sqlite \
	    $(subst $(space),$(comma),$(strip $(if $(WANTED),$(WANTED),$(ENCRYPTED_TESTS))))

## helpers: count the functions of lib/ that are called once, the long ones, and the files and lines of each room
.PHONY: helpers
helpers:
	@python3 tools/helpers.py

## figures: compare the figures in test/README.md with those of the last `make test` and `make coverage`
.PHONY: figures
figures:
	@sh test/figures.sh build build/asan-coverage build/coverage

## mutants: seed faults in lib/, and list those that no test sees (MUTANTS=40 SEED=1); needs Python's venv and PyPI
MUTANTS ?= 40
SEED    ?= 1
.PHONY: mutants
mutants: build/mutants/venv/bin/python
	$< tools/mutants/mutants.py build --jobs $$(getconf _NPROCESSORS_ONLN)
	$< tools/mutants/mutants.py run --jobs $$(getconf _NPROCESSORS_ONLN) --sample $(MUTANTS) --seed $(SEED)
	@$< tools/mutants/mutants.py report --sample $(MUTANTS) --seed $(SEED)

build/mutants/venv/bin/python:
	python3 -m venv build/mutants/venv
	build/mutants/venv/bin/pip install -q --disable-pip-version-check libclang==18.1.1 || { rm -rf build/mutants/venv; exit 1; }

## machines: tests on processors of another kind, under qemu, and stores that go from one to the other (MACHINES="s390x arm64")
# Those whose outcome may depend on the processor. TESTS= are others.
MACHINE_TESTS := json/accepted json/reader json/writer json/object $(addprefix model/,event live rewind scope snapshot state timestamp) \
    base $(addprefix storage/,event_forms event_ids features list_statements marks open_schema search_index usage_tally) \
    session/list_token artifact/append
MACHINES ?= s390x arm64
.PHONY: machines
machines: $(COMMAND)
	@MAKE='$(MAKE)' MACHINES='$(MACHINES)' sh test/machines.sh build/machines $(COMMAND) \
	    $(subst $(space),$(comma),$(strip $(if $(WANTED),$(WANTED),$(MACHINE_TESTS))))

## clean-room: make deps demo, and GOALS, on a bare Debian or Ubuntu that debootstrap makes; as root (SUITE=trixie GOALS=quick)
SUITE ?= $(shell . /etc/os-release 2>/dev/null && echo $$VERSION_CODENAME)
GOALS ?= quick
.PHONY: clean-room
clean-room:
	@sh test/clean_room.sh build/clean-room $(SUITE) '$(GOALS)'

## stress: many threads, and many processes of which one is killed, for a minute each
stress: $(B)/test/storage/stress
	SESLITE_STRESS_SECONDS=60 $(B)/test/storage/stress

## damage: drive 20,000 damaged files through every call, with the sanitizers on (DAMAGE_FILES=..., DAMAGE_JOBS=...)
DAMAGE_FILES ?= 20000
DAMAGE_JOBS  ?= $(shell getconf _NPROCESSORS_ONLN)
DAMAGE_FLAVOUR := $(patsubst release,asan,$(FLAVOUR))
damage:
	@$(MAKE) --no-print-directory build/$(DAMAGE_FLAVOUR)/test/storage/damage FLAVOUR=$(DAMAGE_FLAVOUR)
	SESLITE_DAMAGE_FILES=$(DAMAGE_FILES) SESLITE_DAMAGE_JOBS=$(DAMAGE_JOBS) build/$(DAMAGE_FLAVOUR)/test/storage/damage

## coverage: the tests with coverage of lib/, which must reach 95% of lines; FLAVOUR=asan-coverage: together with asan
COVERED = $(patsubst release,coverage,$(FLAVOUR))
coverage:
	@find build/$(COVERED) -name '*.gcda' -exec rm -f {} + 2>/dev/null || true
	@$(MAKE) --no-print-directory check FLAVOUR=$(COVERED)
	@# gcov derives a count below 0 for a line of optimized code, at which gcovr would stop
	gcovr -j "$$(getconf _NPROCESSORS_ONLN)" --root . --filter 'lib/' build/$(COVERED) --exclude-unreachable-branches \
	    --gcov-ignore-parse-errors --print-summary --fail-under-line 95 --txt build/$(COVERED)/coverage.txt \
	    --json-summary build/$(COVERED)/coverage.json
	@grep -E '^(lib|TOTAL)' build/$(COVERED)/coverage.txt

# ------------------------------------------------------------------------------------------------ clients

.PHONY: clients client-python client-rust client-go client-js types wheels adk-versions rust-package go-package js
## clients: build and test the packages for other languages, if their tools and registries are available
clients: client-python client-rust client-go client-js
	@! build/python/venv/bin/python -c 'import pytest, seslite' 2>/dev/null || \
	    build/python/venv/bin/python -m pytest -q -rs -p no:cacheprovider tools/python/tests/test_together.py

client-python: $(COMMAND)
	@SESLITE_WITH_POSTGRES='$(POSTGRES)' SESLITE_WITH_MYSQL='$(MYSQL)' sh tools/python/check.sh build

client-rust: $(COMMAND)
	@SESLITE_WITH_POSTGRES='$(POSTGRES)' SESLITE_WITH_MYSQL='$(MYSQL)' sh tools/rust/test.sh

client-go: amalgamation
	@sh tools/go/test.sh $(B)

client-js: $(COMMAND) amalgamation
	@sh tools/js/check.sh $(B)

## js: the package for JavaScript, with the library as WebAssembly, in build/js/package, if zig is available
js: amalgamation
	@sh tools/js/build.sh $(B) || [ $$? -eq 2 ]

## types: check the types of the package for Python together with google-adk's, once `make client-python` has run
types:
	@build/python/venv/bin/python -m mypy --config-file tools/python/pyproject.toml --cache-dir build/python/mypy-adk \
	    tools/python/src/seslite

## wheels: the package for Python as its registry takes it, for glibc and musl, with SQLite in it, in build/python/dist
wheels:
	@sh tools/python/wheels.sh build

## adk-versions: test the services for google-adk with each minor version of it (ADK_VERSIONS=...), once `make wheels` has run
adk-versions:
	@sh tools/python/adk_versions.sh build

## rust-package: build each crate from its package
rust-package: amalgamation
	@sh tools/rust/package.sh $(B)

## go-package: make the modules for Go, with the amalgamations in them (GO_MODULE=the path to publish them under)
go-package: amalgamation
	@sh tools/go/package.sh $(B) $(GO_MODULE)

# ------------------------------------------------------------------------------------------------ fuzzing

# Each test/fuzz/fuzz_*.c is a target of libFuzzer, which is clang's; the flavour fuzz builds them, fuzz-coverage to count what
# they reach. A corpus and a dictionary to begin with are in the repository, and tools/fuzz/seeds.sh makes more inputs; what is
# found beyond them goes to build/fuzz/corpus.
FUZZ_CC      ?= clang
FUZZ_RUNS    ?= 1000000
FUZZ_SECONDS ?= 3600
FUZZ_ENGINE  ?= -fsanitize=fuzzer
FUZZ_LINK    ?= $(CC)
FUZZ_TARGETS := $(filter-out $(if $(WITH_SERVER),,server),$(patsubst test/fuzz/fuzz_%.c,%,$(sort $(wildcard test/fuzz/fuzz_*.c))))
FUZZ_SEEDS   := build/fuzz/seeds

$(B)/fuzz/%.o: test/fuzz/fuzz_%.c
	@mkdir -p $(@D)
	$(call says,CC,$<)$(COMPILE) -Itools/seslite $(SQLITE_CFLAGS) $(CJSON_CFLAGS) -c -o $@ $<

# The command and the server, without their main functions.
COMMAND_PARTS := $(filter-out %/seslite/main.o,$(COMMAND_OBJECTS))
$(B)/fuzz_foreign $(B)/fuzz_redact: $(COMMAND_PARTS)
$(B)/fuzz_server: $(filter-out %/server/main.o,$(SERVER_OBJECTS)) $(B)/fuzz/server_main.o
$(B)/fuzz_server: FUZZ_LIBS = $(MHD_LIBS)
$(B)/fuzz/server_main.o: tools/server/main.c
	@mkdir -p $(@D)
	$(call says,CC,$<)$(COMPILE) $(MHD_CFLAGS) -Dmain=server_main -Wno-missing-prototypes -c -o $@ $<

$(B)/fuzz_%: $(B)/fuzz/%.o $(LIBRARY)
	$(call says,LD)$(FUZZ_LINK) $(CFLAGS) $(FLAVOUR_FLAGS) -pthread $(FUZZ_ENGINE) -o $@ $(filter %.o,$^) $(LIBRARY) \
	    $(LDFLAGS) $(FUZZ_LIBS) $(SQLITE_LIBS) $(CJSON_LIBS)

.PHONY: fuzz fuzz-long fuzz-binaries $(FUZZ_TARGETS:%=fuzz-%)
fuzz-binaries: $(FUZZ_TARGETS:%=$(B)/fuzz_%)

# What opens stores of its own has a part of the inputs.
FUZZ_SHARE_import  := 20
FUZZ_SHARE_foreign := 50
FUZZ_SHARE_redact  := 50
FUZZ_SHARE_server  := 50
FUZZ_SHARE_store   := 100
# Databases are long. What the command says of them is not shown.
FUZZ_FLAGS_foreign := -max_len=65536 -close_fd_mask=3
FUZZ_FLAGS_server  := -close_fd_mask=1
# How long a target runs: by the number of its inputs, or in seconds.
FUZZ_LENGTH = $(if $(FUZZ_FOR),-max_total_time=$(FUZZ_FOR),-runs=$$(($(FUZZ_RUNS) / $(or $(FUZZ_SHARE_$*),1))))
$(FUZZ_TARGETS:%=fuzz-%): fuzz-%: $(B)/fuzz_%
	@mkdir -p $(B)/corpus/$*
	@$< $(FUZZ_LENGTH) -max_len=1024 $(patsubst %,-dict=%,$(wildcard test/fuzz/dict/$*.dict)) $(FUZZ_FLAGS_$*) \
	    -timeout=30 -verbosity=1 -artifact_prefix=$(B)/$*- $(B)/corpus/$* test/fuzz/corpus/$* $(wildcard $(FUZZ_SEEDS)/$*) \
	    >$(B)/$*.log 2>&1 || { tail -40 $(B)/$*.log; exit 1; }
	@echo "ok      fuzz_$*: $$(grep -ao 'Done.*' $(B)/$*.log)"

# fuzz_with GOALS: makes them in the flavour fuzz, where clang has what that needs
fuzz_with = mkdir -p build/fuzz; \
	if echo 'int LLVMFuzzerTestOneInput(const char *d, long n) {return d && n > 0 ? 0 : 0;}' | \
	    $(FUZZ_CC) -x c -fsanitize=fuzzer,address,undefined -o build/fuzz/probe - 2>/dev/null; then \
	    $(MAKE) --no-print-directory FLAVOUR=fuzz CC='$(FUZZ_CC)' CFLAGS= $(1); \
	else \
	    echo "skipped: fuzzing, for want of $(FUZZ_CC) with libFuzzer and the sanitizers"; \
	fi

## fuzz: feed each fuzz target a million inputs, with the sanitizers on (FUZZ_RUNS=..., FUZZ_TARGETS=...)
fuzz:
	+@$(call fuzz_with,$(FUZZ_TARGETS:%=fuzz-%))

## fuzz-long: feed each fuzz target for an hour, with more inputs to begin with, and tell what they reach (FUZZ_SECONDS=3600)
fuzz-long: $(COMMAND)
	@sh tools/fuzz/seeds.sh $(FUZZ_SEEDS) $(COMMAND)
	+@$(call fuzz_with,FUZZ_FOR=$(FUZZ_SECONDS) $(FUZZ_TARGETS:%=fuzz-%))
	@$(MAKE) --no-print-directory fuzz-coverage

## oss-fuzz: what OSS-Fuzz makes of the fuzz targets: each is started on the inputs that are packed for it
.PHONY: oss-fuzz
oss-fuzz: $(COMMAND)
	+@$(call fuzz_with,fuzz-binaries)
	@CLANG='$(FUZZ_CC)' sh test/oss_fuzz.sh build/fuzz

## fuzz-coverage: the share of the code that the inputs found so far reach, by clang's count
.PHONY: fuzz-coverage
fuzz-coverage:
	@$(MAKE) -s --no-print-directory FLAVOUR=fuzz-coverage CC='$(FUZZ_CC)' CFLAGS= fuzz-binaries
	@sh tools/fuzz/coverage.sh build/fuzz-coverage build/fuzz/corpus $(FUZZ_SEEDS) $(FUZZ_TARGETS)

# -------------------------------------------------------------------------------------------- for packages

.PHONY: install uninstall amalgamation abi platforms pictures schema format clean help FORCE

# What the package files say: paths within the prefix by its name, as pkg-config can move them. SQLite is asked of its own
# package where there is one, which also knows what a program that is linked statically needs; SQLITE_LIBS that are given
# are taken over.
in_prefix     = $(patsubst $(PREFIX)/%,$${prefix}/%,$(1))
SQLITE_OF_ITS_PACKAGE = $(and $(filter file,$(origin SQLITE_LIBS)),$(shell $(PKG_CONFIG) --exists sqlite3 2>/dev/null && echo yes))
PC_REQUIRES   = $(if $(SQLITE_OF_ITS_PACKAGE),sqlite3 >= 3.37)
PC_LIBS       = $(strip $(if $(SQLITE_OF_ITS_PACKAGE),,$(SQLITE_LIBS)) $(SERVER_LIBS))
PACKAGE_FILES := $(patsubst tools/packaging/%.in,$(B)/packaging/%,$(wildcard tools/packaging/*.in))

# Rewritten each time, with the values known only when installing.
$(B)/packaging/%: tools/packaging/%.in FORCE
	@mkdir -p $(@D)
	@sed -e 's|@VERSION@|$(VERSION)|g' -e 's|@ABI@|$(ABI)|g' -e 's|@PREFIX@|$(PREFIX)|g' \
	    -e 's|@LIBDIR@|$(LIBDIR)|g' -e 's|@PC_LIBDIR@|$(call in_prefix,$(LIBDIR))|g' \
	    -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|g' -e 's|@PC_INCLUDEDIR@|$(call in_prefix,$(INCLUDEDIR))|g' \
	    -e 's|@CMAKEDIR@|$(CMAKEDIR)|g' -e 's|@REQUIRES@|$(PC_REQUIRES)|g' -e 's|@SQLITE_LIBS@|$(PC_LIBS)|g' \
	    -e 's|@SHARED_LIBRARY@|$(SHARED_DEV)|g' $< > $@

## install: the command, both libraries, headers, the reference, pkg-config and CMake files, scripts, below DESTDIR; PREFIX=/usr/local LIBDIR=...
install: $(LIBRARY) $(SHARED) $(PACKAGE_FILES) $(COMMAND) $(COMMAND_PAGE) $(DOCS)/records
	$(INSTALL) -d '$(DESTDIR)$(LIBDIR)' '$(DESTDIR)$(PKGCONFIGDIR)' '$(DESTDIR)$(CMAKEDIR)' \
	    '$(DESTDIR)$(INCLUDEDIR)' '$(DESTDIR)$(DATADIR)/seslite/sql'
	$(INSTALL) -m 644 $(LIBRARY) '$(DESTDIR)$(LIBDIR)/'
	$(INSTALL) -m 755 $(SHARED) '$(DESTDIR)$(LIBDIR)/'
	$(SET_SONAME) '$(DESTDIR)$(LIBDIR)/$(notdir $(SHARED))'
	ln -sf $(notdir $(SHARED)) '$(DESTDIR)$(LIBDIR)/$(SHARED_ABI)'
	ln -sf $(notdir $(SHARED)) '$(DESTDIR)$(LIBDIR)/$(SHARED_DEV)'
	$(INSTALL) -m 644 $(HEADERS) '$(DESTDIR)$(INCLUDEDIR)/'
	$(INSTALL) -m 644 $(filter %.pc,$(PACKAGE_FILES)) '$(DESTDIR)$(PKGCONFIGDIR)/'
	$(INSTALL) -m 644 $(filter %.cmake,$(PACKAGE_FILES)) '$(DESTDIR)$(CMAKEDIR)/'
	$(INSTALL) -m 644 $(SCRIPTS) '$(DESTDIR)$(DATADIR)/seslite/sql/'
	$(if $(POSTGRES),$(INSTALL) -d '$(DESTDIR)$(DATADIR)/seslite/sql/postgres')
	$(if $(POSTGRES),$(INSTALL) -m 644 $(POSTGRES_SCRIPTS) sql/postgres/tenants.sql '$(DESTDIR)$(DATADIR)/seslite/sql/postgres/')
	$(if $(MYSQL),$(INSTALL) -d '$(DESTDIR)$(DATADIR)/seslite/sql/mysql')
	$(if $(MYSQL),$(INSTALL) -m 644 $(MYSQL_SCRIPTS) '$(DESTDIR)$(DATADIR)/seslite/sql/mysql/')
	$(INSTALL) -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(MANDIR)/man1' '$(DESTDIR)$(BASHDIR)' '$(DESTDIR)$(ZSHDIR)' '$(DESTDIR)$(FISHDIR)'
	$(INSTALL) -m 755 $(COMMAND) '$(DESTDIR)$(BINDIR)/seslite'
	$(INSTALL) -m 644 $(COMMAND_PAGE) '$(DESTDIR)$(MANDIR)/man1/seslite.1'
	$(INSTALL) -m 644 tools/seslite/complete/completion.bash '$(DESTDIR)$(BASHDIR)/seslite'
	$(INSTALL) -m 644 tools/seslite/complete/completion.zsh '$(DESTDIR)$(ZSHDIR)/_seslite'
	$(INSTALL) -m 644 tools/seslite/complete/completion.fish '$(DESTDIR)$(FISHDIR)/seslite.fish'
	$(INSTALL) -d '$(DESTDIR)$(MANDIR)/man3' '$(DESTDIR)$(DOCDIR)/html'
	$(INSTALL) -m 644 $(DOCS)/man/man3/*.3 '$(DESTDIR)$(MANDIR)/man3/'
	$(INSTALL) -m 644 $(DOCS)/html/* '$(DESTDIR)$(DOCDIR)/html/'

## dist: the files of a release from the last commit, in build/dist; SIGN='gpg --armor --detach-sign' also signs them
DIST := $(B)/dist
.PHONY: dist distcheck
dist:
	@MAKE='$(MAKE)' AWK='$(AWK)' SIGN='$(SIGN)' sh tools/packaging/dist/make.sh $(DIST)

## release: make the tree that of a release, before its commit and tag
.PHONY: release
release: $(COMMAND)
	@COMMAND='$(COMMAND)' sh tools/packaging/release.sh

## distcheck: build, test and install from the tarball (DISTCHECK_TESTS=list,agent: these in place of the quick tests)
DISTCHECK_TESTS ?=
distcheck: dist $(LIBRARY) $(SHARED) $(COMMAND)
	@MAKE='$(MAKE)' CC='$(CC)' CFLAGS='$(CFLAGS)' LDFLAGS='$(LDFLAGS)' PKG_CONFIG='$(PKG_CONFIG)' TESTS='$(DISTCHECK_TESTS)' \
	    sh tools/packaging/dist/check.sh $(DIST) $(B)

# The descriptions of the packages for a release, with its version and checksums. Where it can be had is said here.
RECIPES    := $(B)/recipes
HOMEPAGE   ?= https://example.org/seslite
DOWNLOADS  ?= $(HOMEPAGE)/releases
MAINTAINER ?= seslite maintainers <maintainers@example.org>
PACKAGES   := tools/packaging
.PHONY: recipes recipes-check deb deb-try rpm rpm-try
## recipes: descriptions of packages for Debian, RPM, Alpine, Arch, vcpkg, Conan, Meson, Homebrew and Nix, in build/recipes
recipes: dist
	@AWK='$(AWK)' HOMEPAGE='$(HOMEPAGE)' DOWNLOADS='$(DOWNLOADS)' MAINTAINER='$(MAINTAINER)' \
	    sh $(PACKAGES)/recipes.sh $(DIST) $(RECIPES)

## deb: build the packages for Debian, in build/deb (DEB_BUILD_OPTIONS=nocheck: without the quick tests)
deb: recipes
	@sh $(PACKAGES)/deb.sh $(DIST) $(RECIPES) $(B)/deb

## rpm: build the packages of the RPM spec, in build/rpm (RPMBUILD='--without check': without the quick tests)
rpm: recipes
	@sh $(PACKAGES)/rpm.sh $(DIST) $(RECIPES) $(B)/rpm $(RPMBUILD)

## deb-try, rpm-try: install those packages in empty Debians, and compile and run a program there (SUITES='bookworm trixie')
SUITES ?= bookworm
deb-try rpm-try: %-try: %
	@for suite in $(SUITES); do sh $(PACKAGES)/try.sh $* $(B)/$* $$suite $(B)/roots || exit 1; done

## recipes-check: build with the other recipes, or check them, with the tools that are here (RECIPES_CHECKED='meson conan')
RECIPES_CHECKED ?=
recipes-check:
	@$(MAKE) --no-print-directory recipes RECIPES=$(B)/recipes-here DOWNLOADS='file://$(CURDIR)/$(DIST)'
	@sh $(PACKAGES)/check_recipes.sh $(DIST) $(B)/recipes-here $(B)/recipes-checked $(RECIPES_CHECKED)

## uninstall: remove the installed files
uninstall: $(DOCS)/records
	for file in $(notdir $(LIBRARY) $(SHARED)) $(SHARED_ABI) $(SHARED_DEV); do rm -f '$(DESTDIR)$(LIBDIR)/'"$$file"; done
	for file in $(notdir $(filter %.pc,$(PACKAGE_FILES))); do rm -f '$(DESTDIR)$(PKGCONFIGDIR)/'"$$file"; done
	for file in $(notdir $(HEADERS)); do rm -f '$(DESTDIR)$(INCLUDEDIR)/'"$$file"; done
	rm -f '$(DESTDIR)$(BINDIR)/seslite' '$(DESTDIR)$(MANDIR)/man1/seslite.1' '$(DESTDIR)$(BASHDIR)/seslite' \
	    '$(DESTDIR)$(ZSHDIR)/_seslite' '$(DESTDIR)$(FISHDIR)/seslite.fish'
	for page in $(DOCS)/man/man3/*.3; do rm -f '$(DESTDIR)$(MANDIR)/man3/'"$${page##*/}"; done
	rm -rf '$(DESTDIR)$(CMAKEDIR)' '$(DESTDIR)$(DATADIR)/seslite' '$(DESTDIR)$(DOCDIR)/html'
	rmdir '$(DESTDIR)$(DOCDIR)' 2>/dev/null || true

## amalgamation: write build/amalgamation/seslite.c and seslite.h, to compile with your own program
amalgamation: $(AMALGAMATED)
	@sh tools/amalgamate.sh $(B)/amalgamation $(B)/gen

## abi: describe the binary interface of the headers in tools/abi; after a change of it, on a 64-bit system
abi:
	@$(AWK) -f tools/abi/symbols.awk tools/abi/symbols.map $(REFERENCE) > tools/abi/symbols.map.new
	@mv tools/abi/symbols.map.new tools/abi/symbols.map
	@CC='$(CC)' AWK='$(AWK)' sh tools/abi/describe.sh $(B)/abi $(REFERENCE) > tools/abi/abi.txt.new
	@mv tools/abi/abi.txt.new tools/abi/abi.txt

## platforms: compile for other systems (macOS, FreeBSD, musl, ...) with the available compilers
platforms:
	@MAKE='$(MAKE)' sh tools/platforms.sh

## pictures: make the pictures of the documents again; tools/pictures/README.md lists what that needs
pictures: $(COMMAND)
	python3 tools/pictures/house.py > $(B)/house.svg && mv $(B)/house.svg tools/pictures/house.svg
	python3 tools/pictures/terminal.py $(COMMAND) tools/pictures/terminal.svg
	python3 tools/pictures/page.py $(COMMAND) tools/pictures/page.png

## schema: what the scripts of sql/sqlite make, in sql/sqlite/schema.sql; after a change of a script, with the sqlite3 program
schema:
	sh tools/schema.sh $(SCRIPTS) > $(SCHEMA).new && mv $(SCHEMA).new $(SCHEMA)

## format: the C files in the style of .clang-format
format:
	clang-format -i $$(git ls-files -co --exclude-standard '*.c' '*.h')

## clean: remove build/
clean:
	rm -rf build

## help: print this list
help:
	@sed -n 's/^## //p' Makefile

-include $(wildcard $(B)/*.d $(B)/lib/*.d $(B)/test/*.d $(B)/test/*/*.d $(B)/test/chapters/*/*/*.d $(B)/tools/*.d $(B)/tools/*/*.d $(B)/tools/*/*/*.d $(B)/tools/*/*/*/*.d)
