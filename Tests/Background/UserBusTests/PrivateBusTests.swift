// SPDX-License-Identifier: Apache-2.0
import BusTesting
import Foundation
import Glibc
import PrivateStorage
import TestThreads
import Testing

@testable import UserBus

/// The bus of a process, whose daemon is a child of it. Each test has a process of its own, whose children and
/// descriptors it counts.
@Suite(.ownThreads, .timeLimit(.minutes(3)))
struct `A bus of one process` {
    private static func count() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    /// Makes a folder, and removes it after it was used.
    private static func withFolder(_ body: (PrivateFolder) throws -> Void) throws {
        let folder = try PrivateFolder.random("nfc-tests")
        defer { try? FileManager.default.removeItem(atPath: folder.path) }
        try body(folder)
    }

    @Test(.enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"))
    func `is reached in a folder of any name`() async {
        await #expect(processExitsWith: .success) {
            try Self.withFolder { parent in
                let folder = try parent.folder("a b%,=;\u{E9}\u{FF}\u{1F600}")
                let bus = try PrivateBus(in: folder, environment: ["PATH": "/usr/bin:/bin"])
                defer {
                    kill(bus.process, SIGKILL)
                    waitpid(bus.process, nil, 0)
                }
                #expect(FileManager.default.fileExists(atPath: folder.path + "/bus"))
                #expect(try !BusConnection(.user, address: bus.address).isThere("org.example.App"))
            }
        }
    }

    @Test(.enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"))
    func `starts no program whose name is owned, and says who owns it`() async {
        await #expect(processExitsWith: .success) {
            try Self.withFolder { folder in
                // A daemon that knows a program, which ends at once when it is started.
                let line = "<servicedir>\(folder.path)</servicedir>"
                let script = """
                    #!/bin/sh
                    /bin/sed -i 's|<auth>|\(line)&|' '\(folder.path)/bus.conf'
                    exec /usr/bin/dbus-daemon "$@"

                    """
                try folder.replace("dbus-daemon", with: Array(script.utf8), mode: 0o700)
                let service = "[D-BUS Service]\nName=org.example.App\nExec=/bin/false\n"
                try folder.write("org.example.App.service", Array(service.utf8))
                let bus = try PrivateBus(in: folder, environment: ["PATH": folder.path])
                defer {
                    kill(bus.process, SIGKILL)
                    waitpid(bus.process, nil, 0)
                }
                let user = try UserBus(address: bus.address)
                let error = #expect(throws: BusError.self) { try user.start("org.example.App", limit: .seconds(60)) }
                #expect(error?.code == .noAnswer)
                // In the words of the daemon.
                let reason = "org.example.App was started and ended at once: org.freedesktop.DBus says: "
                #expect(error?.reason.hasPrefix(reason) == true)
                // A call starts the program too, and says how that went.
                let connection = try BusConnection(.user, address: bus.address)
                let object = BusCall.Object("org.example.App", "/", "org.example.App")
                let refusal = #expect(throws: BusError.self) { try connection.ask(BusCall(object, "Do")) }
                #expect(refusal?.code == .refused)
                let app = try Peer(bus.address, "org.example.App")
                #expect(try user.start("org.example.App", limit: .seconds(60)) == app.owner)
                app.stop()
            }
        }
    }

    @Test(.enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"))
    func `takes no program for another user's when its daemon does not say whose it is`() async {
        await #expect(processExitsWith: .success) {
            try Self.withFolder { folder in
                let deny = #"<deny send_interface="org.freedesktop.DBus" send_member="GetConnectionUnixUser"/>"#
                let rule = #"<policy context="mandatory">\#(deny)</policy>"#
                let script = """
                    #!/bin/sh
                    /bin/sed -i 's|</busconfig>|\(rule)&|' '\(folder.path)/bus.conf'
                    exec /usr/bin/dbus-daemon "$@"

                    """
                try folder.replace("dbus-daemon", with: Array(script.utf8), mode: 0o700)
                let bus = try PrivateBus(in: folder, environment: ["PATH": folder.path])
                defer {
                    kill(bus.process, SIGKILL)
                    waitpid(bus.process, nil, 0)
                }
                let app = try Peer(bus.address, "org.example.App")
                let user = try UserBus(address: bus.address)
                let error = #expect(throws: BusError.self) { try user.owner(of: "org.example.App") }
                #expect(error?.code == .refused)
                app.stop()
                // An app takes nothing from such a program either.
                let service = try DeliveryService(desktopID: "org.example.App", address: bus.address) { _ in true }
                let client = try BusConnection(.user, address: bus.address)
                let object = BusCall.Object("org.example.App", "/org/example/App", "org.opencorenfc.UserActivity1")
                let cookie = try client.send(BusCall(object, "ContinueUserActivity"))
                var answer: ReceivedMessage?
                try service.run {
                    answer = try? client.answers(to: [cookie], within: .milliseconds(20))[cookie]
                    return answer != nil
                }
                let reason = answer?.error(of: "It").reason
                #expect(reason == "It says: Another user's program opens nothing here.")
            }
        }
    }

    @Test(
        .enabled(
            if: TestBus.isInstalled && geteuid() == 0,
            "dbus-daemon is not installed, or this user can't become another"
        )
    )
    func `has programs of another user, who gets nothing of this one`() async {
        await #expect(processExitsWith: .success) {
            try Self.withFolder { folder in
                let bus = try PrivateBus(in: folder, environment: ["PATH": "/usr/bin:/bin"])
                defer {
                    kill(bus.process, SIGKILL)
                    waitpid(bus.process, nil, 0)
                }
                let user = try UserBus(address: bus.address)
                let app = try Peer(bus.address, "org.example.App")
                #expect(try user.owner(of: "org.example.App") == app.owner)
                // The connections stay those of the first user. In some containers there is no other.
                guard seteuid(65_534) == 0 else { return }
                defer { _ = seteuid(0) }
                let error = #expect(throws: BusError.self) { try user.owner(of: "org.example.App") }
                #expect(error?.code == .foreign)
                #expect(error?.reason == "org.example.App on the bus is another user's, who gets nothing of yours.")
                app.stop()
            }
        }
    }

    @Test func `has the address that its daemon prints, which has the variables that it is to have`() async {
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

    @Test func `is none without a daemon, or when it can't be started or configured`() async {
        await #expect(processExitsWith: .success) {
            try Self.withFolder { folder in
                let before = try Self.count()
                for environment in [[:], ["PATH": folder.path]] as [[String: String]] {
                    let error = #expect(throws: BusError.self) {
                        try PrivateBus(in: folder, environment: environment)
                    }
                    let advice = "Install it: apt-get install dbus, or dnf install dbus-daemon."
                    #expect(error?.code == .daemonMissing)
                    #expect(error?.reason == "dbus-daemon is not installed. \(advice)")
                }
                try folder.replace("dbus-daemon", with: Array("#!/nothing\n".utf8), mode: 0o700)
                for _ in 0..<8 {
                    let error = #expect(throws: BusError.self) {
                        try PrivateBus(in: folder, environment: ["PATH": folder.path])
                    }
                    let reason = "\(folder.path)/dbus-daemon can't be started: No such file or directory."
                    #expect(error?.code == .noBus && error?.reason == reason)
                }
                try folder.remove("bus.conf")
                _ = try folder.folder("bus.conf")
                let cause = #expect(throws: StorageError.self) { try folder.write("bus.conf", []) }
                let error = #expect(throws: BusError.self) {
                    try PrivateBus(in: folder, environment: ["PATH": folder.path])
                }
                #expect(error?.code == .noBus && error?.reason == cause?.reason)
                #expect(try Self.count() < before + 8)
            }
        }
    }

    @Test func `leaves no descriptor of a connection to a bus that is not there`() async {
        await #expect(processExitsWith: .success) {
            try Self.withFolder { folder in
                let before = try Self.count()
                for _ in 0..<8 {
                    #expect(throws: BusError.self) {
                        try BusConnection(.user, address: "unix:path=\(folder.path)/nothing")
                    }
                }
                #expect(try Self.count() < before + 8)
            }
        }
    }

    @Test func `is none when its daemon does not listen, and leaves no process and no descriptor`() async {
        await #expect(processExitsWith: .success) {
            try Self.withFolder { folder in
                // It says nothing, and would run on.
                let script = "#!/bin/sh\nexec >&-\nexec /bin/sleep 600\n"
                try folder.replace("dbus-daemon", with: Array(script.utf8), mode: 0o700)
                let before = try Self.count()
                let reason = "does not begin to listen. Use a folder with a shorter path: TMPDIR=/tmp"
                for _ in 0..<8 {
                    let error = #expect(throws: BusError.self) {
                        try PrivateBus(in: folder, environment: ["PATH": folder.path])
                    }
                    #expect(error?.code == .noBus && error?.reason == "\(folder.path)/dbus-daemon \(reason)")
                    #expect(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD)
                }
                #expect(try Self.count() < before + 8)
            }
        }
    }
}
