// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import SimulatorModel

/// The location of a running simulator: a folder that contains its socket and a file with its address.
public struct SimulatorLocation: Sendable {
    /// The name of the socket for programs.
    public static let socketName = "simulator.sock"
    /// The name of the web server's socket, used by the gate and for actions.
    static let pageSocketName = "page.sock"
    /// The name of the file that contains the port and the process id.
    public static let addressName = "simulator.json"
    /// The name of the file that redirects a browser to the page.
    static let pageName = "simulator.html"

    /// The folder.
    public let folder: String

    /// Creates a location.
    ///
    /// - Parameter folder: an absolute path.
    public init(folder: String) { self.folder = folder }

    /// The user's default location: `opencorenfc` in `XDG_RUNTIME_DIR` or else `/run/user/UID`. If that folder is not
    /// writable, `opencorenfc-UID` in `/tmp`.
    public static func ofUser(environment: [String: String]) -> SimulatorLocation {
        if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") {
            return SimulatorLocation(folder: runtime + "/opencorenfc")
        }
        let usual = "/run/user/\(geteuid())"
        if unsafe access(usual, W_OK) == 0 { return SimulatorLocation(folder: usual + "/opencorenfc") }
        return SimulatorLocation(folder: "/tmp/opencorenfc-\(geteuid())")
    }

    /// The socket's path.
    public var socketPath: String { folder + "/" + Self.socketName }

    /// The path of the web server's socket.
    var pageSocketPath: String { folder + "/" + Self.pageSocketName }

    /// The port and the process of a running simulator.
    public struct Address: Sendable, Hashable {
        /// The port of the page on 127.0.0.1.
        public var port: UInt16
        /// The simulator's process id.
        public var pid: Int32

        /// Creates an address.
        public init(port: UInt16, pid: Int32) {
            self.port = port
            self.pid = pid
        }

        var json: JSON { ["port": .int(Int(port)), "pid": .int(Int(pid))] }

        init?(_ json: JSON) {
            guard let port = json["port"]?.int.flatMap({ UInt16(exactly: $0) }),
                let pid = json["pid"]?.int.flatMap({ Int32(exactly: $0) })
            else { return nil }
            self.init(port: port, pid: pid)
        }
    }

    /// The address of the simulator that runs here; nil if none does.
    public func running() -> Address? {
        guard let folder = try? PrivateFolder(folder, creates: false),
            let file = try? InputFile(folder.path + "/" + Self.addressName, limit: 4096),
            let bytes = try? file.readToEnd(), let json = try? JSON(parsing: bytes), let address = Address(json),
            // A killed simulator leaves its file behind, so check that the socket accepts a connection.
            let socket = PrivateSocket.connect(socketPath)
        else { return nil }
        close(socket)
        return address
    }
}
