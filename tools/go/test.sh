#!/bin/sh
# Tests the modules for Go as their users get them (see package.sh), and says what is missing. From the top of
# the repository, as `make client-go`:
#     sh tools/go/test.sh BUILD
# SESLITE_GO_FULL=1 also runs the tests with the address sanitizer, with the bundled SQLite and optimized as
# it is for users, fuzzes for a while, and runs staticcheck.
set -eu
build=$1
skip() {
    echo "skipped: the modules for Go, for want of $1"
    exit 0
}
command -v go >/dev/null 2>&1 || skip "go (Debian: golang)"
GOTOOLCHAIN=local
GOFLAGS=-buildvcs=false
export GOTOOLCHAIN GOFLAGS
minor=$(go env GOVERSION | sed 's/^go1\.\([0-9]*\).*/\1/')
[ "$minor" -ge 24 ] || skip "Go 1.24 or newer: this is $(go env GOVERSION)"
unformatted=$(gofmt -l tools/go)
[ -z "$unformatted" ] || {
    echo "gofmt would change: $unformatted"
    exit 1
}
sh tools/go/package.sh "$build" >"$build/go-package.log" 2>&1 || {
    cat "$build/go-package.log"
    skip "packages of the Go module proxy"
}
SESLITE_CHANGELOG=$PWD/CHANGELOG.md
CGO_CFLAGS="-O1 -g"
export SESLITE_CHANGELOG CGO_CFLAGS
top=$PWD/tools/go
cd "$build/go/module"

# With the system's SQLite the library compiles in seconds.
go vet -tags libsqlite3 .
go test -tags libsqlite3 -race .

# The services for adk-go, with types that stand in for its own. (suite_test.go runs its own suite where its
# module is.)
if [ "$minor" -lt 26 ]; then
    echo "skipped: adksession, since adk-go needs Go 1.26 and this is $(go env GOVERSION)"
else
    (cd adksession && go vet -modfile=testdata/stub.mod -tags libsqlite3 . &&
        go test -modfile=testdata/stub.mod -tags libsqlite3 -race .)
fi

# A program in an empty folder takes the module from the proxy, with its SQLite, and has go-sqlite3 beside it.
module=$(sed -n 's/^module //p' go.mod)
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
cp "$top/testdata/beside.go" "$fresh/main.go"
rm -rf ../cache
(
    GOPROXY=file://$PWD/../proxy,file://$(go env GOMODCACHE)/cache/download,$(go env GOPROXY)
    GONOSUMDB=$module
    GOMODCACHE=${PWD%/*}/cache
    GOFLAGS="$GOFLAGS -modcacherw"
    CGO_CFLAGS=-O0
    export GOPROXY GONOSUMDB GOMODCACHE GOFLAGS CGO_CFLAGS
    cd "$fresh"
    { go mod init beside && go get "$module@latest" && go mod tidy; } >go.log 2>&1 || {
        cat go.log
        exit 1
    }
    go run .
)

[ -n "${SESLITE_GO_FULL:-}" ] || exit 0
unset CGO_CFLAGS
go test -asan -tags libsqlite3 .
go test .
go test -tags libsqlite3 -run '^$' -fuzz FuzzKeysAndState -fuzztime 30s .
go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 -tags libsqlite3 .
# With a server, if SESLITE_POSTGRES names one.
! pkg-config --exists libpq 2>/dev/null || go test -tags libsqlite3,seslite_postgres -run 'Postgres' -v .
