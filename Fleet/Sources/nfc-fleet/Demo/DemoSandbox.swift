// SPDX-License-Identifier: Apache-2.0
import FleetModel
import Foundation
import LinuxSupport

/// The demo's temporary folder, with a broker and an agent. Closing it stops both and deletes the folder.
///
/// The broker requires a password, because every user of this machine can connect to it.
final class DemoSandbox {
    let folder: String
    let port: UInt16
    let tags: DemoTags
    private var processes: [DemoProcess] = []
    /// Deletes the folder if the demo is killed.
    private var lifeline: Lifeline?

    /// The configuration with which a command connects to the broker.
    var configuration: String { folder + "/fleet.toml" }

    var broker: String { "mqtt://127.0.0.1:\(port)" }

    /// Starts the broker and the agent.
    ///
    /// - Parameter port: the broker's port; nil to choose a free port.
    init(port: UInt16?) throws(FleetFailure) {
        // Checked before starting anything, so that the demo never uses someone else's broker.
        if let port, Self.isListening(port) {
            throw FleetFailure(.refused, "port-in-use", "Port \(port) is in use. Choose another, or leave --port out.")
        }
        guard let mosquitto = DemoProcess.find("mosquitto"), let hasher = DemoProcess.find("mosquitto_passwd") else {
            throw FleetFailure(
                .noBroker,
                "no-mosquitto",
                "mosquitto is not installed. Install it: apt install mosquitto"
            )
        }
        guard let agent = DemoProcess.find("nfc-agent") else {
            throw FleetFailure(
                .refused,
                "no-agent",
                "nfc-agent is missing next to nfc-fleet. Run: swift build --package-path Fleet"
            )
        }
        var template = Array("/tmp/nfc-fleet-XXXXXX".utf8CString)
        guard let root = unsafe mkdtemp(&template).map({ unsafe String(cString: $0) }) else {
            throw FleetFailure(.refused, "folder", "A folder can't be created in /tmp. Free some disk space.")
        }
        folder = root
        // By then, the agent has ended.
        lifeline = Lifeline(script: #"sleep 3; rm -rf -- "$0""#, words: [root])
        tags = DemoTags(folder: root + "/tags")
        guard let free = port ?? Self.freePort() else {
            throw FleetFailure(.noBroker, "no-port", "This machine has no free port on 127.0.0.1.")
        }
        self.port = free
        do {
            try FileManager.default.createDirectory(atPath: tags.folder, withIntermediateDirectories: false)
            let password = Hex.text((0..<16).map { _ in UInt8.random(in: 0...0xFF) })
            try write("password", [password])
            // mosquitto's own tool replaces the password with its hash.
            try write("users", ["demo:\(password)"])
            try Process.run(URL(fileURLWithPath: hasher), arguments: ["-U", root + "/users"]).waitUntilExit()
            try write(
                "mosquitto.conf",
                [
                    "listener \(free) 127.0.0.1", "allow_anonymous false", "password_file \(root)/users",
                    "user \(NSUserName())",
                ]
            )
            let login = ["[login]", "user = \"demo\"", "password_file = \"\(root)/password\""]
            try write("fleet.toml", ["broker = \"\(broker)\""] + login)
            try write(
                "agent.toml",
                [
                    "node = \"demo\"", "broker = \"\(broker)\"", "state_folder = \"\(root)/state\"",
                    "tags = \"\(tags.folder)\"",
                    "readers = []", "[[reader]]", "name = \"entrance\"", "reader = \"virtual\"",
                ] + login
            )
        } catch {
            throw FleetFailure(.refused, "folder", "The folder \(root) can't be written: \(error.localizedDescription)")
        }
        processes.append(try DemoProcess(mosquitto, ["-c", root + "/mosquitto.conf"], log: root + "/mosquitto.log"))
        processes.append(try DemoProcess(agent, ["--config", root + "/agent.toml"], log: root + "/agent.log"))
    }

    private func write(_ name: String, _ lines: [String]) throws {
        let path = URL(fileURLWithPath: folder + "/" + name)
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: path)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path.path)
    }

    /// Throws if a program has exited.
    func check() throws(FleetFailure) {
        for process in processes { try process.check() }
    }

    /// Whether the agent has received a job.
    func hasJob(_ id: String) -> Bool {
        let log = try? String(contentsOfFile: folder + "/agent.log", encoding: .utf8)
        return log?.contains("The job \(id) ") == true
    }

    /// Stops the programs and deletes the folder.
    func close() {
        for process in processes.reversed() { process.stop() }
        processes = []
        try? FileManager.default.removeItem(atPath: folder)
        lifeline?.cut()
        lifeline = nil
    }

    deinit { close() }

    private static func freePort() -> UInt16? {
        unsafe onSocket(port: 0) { descriptor, address, length in
            guard unsafe bind(descriptor, address, length.pointee) == 0 else { return false }
            return unsafe getsockname(descriptor, address, length) == 0
        }
    }

    /// Whether a local port is in use.
    static func isListening(_ port: UInt16) -> Bool {
        unsafe onSocket(port: port) { descriptor, address, length in
            unsafe connect(descriptor, address, length.pointee) == 0
        } != nil
    }

    /// Calls a function with a socket and an address on 127.0.0.1. Returns the address's port on success.
    private static func onSocket(
        port: UInt16,
        _ body: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Bool
    ) -> UInt16? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { Foundation.close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isDone = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body(descriptor, $0, &length) }
        }
        return isDone ? UInt16(bigEndian: address.sin_port) : nil
    }
}
