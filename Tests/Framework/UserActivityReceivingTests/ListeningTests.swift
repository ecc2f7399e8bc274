// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import BusTesting
import CoreNFC
import Foundation
import LinuxSupport
import NDEF
import Synchronization
import TestThreads
import Testing
import UserActivityReceiving
import UserBus

/// Notes what its app receives.
@MainActor
private final class Receiver: ApplicationDelegate {
    var takes = true
    private(set) var links: [String] = []
    private(set) var recordCounts: [Int] = []

    func application(
        _ application: Application,
        continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UserActivityRestoring]?) -> Void
    ) -> Bool {
        links.append(userActivity.webpageURL?.absoluteString ?? "none")
        recordCounts.append(userActivity.ndefMessagePayload.records.count)
        return takes
    }
}

/// The other programs of the user, which send links.
private struct Sender {
    static let app = "org.example.App"
    let address: String

    static func payload(_ link: String) throws -> UserActivityPayload {
        let message = NDEFMessage([try .text("first", language: "en"), try .uri(link)])
        return try UserActivityPayload(
            activityType: UserActivityPayload.browsingWeb,
            webpageURL: link,
            message: try message.encoded()
        )
    }

    /// Sends a link from a thread of its own, while the app's main queue runs.
    func deliver(_ link: String) async -> Result<BusConnection.DeliveryOutcome, BusError> {
        let address = address
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let result = Result { () throws(BusError) in
                    guard let payload = try? Self.payload(link) else { return BusConnection.DeliveryOutcome.none }
                    return try BusConnection(.user, address: address)
                        .deliver(payload, to: Self.app, starts: false, limit: .seconds(30))
                }
                continuation.resume(returning: result)
            }
        }
    }

    /// The code of the error with which a link is not delivered; nil when it is.
    func refusal(_ link: String) async -> BusError.Code? {
        if case .failure(let error) = await deliver(link) { error.code } else { nil }
    }
}

/// Names the bus of a user and the reader for this process.
private func use(bus address: String, reader: String? = nil) {
    _ = unsafe setenv("DBUS_SESSION_BUS_ADDRESS", address, 1)
    if let reader { _ = unsafe setenv("NFC_READER", reader, 1) } else { _ = unsafe unsetenv("NFC_READER") }
}

/// The code of the error with which an app fails to listen; nil when it listens.
private func listeningFails(_ presence: Application.Presence = .visible) async -> BusError.Code? {
    do throws(BusError) {
        try await Application().listen(as: Sender.app, presence: presence)
        return nil
    } catch {
        return error.code
    }
}

/// How often something has happened.
private final class Count: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func add() { count.withLock { $0 += 1 } }
}

/// Each test runs in a process of its own, because the bus and the reader are named by its variables.
@Suite(.enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct ListeningTests {
    @Test(.ownThreads)
    func `listening app: its delegate gets links on the main queue; its end handler is called when the bus ends`() async
    {
        await #expect(processExitsWith: .success) {
            let bus = try TestBus()
            use(bus: bus.address)
            let sender = Sender(address: bus.address)
            #expect(!Application.isRunning(as: Sender.app))
            #expect(await sender.deliver("https://example.org/early") == .success(.none))
            let (application, receiver) = await (Application(), Receiver())
            let ends = Count()
            try await MainActor.run { try application.listen(as: Sender.app) { ends.add() } }
            #expect(Application.isRunning(as: Sender.app) && !Application.isRunning(as: "org.example.Other"))
            // It waits for the delegate.
            #expect(await sender.deliver("https://example.org/a") == .success(.message))
            await MainActor.run { application.delegate = receiver }
            #expect(await sender.deliver("https://example.org/b") == .success(.message))
            await MainActor.run { receiver.takes = false }
            #expect(await sender.refusal("https://example.org/c") == .refused)
            #expect(await receiver.links == ["a", "b", "c"].map { "https://example.org/\($0)" })
            #expect(await receiver.recordCounts == [2, 2, 2])
            #expect(ends.value == 0)
            bus.end()
            try await waitWhile(ends.value < 1)
            #expect(!Application.isRunning(as: Sender.app))
        }
    }

    @Test(.ownThreads)
    func `app that listens in the background: ended when a visible app takes the name; other apps get nameTaken`()
        async throws
    {
        let bus = try TestBus()
        await #expect(processExitsWith: .success) { [address = bus.address as String] in
            use(bus: address)
            let sender = Sender(address: address)
            let (hidden, visible) = await (Application(), Application())
            let (below, above) = (Receiver(), Receiver())
            let (belowEnds, aboveEnds) = (Count(), Count())
            try await MainActor.run {
                (hidden.delegate, visible.delegate) = (below, above)
                try hidden.listen(as: Sender.app, presence: .background) { belowEnds.add() }
            }
            #expect(await sender.deliver("https://example.org/a") == .success(.message))
            // Two in the background: the first one stays.
            #expect(await listeningFails(.background) == .nameTaken)
            #expect(belowEnds.value == 0)
            try await MainActor.run { try visible.listen(as: Sender.app) { aboveEnds.add() } }
            #expect(await sender.deliver("https://example.org/b") == .success(.message))
            try await waitWhile(belowEnds.value < 1)
            // A visible one stays, whoever comes.
            for presence in [Application.Presence.visible, .background] {
                #expect(await listeningFails(presence) == .nameTaken)
            }
            #expect(await sender.deliver("https://example.org/c") == .success(.message))
            #expect(await below.links == ["https://example.org/a"])
            #expect(await above.links == ["https://example.org/b", "https://example.org/c"])
            #expect(belowEnds.value == 1 && aboveEnds.value == 0)
        }
    }

    @Test(.ownThreads) func `Freed Application: links sent to its name are refused`() async throws {
        let bus = try TestBus()
        await #expect(processExitsWith: .success) { [address = bus.address as String] in
            use(bus: address)
            try await MainActor.run { try Application().listen(as: Sender.app) }
            #expect(await Sender(address: address).refusal("https://example.org/a") == .refused)
        }
    }

    @Test(.ownThreads) func `without a bus: isRunning is false, and listening fails with noBus`() async throws {
        let bus = try TestBus()
        await #expect(processExitsWith: .success) { [folder = bus.path as String] in
            use(bus: "unix:path=\(folder)/nothing")
            #expect(!Application.isRunning(as: Sender.app))
            #expect(await listeningFails() == .noBus)
        }
    }
}

/// A simulator's socket. It greets its one app, and sends it lines.
private func serveSimulator(at path: String, _ lines: [String]) throws {
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
    let status = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
    try #require(status == 0 && listen(listener, 1) == 0)
    Thread.detachNewThread {
        let peer = accept(listener, nil, nil)
        var bytes = [UInt8](repeating: 0, count: 4096)
        _ = unsafe read(peer, &bytes, bytes.count)
        let text = lines.map { $0 + "\n" }.joined()
        _ = unsafe write(peer, text, text.utf8.count)
        while unsafe read(peer, &bytes, bytes.count) > 0 {}
    }
}

@Suite(.timeLimit(.minutes(3))) struct SimulatorLinkTests {
    @Test(.ownThreads)
    func `Simulator's phone: the app gets links without a bus, except a link that differs from its message's`()
        async throws
    {
        let folder = try PrivateFolder.random("nfc-tests")
        defer { try? FileManager.default.removeItem(atPath: folder.path) }
        await #expect(processExitsWith: .success) { [folder = folder.path as String] in
            let bytes = try Sender.payload("https://example.org/a").message
            let message = bytes.map { String(format: "%02x", $0) }.joined()
            func line(_ link: String) -> String {
                let type = UserActivityPayload.browsingWeb
                return #"{"event":"link","activity_type":"\#(type)","url":"\#(link)","message_hex":"\#(message)"}"#
            }
            let greeting = #"{"hello":1,"name":"Test","technologies":["nfc-a","nfc-b","nfc-f","nfc-v"]}"#
            try serveSimulator(
                at: folder + "/socket",
                [greeting, line("https://example.org/other"), line("https://example.org/a")]
            )
            use(bus: "unix:path=\(folder)/nothing", reader: "simulator:\(folder)/socket")
            let (application, receiver) = await (Application(), Receiver())
            try await MainActor.run {
                application.delegate = receiver
                try application.listen(as: Sender.app)
            }
            try await waitWhile(await receiver.links.isEmpty)
            #expect(await receiver.links == ["https://example.org/a"])
            #expect(await receiver.recordCounts == [2])
        }
    }

    @Test(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"))
    func `isRunning on the simulator's phone: false, although a program on the bus has the app's name`() async throws {
        let bus = try TestBus()
        await #expect(processExitsWith: .success) { [address = bus.address as String] in
            use(bus: address)
            let owner = try BusConnection(.user, address: address)
            try owner.take(Sender.app)
            #expect(Application.isRunning(as: Sender.app))
            use(bus: address, reader: "simulator:/tmp/ocn-nowhere/socket")
            #expect(!Application.isRunning(as: Sender.app))
            withExtendedLifetime(owner) {}
        }
    }
}
