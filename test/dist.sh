#!/bin/sh
# `make dist` makes equal files in clones in other folders, with another user, umask, time zone, language and
# settings of git; they have what is committed; and a command from outside signs them.
#     sh test/dist.sh BUILD      (MAKE)
set -eu
make=${MAKE:-make}
mkdir -p "$1/test"
unset MAKEFLAGS MFLAGS MAKELEVEL SOURCE_DATE_EPOCH SIGN

skip() {
    echo "skipped: dist, for want of $1"
    exit 0
}
complain() {
    echo "dist: $1"
    exit 1
}
git rev-parse --verify --quiet HEAD >/dev/null 2>&1 && [ -z "$(git rev-parse --show-prefix)" ] || skip "a clone"
{ tar --version; gtar --version; } 2>/dev/null | grep -q 'GNU tar' || skip "GNU tar"

# Outside of this folder, which another user may not be able to enter.
folder=$(mktemp -d "${TMPDIR:-/tmp}/seslite-dist.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$folder"
mkdir "$folder/home" "$folder/a longer name"
one=$folder/one
other="$folder/a longer name/other"
git clone -q --no-hardlinks . "$one"
git clone -q --no-hardlinks . "$other"

# run FOLDER COMMAND...: shows what it said if it fails
run() {
    in=$1
    shift
    (cd "$in" && "$@") >"$folder/log" 2>&1 || { cat "$folder/log"; complain "failed: $*"; }
}
(umask 022 && run "$one" env TZ=America/St_Johns LC_ALL=C "$make" dist)
# The other one belongs to someone who has settings of his own, and files that are not committed.
printf '[core]\n\tautocrlf = true\n\tattributesFile = %s/attributes\n[tar]\n\tumask = 0077\n' "$folder" >"$folder/home/.gitconfig"
echo '*.h export-ignore' >"$folder/attributes"
echo 'not committed' | tee -a "$other/README.md" >"$other/include/not_committed.h"
as=
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1; then
    chown -R 65534:65534 "$other" "$folder/home"
    as="setpriv --reuid=65534 --regid=65534 --clear-groups"
fi
# shellcheck disable=SC2086 # words are meant to be split
(umask 077 && run "$other" $as env HOME="$folder/home" USER=other TZ=Asia/Kathmandu LC_ALL=C.UTF-8 LANG=tr_TR.UTF-8 \
    TAR_OPTIONS=--owner=7 GZIP=-1 "$make" dist)
[ "$(ls "$one/build/dist")" = "$(ls "$other/build/dist")" ] || complain "the two folders have other files"
for file in "$one"/build/dist/*; do
    cmp "$file" "$other/build/dist/${file##*/}" || complain "two clones make another ${file##*/}"
done

# ---- another time gives other files, and the same time the same
run "$one" env SOURCE_DATE_EPOCH=1700000000 "$make" dist
tarball=$(cd "$one/build/dist" && ls seslite-[0-9]*.tar.gz)
! cmp -s "$one/build/dist/$tarball" "$other/build/dist/$tarball" || complain "SOURCE_DATE_EPOCH has no effect"
[ "$(gzip -dc "$one/build/dist/$tarball" | TZ=UTC tar -tvf - | awk '{print $4}' | sort -u)" = 2023-11-14 ] ||
    complain "a file has another time than SOURCE_DATE_EPOCH"

# ---- what they have
gzip -dc "$one/build/dist/$tarball" | tar -tf - | sed -e 's|^[^/]*/||' -e '/\/$/d' -e '/^$/d' | LC_ALL=C sort >"$folder/has"
git -C "$one" ls-files | LC_ALL=C sort | diff - "$folder/has" || complain "the tarball (>) has other files than the commit (<)"
(cd "$one/build/dist" && { sha256sum -c ./*.sha256 || shasum -a 256 -c ./*.sha256; }) >"$folder/log" 2>&1 ||
    { cat "$folder/log"; complain "the checksums are wrong"; }
if command -v python3 >/dev/null 2>&1; then
    python3 -m json.tool "$one/build/dist/${tarball%.tar.gz}.spdx.json" >/dev/null || complain "the SBOM is not JSON"
else
    echo "skipped: whether the SBOM is JSON, for want of python3"
fi
sh tools/packaging/dist/check_sbom.sh "$one/build/dist/${tarball%.tar.gz}.spdx.json" || complain "the SBOM is not SPDX"

# ---- a second run makes the same, and signs each file with a key that is not in the tree
if command -v gpg >/dev/null 2>&1; then
    export GNUPGHOME="$folder/keys"
    mkdir -m 700 "$GNUPGHOME"
    run . gpg --batch --passphrase '' --quick-generate-key tester@example.org ed25519 sign
    sign="gpg --batch --armor --detach-sign"
    verify="gpg --batch --verify"
else
    printf '#!/bin/sh\ncp "$1" "$1.asc"\n' >"$folder/sign"
    chmod +x "$folder/sign"
    sign=$folder/sign
    verify=cmp
fi
run "$one" "$make" dist SIGN="$sign"
for file in "$other"/build/dist/*; do
    made=$one/build/dist/${file##*/}
    cmp "$made" "$file" || complain "a second run makes another ${file##*/}"
    run . $verify "$made.asc" "$made"
done
[ -z "${GNUPGHOME:-}" ] || gpgconf --kill all 2>/dev/null || true
if (cd "$one" && "$make" dist SIGN=false) >/dev/null 2>&1; then
    complain "a signature that failed is no failure"
fi
echo "ok      dist"
