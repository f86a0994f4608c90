# The packages for other languages.

.PHONY: clients client-python client-rust client-go client-js types wheels adk-versions rust-package go-package js
### clients: build and test the packages for other languages, if their tools and registries are available
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

### js: the package for JavaScript, with the library as WebAssembly, in build/js/package, if zig is available
js: amalgamation
	@sh tools/js/build.sh $(B) || [ $$? -eq 2 ]

### types: check the types of the package for Python together with google-adk's, once `make client-python` has run
types:
	@build/python/venv/bin/python -m mypy --config-file tools/python/pyproject.toml --cache-dir build/python/mypy-adk \
	    tools/python/src/seslite

### wheels: the package for Python as its registry takes it, for glibc and musl, with SQLite in it, in build/python/dist
wheels:
	@sh tools/python/wheels.sh build

### adk-versions: test the services for google-adk with each minor version of it (ADK_VERSIONS=...), once `make wheels` has run
adk-versions:
	@sh tools/python/adk_versions.sh build

### rust-package: build each crate from its package
rust-package: amalgamation
	@sh tools/rust/package.sh $(B)

### go-package: make the modules for Go, with the amalgamations in them (GO_MODULE=the path to publish them under)
go-package: amalgamation
	@sh tools/go/package.sh $(B) $(GO_MODULE)
