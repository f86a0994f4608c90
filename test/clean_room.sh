#!/bin/sh
# Clones the committed tree into a bare Debian or Ubuntu of its own, made by debootstrap below BUILD, and does
# there what a newcomer does: `make deps demo` and `make GOALS`. As root, on a Debian or Ubuntu that has
# debootstrap.
#     sh test/clean_room.sh BUILD SUITE GOALS
# SUITE is a name of a release: bookworm, trixie, noble. MIRROR is where it comes from, if not from this
# system's own source.
set -eu
build=$PWD/$1
suite=$2
goals=$3
root=$build/$suite

skip() {
    echo "skipped: a bare $suite, for want of $1"
    exit 0
}
[ "$(id -u)" -eq 0 ] || skip "root"
command -v debootstrap >/dev/null || skip "debootstrap"

# The mounts of this run end with it, however it ends: nothing else sees them, and no removal reaches through
# them.
if [ -z "${SESLITE_MOUNTS_APART:-}" ]; then
    SESLITE_MOUNTS_APART=yes exec unshare --mount --propagation private sh "$0" "$@"
fi

# Where this system has its packages from: in the old form of a list or in the new one.
mirror_of_this_system() {
    cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
        awk '$1 == "deb" {for (i = 2; i < NF; i++) if ($i ~ /^https?:.*(debian|ubuntu)\/?$/) {print $i; exit}}
             $1 == "URIs:" && $2 ~ /(debian|ubuntu)\/?$/ {print $2; exit}' | head -1
}
mirror=${MIRROR:-$(mirror_of_this_system)}

# The bare system is kept; each run starts with a copy of it.
mkdir -p "$build"
if [ ! -e "$build/$suite.tar" ]; then
    rm -rf --one-file-system "$root"
    # Most of an Ubuntu's packages are in its second part. One script makes all its releases: debootstrap may
    # be older than this.
    case $mirror in
    */ubuntu*) options=--components=main,universe script=gutsy ;;
    *) options='' script='' ;;
    esac
    # shellcheck disable=SC2086 # no mirror is debootstrap's own
    debootstrap --variant=minbase $options "$suite" "$root" $mirror $script >"$build/$suite.log" 2>&1 || skip "its packages (see $build/$suite.log)"
    tar cf "$build/$suite.new" -C "$root" .
    mv "$build/$suite.new" "$build/$suite.tar"
fi
rm -rf --one-file-system "$root"
mkdir -p "$root"
tar xf "$build/$suite.tar" -C "$root"
mkdir -p "$root/dev/shm" "$root/dev/pts"
mount -t proc proc "$root/proc"
mount -t tmpfs shm "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$root/dev/pts"
ln -sf pts/ptmx "$root/dev/ptmx"
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true

git clone --quiet --no-local . "$root/srv/seslite"
# make comes from the same script as the rest: the first block of README.md.
chroot "$root" /bin/sh -euc "cd /srv/seslite
export HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive
apt-get update -qq
sh tools/deps.sh
make demo
make $goals"
echo "ok      make deps demo $goals on a bare $suite"
