# For those who package and release: the files of a release, descriptions of packages, the amalgamation.

# What the package files say: paths within the prefix by its name, as pkg-config can move them. SQLite is
# asked of its own package where there is one, which also knows what a program that is linked statically
# needs; SQLITE_LIBS that are given are taken over.
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

### dist: the files of a release from the last commit, in build/dist; SIGN='gpg --armor --detach-sign' also signs them
DIST := $(B)/dist
.PHONY: dist distcheck
dist:
	@MAKE='$(MAKE)' AWK='$(AWK)' SIGN='$(SIGN)' sh tools/packaging/dist/make.sh $(DIST)

### release: make the tree that of a release, before its commit and tag
.PHONY: release
release: $(COMMAND)
	@COMMAND='$(COMMAND)' sh tools/packaging/release.sh

### release-check: what must hold before a release beyond .ci/run, after that: arm64, packages, every call that fails
.PHONY: release-check
release-check:
	@.ci/release

### distcheck: build, test and install from the tarball (DISTCHECK_TESTS=list,agent: these in place of the quick tests)
DISTCHECK_TESTS ?=
distcheck: dist $(LIBRARY) $(SHARED) $(COMMAND)
	@MAKE='$(MAKE)' CC='$(CC)' CFLAGS='$(CFLAGS)' LDFLAGS='$(LDFLAGS)' PKG_CONFIG='$(PKG_CONFIG)' TESTS='$(DISTCHECK_TESTS)' \
	    sh tools/packaging/dist/check.sh $(DIST) $(B)

# The descriptions of the packages for a release, with its version and checksums. Where it can be had is said
# here.
RECIPES    := $(B)/recipes
HOMEPAGE   ?= https://example.org/seslite
DOWNLOADS  ?= $(HOMEPAGE)/releases
MAINTAINER ?= seslite maintainers <maintainers@example.org>
PACKAGES   := tools/packaging
.PHONY: recipes recipes-check deb deb-try rpm rpm-try
### recipes: descriptions of packages for Debian, RPM, Alpine, Arch, vcpkg, Conan, Meson, Homebrew and Nix, in build/recipes
recipes: dist
	@AWK='$(AWK)' HOMEPAGE='$(HOMEPAGE)' DOWNLOADS='$(DOWNLOADS)' MAINTAINER='$(MAINTAINER)' \
	    sh $(PACKAGES)/recipes.sh $(DIST) $(RECIPES)

### deb: build the packages for Debian, in build/deb (DEB_BUILD_OPTIONS=nocheck: without the quick tests)
deb: recipes
	@sh $(PACKAGES)/deb.sh $(DIST) $(RECIPES) $(B)/deb

### rpm: build the packages of the RPM spec, in build/rpm (RPMBUILD='--without check': without the quick tests)
rpm: recipes
	@sh $(PACKAGES)/rpm.sh $(DIST) $(RECIPES) $(B)/rpm $(RPMBUILD)

### deb-try, rpm-try: install those packages in empty Debians, and compile and run a program there (SUITES='bookworm trixie')
SUITES ?= bookworm
deb-try rpm-try: %-try: %
	@for suite in $(SUITES); do sh $(PACKAGES)/try.sh $* $(B)/$* $$suite $(B)/roots || exit 1; done

### recipes-check: build with the other recipes, or check them, with the tools that are here (RECIPES_CHECKED='meson conan')
RECIPES_CHECKED ?=
recipes-check:
	@$(MAKE) --no-print-directory recipes RECIPES=$(B)/recipes-here DOWNLOADS='file://$(CURDIR)/$(DIST)'
	@sh $(PACKAGES)/check_recipes.sh $(DIST) $(B)/recipes-here $(B)/recipes-checked $(RECIPES_CHECKED)

.PHONY: amalgamation
### amalgamation: write build/amalgamation/seslite.c and seslite.h, to compile with your own program
# Its files that are not in lib/:
AMALGAMATED := $(addprefix $(B)/gen/,statements.h statements.c scripts.c \
    $(foreach name,postgres mysql,$(name)_statements.h $(name)_sql.c))
amalgamation: $(AMALGAMATED)
	@sh tools/amalgamate.sh $(B)/amalgamation $(B)/gen
