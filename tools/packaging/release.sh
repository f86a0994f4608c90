#!/bin/sh
# Makes the tree that of a release, for a commit and a tag: the change log gets its date, the binary interface
# and the store that later versions must accept are written down. Run from the top of the repository, as `make
# release`.
#     COMMAND=build/tools/seslite/seslite sh tools/packaging/release.sh      (DATE=2026-01-31: another day than today)
set -eu
fail() {
    echo "release: $1" >&2
    exit 1
}
version=$(sed -n '/^## /{s/^## \([0-9.]*\) (unreleased)$/\1/p;q;}' CHANGELOG.md)
[ -n "$version" ] || fail "the newest version in CHANGELOG.md is not called unreleased"
[ -z "$(git status --porcelain --untracked-files=no)" ] || fail "the tree has changes that are not committed"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || fail "there is a tag v$version"

cp tools/abi/abi.txt tools/abi/released.txt
sh test/fixtures/make.sh "$COMMAND" "$version"
sed "s/^## $version (unreleased)\$/## $version (${DATE:-$(date -u +%Y-%m-%d)})/" CHANGELOG.md >CHANGELOG.md.new
mv CHANGELOG.md.new CHANGELOG.md
cat <<END
This is $version now, but for the sentences that call it unreleased, in README.md, SECURITY.md and at the end of CHANGELOG.md.
Change these (make test TESTS=version says where), read \`git diff\`, run the tests, commit, and then:
    git tag -s v$version -m 'seslite $version'
    make dist SIGN='...'; make distcheck
END
