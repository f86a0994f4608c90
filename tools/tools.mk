# Programs of tools/: the command with its formats, the example server, the demonstration, the benchmarks; and what is made of
# the tree for its own use.

# The example server, and its test, are built where these are. WITH_SERVER= leaves them out.
WITH_SERVER   ?= $(shell $(PKG_CONFIG) --exists libmicrohttpd libcurl 2>/dev/null && echo yes)
MHD_CFLAGS    ?= $(call once,MHD_CFLAGS,$(shell $(PKG_CONFIG) --cflags libmicrohttpd 2>/dev/null))
MHD_LIBS      ?= $(call once,MHD_LIBS,$(shell $(PKG_CONFIG) --libs libmicrohttpd 2>/dev/null || echo -lmicrohttpd))
CURL_LIBS     ?= $(call once,CURL_LIBS,$(shell $(PKG_CONFIG) --libs libcurl 2>/dev/null || echo -lcurl))

LINK = $(CC) $(CFLAGS) $(FLAVOUR_FLAGS) -pthread
# $(call link,LIBS): the recipe of a program of its prerequisites
link = $(call says,LD)$(LINK) -o $@ $(filter-out FORCE,$^) $(LDFLAGS) $(1)

BENCH_OBJECTS := $(patsubst tools/%.c,$(B)/tools/%.o,$(wildcard tools/bench/*.c))
SERVER_OBJECTS := $(patsubst tools/%.c,$(B)/tools/%.o,$(wildcard tools/server/*.c))
SERVER := $(B)/tools/server/server
FORMAT_OBJECTS := $(patsubst tools/%.c,$(B)/tools/%.o,$(wildcard $(addprefix tools/formats/,*.c */*.c)))
COMMAND_OBJECTS := $(FORMAT_OBJECTS) $(patsubst tools/%.c,$(B)/tools/%.o,\
    $(wildcard $(addprefix tools/seslite/,*.c */*.c */*/*.c)))

$(B)/tools/%.o: tools/%.c
	@mkdir -p $(@D)
	$(call says,CC,$<)$(COMPILE_UNCOUNTED) $(SQLITE_CFLAGS) $(TOOL_CFLAGS) -c -o $@ $<

$(B)/tools/%: $(B)/tools/%.o $(LIBRARY)
	$(call link,$(SQLITE_LIBS))

$(B)/tools/bench/bench: $(BENCH_OBJECTS) $(LIBRARY)
	$(call link,$(SQLITE_LIBS))

# The page of `seslite html`, and the scripts for shells.
COMMAND_FILES := $(addprefix tools/seslite/html/page/page.,css js) \
    $(addprefix tools/seslite/complete/completion.,bash zsh fish)
COMMAND_OBJECTS += $(B)/tools/seslite/embedded.o

$(B)/gen/command_files.c: $(COMMAND_FILES) tools/embed_files.awk
	$(call generate,$(AWK) -f tools/embed_files.awk $(COMMAND_FILES))

$(B)/tools/seslite/embedded.o: $(B)/gen/command_files.c
	$(call compile,$(TOOL_CFLAGS))

$(COMMAND_OBJECTS): TOOL_CFLAGS = -Itools -Itools/seslite $(if $(POSTGRES),-DWITH_POSTGRES) $(if $(MYSQL),-DWITH_MYSQL)
$(FORMAT_OBJECTS): TOOL_CFLAGS = -Itools
$(B)/tools/seslite/files/place.o: $(B)/gen/engines

$(COMMAND): $(COMMAND_OBJECTS) $(LIBRARY)
	$(call link,$(SQLITE_LIBS) $(SERVER_LIBS))

# The command is run to print its man page, so that is not made when cross-compiling.
COMMAND_PAGE := $(B)/tools/seslite/seslite.1
$(COMMAND_PAGE): $(COMMAND)
	$(call generate,$(COMMAND) help --man)

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
	$(call link,$(MHD_LIBS) $(SQLITE_LIBS) $(CJSON_LIBS))

.PHONY: deps deps-browser demo command server bench
## deps: install the packages for building and testing (POSTGRES=1, MYSQL=1: also those of a server)
deps:
	@sh tools/deps.sh $(SERVERS)

### deps-browser: also Chromium and chromedriver, in which the page of `seslite html` is tested
deps-browser:
	@sh tools/deps.sh browser

## demo: store a conversation and show it; FULL=1: also with the command in many ways, and run a small agent
demo: $(B)/tools/demo $(B)/tools/agent $(COMMAND)
	@FULL='$(FULL)' sh tools/demo.sh $(B)/tools/demo $(B)/demo.db $(B)/tools/agent $(COMMAND)

### command: the command and its man page, in build/tools/seslite
command: $(COMMAND) $(COMMAND_PAGE)

### server: the example chat server, build/tools/server/server
server: $(SERVER)

### bench: time seslite against a bare SQLite program and itself (QUICK=1 only checks that it runs; MILLION=1: longer logs)
QUICK ?=
MILLION ?=
bench: $(B)/tools/bench/bench
	@mkdir -p $(B)/bench
	@# 2: a figure is not reached, which the table says; that is no failure of making it
	$(B)/tools/bench/bench $(if $(QUICK),--quick) $(if $(MILLION),--million) --json $(B)/bench.jsonl --folder $(B)/bench || [ $$? -eq 2 ]

### compare: time seslite beside the stores of google-adk, adk-rust and the OpenAI Agents SDK, after make clients
.PHONY: compare
COMPARE ?=
compare: $(B)/tools/bench/compare/worker
	@! command -v cargo >/dev/null 2>&1 || { cd tools/rust && CARGO_TARGET_DIR=$(abspath build/rust) \
	    cargo build --quiet --release --locked -p adk-session-seslite --example compare; } || echo "without Rust"
	@mkdir -p $(B)/bench
	python3 tools/bench/compare/compare.py --c $< --rust build/rust/release/examples/compare \
	    --python build/python/venv/bin/python --folder $(B)/bench $(COMPARE)

# On a server, beside bare programs and google-adk. BENCH_LIBRARY: another build's library is measured.
# bench_rules NAME,VARIABLE,OBJECTS: an engine, the variable that chooses it, and objects of other benchmarks
BENCH_LIBRARY ?= $(LIBRARY)
BENCH_PYTHON  ?=
define bench_rules
$(2)_BENCH_OBJECTS := $(patsubst tools/%.c,$(B)/tools/%.o,$(wildcard tools/bench/$(1)/*.c))
$$($(2)_BENCH_OBJECTS): TOOL_CFLAGS = -Itest $$($(2)_CFLAGS)

$(B)/tools/bench/$(1)/bench: $$($(2)_BENCH_OBJECTS) $(addprefix $(B)/tools/bench/,$(3)) $(BENCH_LIBRARY) FORCE
	$$(call link,$$(SQLITE_LIBS) $$($(2)_LIBS))

.PHONY: bench-$(1)
ifeq ($($(2)),)
bench-$(1):
	@$$(MAKE) --no-print-directory $$@ $(2)=1
else
bench-$(1): $(B)/tools/bench/$(1)/bench
	sh test/$(1)/with_server.sh sh -c '"$$$$0" $(if $(QUICK),--quick) $(if $(BENCH_PYTHON),--adk $(BENCH_PYTHON)) \
	    --json $(B)/bench-$(1).jsonl "$$$$SESLITE_$(2)" || [ $$$$? -eq 2 ]' $$<
endif
endef
### bench-postgres: time seslite on a server, directly and 1 ms away (BENCH_PYTHON=one with google-adk)
$(eval $(call bench_rules,postgres,POSTGRES,measure.o))
### bench-mysql: the same on MySQL
$(eval $(call bench_rules,mysql,MYSQL,measure.o postgres/library.o postgres/adk.o))

.PHONY: abi platforms pictures schema format helpers
### helpers: count the functions of lib/ that are called once, the long ones, and the files and lines of each room
helpers:
	@python3 tools/helpers.py

### abi: describe the binary interface of the headers in tools/abi; after a change of it, on a 64-bit system
abi:
	@$(AWK) -f tools/abi/symbols.awk tools/abi/symbols.map $(REFERENCE) > tools/abi/symbols.map.new
	@mv tools/abi/symbols.map.new tools/abi/symbols.map
	@CC='$(CC)' AWK='$(AWK)' sh tools/abi/describe.sh $(B)/abi $(REFERENCE) > tools/abi/abi.txt.new
	@mv tools/abi/abi.txt.new tools/abi/abi.txt

### platforms: compile for other systems (macOS, FreeBSD, musl, ...) with the available compilers
platforms:
	@MAKE='$(MAKE)' sh tools/platforms.sh

### pictures: make the pictures of the documents again; tools/pictures/README.md lists what that needs
pictures: $(COMMAND)
	python3 tools/pictures/house.py > $(B)/house.svg && mv $(B)/house.svg tools/pictures/house.svg
	python3 tools/pictures/terminal.py $(COMMAND) tools/pictures/terminal.svg
	python3 tools/pictures/page.py $(COMMAND) tools/pictures/page.png

### schema: what the scripts of sql/sqlite make, in sql/sqlite/schema.sql; after a change of a script, with the sqlite3 program
schema:
	sh tools/schema.sh $(SCRIPTS) > $(SCHEMA).new && mv $(SCHEMA).new $(SCHEMA)

### format: the C files in the style of .clang-format
format:
	clang-format -i $$(git ls-files -co --exclude-standard '*.c' '*.h')
