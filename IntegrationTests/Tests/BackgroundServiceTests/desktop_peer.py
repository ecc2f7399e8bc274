# SPDX-License-Identifier: Apache-2.0
"""A desktop for the service that reads tags in the background: buses, notifications and logind, by dbus-daemon and dbusmock.

Usage: desktop_peer.py FOLDER

It takes a JSON array a line, the name of a function below and its arguments, and answers with a JSON value a line. All that
it starts ends with its input.
"""
import atexit
import json
import os
import signal
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


def pause(key):
    """Has one of the programs do nothing until it goes on."""
    children[key].send_signal(signal.SIGSTOP)


def go_on(key):
    children[key].send_signal(signal.SIGCONT)


def start_bus(name):
    path = f"{FOLDER}/{name}.conf"
    with open(path, "w") as file:
        file.write(CONFIGURATION.format(folder=FOLDER, name=name))
    daemon = run(name, ["dbus-daemon", "--nofork", f"--config-file={path}", "--print-address"])
    return daemon.stdout.readline().decode().strip()


os.makedirs(f"{FOLDER}/services", exist_ok=True)
# That of a systemd, or one of its own.
SESSION = os.environ.get("NFC_SESSION_BUS") or start_bus("session")
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


def login_refuses(error):
    """ListSessions is answered by an error from now on."""
    system.get_object(LOGIN, LOGIN_PATH).AddMethod(
        LOGIN + ".Manager", "ListSessions", "", "a(susso)",
        f"raise dbus.exceptions.DBusException('{error}', name='org.example.Error')", dbus_interface=MOCK)


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


def prompts():
    """How often the screen saver was asked to ask for the password."""
    return len([name for _, name, _ in session.get_object(SAVER, SAVER_PATH).GetCalls(dbus_interface=MOCK)
                if name == "SimulateUserActivity"])


def saver(active):
    it = session.get_object(SAVER, SAVER_PATH)
    it.AddMethod(SAVER, "SimulateUserActivity", "", "", "", dbus_interface=MOCK)
    it.AddMethod(SAVER, "GetActive", "", "b", f"ret = {bool(active)}", dbus_interface=MOCK)
    it.EmitSignal(SAVER, "ActiveChanged", "b", [bool(active)], dbus_interface=MOCK)


def notify_refuses(error):
    """Notify is answered by an error from now on; None has it answered again."""
    it = session.get_object(NOTIFICATIONS, NOTIFICATIONS_PATH)
    code = f"raise dbus.exceptions.DBusException('{error}', name='org.example.Error')" if error else "ret = 1"
    it.AddMethod(NOTIFICATIONS, "Notify", "susssasa{sv}i", "u", code, dbus_interface=MOCK)


def flood(count):
    """Calls Status with an array of that many arrays, each of a thousand values; the name of the error."""
    message = dbus.lowlevel.MethodCallMessage("org.opencorenfc.Background", "/org/opencorenfc/Background",
                                              "org.opencorenfc.Background1", "Status")
    message.append([[1] * 1000] * count, signature="aan")
    try:
        session.send_message_with_reply_and_block(message, 60)
        return None
    except dbus.DBusException as error:
        return error.get_dbus_name()


def memory(name):
    """The most memory that the program of a name has had, in MB."""
    with open(f"/proc/{process(name)}/status") as file:
        return next(int(line.split()[1]) // 1024 for line in file if line.startswith("VmHWM"))


def calls(method):
    """The calls of a method that notifications have had, each with its time in milliseconds."""
    it = session.get_object(NOTIFICATIONS, NOTIFICATIONS_PATH)
    return [[int(stamp), list(arguments)] for stamp, name, arguments in it.GetCalls(dbus_interface=MOCK)
            if name == method]


def act(number, action):
    session.get_object(NOTIFICATIONS, NOTIFICATIONS_PATH).EmitSignal(
        NOTIFICATIONS, "ActionInvoked", "us", [dbus.UInt32(number), action], dbus_interface=MOCK)


def close(number, reason):
    """A notification is gone: it has expired (1), or the person has dismissed it (2)."""
    session.get_object(NOTIFICATIONS, NOTIFICATIONS_PATH).EmitSignal(
        NOTIFICATIONS, "NotificationClosed", "uu", [dbus.UInt32(number), dbus.UInt32(reason)], dbus_interface=MOCK)


def act_and_close(number, action, reason):
    """A click after which the desktop closes the notification: both signals leave before anybody can answer the first."""
    notifications = session.get_object(NOTIFICATIONS, NOTIFICATIONS_PATH, introspect=False)
    for name, signature, values in [("ActionInvoked", "us", [dbus.UInt32(number), action]),
                                    ("NotificationClosed", "uu", [dbus.UInt32(number), dbus.UInt32(reason)])]:
        notifications.EmitSignal(NOTIFICATIONS, name, signature, dbus.Array(values, signature="v"), dbus_interface=MOCK,
                                 ignore_reply=True)
    session.flush()


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


def process(name):
    """The number of the program that has a name."""
    return session.get_object("org.freedesktop.DBus", "/").GetConnectionUnixProcessID(name)


def end(name):
    """Ends the program that has a name, which somebody else has started."""
    os.kill(session.get_object("org.freedesktop.DBus", "/").GetConnectionUnixProcessID(name), 9)


def introspect(path):
    return str(session.get_object("org.opencorenfc.Background", path, introspect=False).Introspect(
        dbus_interface="org.freedesktop.DBus.Introspectable"))


def call(path, interface, method, *arguments):
    """Calls a method of the service; of an error its name and its text."""
    try:
        it = session.get_object("org.opencorenfc.Background", path, introspect=False)
        return it.get_dbus_method(method, interface)(*arguments)
    except dbus.DBusException as error:
        return f"{error.get_dbus_name()}: {error.get_dbus_message()}"


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
