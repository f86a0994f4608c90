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

# The archive has four objects, so that a program links what it uses: the store; the agent layer, which is built on
# the store's public calls; and each once more for callers who hold cJSON trees, so that nobody else needs cJSON.
BOTTOM_SOURCES     := $(addprefix lib/,argument.c decimal.c double.c error.c json.c json_write.c memory.c scope.c typed.c utf8.c)
AGENT_SOURCES      := $(filter-out lib/agent_cjson.c,$(sort $(wildcard lib/agent_*.c)))
CJSON_SOURCES      := lib/cjson.c lib/cjson_text.c lib/agent_cjson.c
CORE_SOURCES       := $(filter-out $(AGENT_SOURCES) $(CJSON_SOURCES) lib/double.c,$(sort $(wildcard lib/*.c)))
objects_of          = $(patsubst lib/%.c,$(B)/lib/%.o,$(1))
CORE_OBJECTS       := $(call objects_of,$(CORE_SOURCES)) $(B)/gen/sql_text.o
AGENT_OBJECTS      := $(call objects_of,$(AGENT_SOURCES))
CJSON_OBJECTS      := $(call objects_of,$(CJSON_SOURCES) lib/double.c)
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

# In each of them all but the public calls is local, so each has the bottom of the library for itself. (The
# sanitizers and the coverage want the objects as they are.)
ifeq ($(FLAVOUR),release)
$(B)/seslite.o: $(CORE_OBJECTS)
$(B)/seslite_agent.o: $(AGENT_OBJECTS) $(call objects_of,$(BOTTOM_SOURCES))
$(B)/seslite_cjson.o: $(call objects_of,lib/cjson.c lib/cjson_text.c lib/double.c lib/json_write.c)
$(B)/seslite_agent_cjson.o: $(call objects_of,lib/agent_cjson.c lib/cjson_text.c lib/double.c lib/json_write.c)
PARTS := $(addprefix $(B)/,seslite.o seslite_agent.o seslite_cjson.o seslite_agent_cjson.o)
$(PARTS):
	$(CC) -r -nostdlib -o $@.all $^
	$(OBJCOPY) --localize-hidden $@.all $@
	@rm -f $@.all
$(LIBRARY): $(PARTS)
else
$(LIBRARY): $(CORE_OBJECTS) $(AGENT_OBJECTS) $(CJSON_OBJECTS)
endif
	@rm -f $@
	$(AR) rcs $@ $^

# ---------------------------------------------------------------------------------------------- the tools

$(B)/tools/%: tools/%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(COMPILE) $(SQLITE_CFLAGS) -o $@ $< $(LIBRARY) $(LDFLAGS) $(SQLITE_LIBS)

BENCH_OBJECTS := $(patsubst tools/bench/%.c,$(B)/tools/bench/%.o,$(wildcard tools/bench/*.c))

$(B)/tools/bench/%.o: tools/bench/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(SQLITE_CFLAGS) -c -o $@ $<

$(B)/tools/bench/bench: $(BENCH_OBJECTS) $(LIBRARY)
	$(CC) $(FLAVOUR_FLAGS) $(CFLAGS) -pthread -o $@ $^ $(LDFLAGS) $(SQLITE_LIBS)

.PHONY: deps demo bench
## deps: install what building and testing need, with the system's package manager
deps:
	@sh tools/deps.sh

## demo: store a conversation, show it with the sqlite3 program, and run a small agent
demo: $(B)/tools/demo $(B)/tools/agent
	@sh tools/demo.sh $(B)/tools/demo $(B)/demo.db $(B)/tools/agent

## bench: time seslite against a bare SQLite program and itself; also writes build/bench.jsonl
bench: $(B)/tools/bench/bench
	@mkdir -p $(B)/bench
	@# 2: a figure is not reached, which the table says; that is no failure of making it
	$(B)/tools/bench/bench --json $(B)/bench.jsonl --folder $(B)/bench || [ $$? -eq 2 ]

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

# The code of the README: its fragments as one program, and its first program.
$(B)/test/readme.c: README.md test/readme.awk
	@mkdir -p $(@D)
	$(AWK) -f test/readme.awk README.md > $@.new && mv $@.new $@

$(B)/test/readme_program.c: README.md
	@mkdir -p $(@D)
	$(AWK) '/^```c$$/ {n++; next} /^```$$/ {inside = 0; n == 1 && n++} n == 1 {print}' README.md > $@.new && mv $@.new $@

$(B)/test/readme.o $(B)/test/readme_program.o: $(B)/test/%.o: $(B)/test/%.c
	$(COMPILE) $(SQLITE_CFLAGS) $(CJSON_CFLAGS) -Wno-unused-function -c -o $@ $<

README_PROGRAMS := $(B)/test/readme $(B)/test/readme_program

.SECONDARY:

.PHONY: check test tree-check asan tsan coverage stress
## check: build and run all tests (also: make test)
check test: $(TEST_PROGRAMS) $(README_PROGRAMS) tree-check
	@sh test/run.sh $(B) $(TEST_PROGRAMS)

tree-check: $(LIBRARY) $(README_PROGRAMS)
	@sh test/layers.sh
	@CC='$(CC)' CXX='$(CXX)' sh test/headers.sh $(B)
ifeq ($(FLAVOUR),release)
	@sh test/exports.sh $(LIBRARY)
	@CC='$(CC)' LIBS='$(LDFLAGS) $(SQLITE_LIBS)' sh test/linking.sh $(B) $(LIBRARY)
endif
	@$(B)/test/readme > $(B)/test/readme.log
	@cd $(B)/test && rm -f agents.db && ./readme_program >> readme.log
	@echo "ok      README.md"

## asan: the tests with the address, leak and undefined-behaviour sanitizers
asan:
	@$(MAKE) --no-print-directory check FLAVOUR=asan

## tsan: the tests with the thread sanitizer
tsan:
	@$(MAKE) --no-print-directory check FLAVOUR=tsan

## stress: many threads, and many processes of which one is killed, for a minute each
stress: $(B)/test/test_stress
	SESLITE_STRESS_SECONDS=60 $(B)/test/test_stress

## coverage: the tests with coverage of lib/, which must reach 95% of lines
coverage:
	@rm -f build/coverage/*/*.gcda
	@$(MAKE) --no-print-directory check FLAVOUR=coverage
	gcovr --root . --filter 'lib/' --object-directory build/coverage --exclude-unreachable-branches \
	    --print-summary --fail-under-line 95 --txt build/coverage/coverage.txt
	@grep -E '^(lib|TOTAL)' build/coverage/coverage.txt

# ------------------------------------------------------------------------------------------------ fuzzing

# Each test/fuzz/fuzz_*.c is a target of libFuzzer, which is clang's. The corpus to begin with is in the
# repository; what is found beyond it goes to build/fuzz/corpus.
FUZZ_CC   ?= clang
FUZZ_RUNS ?= 1000000
FUZZ_FLAGS   := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_TARGETS := $(patsubst test/fuzz/fuzz_%.c,%,$(sort $(wildcard test/fuzz/fuzz_*.c)))
FUZZ_OBJECTS := $(patsubst lib/%.c,$(B)/fuzz/lib/%.o,$(filter-out lib/%cjson.c lib/cjson_text.c,$(wildcard lib/*.c)))
FUZZ_OBJECTS += $(B)/fuzz/sql_text.o
FUZZ_COMPILE  = $(FUZZ_CC) $(BASE) $(FUZZ_FLAGS) -Iinclude -Ilib -I$(B)/gen $(SQLITE_CFLAGS) $(CPPFLAGS) -MMD -MP

$(B)/fuzz/lib/%.o: lib/%.c $(B)/gen/statement_ids.h
	@mkdir -p $(@D)
	$(FUZZ_COMPILE) -c -o $@ $<

$(B)/fuzz/sql_text.o: $(B)/gen/sql_text.c $(B)/gen/statement_ids.h
	@mkdir -p $(@D)
	$(FUZZ_COMPILE) -c -o $@ $<

$(B)/fuzz/fuzz_%: test/fuzz/fuzz_%.c test/fuzz/fuzz.h $(FUZZ_OBJECTS)
	$(FUZZ_COMPILE) -fsanitize=fuzzer -o $@ $< $(FUZZ_OBJECTS) $(LDFLAGS) $(SQLITE_LIBS) $(CJSON_LIBS)

.PHONY: fuzz
## fuzz: feed each fuzz target a million inputs, with the sanitizers on (FUZZ_RUNS=..., FUZZ_TARGETS=...)
fuzz:
	@mkdir -p $(B)/fuzz
	@if echo 'int LLVMFuzzerTestOneInput(const char *d, long n) {return d && n > 0 ? 0 : 0;}' | \
	    $(FUZZ_CC) -x c -fsanitize=fuzzer,address,undefined -o $(B)/fuzz/probe - 2>/dev/null; then \
	    for target in $(FUZZ_TARGETS); do \
	        $(MAKE) --no-print-directory $(B)/fuzz/fuzz_$$target || exit 1; \
	        mkdir -p $(B)/fuzz/corpus/$$target; \
	        $(B)/fuzz/fuzz_$$target -runs=$(FUZZ_RUNS) -max_len=1024 -timeout=10 -verbosity=1 \
	            -artifact_prefix=$(B)/fuzz/$$target- $(B)/fuzz/corpus/$$target test/fuzz/corpus/$$target \
	            >$(B)/fuzz/$$target.log 2>&1 || { tail -40 $(B)/fuzz/$$target.log; exit 1; }; \
	        echo "ok      fuzz_$$target: $$(grep -o 'Done.*' $(B)/fuzz/$$target.log)"; \
	    done; \
	else \
	    echo "skipped: fuzzing, for want of $(FUZZ_CC) with libFuzzer and the sanitizers"; \
	fi

# -------------------------------------------------------------------------------------------- for packages

$(B)/seslite.pc: include/seslite.h Makefile
	@mkdir -p $(@D)
	@{ echo 'Name: seslite'; \
	  echo 'Description: Sessions of AI agents in an SQLite file'; \
	  echo 'Version: $(VERSION)'; \
	  echo 'Requires.private: sqlite3'; \
	  echo 'Cflags: -I$(PREFIX)/include'; \
	  echo 'Libs: -L$(PREFIX)/lib -lseslite'; \
	  echo 'Libs.private: -lsqlite3 -pthread'; } > $@

.PHONY: install uninstall amalgamation format clean help
## install: into DESTDIR and PREFIX (/usr/local): the library, headers, pkg-config file, schema scripts
install: $(LIBRARY)
	@rm -f $(B)/seslite.pc
	@$(MAKE) --no-print-directory $(B)/seslite.pc
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/share/seslite/sql
	install -m 644 $(LIBRARY) $(DESTDIR)$(PREFIX)/lib/
	install -m 644 include/seslite.h include/seslite_cjson.h $(DESTDIR)$(PREFIX)/include/
	install -m 644 $(B)/seslite.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig/
	install -m 644 $(SCRIPTS) $(DESTDIR)$(PREFIX)/share/seslite/sql/

## uninstall: takes away what install put there
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/lib/libseslite.a $(DESTDIR)$(PREFIX)/lib/pkgconfig/seslite.pc
	rm -f $(DESTDIR)$(PREFIX)/include/seslite.h $(DESTDIR)$(PREFIX)/include/seslite_cjson.h
	rm -rf $(DESTDIR)$(PREFIX)/share/seslite

## amalgamation: build/amalgamation/seslite.c and seslite.h, to compile with your own program
amalgamation: $(B)/gen/statement_ids.h $(B)/gen/sql_text.c
	@sh tools/amalgamate.sh $(B)/amalgamation $(B)/gen
	$(CC) -std=c11 $(WARNINGS) -pthread $(CFLAGS) $(SQLITE_CFLAGS) -c \
	    -o $(B)/amalgamation/seslite.o $(B)/amalgamation/seslite.c
	$(CC) -std=c11 $(WARNINGS) $(CFLAGS) $(CJSON_CFLAGS) -c \
	    -o $(B)/amalgamation/seslite_cjson.o $(B)/amalgamation/seslite_cjson.c

## format: the C files in the style of .clang-format
format:
	clang-format -i include/*.h lib/*.[ch] test/*.[ch] tools/*.c tools/bench/*.[ch]

## clean: removes build/
clean:
	rm -rf build

## help: this list
help:
	@sed -n 's/^## //p' Makefile

-include $(wildcard $(B)/fuzz/*.d $(B)/fuzz/lib/*.d $(B)/lib/*.d $(B)/gen/*.d $(B)/test/*.d $(B)/tools/*.d $(B)/tools/bench/*.d)
