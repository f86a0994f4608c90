# seslite. `make help` lists what there is to make.
#
# Yours to set: CC, CFLAGS, LDFLAGS, PREFIX, LIBDIR, DESTDIR, and for libraries in unusual places SQLITE_CFLAGS,
# SQLITE_LIBS, CJSON_CFLAGS, CJSON_LIBS. Each set of flags has an object folder of its own below build/.

CFLAGS     ?= -O2 -g
AWK        ?= awk
PKG_CONFIG ?= pkg-config
ifeq ($(origin AR),default)
AR := $(shell $(CC) -print-prog-name=ar)
endif

PREFIX       ?= /usr/local
LIBDIR       ?= $(PREFIX)/lib
INCLUDEDIR   ?= $(PREFIX)/include
DATADIR      ?= $(PREFIX)/share
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
CMAKEDIR     ?= $(LIBDIR)/cmake/seslite

VERSION := $(shell $(AWK) '/define SES_VERSION_(MAJOR|MINOR|PATCH) /{v = v s $$3; s = "."} END {print v}' include/seslite.h)
# The shared library's: raised when a program has to be compiled again. Before 1.0 that is every minor version.
ABI     := $(shell echo $(VERSION) | $(AWK) -F. '{print $$1 == 0 ? $$1 "." $$2 : $$1}')

# Looked up only when something is built, since `make deps` may just have installed them.
SQLITE_CFLAGS = $(shell $(PKG_CONFIG) --cflags sqlite3 2>/dev/null)
SQLITE_LIBS   = $(shell $(PKG_CONFIG) --libs sqlite3 2>/dev/null || echo -lsqlite3)
CJSON_CFLAGS  = $(shell $(PKG_CONFIG) --cflags libcjson 2>/dev/null)
CJSON_LIBS    = $(shell $(PKG_CONFIG) --libs libcjson 2>/dev/null || echo -lcjson)
CMOCKA_LIBS   = $(shell $(PKG_CONFIG) --libs cmocka 2>/dev/null || echo -lcmocka)

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
BASE     := -std=c11 -D_DEFAULT_SOURCE -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -pthread $(WARNINGS)

# FLAVOUR names a set of flags: release, asan, tsan, coverage.
FLAVOUR ?= release
FLAVOUR_FLAGS_asan     := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FLAVOUR_FLAGS_tsan     := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
FLAVOUR_FLAGS_coverage := -O0 -g --coverage
FLAVOUR_FLAGS          := $(FLAVOUR_FLAGS_$(FLAVOUR))
B := build$(if $(filter-out release,$(FLAVOUR)),/$(FLAVOUR))

# ------------------------------------------------------------------------------------------- the library

# Every file below lib/ is part of it: a new one is named nowhere. An object is called after its room as well, since
# rooms may have files of one name and an archive may not.
SOURCES := $(sort $(wildcard lib/*/*.c lib/*/sqlite/*.c))
HEADERS := $(sort $(wildcard include/*.h))
STATEMENTS := sql/sqlite/statements.sql
SCRIPTS    := $(sort $(wildcard sql/sqlite/0*.sql))
object_of   = $(B)/lib/$(subst /,-,$(patsubst lib/%.c,%,$(1))).o
SQL_OBJECT := $(B)/lib/storage-sqlite-sql_text.o
OBJECTS    := $(foreach source,$(SOURCES),$(call object_of,$(source))) $(SQL_OBJECT)
LIBRARY    := $(B)/libseslite.a
SHARED     := $(B)/libseslite.so.$(VERSION)

COMPILE = $(CC) $(BASE) $(FLAVOUR_FLAGS) -Iinclude -Ilib -I$(B)/gen $(CPPFLAGS) $(CFLAGS) -MMD -MP

.PHONY: all shared
## all: the static library, build/libseslite.a
all: $(LIBRARY)

$(B)/gen/statement_ids.h: $(STATEMENTS) tools/embed.awk
	@mkdir -p $(@D)
	$(AWK) -f tools/embed.awk -v mode=ids $(STATEMENTS) > $@.new && mv $@.new $@

$(B)/gen/sql_text.c: $(STATEMENTS) $(SCRIPTS) tools/embed.awk
	@mkdir -p $(@D)
	$(AWK) -f tools/embed.awk -v mode=text $(STATEMENTS) $(SCRIPTS) > $@.new && mv $@.new $@

$(SQL_OBJECT): $(B)/gen/sql_text.c $(B)/gen/statement_ids.h
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<

# Only the room that knows a foreign library is given its headers.
cflags_of = $(if $(filter lib/storage/sqlite/%,$(1)),$(SQLITE_CFLAGS)) $(if $(filter lib/cjson/%,$(1)),$(CJSON_CFLAGS))
define compile_rule
$(call object_of,$(1)): $(1) $(B)/gen/statement_ids.h
	@mkdir -p $$(@D)
	$$(COMPILE) $$(call cflags_of,$(1)) -c -o $$@ $$<
endef
$(foreach source,$(SOURCES),$(eval $(call compile_rule,$(source))))

$(LIBRARY): $(OBJECTS)
	@rm -f $@
	$(AR) rcs $@ $^

## shared: the shared library, build/libseslite.so
shared: $(SHARED)

$(SHARED): $(OBJECTS)
	$(CC) -shared -Wl,-soname,libseslite.so.$(ABI) $(FLAVOUR_FLAGS) $(CFLAGS) -pthread -o $@ $^ \
	    $(LDFLAGS) $(SQLITE_LIBS) $(CJSON_LIBS)
	ln -sf $(@F) $(B)/libseslite.so.$(ABI)
	ln -sf $(@F) $(B)/libseslite.so

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

# Each C file in a room of test/ is a program of its own, linked with the archive as a user's program would be. What one
# needs beyond that stands in test/flags.mk. The tests run from this folder.
TEST_SOURCES := $(sort $(wildcard test/*/*.c))
TEST_SOURCES := $(filter-out test/fuzz/%,$(TEST_SOURCES))
TEST_ALL     := $(TEST_SOURCES:test/%.c=%)
TEST_SUPPORT := $(B)/test/support.o
# TESTS=list,append: only these, by name; or whole rooms.
comma := ,
TESTS ?=
wanted_tests = $(foreach test,$(TEST_ALL),$(if $(filter $(subst $(comma), ,$(TESTS)),$(test) $(notdir $(test)) $(patsubst %/,%,$(dir $(test)))),$(test)))
TEST_NAMES  := $(if $(TESTS),$(wanted_tests),$(TEST_ALL))

-include test/flags.mk

$(TEST_SUPPORT): test/support.c
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<

$(B)/test/%.o: test/%.c $(B)/gen/statement_ids.h
	@mkdir -p $(@D)
	$(COMPILE) -Itest $(SQLITE_CFLAGS) $(CJSON_CFLAGS) $(TEST_CFLAGS_$*) -c -o $@ $<

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

# A run of one test is a target, so that -j runs several at once.
RUNS := $(TEST_NAMES:%=run-%)
.PHONY: check test quick tree-check asan tsan coverage stress damage $(RUNS)
$(RUNS): run-%: $(B)/test/%
	@sh test/run.sh one $(B) $*

## check: build and run all tests (also: make test); TESTS=list runs one, TESTS=agent a room of them
check test: $(RUNS) $(if $(TESTS),,tree-check)
	@sh test/run.sh sum $(B) $(TEST_NAMES)

## quick: the tests but for those that take long
quick:
	@$(MAKE) --no-print-directory test TESTS=$(subst $() ,$(comma),$(filter-out $(LONG_TESTS),$(TEST_ALL)))

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
stress: $(B)/test/storage/stress
	SESLITE_STRESS_SECONDS=60 $(B)/test/storage/stress

## damage: drive 20,000 damaged files through every call, with the sanitizers on (DAMAGE_FILES=..., DAMAGE_JOBS=...)
DAMAGE_FILES ?= 20000
DAMAGE_JOBS  ?= $(shell getconf _NPROCESSORS_ONLN)
damage:
	@$(MAKE) --no-print-directory build/asan/test/storage/damage FLAVOUR=asan
	SESLITE_DAMAGE_FILES=$(DAMAGE_FILES) SESLITE_DAMAGE_JOBS=$(DAMAGE_JOBS) build/asan/test/storage/damage

## coverage: the tests with coverage of lib/, which must reach 95% of lines
coverage:
	@find build/coverage -name '*.gcda' -exec rm -f {} + 2>/dev/null || true
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
FUZZ_LIBRARY := build/fuzz/libseslite.a
FUZZ_COMPILE  = $(FUZZ_CC) $(BASE) $(FUZZ_FLAGS) -Iinclude -Ilib -I$(B)/gen $(SQLITE_CFLAGS) $(CPPFLAGS) -MMD -MP
FLAVOUR_FLAGS_fuzz := $(FUZZ_FLAGS)

.PHONY: $(FUZZ_LIBRARY)
$(FUZZ_LIBRARY):
	@$(MAKE) --no-print-directory FLAVOUR=fuzz CC=$(FUZZ_CC) CFLAGS= all

$(B)/fuzz/fuzz_%: test/fuzz/fuzz_%.c test/fuzz/fuzz.h $(FUZZ_LIBRARY)
	$(FUZZ_COMPILE) -fsanitize=fuzzer -o $@ $< $(FUZZ_LIBRARY) $(LDFLAGS) $(SQLITE_LIBS) $(CJSON_LIBS)

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

.PHONY: install uninstall amalgamation format clean help FORCE
# tools/packaging/*.in, with what is known only when installing.
$(B)/packaging/%: tools/packaging/%.in FORCE
	@mkdir -p $(@D)
	@sed -e 's|@VERSION@|$(VERSION)|g' -e 's|@LIBDIR@|$(LIBDIR)|g' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|g' $< > $@

PACKAGING := seslite.pc seslite-cjson.pc seslite-config.cmake seslite-config-version.cmake

## install: into DESTDIR and PREFIX (/usr/local), LIBDIR ...: both libraries, headers, pkg-config and CMake files, scripts
install: $(LIBRARY) $(SHARED) $(PACKAGING:%=$(B)/packaging/%)
	install -d $(DESTDIR)$(PKGCONFIGDIR) $(DESTDIR)$(CMAKEDIR) $(DESTDIR)$(INCLUDEDIR) $(DESTDIR)$(DATADIR)/seslite/sql
	install -m 644 $(LIBRARY) $(DESTDIR)$(LIBDIR)/
	install -m 755 $(SHARED) $(DESTDIR)$(LIBDIR)/
	ln -sf $(notdir $(SHARED)) $(DESTDIR)$(LIBDIR)/libseslite.so.$(ABI)
	ln -sf $(notdir $(SHARED)) $(DESTDIR)$(LIBDIR)/libseslite.so
	install -m 644 $(HEADERS) $(DESTDIR)$(INCLUDEDIR)/
	install -m 644 $(B)/packaging/seslite.pc $(B)/packaging/seslite-cjson.pc $(DESTDIR)$(PKGCONFIGDIR)/
	install -m 644 $(B)/packaging/seslite-config.cmake $(B)/packaging/seslite-config-version.cmake $(DESTDIR)$(CMAKEDIR)/
	install -m 644 $(SCRIPTS) $(DESTDIR)$(DATADIR)/seslite/sql/

## uninstall: takes away what install put there
uninstall:
	rm -f $(DESTDIR)$(LIBDIR)/libseslite.a $(DESTDIR)$(LIBDIR)/libseslite.so*
	rm -f $(DESTDIR)$(PKGCONFIGDIR)/seslite.pc $(DESTDIR)$(PKGCONFIGDIR)/seslite-cjson.pc
	rm -f $(HEADERS:include/%=$(DESTDIR)$(INCLUDEDIR)/%)
	rm -rf $(DESTDIR)$(CMAKEDIR) $(DESTDIR)$(DATADIR)/seslite

## amalgamation: build/amalgamation/seslite.c and seslite.h, to compile with your own program
amalgamation: $(B)/gen/statement_ids.h $(B)/gen/sql_text.c
	@sh tools/amalgamate.sh $(B)/amalgamation $(B)/gen
	$(CC) -std=c11 $(WARNINGS) -pthread $(CFLAGS) $(SQLITE_CFLAGS) -c \
	    -o $(B)/amalgamation/seslite.o $(B)/amalgamation/seslite.c
	$(CC) -std=c11 $(WARNINGS) $(CFLAGS) $(CJSON_CFLAGS) -c \
	    -o $(B)/amalgamation/seslite_cjson.o $(B)/amalgamation/seslite_cjson.c

## format: the C files in the style of .clang-format
format:
	clang-format -i $$(git ls-files '*.c' '*.h')

## clean: removes build/
clean:
	rm -rf build

## help: this list
help:
	@sed -n 's/^## //p' Makefile

-include $(wildcard $(B)/lib/*.d $(B)/test/*.d $(B)/test/*/*.d $(B)/tools/*.d $(B)/tools/bench/*.d)
