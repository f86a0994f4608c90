# The tests. Each C file in a room of test/ is a program of its own, linked with the archive as a user's
# program would be. What one needs beyond that, and the lists of tests, are in test/flags.mk. The tests run
# from the top folder.

NM          ?= nm
CMOCKA_LIBS ?= $(call once,CMOCKA_LIBS,$(shell $(PKG_CONFIG) --libs cmocka 2>/dev/null || echo -lcmocka))

include test/flags.mk

TEST_SOURCES := $(filter-out test/fuzz/% $(if $(WITH_SERVER),,$(CURL_TESTS)) $(patsubst %,test/%/%,$(LEFT_OUT)),\
    $(sort $(wildcard test/*/*.c)))
TEST_ALL     := $(TEST_SOURCES:test/%.c=%)
TEST_SUPPORT := $(B)/test/support.o
PROGRAMS     := $(B)

# On a server opening is replaced: each path is a database.
ifneq ($(filter postgres mysql,$(ENGINE)),)
TEST_ALL     := $(filter-out $(ABOUT_FILES),$(filter $(SERVER_ROOMS:%=%/%),$(TEST_ALL)))
PROGRAMS     := $(B)/on-$(ENGINE)
TEST_LINK    := -Wl,--wrap=ses_open -Wl,--wrap=ses_close
endif
ifeq ($(ENGINE),encrypted)
# Each store that a test opens has a key.
ifeq ($(SQLITE),)
$(error ENGINE=encrypted needs SQLITE=, the path of the amalgamation of SQLite3 Multiple Ciphers)
endif
TEST_ALL     := $(filter session/% agent/% artifact/% search/% storage/% program/seslite_key,$(TEST_ALL))
TEST_LINK    := -Wl,--wrap=ses_open
TEST_ENGINE  := -include test/engine_encrypted.h
endif
ifneq ($(filter postgres mysql encrypted,$(ENGINE)),)
CHECK_ALL    :=
TEST_SUPPORT += $(B)/test/engine_$(ENGINE).o
endif

# TESTS=list,append: only these, by name; or whole rooms; or scripts that look at the whole. What takes long
# begins first, so that -j has less to wait for.
comma := ,
empty :=
space := $(empty) $(empty)
TESTS ?=
tests_called = $(filter $(1),$(CHECK_ALL)) $(foreach test,$(TEST_ALL),\
    $(if $(filter $(1),$(test) $(notdir $(test)) $(patsubst %/,%,$(dir $(test)))),$(test)))
WANTED       := $(subst $(comma), ,$(TESTS))
$(foreach name,$(WANTED),$(if $(strip $(call tests_called,$(name))),,$(error there is no test called $(name))))
CALLED       := $(if $(WANTED),$(sort $(foreach name,$(WANTED),$(call tests_called,$(name)))),$(TEST_ALL) $(CHECK_ALL))
# The goal, if TESTS names none: `make quick` leaves out what takes long, and `make test` what takes longest; it also
# makes fewer calls fail and damages fewer files.
GOAL         := $(firstword $(filter quick test check test-all,$(MAKECMDGOALS)))
LEFT         := $(if $(filter quick,$(GOAL)),$(filter $(CALLED),$(LONG_TESTS)))
ifneq ($(if $(WANTED),,$(filter test check,$(GOAL))),)
LEFT         := $(filter $(CALLED),$(LONGEST_TESTS))
export SESLITE_FAULTS_APART ?= 8
export SESLITE_DAMAGE_FILES ?= 25
endif
CALLED       := $(filter-out $(LEFT),$(CALLED))
CHECKS       := $(filter $(CALLED),$(CHECK_ALL))
TEST_NAMES   := $(filter $(CALLED),$(TEST_ALL))
TEST_NAMES   := $(foreach name,$(LONG_TESTS),$(filter $(name),$(TEST_NAMES))) $(filter-out $(LONG_TESTS),$(TEST_NAMES))

# The library is built with the flags that users have. The tests' own code, half of what is compiled, is built
# fast.
TEST_OPTIMIZATION ?= -O0
TEST_COMPILE = $(COMPILE_UNCOUNTED) $(TEST_OPTIMIZATION)

# A faster linker than the usual one, if there is one, and nothing of what only debuggers read. Not for sanitizers,
# which tell lines, nor for what is optimized by the linker.
TEST_LDFLAGS ?= $(if $(FLAVOUR_FLAGS)$(findstring -flto,$(CFLAGS)),,$(call once,TEST_LDFLAGS,$(shell \
    for name in gold lld; do $(CC) -fuse-ld=$$name -Wl,--version >/dev/null 2>&1 && echo -fuse-ld=$$name && break; done) -Wl$(comma)-S))

$(TEST_SUPPORT): $(B)/test/%.o: test/%.c
	@mkdir -p $(@D)
	$(call says,CC,$<)$(TEST_COMPILE) $(SQLITE_CFLAGS) $(POSTGRES_CFLAGS) $(MYSQL_CFLAGS) -c -o $@ $<

$(B)/test/%.o: test/%.c $(B)/gen/statements.h
	@mkdir -p $(@D)
	$(call says,CC,$<)$(TEST_COMPILE) -Itest $(SQLITE_CFLAGS) $(TEST_ENGINE) $(CJSON_CFLAGS) $(POSTGRES_CFLAGS) \
	    $(MYSQL_CFLAGS) $(TEST_CFLAGS_$*) -c -o $@ $<

$(PROGRAMS)/test/%: $(B)/test/%.o $(TEST_SUPPORT) $(LIBRARY)
	@mkdir -p $(@D)
	$(call says,LD)$(LINK) -o $@ $< $(TEST_SUPPORT) $(TEST_OBJECTS_$*) $(LIBRARY) \
	    $(TEST_LDFLAGS) $(LDFLAGS) $(TEST_LINK) $(TEST_LIBS_$*) $(CMOCKA_LIBS) $(SQLITE_LIBS) $(CJSON_LIBS) $(SERVER_LIBS)

# The code of the chapters, which are README files: all their fragments as one program, and the whole
# programs. The packages for Python and Rust test their own. Without POSTGRES=1 the program for a server is
# compiled, but not linked.
CHAPTERS         := README.md $(filter-out build/% tools/python/% tools/rust/%,\
    $(wildcard lib/README.md sql/README.md tools/README.md */*/README.md */*/*/README.md))
CHAPTER_PROGRAMS := $(patsubst %.md,$(B)/test/chapters/%,$(shell grep -l '^.include <' $(CHAPTERS)))
CHAPTER_OBJECTS  := $(addsuffix .o,$(B)/test/chapters/fragments $(CHAPTER_PROGRAMS))

$(B)/test/chapters/fragments.c: $(CHAPTERS) test/readme.awk
	$(call generate,$(AWK) -f test/readme.awk $(CHAPTERS))

$(B)/test/chapters/%.c: %.md test/readme.awk
	$(call generate,$(AWK) -v whole=1 -f test/readme.awk $<)

# They have a main of their own.
$(CHAPTER_OBJECTS:.o=): TEST_SUPPORT :=

$(CHAPTER_OBJECTS): %.o: %.c
	$(call compile,$(SQLITE_CFLAGS) $(CJSON_CFLAGS) -Wno-unused-function)

.SECONDARY:

# Scripts that check the whole tree. test/NAME.sh gets its settings in the environment.
CHECK_SETTINGS = HEADERS='$(HEADERS)' REFERENCE='$(REFERENCE)' AWK='$(AWK)' NM='$(NM)' CC='$(CC)' CXX='$(CXX)' \
    MAKE='$(MAKE)' PKG_CONFIG='$(PKG_CONFIG)' CFLAGS='$(CFLAGS)' LDFLAGS='$(LDFLAGS)' \
    TEST_OPTIMIZATION='$(TEST_OPTIMIZATION)' \
    SQLITE_CFLAGS='$(SQLITE_CFLAGS)' SQLITE_LIBS='$(SQLITE_LIBS)' CJSON_CFLAGS='$(CJSON_CFLAGS)' CJSON_LIBS='$(CJSON_LIBS)' \
    POSTGRES='$(POSTGRES)' POSTGRES_CFLAGS='$(POSTGRES_CFLAGS)' POSTGRES_LIBS='$(POSTGRES_LIBS)' \
    MYSQL='$(MYSQL)' MYSQL_CFLAGS='$(MYSQL_CFLAGS)' MYSQL_LIBS='$(MYSQL_LIBS)'

# A run of one test is a target, so that -j runs several at once. One that fails leaves the others to run, and
# the sum to be printed. All are built before the first runs: else make begins with those that are built last,
# and what takes long is left to run alone.
RUNS := $(TEST_NAMES:%=run-%)
.PHONY: check test test-all quick programs tree-check asan tsan coverage sqlite-versions stress damage $(RUNS) $(CHECKS:%=check-%)
$(RUNS): run-%: $(PROGRAMS)/test/% | $(TEST_NAMES:%=$(PROGRAMS)/test/%)
	@sh test/run.sh one $(PROGRAMS) $* $(if $(RUNNER),$(RUNNER) $<)

# Its calls have time limits, which may not hold beside the three nodes of Galera.
run-mysql/failover: | $(filter run-mysql/galera,$(RUNS))

check-layers: $(OBJECTS) $(BENCH_OBJECTS) $(COMMAND_OBJECTS) $(if $(WITH_SERVER),$(SERVER_OBJECTS))
check-layers: export OBJECTS := $(OBJECTS)
check-layers: export BENCH_OBJECTS := $(BENCH_OBJECTS)
check-layers: export FORMAT_OBJECTS := $(FORMAT_OBJECTS)
check-layers: export COMMAND_OBJECTS := $(COMMAND_OBJECTS)
check-layers: export SERVER_OBJECTS := $(if $(WITH_SERVER),$(SERVER_OBJECTS))
check-readme: $(CHAPTER_OBJECTS) $(filter-out $(foreach name,$(LEFT_OUT),%/$(name)/README),$(CHAPTER_OBJECTS:.o=)) $(COMMAND)
check-chat: $(B)/tools/chat/chat
check-amalgamation: $(AMALGAMATED) $(B)/test/chapters/README.c
check-exports check-linking check-install: $(LIBRARY)
check-exports check-abidiff check-install: $(SHARED)
check-install: $(COMMAND) $(COMMAND_PAGE) $(DOCS)/records
$(CHECKS:%=check-%): check-%:
	@$(CHECK_SETTINGS) sh test/run.sh one $(B) $* sh test/$*.sh $(B)

## quick: the tests except those that take long
## test: the tests (also: make check); TESTS=list runs one, TESTS=agent a room of them
## test-all: also those that take longest
SERVER_ADDRESS := $(if $(filter postgres,$(ENGINE)),$(SESLITE_POSTGRES),$(SESLITE_MYSQL))
ifneq ($(if $(SERVER_ADDRESS),,$(filter postgres mysql,$(ENGINE))),)
check test test-all quick:
	@sh test/$(ENGINE)/with_server.sh $(MAKE) --no-print-directory $@
else
check test test-all quick: $(RUNS) $(CHECKS:%=check-%)
	@LEFT='$(LEFT)' TIMED='$(TIMED_TESTS)' RUNNER='$(RUNNER)' sh test/run.sh sum $(PROGRAMS) $(TEST_NAMES) $(CHECKS)
endif

### programs: the programs of the tests, which are not run; TESTS and ENGINE choose them
programs: $(TEST_NAMES:%=$(PROGRAMS)/test/%)

### tree-check: the checks of the whole tree: layers, headers, what is exported and linked, the documents, installing
tree-check: $(CHECKS:%=check-%)
	@sh test/run.sh sum $(B) $(CHECKS)

### asan: the tests with the address, leak and undefined-behaviour sanitizers
asan:
	@$(MAKE) --no-print-directory test-all FLAVOUR=asan

### tsan: the tests that start threads, with the thread sanitizer: in one it finds nothing that asan does not
tsan:
	@$(MAKE) --no-print-directory check FLAVOUR=tsan \
	    TESTS=$(subst $(space),$(comma),$(strip $(if $(WANTED),$(WANTED),$(THREADED_TESTS:test/%.c=%))))

### sqlite-versions: tests with the oldest version of SQLite, Debian 13's and the newest, which cargo fetches (SQLITE_CRATES=...)
sqlite-versions:
	@MAKE='$(MAKE)' CC='$(CC)' sh test/sqlite_versions.sh build/sqlite-versions \
	    $(subst $(space),$(comma),$(strip $(if $(WANTED),$(WANTED),$(VERSION_TESTS))))

### encrypted: tests on encrypted stores, with SQLite3 Multiple Ciphers, which npm fetches or SQLITE=path/sqlite3mc.c names
.PHONY: encrypted
encrypted:
	@MAKE='$(MAKE)' SQLITE='$(SQLITE)' sh test/encrypted.sh build/encrypted-sqlite \
	    $(subst $(space),$(comma),$(strip $(if $(WANTED),$(WANTED),$(ENCRYPTED_TESTS))))

### figures: compare the figures in test/README.md with those of the last `make test` and `make coverage`
.PHONY: figures
figures:
	@sh test/figures.sh build build/asan-coverage build/coverage

### mutants: seed faults in lib/, and list those that no test sees (MUTANTS=40 SEED=1); needs Python's venv and PyPI
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

### machines: tests on processors of another kind, under qemu, and stores that go from one to the other (MACHINES="s390x arm64")
MACHINES ?= s390x arm64
.PHONY: machines
machines: $(COMMAND)
	@MAKE='$(MAKE)' MACHINES='$(MACHINES)' sh test/machines.sh build/machines $(COMMAND) \
	    $(subst $(space),$(comma),$(strip $(if $(WANTED),$(WANTED),$(MACHINE_TESTS))))

### clean-room: make deps demo, and GOALS, on a bare Debian or Ubuntu that debootstrap makes; as root (SUITE=trixie GOALS=quick)
SUITE ?= $(shell . /etc/os-release 2>/dev/null && echo $$VERSION_CODENAME)
GOALS ?= quick
.PHONY: clean-room
clean-room:
	@sh test/clean_room.sh build/clean-room $(SUITE) '$(GOALS)'

### stress: many threads, and many processes of which one is killed, for a minute each
stress: $(B)/test/storage/stress
	SESLITE_STRESS_SECONDS=60 $(B)/test/storage/stress

### damage: drive 20,000 damaged files through every call, with the sanitizers on (DAMAGE_FILES=..., DAMAGE_JOBS=...)
DAMAGE_FILES ?= 20000
DAMAGE_JOBS  ?= $(shell getconf _NPROCESSORS_ONLN)
DAMAGE_FLAVOUR := $(patsubst release,asan,$(FLAVOUR))
damage:
	@$(MAKE) --no-print-directory build/$(DAMAGE_FLAVOUR)/test/storage/damage FLAVOUR=$(DAMAGE_FLAVOUR)
	SESLITE_DAMAGE_FILES=$(DAMAGE_FILES) SESLITE_DAMAGE_JOBS=$(DAMAGE_JOBS) build/$(DAMAGE_FLAVOUR)/test/storage/damage

### coverage: the tests with coverage of lib/, which must reach 95% of lines; FLAVOUR=asan-coverage: together with asan
COVERED = $(patsubst release,coverage,$(FLAVOUR))
coverage:
	@find build/$(COVERED) -name '*.gcda' -exec rm -f {} + 2>/dev/null || true
	@$(MAKE) --no-print-directory test-all FLAVOUR=$(COVERED)
	@# gcov derives a count below 0 for a line of optimized code, at which gcovr would stop
	gcovr -j "$$(getconf _NPROCESSORS_ONLN)" --root . --filter 'lib/' build/$(COVERED) --exclude-unreachable-branches \
	    --gcov-ignore-parse-errors --print-summary --fail-under-line 95 --txt build/$(COVERED)/coverage.txt \
	    --json-summary build/$(COVERED)/coverage.json
	@grep -E '^(lib|TOTAL)' build/$(COVERED)/coverage.txt
