#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A systemd of a user, with a bus, in FOLDER/run: in a mount namespace with a /run of its own, where it looks for a system
# that systemd has started. Says "ready", and ends with its input.
# Usage: unshare -m systemd_peer.sh FOLDER
set -eu
folder=$1
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system
# Groups of processes of its own, where they can be made.
group=nfc-test-$$
for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
    if [ -e "$hierarchy/cgroup.procs" ] && mkdir "$hierarchy/$group" 2>/dev/null; then
        echo $$ >"$hierarchy/$group/cgroup.procs" 2>/dev/null || rmdir "$hierarchy/$group"
    fi
done
export XDG_RUNTIME_DIR=$folder/run SYSTEMD_UNIT_PATH=$folder/units:$folder/config/systemd/user SYSTEMD_LOG_LEVEL=warning
unset DBUS_SESSION_BUS_ADDRESS NOTIFY_SOCKET INVOCATION_ID JOURNAL_STREAM
chmod 700 "$XDG_RUNTIME_DIR"
mkdir -p "$folder/units"
cat >"$folder/bus.conf" <<END
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=$folder/run/bus</listen><auth>EXTERNAL</auth>
<servicedir>$folder/services</servicedir><servicedir>$folder/data/dbus-1/services</servicedir>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>
END
for target in basic shutdown sockets paths timers; do
    printf '[Unit]\nDescription=%s\n' "$target" >"$folder/units/$target.target"
done
printf '[Unit]\nDescription=default\nRequires=dbus.socket\nAfter=dbus.socket\n' >"$folder/units/default.target"
printf '[Socket]\nListenStream=%%t/bus\n' >"$folder/units/dbus.socket"
cat >"$folder/units/dbus.service" <<END
[Unit]
Description=The bus
Requires=dbus.socket
[Service]
Type=notify
NotifyAccess=main
ExecStart=/usr/bin/dbus-daemon --config-file=$folder/bus.conf --address=systemd: --nofork --nopidfile --systemd-activation
END
export DBUS_SESSION_BUS_ADDRESS=unix:path=$XDG_RUNTIME_DIR/bus
/lib/systemd/systemd --user --log-target=console &
manager=$!

# All of it goes, and what KillMode=process has left too.
finish() {
    kill -9 "$manager" 2>/dev/null || true
    for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
        [ -d "$hierarchy/$group" ] || continue
        echo $$ >"$hierarchy/cgroup.procs" 2>/dev/null || true
        find "$hierarchy/$group" -name cgroup.procs -exec cat {} + 2>/dev/null | sort -u | xargs -r kill -9 2>/dev/null || true
        for _ in $(seq 100); do
            find "$hierarchy/$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
            [ -d "$hierarchy/$group" ] || break
            sleep 0.02
        done
    done
}
trap finish EXIT
for _ in $(seq 1000); do
    systemctl --user is-active --quiet dbus.socket 2>/dev/null && break
    sleep 0.02
done
systemctl --user set-environment "PATH=$PATH"
systemctl --user start dbus.service
echo ready
cat >/dev/null
