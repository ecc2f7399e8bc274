// SPDX-License-Identifier: Apache-2.0
import Foundation
import PrivateStorage
import TestThreads
import Testing

/// The service and apps that want its reader.
@Suite(.ownThreads, .enabled(if: Bus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(5)))
struct `The reader of the service and apps` {
    /// An app's connection to the service.
    private final class App {
        private let descriptor: Int32

        init(_ service: RunningNfcd) throws {
            let folder = try #require(service.user.nfc.environment["XDG_RUNTIME_DIR"])
            descriptor = try #require(PrivateSocket.connect(folder + "/nfc/background"))
        }

        func say(_ bytes: [UInt8]) {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            #expect(count == bytes.count)
        }

        /// What the service says next; nothing when it says nothing in half a minute.
        func hears() -> [UInt8] {
            var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&poller, 1, 30_000)
            var buffer = [UInt8](repeating: 0, count: 8)
            let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            return Array(buffer.prefix(max(count, 0)))
        }

        func leave() { close(descriptor) }
    }

    @Test(arguments: [(0x52, "reader-session"), (0x43, "wallet")] as [(UInt8, String)])
    func `It leaves the reader to apps that ask for it, until all have left`(purpose: UInt8, obstacle: String) throws {
        let service = try RunningNfcd()
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        let app = try App(service)
        app.say([purpose])
        #expect(app.hears() == [0x59])
        #expect(service.prints(#""obstacles":"\#(obstacle)""#), "\(service.log)")
        let other = try App(service)
        other.say([purpose])
        #expect(other.hears() == [0x59])
        app.leave()
        other.leave()
        #expect(service.prints(#""event":"reading""#, times: 2), "\(service.log)")
        #expect(service.end() == 0)
        let states = try service.objects().filter { $0["event"] as? String == "not-reading" }
        #expect(states.compactMap { $0["obstacles"] as? String } == [obstacle])
    }

    @Test func `A tag that an app has read is not read once more when the app has left`() throws {
        let (tags, images) = (try ScratchFolder(), try Images())
        let service = try RunningNfcd(["--json", "--tags", tags.path("")])
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        let app = try App(service)
        app.say([0x52])
        #expect(app.hears() == [0x59])
        for uid in ["04a1b2c3d4e580", "04a1b2c3d4e581"] {
            let image = try images.blank("NTAG213", uid: uid)
            try FileManager.default.copyItem(atPath: image, toPath: tags.path("\(uid).nfc"))
        }
        app.say([0x54, 7, 0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80])
        let begin = ContinuousClock.now
        app.leave()
        #expect(service.prints(#""event":"no-message""#), "\(service.log)")
        let time = ContinuousClock.now - begin
        #expect(service.end() == 0)
        let count = try service.objects().count { $0["event"] as? String == "no-message" }
        // A tag that is first seen a second later may be another one.
        #expect(count == 1 || time > .milliseconds(900))
    }

    @Test func `A second service on the same bus does not begin`() throws {
        let service = try RunningNfcd()
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        let second = try Command(name: "nfcd", environment: service.user.nfc.environment).run("--json")
        #expect(second.status == 1 && second.error == "")
        let line = #"{"ok":false,"event":"failed","error":"already-running","message":"nfcd runs already."}"#
        #expect(second.lines == [line])
        #expect(service.end() == 0)
    }
}
