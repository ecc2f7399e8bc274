// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import NDEF
import PrivateStorage
import SystemLibrary
import Testing

@testable import nfcd

/// The service's keeper of the inbox, with folders of a test's own.
@MainActor final class Keeping {
    private let folder: ScratchFolder
    let folders: UserFolders
    let recorded: RecordedLog
    let loop: MachineLoop
    let keeper: InboxKeeper
    /// What the machine has had done.
    private(set) var actions: [BackgroundReader.Action] = []
    /// Opens an entry.
    var deliver: (InboxEntry.ID, Delivery) -> Void = { _, _ in }

    /// - Parameters:
    ///   - numbers: the entries of an earlier run.
    ///   - storingPause: how long the keeper waits before it stores again what the disk did not accept.
    ///   - movingTime: how long it waits before it makes a folder that is missing.
    init(
        _ numbers: UInt32...,
        storingPause: Duration = .seconds(5),
        movingTime: Duration = .seconds(1)
    ) throws {
        folder = try ScratchFolder()
        let (recorded, loop) = (RecordedLog(), MachineLoop(now: { .zero }))
        let folders = UserFolders(environment: [
            "HOME": folder.path("home"), "XDG_STATE_HOME": folder.path("state"),
        ])
        for number in numbers { try Inbox<DirectoryStore>(of: folders).add(try Self.entry(number)) }
        let marks = try DirectoryStore(folder.path("state/nfc/background"))
        keeper = try InboxKeeper(
            folders,
            marks: marks,
            try recorded.log("--json"),
            loop,
            storingPause: storingPause,
            movingTime: movingTime
        )
        (self.folders, self.recorded, self.loop) = (folders, recorded, loop)
        loop.perform = { [weak self] action in self?.perform(action) }
    }

    static func entry(_ number: UInt32) throws -> InboxEntry {
        let message = try NDEFMessage([.uri("https://b.example/\(number)")]).encoded()
        return InboxEntry(id: NotifierScene.id(number), message: message)
    }

    private func perform(_ action: BackgroundReader.Action) {
        actions.append(action)
        switch action {
        case .store(let entry): keeper.store(entry)
        case .deliver(let id, let delivery): deliver(id, delivery)
        default: break
        }
    }

    /// Begins as the service does.
    func begin() throws {
        loop.begin([.restored(try keeper.recover(shown: [], summarized: []))])
    }

    func path(_ name: String) -> String { folder.path("state/nfc/\(name)") }

    /// The path of an entry that was not shown.
    func file(_ number: UInt32) -> String { path("inbox/\(NotifierScene.id(number)).new") }

    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path("inbox")).sorted()
    }

    /// The stored marks; empty if there is no file for them.
    func marks() -> String { (try? String(contentsOfFile: path("background/marks"), encoding: .utf8)) ?? "" }

    /// The identifiers of the entries that are on the disk as far as the machine knows.
    var stored: [InboxEntry.ID] { loop.machine.storedEntries }

    /// Puts a folder in the place of an entry's file.
    func block(_ number: UInt32) throws {
        try? FileManager.default.removeItem(atPath: file(number))
        try FileManager.default.createDirectory(atPath: file(number) + "/full", withIntermediateDirectories: true)
    }

    func unblock(_ number: UInt32) throws { try FileManager.default.removeItem(atPath: file(number)) }

    /// How often the machine has had an entry stored.
    var storings: Int { actions.count { if case .store = $0 { true } else { false } } }

    /// Looks at something after a time, when all is done that was planned for an earlier one.
    func look<Value: Sendable>(after time: Duration, _ body: @escaping @MainActor @Sendable () -> Value) async -> Value
    {
        await withCheckedContinuation { continuation in
            Later.run(after: time) { continuation.resume(returning: body()) }
        }
    }

    /// Waits until something holds.
    func wait(until isDone: () throws -> Bool) async throws {
        for _ in 0..<30_000 {
            if try isDone() { return }
            try await Task.sleep(for: .milliseconds(1))
        }
        Issue.record("It does not come: \((try? names()) ?? []), \(recorded.output)")
    }
}
