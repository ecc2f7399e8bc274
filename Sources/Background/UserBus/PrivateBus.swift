// SPDX-License-Identifier: Apache-2.0
import Glibc
package import LinuxSupport

/// A private bus for this process: a `dbus-daemon` in a private folder. It does not start programs. Only programs that
/// know the address can use it.
package final class PrivateBus: Sendable {
    /// The address, in the format of `DBUS_SESSION_BUS_ADDRESS`.
    package let address: String
    /// The daemon, a child of this process. The creator of the bus must wait for its end.
    package let process: Int32

    /// How long the daemon may take to start, in milliseconds.
    private static let limit: Int32 = 5000

    /// Starts the daemon, and waits until programs can connect. Throws `daemonMissing` when dbus-daemon is not found in
    /// the `PATH` of the environment.
    package init(in folder: PrivateFolder, environment: [String: String]) throws(BusError) {
        guard let program = ProgramPath.find("dbus-daemon", in: environment["PATH"] ?? "") else {
            let reason = "dbus-daemon is not installed. Install it: apt-get install dbus, or dnf install dbus-daemon."
            throw BusError(.daemonMissing, reason)
        }
        let configuration = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig><type>session</type><listen>unix:path=\(Self.escaped(folder.path))/bus</listen>
            <auth>EXTERNAL</auth><policy context="default"><allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
            """
        do throws(StorageError) {
            try folder.write("bus.conf", Array(configuration.utf8))
        } catch {
            throw BusError(.noBus, error.reason)
        }
        var launch = ProgramLaunch(
            program,
            ["dbus-daemon", "--nofork", "--nopidfile", "--config-file=\(folder.path)/bus.conf", "--print-address=1"]
        )
        launch.environment = environment
        (process, address) = try Self.start(&launch)
    }

    private static func start(_ launch: inout ProgramLaunch) throws(BusError) -> (process: Int32, address: String) {
        guard let pipe = DescriptorPipe() else { throw BusError(number: -errno, "A pipe can't be created") }
        defer { close(pipe.reader) }
        launch.descriptors[1] = pipe.writer
        let process: Int32
        do throws(ProgramLaunch.Failure) {
            defer { close(pipe.writer) }
            process = try launch.start()
        } catch {
            throw BusError(number: -error.number, "\(launch.path) can't be started")
        }
        var poller = pollfd(fd: pipe.reader, events: Int16(POLLIN), revents: 0)
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = unsafe poll(&poller, 1, limit) > 0 ? unsafe read(pipe.reader, &bytes, bytes.count) : 0
        let address = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).prefix { $0 != "\n" }
        guard !address.isEmpty else {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
            let reason = "\(launch.path) did not start listening. Use a folder with a shorter path: TMPDIR=/tmp"
            throw BusError(.noBus, reason)
        }
        return (process, String(address))
    }

    /// Escapes a path for an address (D-Bus Specification 0.38, Server Addresses). The result is also safe in XML.
    private static func escaped(_ path: String) -> String {
        path.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D...0x2F, 0x5F: String(UnicodeScalar(byte))
            default: "%" + String(byte >> 4, radix: 16) + String(byte & 0xF, radix: 16)
            }
        }.joined()
    }
}
