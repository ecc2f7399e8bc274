// SPDX-License-Identifier: Apache-2.0
import BusTesting
import Foundation
import Glibc
import LinuxSupport
import TestThreads
import Testing

@testable import UserBus  // the calls of a connection are internal

/// The bus of a process, whose daemon is a child of it. Each test has a process of its own, whose children and
/// descriptors it counts.
@Suite(.ownThreads, .timeLimit(.minutes(3)))
struct PrivateBusTests {
    private static func descriptorCount() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    /// Makes a folder, and removes it after it was used.
    private static func withFolder(_ body: (PrivateFolder) throws -> Void) throws {
        let folder = try PrivateFolder.random("nfc-tests")
        defer { try? FileManager.default.removeItem(atPath: folder.path) }
        try body(folder)
    }

    /// Starts a bus, and ends it after it was used.
    ///
    /// - Parameter edit: a command of `sed` for the configuration of the daemon.
    private static func withBus(_ folder: PrivateFolder, edit: String? = nil, _ body: (PrivateBus) throws -> Void)
        throws
    {
        var path = "/usr/bin:/bin"
        if let edit {
            let script = """
                #!/bin/sh
                /bin/sed -i '\(edit)' '\(folder.path)/bus.conf'
                exec /usr/bin/dbus-daemon "$@"

                """
            try folder.replace("dbus-daemon", with: Array(script.utf8), mode: 0o700)
            path = folder.path
        }
        let bus = try PrivateBus(in: folder, environment: ["PATH": path])
        defer {
            kill(bus.process, SIGKILL)
            waitpid(bus.process, nil, 0)
        }
        try body(bus)
    }

    @Test(.enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"))
    func `private bus: works in a folder of any name`() async {
        await #expect(processExitsWith: .success) {
            try Self.withFolder { parent in
                try Self.withBus(try parent.folder("a b%,=;\u{E9}\u{FF}\u{1F600}")) { bus in
                    let connection = try BusConnection(.user, address: bus.address)
                    #expect(try !connection.hasOwner("org.example.App"))
                }
            }
        }
    }

    @Test(.enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"))
    func `program started by its bus name: noAnswer if it ends at once, and not started if it runs already`() async {
        await #expect(processExitsWith: .success) {
            try Self.withFolder { folder in
                let service = "[D-BUS Service]\nName=org.example.App\nExec=/bin/false\n"
                try folder.write("org.example.App.service", Array(service.utf8))
                try Self.withBus(folder, edit: "s|<auth>|<servicedir>\(folder.path)</servicedir>&|") { bus in
                    let user = try BusConnection(.user, address: bus.address)
                    expect(.noAnswer) { try user.startProgram(of: "org.example.App", limit: .seconds(60)) }
                    // A call starts the program too.
                    let connection = try BusConnection(.user, address: bus.address)
                    let object = BusCall.Object("org.example.App", "/", "org.example.App")
                    expect(.refused) { try connection.ask(BusCall(object, "Do")) }
                    let app = try Peer(bus.address, "org.example.App")
                    #expect(try user.startProgram(of: "org.example.App", limit: .seconds(60)) == app.owner)
                    app.stop()
                }
            }
        }
    }

    @Test(.enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"))
    func `bus that does not name a program's user: nothing is sent to the program or taken from it`() async {
        await #expect(processExitsWith: .success) {
            try Self.withFolder { folder in
                let deny = #"<deny send_interface="org.freedesktop.DBus" send_member="GetConnectionUnixUser"/>"#
                let edit = #"s|</busconfig>|<policy context="mandatory">\#(deny)</policy>&|"#
                try Self.withBus(folder, edit: edit) { bus in
                    let app = try Peer(bus.address, "org.example.App")
                    let user = try BusConnection(.user, address: bus.address)
                    expect(.refused) { try user.userOwner(of: "org.example.App") }
                    app.stop()
                    let service = try DeliveryService(desktopID: "org.example.App", address: bus.address) { _ in true }
                    let client = try BusConnection(.user, address: bus.address)
                    let object = BusCall.Object("org.example.App", "/org/example/App", "org.opencorenfc.UserActivity1")
                    let cookie = try client.send(BusCall(object, "ContinueUserActivity"))
                    var answer: ReceivedMessage?
                    try service.run {
                        answer = try? client.answers(to: [cookie], within: .milliseconds(20))[cookie]
                        return answer != nil
                    }
                    #expect(answer?.error(of: "It").reason.contains("Another user's program") == true)
                }
            }
        }
    }

    @Test(
        .enabled(
            if: TestBus.isInstalled && geteuid() == 0,
            "dbus-daemon is not installed, or this user can't become another"
        )
    )
    func `program of another user on the bus: foreign`() async {
        await #expect(processExitsWith: .success) {
            try Self.withFolder { folder in
                try Self.withBus(folder) { bus in
                    let user = try BusConnection(.user, address: bus.address)
                    let app = try Peer(bus.address, "org.example.App")
                    #expect(try user.userOwner(of: "org.example.App") == app.owner)
                    // The connections stay those of the first user. In some containers there is no other.
                    guard seteuid(65_534) == 0 else { return }
                    defer { _ = seteuid(0) }
                    expect(.foreign) { try user.userOwner(of: "org.example.App") }
                    app.stop()
                }
            }
        }
    }

    @Test func `private bus: its daemon gets the variables and prints the address`() async {
        await #expect(processExitsWith: .success) {
            try Self.withFolder { folder in
                let script = "#!/bin/sh\nprintf '%s\\nmore\\n' \"$NAME\"\nexec /bin/sleep 600\n"
                try folder.replace("dbus-daemon", with: Array(script.utf8), mode: 0o700)
                let bus = try PrivateBus(in: folder, environment: ["PATH": folder.path, "NAME": "unix:path=/a"])
                kill(bus.process, SIGKILL)
                waitpid(bus.process, nil, 0)
                #expect(bus.address == "unix:path=/a")
            }
        }
    }

    @Test func `private bus that can't be made: daemonMissing or noBus, and no process or descriptor is left`() async {
        await #expect(processExitsWith: .success) {
            try Self.withFolder { folder in
                func make(_ environment: [String: String]) throws -> PrivateBus {
                    try PrivateBus(in: folder, environment: environment)
                }
                let here = ["PATH": folder.path]
                let before = try Self.descriptorCount()
                for environment in [[:], here] { expect(.daemonMissing) { try make(environment) } }
                // One that can't be started, and one that prints nothing and would run on.
                for script in ["#!/nothing\n", "#!/bin/sh\nexec >&-\nexec /bin/sleep 600\n"] {
                    try folder.replace("dbus-daemon", with: Array(script.utf8), mode: 0o700)
                    for _ in 0..<8 {
                        expect(.noBus, script) { try make(here) }
                        #expect(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD)
                    }
                }
                // A configuration that can't be written.
                try folder.remove("bus.conf")
                _ = try folder.folder("bus.conf")
                expect(.noBus) { try make(here) }
                for _ in 0..<8 {
                    expect(.noBus) { try BusConnection(.user, address: "unix:path=\(folder.path)/nothing") }
                }
                #expect(try Self.descriptorCount() < before + 8)
            }
        }
    }
}
