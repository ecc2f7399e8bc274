// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@Suite(.ownThreads, .enabled(if: Bus.isInstalled, "dbus-daemon is not installed"))
struct `The service and association files` {
    /// An app whose site has a name of the kind that no name service knows (RFC 6761).
    private static let app =
        #"{"app_id":"TEAM.org.example.reader","associated_domains":["applinks:site.invalid"]}"#

    @Test func `It asks the site of an app at once when the app is installed, and keeps when the next try is due`()
        throws
    {
        let began = ContinuousClock.now
        let service = try RunningNfcd { try FileManager.default.removeItem(atPath: $0.scratch.path("data/nfc")) }
        #expect(service.prints(#""event":"reading""#))
        try service.user.write("data/nfc/apps/org.example.Reader.json", Self.app)
        #expect(service.prints("The links of site.invalid: "))
        // Neither its start nor a change makes it ask at once.
        #expect(ContinuousClock.now - began >= .seconds(2))
        #expect(service.prints("The next try is in a minute, or when there is a network again."))
        let status = try #require(try service.user.nfc.run("links", "list", "--json").objects().first)
        #expect(status["domain"] as? String == "site.invalid")
        #expect(try (#require(status["next_try_s"] as? Int)) <= 60)
        // What has changed makes it ask once, and not every two seconds.
        sleep(5)
        #expect(service.log.components(separatedBy: "The links of site.invalid: ").count == 2)
    }

    @Test func `Apps that come into a new folder are noticed while no other site is due for hours`() throws {
        let service = try RunningNfcd { user in
            try FileManager.default.removeItem(atPath: user.scratch.path("data/nfc"))
            // An app of the system, whose site has failed so often that it is asked every six hours, and now.
            try user.write("none/nfc/apps/org.example.Old.json", Self.app.replacing(".reader", with: ".old"))
            try user.write(
                "none/applications/org.example.Old.desktop",
                "[Desktop Entry]\nType=Application\nName=Old\nDBusActivatable=true\n"
            )
            let asked = Int64(Date().timeIntervalSince1970) - 7 * 3600
            try user.write("cache/nfc/links/site.invalid.links", "nfc-links 2 \(asked) - - 12 unreachable: gone\n")
        }
        #expect(service.prints("The next try is in 360 minutes, or when there is a network again."), "\(service.log)")
        let app = Self.app.replacing("site.invalid", with: "other.invalid")
        try service.user.write("data/nfc/apps/org.example.Reader.json", app)
        #expect(service.prints("The links of other.invalid: "), "\(service.log)")
        // Now the folder is there.
        try service.user.write("data/nfc/apps/org.example.Reader.json", app.replacing("other", with: "third"))
        #expect(service.prints("The links of third.invalid: "), "\(service.log)")
        #expect(service.end() == 0)
    }

    @Test func `It reads tags where the files of sites can't be kept, and says so`() throws {
        let service = try RunningNfcd { try $0.write("cache/nfc", "x") }
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        let text = "The files of the apps' sites can't be saved: "
        #expect(service.prints(#""error":"links","message":"\#(text)"#), "\(service.log)")
        #expect(service.end() == 0)
    }

    @Test func `It hears of each address and each route that comes or goes, of both versions of the internet`() throws {
        let service = try RunningNfcd()
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        // Of each socket of netlink(7): its address in the kernel, the protocol, the process, and the groups.
        let table = try String(contentsOfFile: "/proc/\(service.identifier)/net/netlink", encoding: .utf8)
        let sockets = table.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let groups = sockets.filter { $0.count > 3 && $0[1] == "0" && $0[2] == String(service.identifier) }.map {
            $0[3]
        }
        // RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR and RTMGRP_IPV6_ROUTE.
        let all: UInt32 = 0x10 | 0x40 | 0x100 | 0x400
        #expect(groups.contains { UInt32($0, radix: 16) == all }, "\(table)")
        // A program that it starts does not inherit the socket, and a message that is gone does not keep it waiting.
        let own = sockets.filter { $0.count > 3 && $0[2] == String(service.identifier) }
        let socket = try #require(own.first { UInt32($0[3], radix: 16) == all })
        let inode = try #require(socket.last)
        let flags = try Self.flags(ofSocket: inode, of: service.identifier)
        #expect(flags & O_CLOEXEC != 0 && flags & O_NONBLOCK != 0)
        #expect(service.end() == 0)
    }

    /// The flags of a process's socket, by the socket's inode: those of open(2).
    private static func flags(ofSocket inode: String, of process: pid_t) throws -> Int32 {
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
        let found = names.first { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\(name)")
            return target == "socket:[\(inode)]"
        }
        let name = try #require(found)
        let text = try String(contentsOfFile: "/proc/\(process)/fdinfo/\(name)", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("flags:") })
        return try #require(line.split(separator: "\t").last.flatMap { Int32($0, radix: 8) })
    }

    /// Whether programs can run in their own network namespace here.
    private static let hasNetworks =
        geteuid() == 0 && (try? Command(name: "unshare").run("-n", "true"))?.status == 0
        && FileManager.default.isExecutableFile(atPath: "/usr/bin/nsenter")

    /// Has the loopback device of a network come up, which is its only one: `SIOCSIFFLAGS` with `IFF_UP`, netdevice(7).
    private static let comingUp = """
        import fcntl, socket, struct
        fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0x8914, struct.pack("16sH14x", b"lo", 1))
        """

    @Test(.enabled(if: hasNetworks, "needs root, and networks of programs' own"))
    func `When a network comes up it asks the sites that failed at once`() throws {
        let service = try RunningNfcd(under: ["/usr/bin/unshare", "-n"]) {
            try $0.write("data/nfc/apps/org.example.Reader.json", Self.app)
        }
        #expect(service.prints("The links of site.invalid: "), "\(service.log)")
        #expect(service.prints("The next try is in a minute, or when there is a network again."))
        let began = ContinuousClock.now
        let network = try Command(name: "nsenter").run(
            "-n",
            "-t",
            "\(service.identifier)",
            "python3",
            "-c",
            Self.comingUp
        )
        #expect(network.status == 0, "\(network)")
        #expect(service.prints("The links of site.invalid: ", times: 2))
        // Without the network the next try is a minute after the first.
        #expect(ContinuousClock.now - began < .seconds(45))
    }
}
