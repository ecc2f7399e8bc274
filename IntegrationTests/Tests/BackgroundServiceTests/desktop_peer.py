# SPDX-License-Identifier: Apache-2.0
"""A desktop for the service that reads tags in the background: buses, notifications and logind, by dbus-daemon and dbusmock.

Usage: desktop_peer.py FOLDER

It takes a JSON array a line, the name of a function below and its arguments, and answers with a JSON value a line. All that
it starts ends with its input.
"""
import atexit
import json
import os
import subprocess
import sys
import time

import dbus
import dbus.bus

FOLDER = sys.argv[1]
MOCK = "org.freedesktop.DBus.Mock"
NOTIFICATIONS = "org.freedesktop.Notifications"
NOTIFICATIONS_PATH = "/org/freedesktop/Notifications"
LOGIN = "org.freedesktop.login1"
LOGIN_PATH = "/org/freedesktop/login1"
MUTTER = "org.gnome.Mutter.DisplayConfig"
MUTTER_PATH = "/org/gnome/Mutter/DisplayConfig"
SAVER = "org.gnome.ScreenSaver"
SAVER_PATH = "/org/gnome/ScreenSaver"
CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={folder}/{name}</listen>
<servicedir>{folder}/services</servicedir>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>
"""
children = {}


@atexit.register
def stop_all():
    for key in list(children):
        stop(key)


def run(key, arguments, environment=None):
    children[key] = subprocess.Popen(
        arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, **(environment or {})})
    return children[key]


def stop(key):
    child = children.pop(key)
    child.kill()
    child.wait()


def start_bus(name):
    path = f"{FOLDER}/{name}.conf"
    with open(path, "w") as file:
        file.write(CONFIGURATION.format(folder=FOLDER, name=name))
    daemon = run(name, ["dbus-daemon", "--nofork", f"--config-file={path}", "--print-address"])
    return daemon.stdout.readline().decode().strip()


os.makedirs(f"{FOLDER}/services", exist_ok=True)
SESSION = start_bus("session")
SYSTEM = start_bus("system")
session = dbus.bus.BusConnection(SESSION)
system = dbus.bus.BusConnection(SYSTEM)
ADDRESSES = {"DBUS_SESSION_BUS_ADDRESS": SESSION, "DBUS_SYSTEM_BUS_ADDRESS": SYSTEM}


def mock(key, bus, name, arguments):
    run(key, [sys.executable, "-m", "dbusmock"] + arguments, ADDRESSES)
    for _ in range(2000):
        if bus.name_has_owner(name):
            return
        time.sleep(0.01)
    raise RuntimeError(f"{name} did not come")


def notify_on(capabilities="body body-markup actions persistence"):
    mock("notify", session, NOTIFICATIONS, ["--session", "--template", "notification_daemon",
                                            "-p", json.dumps({"capabilities": capabilities})])


def notify_off():
    stop("notify")


def login_on(uid):
    mock("login", system, LOGIN, ["--system", "--template", "logind"])
    system.get_object(LOGIN, LOGIN_PATH).AddSession("c1", "seat0", dbus.UInt32(uid), "tester", True,
                                                    dbus_interface=MOCK)


def login_off():
    stop("login")


def login(properties):
    system.get_object(LOGIN, LOGIN_PATH + "/session/c1").UpdateProperties(
        LOGIN + ".Session", dbus.Dictionary(properties, signature="sv"), dbus_interface=MOCK)


def sleep(value):
    manager = system.get_object(LOGIN, LOGIN_PATH)
    manager.UpdateProperties(LOGIN + ".Manager", {"PreparingForSleep": value}, dbus_interface=MOCK)
    manager.EmitSignal(LOGIN + ".Manager", "PrepareForSleep", "b", [value], dbus_interface=MOCK)


def display_on_bus():
    mock("mutter", session, MUTTER, [MUTTER, MUTTER_PATH, MUTTER])
    session.get_object(MUTTER, MUTTER_PATH).AddProperty(MUTTER, "PowerSaveMode", dbus.Int32(1), dbus_interface=MOCK)
    display(0)


def display(mode):
    session.get_object(MUTTER, MUTTER_PATH).UpdateProperties(
        MUTTER, {"PowerSaveMode": dbus.Int32(mode)}, dbus_interface=MOCK)


def saver_on_bus():
    mock("saver", session, SAVER, [SAVER, SAVER_PATH, SAVER])


def saver(active):
    it = session.get_object(SAVER, SAVER_PATH)
    it.AddMethod(SAVER, "GetActive", "", "b", f"ret = {bool(active)}", dbus_interface=MOCK)
    it.EmitSignal(SAVER, "ActiveChanged", "b", [bool(active)], dbus_interface=MOCK)


def calls(method):
    """The calls of a method that notifications have had, each with its time in milliseconds."""
    it = session.get_object(NOTIFICATIONS, NOTIFICATIONS_PATH)
    return [[int(stamp), list(arguments)] for stamp, name, arguments in it.GetCalls(dbus_interface=MOCK)
            if name == method]


def act(number, action):
    session.get_object(NOTIFICATIONS, NOTIFICATIONS_PATH).EmitSignal(
        NOTIFICATIONS, "ActionInvoked", "us", [dbus.UInt32(number), action], dbus_interface=MOCK)


def forge(number, action, destination):
    """The signal of a click, from somebody who shows no notifications."""
    liar = dbus.bus.BusConnection(SESSION)
    message = dbus.lowlevel.SignalMessage(NOTIFICATIONS_PATH, NOTIFICATIONS, "ActionInvoked")
    message.append(dbus.UInt32(number), action, signature="us")
    message.set_destination(liar.get_name_owner(destination))
    liar.send_message(message)
    liar.flush()
    liar.close()


def owner(name):
    return str(session.get_name_owner(name))


def end(name):
    """Ends the program that has a name, which somebody else has started."""
    os.kill(session.get_object("org.freedesktop.DBus", "/").GetConnectionUnixProcessID(name), 9)


def status():
    it = session.get_object("org.opencorenfc.Background", "/org/opencorenfc/Background")
    return json.loads(it.Status(dbus_interface="org.opencorenfc.Background1"))


def plain(value):
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, dbus.Boolean):
        return bool(value)
    if isinstance(value, int):
        return int(value)
    return value if value is None else str(value)


print(json.dumps(ADDRESSES), flush=True)
for line in sys.stdin:
    name, *arguments = json.loads(line)
    try:
        answer = {"value": plain(globals()[name](*arguments))}
    except Exception as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
