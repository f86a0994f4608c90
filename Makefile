# seslite: the library, and how it is installed. `make help` lists what a user makes, `make help-all` all.
# Variables to set: CC, CFLAGS, LDFLAGS, PREFIX, LIBDIR, DESTDIR, SQLITE (below), and for libraries in unusual
# places SQLITE_CFLAGS, SQLITE_LIBS, CJSON_CFLAGS, CJSON_LIBS. After a change of CC or flags `make clean`, or
# name a FLAVOUR, which is a folder below build/: make FLAVOUR=lto CFLAGS='-O2 -flto'

# Twice as many jobs as there are processors, unless -j is given: many tests wait for a clock. But not
# for `make deps demo`, whose second goal needs what the first one installs.
ifeq ($(MAKELEVEL),0)
ifeq ($(filter-out all check test test-all quick asan tsan coverage tree-check,$(or $(MAKECMDGOALS),all)),)
MAKEFLAGS += -j$(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1); echo $$((2 * n)))
endif
endif
.DEFAULT_GOAL := all

CFLAGS     ?= -O2 -g
AWK        ?= awk
INSTALL    ?= install
PKG_CONFIG ?= pkg-config
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

VERSION := $(shell $(AWK) '/define SES_VERSION_(MAJOR|MINOR|PATCH) / {v = v s $$3; s = "."} END {print v}' \
    include/seslite.h)
# The shared library's: raised when a program has to be compiled again. Before 1.0 that is every minor
# version.
ABI     := $(shell echo $(VERSION) | $(AWK) -F. '{print $$1 == 0 ? $$1 "." $$2 : $$1}')

# A line for each file that is made; V=1 prints the commands, and -s nothing. What compilers say is printed in
# any case.
SILENT := $(findstring s,$(firstword -$(MAKEFLAGS)))
says    = $(if $(filter 1,$(V)),,@$(if $(SILENT),,echo '$(1) $(or $(2),$@)';) )

# Looked up only when something is built, since `make deps` may just have installed them; and then once.
once = $(eval $(1) := $(2))$($(1))
SQLITE_CFLAGS ?= $(call once,SQLITE_CFLAGS,$(shell $(PKG_CONFIG) --cflags sqlite3 2>/dev/null))
SQLITE_LIBS   ?= $(call once,SQLITE_LIBS,$(shell $(PKG_CONFIG) --libs sqlite3 2>/dev/null || echo -lsqlite3))
CJSON_CFLAGS  ?= $(call once,CJSON_CFLAGS,$(shell $(PKG_CONFIG) --cflags libcjson 2>/dev/null))
CJSON_LIBS    ?= $(call once,CJSON_LIBS,$(shell $(PKG_CONFIG) --libs libcjson 2>/dev/null || echo -lcjson))
# The engines for servers, by POSTGRES=1 and MYSQL=1. ENGINE=postgres: the tests run on it, with a server of
# their own, but for those that are about files. ENGINE=mysql: the same on the other.
override POSTGRES := $(if $(filter postgres,$(ENGINE)),1,$(POSTGRES))
override MYSQL    := $(if $(filter mysql,$(ENGINE)),1,$(MYSQL))
ifneq ($(POSTGRES),)
POSTGRES_CFLAGS ?= $(call once,POSTGRES_CFLAGS,$(shell $(PKG_CONFIG) --cflags libpq 2>/dev/null || echo -I$$(pg_config --includedir)))
POSTGRES_LIBS   ?= $(call once,POSTGRES_LIBS,$(shell $(PKG_CONFIG) --libs libpq 2>/dev/null || echo -lpq))
endif
ifneq ($(MYSQL),)
MYSQL_CFLAGS    ?= $(call once,MYSQL_CFLAGS,$(shell $(PKG_CONFIG) --cflags libmariadb 2>/dev/null || mariadb_config --include))
MYSQL_LIBS      ?= $(call once,MYSQL_LIBS,$(shell $(PKG_CONFIG) --libs libmariadb 2>/dev/null || echo -lmariadb))
endif
SERVERS     := $(if $(POSTGRES),postgres) $(if $(MYSQL),mysql)
SERVER_LIBS  = $(POSTGRES_LIBS) $(MYSQL_LIBS)

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
            -Wvla -Wundef
# The macros: POSIX and a little more; files above 2 GB and times after 2038 on 32-bit Linux.
BASE     := -std=c11 -D_DEFAULT_SOURCE -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 \
            -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -pthread $(WARNINGS)

# FLAVOUR names a set of flags: asan, tsan, coverage, asan-coverage, fuzz, fuzz-coverage have theirs here,
# which come after CFLAGS; release and any other takes CFLAGS alone.
FLAVOUR ?= release
FLAVOUR_FLAGS_asan     := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all \
                          -fno-omit-frame-pointer
FLAVOUR_FLAGS_tsan     := -O1 -g1 -fsanitize=thread -fno-omit-frame-pointer
FLAVOUR_FLAGS_coverage := -O0 -g --coverage -fprofile-update=single
FLAVOUR_FLAGS_asan-coverage := $(FLAVOUR_FLAGS_asan) --coverage -fprofile-update=single
FLAVOUR_FLAGS_fuzz     := -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
                          -fno-omit-frame-pointer
FLAVOUR_FLAGS_fuzz-coverage := -O1 -g1 -fsanitize=fuzzer-no-link -fprofile-instr-generate -fcoverage-mapping
FLAVOUR_FLAGS          := $(FLAVOUR_FLAGS_$(FLAVOUR))
# What is built names no folder of this machine: two builds of a version are equal. (gdb finds the files from
# this folder.)
MAPPED_PATHS           := $(if $(FLAVOUR_FLAGS),,'-ffile-prefix-map=$(CURDIR)=.')

# SQLITE=path/sqlite3mc.c builds that amalgamation into the library, in place of the system's SQLite: any, or
# SQLite3 Multiple Ciphers, with which files can be encrypted. Its header is in the same folder. It has a
# folder of its own below build/.
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

# ----------------------------------------------------------------------------------------------- the library

# Every file below lib/ is part of it: a new one is named nowhere. An object is called after its room as well,
# since rooms may have files of one name and an archive may not.
SOURCES := $(sort $(wildcard $(addprefix lib/,*/*.c */*/*.c */*/*/*.c)))
LEFT_OUT := $(filter-out $(SERVERS),postgres mysql) $(if $(strip $(SERVERS)),,server)
SOURCES := $(foreach source,$(SOURCES),\
    $(if $(strip $(foreach name,$(LEFT_OUT),$(findstring /$(name)/,$(source)))),,$(source)))
HEADERS := $(filter-out $(foreach name,$(LEFT_OUT),%/seslite_$(name).h),$(sort $(wildcard include/*.h)))
SCRIPTS := $(sort $(wildcard sql/sqlite/0*.sql))
SCHEMA  := sql/sqlite/schema.sql
STATEMENTS   := $(B)/gen/sqlite.sql
object_of     = $(B)/lib/$(subst /,-,$(patsubst lib/%.c,%,$(1))).o
MADE_OBJECTS := $(addprefix $(B)/lib/storage-,sql-statements.o sqlite-scripts.o $(SERVERS:%=%-sql_text.o))
OBJECTS := $(foreach source,$(SOURCES),$(call object_of,$(source))) $(MADE_OBJECTS) $(SQLITE_OBJECT)
LIBRARY := $(B)/libseslite.a
COMMAND := $(B)/tools/seslite/seslite

# The compiler says what it builds for, since that need not be this system. The programs of a macOS find the
# library by the path that stands in it, which `make install` writes.
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

COMPILE = $(CC) $(BASE) $(MAPPED_PATHS) -Iinclude -Ilib -I$(B)/gen $(CPPFLAGS) $(CFLAGS) \
    $(FLAVOUR_FLAGS) -MMD -MP
# Coverage is that of lib/: nothing else counts. (gcc takes no option that takes --coverage back.)
COMPILE_UNCOUNTED = $(filter-out --coverage,$(COMPILE))

# Recipes: $(call compile,OPTIONS) compiles the first prerequisite, and $(call generate,COMMAND) keeps what a
# command prints.
define compile
@mkdir -p $(@D)
$(call says,CC,$<)$(COMPILE) $(1) -c -o $@ $<
endef
define generate
@mkdir -p $(@D)
$(call says,GEN)$(1) > $@.new && mv $@.new $@
endef

.PHONY: all shared
## all: the static library, build/libseslite.a, and the command, build/tools/seslite/seslite
all: $(LIBRARY) $(COMMAND)

# The books: all statements of an engine, those of sql/statements.sql in its own way.
$(B)/gen/%.sql: sql/statements.sql sql/%/statements.sql tools/book.awk
	$(call generate,$(AWK) -f tools/book.awk -v engine=$* sql/statements.sql sql/$*/statements.sql)

$(B)/gen/statements.h: $(STATEMENTS) tools/embed.awk
	$(call generate,$(AWK) -f tools/embed.awk -v mode=names $(STATEMENTS))

$(B)/gen/statements.c: $(STATEMENTS) tools/embed.awk
	$(call generate,$(AWK) -f tools/embed.awk -v mode=texts $(STATEMENTS))

$(B)/gen/scripts.c: $(SCHEMA) $(SCRIPTS) tools/embed_scripts.awk
	$(call generate,$(AWK) -f tools/embed_scripts.awk $(SCHEMA) $(SCRIPTS))

# server_rules: the statements and scripts of the server called $(name), which are compiled as one text.
server_scripts = $(sort $(wildcard sql/$(name)/0*.sql))
define server_rules
$(B)/gen/$(name)_statements.h: $(STATEMENTS) $(B)/gen/$(name).sql tools/embed_server.awk
	$$(call generate,$(AWK) -f tools/embed_server.awk -v engine=$(name) -v mode=names $$(filter %.sql,$$^))

$(B)/gen/$(name)_sql.c: $(STATEMENTS) $(B)/gen/$(name).sql $(server_scripts) tools/embed_server.awk
	$$(call generate,$(AWK) -f tools/embed_server.awk -v engine=$(name) -v mode=text $$(filter %.sql,$$^))

$(B)/lib/storage-$(name)-sql_text.o: $(addprefix $(B)/gen/,$(name)_sql.c $(name)_statements.h statements.h)
endef
$(foreach name,postgres mysql,$(eval $(server_rules)))

$(B)/lib/storage-sql-statements.o: $(B)/gen/statements.c $(B)/gen/statements.h
$(B)/lib/storage-sqlite-scripts.o: $(B)/gen/scripts.c
$(B)/lib/storage-mysql-sql_text.o: MADE_CFLAGS = $(MYSQL_CFLAGS)
$(MADE_OBJECTS):
	$(call compile,$(MADE_CFLAGS))

# Only the room that knows a foreign library is given its headers.
cflags_of = $(if $(filter lib/storage/sqlite/%,$(1)),$(SQLITE_CFLAGS)) \
    $(if $(filter lib/cjson/%,$(1)),$(CJSON_CFLAGS)) \
    $(if $(filter lib/storage/postgres/%,$(1)),$(POSTGRES_CFLAGS)) \
    $(if $(filter lib/storage/mysql/%,$(1)),$(MYSQL_CFLAGS))
define compile_rule
$(call object_of,$(1)): $(1) $(B)/gen/statements.h \
    $(foreach name,postgres mysql,$(if $(findstring /$(name)/,$(1)),$(B)/gen/$(name)_statements.h))
	$$(call compile,$$(call cflags_of,$(1)))
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
	$(call generate,$(AWK) -f tools/abi/symbols.awk tools/abi/symbols.map $(HEADERS))

$(SHARED): $(OBJECTS) $(B)/gen/objects $(SYMBOLS)
	$(call says,LD)$(CC) $(SONAME_FLAGS) $(CFLAGS) $(FLAVOUR_FLAGS) -pthread -o $@ $(OBJECTS) \
	    $(LDFLAGS) $(SQLITE_LIBS) $(CJSON_LIBS) $(SERVER_LIBS)
	@ln -sf $(@F) $(B)/$(SHARED_ABI)
	@ln -sf $(@F) $(B)/$(SHARED_DEV)

# ------------------------------------------------------------------- tools, tests, clients, fuzzing, packages

include tools/tools.mk test/test.mk tools/clients.mk test/fuzz/fuzz.mk tools/packaging/packaging.mk

# ------------------------------------------------------------------------------------------------ installing

.PHONY: install uninstall clean help help-all FORCE

## install: the command, libraries, headers, reference and scripts, below DESTDIR (PREFIX=, LIBDIR=)
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
	$(foreach name,$(SERVERS),$(INSTALL) -d '$(DESTDIR)$(DATADIR)/seslite/sql/$(name)' && $(INSTALL) -m 644 \
	    $(server_scripts) $(wildcard sql/$(name)/tenants.sql) '$(DESTDIR)$(DATADIR)/seslite/sql/$(name)/' &&) :
	$(INSTALL) -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(MANDIR)/man1' '$(DESTDIR)$(BASHDIR)' '$(DESTDIR)$(ZSHDIR)' \
	    '$(DESTDIR)$(FISHDIR)'
	$(INSTALL) -m 755 $(COMMAND) '$(DESTDIR)$(BINDIR)/seslite'
	$(INSTALL) -m 644 $(COMMAND_PAGE) '$(DESTDIR)$(MANDIR)/man1/seslite.1'
	$(INSTALL) -m 644 tools/seslite/complete/completion.bash '$(DESTDIR)$(BASHDIR)/seslite'
	$(INSTALL) -m 644 tools/seslite/complete/completion.zsh '$(DESTDIR)$(ZSHDIR)/_seslite'
	$(INSTALL) -m 644 tools/seslite/complete/completion.fish '$(DESTDIR)$(FISHDIR)/seslite.fish'
	$(INSTALL) -d '$(DESTDIR)$(MANDIR)/man3' '$(DESTDIR)$(DOCDIR)/html'
	$(INSTALL) -m 644 $(DOCS)/man/man3/*.3 '$(DESTDIR)$(MANDIR)/man3/'
	$(INSTALL) -m 644 $(DOCS)/html/* '$(DESTDIR)$(DOCDIR)/html/'

### uninstall: remove the installed files
uninstall: $(DOCS)/records
	rm -f $(patsubst %,'$(DESTDIR)$(LIBDIR)/%',$(notdir $(LIBRARY) $(SHARED)) $(SHARED_ABI) $(SHARED_DEV))
	rm -f $(patsubst %,'$(DESTDIR)$(PKGCONFIGDIR)/%',$(notdir $(filter %.pc,$(PACKAGE_FILES))))
	rm -f $(patsubst include/%,'$(DESTDIR)$(INCLUDEDIR)/%',$(HEADERS))
	rm -f '$(DESTDIR)$(BINDIR)/seslite' '$(DESTDIR)$(MANDIR)/man1/seslite.1' '$(DESTDIR)$(BASHDIR)/seslite' \
	    '$(DESTDIR)$(ZSHDIR)/_seslite' '$(DESTDIR)$(FISHDIR)/seslite.fish'
	for page in $(DOCS)/man/man3/*.3; do rm -f '$(DESTDIR)$(MANDIR)/man3/'"$${page##*/}"; done
	rm -rf '$(DESTDIR)$(CMAKEDIR)' '$(DESTDIR)$(DATADIR)/seslite' '$(DESTDIR)$(DOCDIR)/html'
	rmdir '$(DESTDIR)$(DOCDIR)' 2>/dev/null || true

## clean: remove build/
clean:
	rm -rf build

## help, help-all: print this list; that of all targets
help help-all:
	@sed -n 's/^##$(if $(filter help-all,$@),#*) //p' $(filter-out %.d,$(MAKEFILE_LIST))

-include $(wildcard $(B)/*.d $(addprefix $(B)/,$(addsuffix .d,lib/* test/* test/*/* test/chapters/*/*/* \
    tools/* tools/*/* tools/*/*/* tools/*/*/*/*)))
