#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What happens when root installs a reader for another user and starts the real pcscd on its default folders. Run as root in a
# mount namespace of its own, so that the system's folders stay as they are:
#
#   unshare --mount sh installed_reader.sh NFC DRIVER IMAGE USER_MODE
#
# USER_MODE is 'root' for a pcscd of root, or 'pcscd' for one with a user and a group of its own.
unset PCSCLITE_CSOCK_NAME
set -eu
tool=$1 driver=$2 image=$3 mode=$4
for folder in /etc/reader.conf.d /etc/tmpfiles.d /usr/lib/pcsc/drivers/serial /run; do
    mkdir -p "$folder"
    mount -t tmpfs -o mode=755 tmpfs "$folder"
done
work=$(mktemp -d /run/installed.XXXXXX)
chmod 755 "$work"
cp "$image" "$work/card.json"
chown 65534 "$work/card.json"
daemon='env -u PCSCLITE_CSOCK_NAME pcscd --foreground --info'
if [ "$mode" = pcscd ]; then
    sed 's/^pcscd:.*//' /etc/group >"$work/group"
    echo 'pcscd:x:64999:' >>"$work/group"
    mount --bind "$work/group" /etc/group
    mkdir -p /run/pcscd
    chown 64999:64999 /run/pcscd
    daemon="setpriv --reuid 64999 --regid 64999 --clear-groups $daemon"
fi

"$tool" emulate install --for 65534 --driver "$driver" --reader-name 'Installed Reader' >&2
pids=''
end() {
    for pid in $pids; do kill "$pid" 2>/dev/null || true; done
    wait
    sed 's/^/pcscd: /' "$work/pcscd.log" >&2 || true
}
trap end EXIT

$daemon >"$work/pcscd.log" 2>&1 &
pids="$pids $!"
setpriv --reuid 65534 --regid 65534 --clear-groups env -u XDG_RUNTIME_DIR HOME="$work" \
    "$tool" emulate --image "$work/card.json" --pcsc >"$work/tool.log" 2>&1 &
pids="$pids $!"

# Waits until a command says a word.
waits() {
    word=$1
    shift
    for _ in $(seq 200); do
        if "$@" 2>&1 | grep -q "$word"; then return 0; fi
        sleep 0.1
    done
    cat "$work/tool.log" >&2
    echo "'$*' never said '$word'" >&2
    exit 1
}
waits 'It is installed' cat "$work/tool.log"
waits 'pcscd has opened the reader' cat "$work/tool.log"
waits 'Yes.*Installed Reader' opensc-tool --list-readers
opensc-tool --reader 0 --atr
ls -ld /run/opencorenfc /run/opencorenfc/* /run/opencorenfc/*/reader.sock /usr/lib/pcsc/drivers/serial/*.so \
    /etc/reader.conf.d/*

# Another user reaches neither the socket nor its folder.
if setpriv --reuid 64998 --regid 64998 --clear-groups ls /run/opencorenfc/nobody >/dev/null 2>&1; then
    echo 'another user sees the socket' >&2
    exit 1
fi
if setpriv --reuid 64998 --regid 64998 --clear-groups python3 -c \
    'import socket; socket.socket(socket.AF_UNIX).connect("/run/opencorenfc/nobody/reader.sock")' 2>/dev/null; then
    echo 'another user reaches the reader' >&2
    exit 1
fi
end
pids=''
"$tool" emulate uninstall --for 65534 >&2
for left in /run/opencorenfc/nobody /etc/reader.conf.d/opencorenfc-nobody /etc/tmpfiles.d/opencorenfc-nobody.conf \
    /usr/lib/pcsc/drivers/serial/libOpenCoreNFCReader.so; do
    if [ -e "$left" ]; then
        echo "$left is left" >&2
        exit 1
    fi
done
trap - EXIT
echo 'installed, shown, protected, removed'
