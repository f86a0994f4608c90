# Each test/fuzz/fuzz_*.c is a target of libFuzzer, which is clang's; the flavour fuzz builds them,
# fuzz-coverage to count what they reach. A corpus and a dictionary to begin with are in the repository, and
# tools/fuzz/seeds.sh makes more inputs; what is found beyond them goes to build/fuzz/corpus.
FUZZ_CC      ?= clang
FUZZ_RUNS    ?= 1000000
FUZZ_SECONDS ?= 3600
FUZZ_ENGINE  ?= -fsanitize=fuzzer
FUZZ_LINK    ?= $(CC)
FUZZ_TARGETS := $(filter-out $(if $(WITH_SERVER),,server),$(patsubst test/fuzz/fuzz_%.c,%,$(sort $(wildcard test/fuzz/fuzz_*.c))))
FUZZ_SEEDS   := build/fuzz/seeds

$(B)/fuzz/%.o: test/fuzz/fuzz_%.c
	@mkdir -p $(@D)
	$(call says,CC,$<)$(COMPILE) -Itools -Itools/seslite $(SQLITE_CFLAGS) $(CJSON_CFLAGS) -c -o $@ $<

# The command and the server, without their main functions.
COMMAND_PARTS := $(filter-out %/seslite/main.o,$(COMMAND_OBJECTS))
$(B)/fuzz_foreign $(B)/fuzz_redact: $(COMMAND_PARTS)
$(B)/fuzz_pickle: $(FORMAT_OBJECTS)
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

### fuzz: feed each fuzz target a million inputs, with the sanitizers on (FUZZ_RUNS=..., FUZZ_TARGETS=...)
fuzz:
	+@$(call fuzz_with,$(FUZZ_TARGETS:%=fuzz-%))

### fuzz-long: feed each fuzz target for an hour, with more inputs to begin with, and tell what they reach (FUZZ_SECONDS=3600)
fuzz-long: $(COMMAND)
	@sh tools/fuzz/seeds.sh $(FUZZ_SEEDS) $(COMMAND)
	+@$(call fuzz_with,FUZZ_FOR=$(FUZZ_SECONDS) $(FUZZ_TARGETS:%=fuzz-%))
	@$(MAKE) --no-print-directory fuzz-coverage

### oss-fuzz: what OSS-Fuzz makes of the fuzz targets: each is started on the inputs that are packed for it
.PHONY: oss-fuzz
oss-fuzz: $(COMMAND)
	+@$(call fuzz_with,fuzz-binaries)
	@CLANG='$(FUZZ_CC)' sh test/oss_fuzz.sh build/fuzz

### fuzz-coverage: the share of the code that the inputs found so far reach, by clang's count
.PHONY: fuzz-coverage
fuzz-coverage:
	@$(MAKE) -s --no-print-directory FLAVOUR=fuzz-coverage CC='$(FUZZ_CC)' CFLAGS= fuzz-binaries
	@sh tools/fuzz/coverage.sh build/fuzz-coverage build/fuzz/corpus $(FUZZ_SEEDS) $(FUZZ_TARGETS)
