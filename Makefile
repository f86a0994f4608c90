# seslite. `make help` lists what there is to make.
#
# Yours to set: CC, CFLAGS, LDFLAGS, PREFIX, DESTDIR, and for libraries in unusual places SQLITE_CFLAGS,
# SQLITE_LIBS, CJSON_CFLAGS, CJSON_LIBS. Each set of flags has an object folder of its own below build/.

CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
AR     ?= ar
AWK    ?= awk
OBJCOPY ?= objcopy
PKG_CONFIG ?= pkg-config

VERSION := $(shell $(AWK) '/define SES_VERSION_(MAJOR|MINOR|PATCH) /{v = v s $$3; s = "."} END {print v}' include/seslite.h)

# Looked up only when something is built, since `make deps` may just have installed them.
SQLITE_CFLAGS = $(shell $(PKG_CONFIG) --cflags sqlite3 2>/dev/null)
SQLITE_LIBS   = $(shell $(PKG_CONFIG) --libs sqlite3 2>/dev/null || echo -lsqlite3)
CJSON_CFLAGS  = $(shell $(PKG_CONFIG) --cflags libcjson 2>/dev/null)
CJSON_LIBS    = $(shell $(PKG_CONFIG) --libs libcjson 2>/dev/null || echo -lcjson)
CMOCKA_LIBS   = $(shell $(PKG_CONFIG) --libs cmocka 2>/dev/null || echo -lcmocka)

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
DEFINES  := -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -D_DARWIN_C_SOURCE
BASE     := -std=c11 $(DEFINES) -fPIC -fvisibility=hidden -pthread $(WARNINGS)

# FLAVOUR names a set of flags: release, asan, tsan, coverage.
FLAVOUR ?= release
FLAVOUR_FLAGS_asan     := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FLAVOUR_FLAGS_tsan     := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
FLAVOUR_FLAGS_coverage := -O0 -g --coverage
FLAVOUR_FLAGS          := $(FLAVOUR_FLAGS_$(FLAVOUR))
B := build$(if $(filter-out release,$(FLAVOUR)),/$(FLAVOUR))

# ------------------------------------------------------------------------------------------- the library

# cjson.c uses the public calls only, and stays an object of its own: who does not use it needs no cJSON.
ALONE_SOURCES := lib/cjson.c
CORE_SOURCES  := $(filter-out $(ALONE_SOURCES),$(sort $(wildcard lib/*.c)))
CORE_OBJECTS  := $(CORE_SOURCES:lib/%.c=$(B)/lib/%.o) $(B)/gen/sql_text.o
ALONE_OBJECTS := $(ALONE_SOURCES:lib/%.c=$(B)/lib/%.o)
SCRIPTS       := $(sort $(wildcard sql/0*.sql))
LIBRARY       := $(B)/libseslite.a

COMPILE = $(CC) $(BASE) $(FLAVOUR_FLAGS) -Iinclude -I$(B)/gen $(CPPFLAGS) $(CFLAGS) -MMD -MP

.PHONY: all
## all: the static library, build/libseslite.a
all: $(LIBRARY)

$(B)/gen/statement_ids.h: sql/statements.sql tools/embed.awk
	@mkdir -p $(@D)
	$(AWK) -f tools/embed.awk -v mode=ids sql/statements.sql > $@.new && mv $@.new $@

$(B)/gen/sql_text.c: sql/statements.sql $(SCRIPTS) tools/embed.awk
	@mkdir -p $(@D)
	$(AWK) -f tools/embed.awk -v mode=text sql/statements.sql $(SCRIPTS) > $@.new && mv $@.new $@

$(B)/gen/sql_text.o: $(B)/gen/sql_text.c $(B)/gen/statement_ids.h
	$(COMPILE) -Ilib -c -o $@ $<

$(B)/lib/%.o: lib/%.c $(B)/gen/statement_ids.h
	@mkdir -p $(@D)
	$(COMPILE) $(SQLITE_CFLAGS) $(CJSON_CFLAGS) -c -o $@ $<

# The core is one object in which all but the public calls is local. (The sanitizers and the coverage want
# the objects as they are.)
ifeq ($(FLAVOUR),release)
$(B)/seslite.o: $(CORE_OBJECTS)
	$(CC) -r -nostdlib -o $@.all $^
	$(OBJCOPY) --localize-hidden $@.all $@
	@rm -f $@.all
$(LIBRARY): $(B)/seslite.o $(ALONE_OBJECTS)
else
$(LIBRARY): $(CORE_OBJECTS) $(ALONE_OBJECTS)
endif
	@rm -f $@
	$(AR) rcs $@ $^

# ---------------------------------------------------------------------------------------------- the tests

# Each test/test_*.c is a program of its own, linked with the archive as a user's program would be. What one
# needs beyond that stands in test/flags.mk. The tests run from this folder.
TEST_SOURCES  := $(sort $(wildcard test/test_*.c))
TEST_PROGRAMS := $(TEST_SOURCES:test/%.c=$(B)/test/%)
TEST_SUPPORT  := $(B)/test/support.o

-include test/flags.mk

$(TEST_SUPPORT): test/support.c
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<

$(B)/test/%.o: test/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(SQLITE_CFLAGS) $(CJSON_CFLAGS) $(TEST_CFLAGS_$*) -c -o $@ $<

$(B)/test/%: $(B)/test/%.o $(TEST_SUPPORT) $(LIBRARY)
	$(CC) $(FLAVOUR_FLAGS) $(CFLAGS) -pthread -o $@ $< $(TEST_SUPPORT) $(TEST_OBJECTS_$*) $(LIBRARY) \
	    $(LDFLAGS) $(TEST_LIBS_$*) $(CMOCKA_LIBS) $(SQLITE_LIBS) $(CJSON_LIBS)

.SECONDARY:

.PHONY: check test
## check: build and run all tests (also: make test)
check test: $(TEST_PROGRAMS)
	@sh test/run.sh $(B) $(TEST_PROGRAMS)

-include $(wildcard $(B)/lib/*.d $(B)/gen/*.d $(B)/test/*.d $(B)/tools/*.d)
