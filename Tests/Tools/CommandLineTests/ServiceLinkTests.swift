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
        let service = try RunningNfcd { try FileManager.default.removeItem(atPath: $0.scratch.path("data/nfc")) }
        #expect(service.prints(#""event":"reading""#))
        try service.user.write("data/nfc/apps/org.example.Reader.json", Self.app)
        #expect(service.prints("The links of site.invalid: "))
        #expect(service.prints("The next try is in a minute, or when there is a network again."))
        let status = try #require(try service.user.nfc.run("links", "list", "--json").objects().first)
        #expect(status["domain"] as? String == "site.invalid")
        #expect(try (#require(status["next_try_s"] as? Int)) <= 60)
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
