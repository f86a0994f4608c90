#!/bin/sh
# Makes the files of a release from the last commit, in OUT: the sources and the amalgamation as tarballs, an
# SBOM, and their checksums. They are equal on all machines that have GNU tar, gzip and the same commit.
#     sh tools/packaging/dist/make.sh OUT     (from the top of a clone; MAKE, AWK, TAR; SOURCE_DATE_EPOCH: the time of every
#                                              file, in place of the commit's; SIGN: a command that signs the file after it)
set -eu
out=$1
here=tools/packaging
unset MAKEFLAGS MFLAGS MAKELEVEL TAR_OPTIONS GZIP
export LC_ALL=C TZ=UTC

fail() {
    echo "dist: $1" >&2
    exit 1
}
tar=
for each in ${TAR:-tar gtar}; do
    ! $each --version 2>/dev/null | grep -q 'GNU tar' || tar=$each
done
[ -n "$tar" ] || fail "GNU tar is needed: TAR names it"
commit=$(git rev-parse --verify --quiet HEAD) && [ -z "$(git rev-parse --show-prefix)" ] ||
    fail "a clone of the repository is needed, since the tarball has the files that are committed"
git diff --quiet HEAD || echo "dist: changes that are not committed are left out" >&2
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

stage=$out/stage
rm -rf "$out"
mkdir -p "$stage/tree"
# Settings of this user's git do not count.
git -c core.autocrlf=false -c core.attributesFile=/dev/null archive --format=tar HEAD | $tar -x -f - -C "$stage/tree"
version=$(${AWK:-awk} '/^#define SES_VERSION_(MAJOR|MINOR|PATCH) / {v = v s $3; s = "."} END {print v}' \
    "$stage/tree/include/seslite.h")
sources=seslite-$version
amalgamation=seslite-amalgamation-$version
sbom=seslite-$version.spdx.json
sums=seslite-$version.sha256
mv "$stage/tree" "$stage/$sources"

# The amalgamation is made of what the tarball has, not of what is around here.
"${MAKE:-make}" --silent -C "$stage/$sources" amalgamation B=../made AWK="${AWK:-awk}"
mv "$stage/made/amalgamation" "$stage/$amalgamation"
cp LICENSE "$stage/$amalgamation/"
abi=$(echo "$version" | sed 's/^\(0\.[0-9]*\)\..*/\1/; s/^\([1-9][0-9]*\)\..*/\1/')
sed -e "s/@VERSION@/$version/g" -e "s/@ABI@/$abi/g" "$stage/$sources/$here/meson/meson.build.in" >"$stage/$amalgamation/meson.build"

# pack FOLDER: nothing in the tarball comes from this machine: no owner, mode, time or order
pack() {
    $tar -c -f "$stage/$1.tar" -C "$stage" --format=ustar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
        --numeric-owner --mode=u=rwX,go=rX "$1"
    gzip -9 -n <"$stage/$1.tar" >"$out/$1.tar.gz"
}
pack "$sources"
pack "$amalgamation"

# sha256 FILE...: in OUT, as sha256sum prints it
sha256() {
    if command -v sha256sum >/dev/null 2>&1; then
        (cd "$out" && sha256sum "$@")
    else
        (cd "$out" && shasum -a 256 "$@")
    fi
}
sum_of() { sha256 "$1" | cut -d ' ' -f 1; }
sh $here/dist/sbom.sh "$version" "$commit" "$(sum_of "$sources.tar.gz")" "$(sum_of "$amalgamation.tar.gz")" >"$out/$sbom"
sha256 "$sources.tar.gz" "$amalgamation.tar.gz" "$sbom" >"$out/$sums"
rm -rf "$stage"

# The key is outside: whoever releases names a command that has it.
if [ -n "${SIGN:-}" ]; then
    for file in "$sources.tar.gz" "$amalgamation.tar.gz" "$sbom" "$sums"; do
        # shellcheck disable=SC2086 # words are meant to be split
        (cd "$out" && $SIGN "$file") || fail "not signed: $file"
    done
fi
(cd "$out" && ls -l)
