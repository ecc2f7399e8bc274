// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import Glibc

/// The messages of earlier runs and of this one, newest last, in a file that all instances of the app share.
///
/// The file is `TAGREADER_STORE`, or `tagreader/messages.json` in `XDG_DATA_HOME` (default `~/.local/share`). Each change
/// reads the file again under a lock, so that messages of other instances stay. A message that can't be saved stays in the
/// list of this instance, marked as unsaved. It is saved with the next message.
struct MessageStore: Sendable {
    /// The result of adding messages.
    struct Addition {
        /// Their numbers.
        var numbers: [Int]
        /// Why they could not be saved; nil when they were.
        var failure: Failure?
    }

    private let file: StoreFile
    /// The messages of the file.
    private var saved: [StoredMessage] = []
    /// The messages that could not be saved, with numbers after those of the file.
    private var unsaved: [StoredMessage] = []
    /// The largest number that was used in the file.
    private var last = 0
    private var state: StoreFile.State?

    init(path: String = Self.defaultPath) {
        file = StoreFile(path)
    }

    /// The path of the file.
    var path: String { file.path }

    /// The messages of the file, followed by those that could not be saved.
    var messages: [StoredMessage] { saved + unsaved }

    /// The message with a number; nil when there is none.
    func message(_ number: Int) -> StoredMessage? { messages.first { $0.number == number } }

    /// Opens the store.
    ///
    /// - Returns: a sentence to show, when the file was damaged and was moved aside.
    mutating func load() throws(Failure) -> String? {
        state = file.state
        guard let data = try file.read() else {
            take(StoreContents())
            return nil
        }
        guard let contents = try contents(of: data) else { return try putAside() }
        take(contents)
        return nil
    }

    /// Loads the changes of other instances.
    ///
    /// - Returns: whether there is a change.
    mutating func reload() -> Bool {
        guard file.state != state else { return false }
        let before = messages.map { [$0.number, $0.isNew ? 1 : 0] }
        do {
            _ = try load()
        } catch {
            // A problem with the file is reported on the next save.
            return false
        }
        return messages.map { [$0.number, $0.isNew ? 1 : 0] } != before
    }

    /// Adds messages at the end, and saves them together with those that could not be saved before.
    ///
    /// - Parameter isNew: whether nobody sees them now.
    mutating func append(_ added: [NFCNDEFMessage], isNew: Bool = false) -> Addition {
        let waiting = unsaved + added.map { StoredMessage($0, isNew: isNew) }
        let noNumbers = noNumbers
        do throws(Failure) {
            let numbers = try change { contents throws(Failure) in
                var numbers: [Int] = []
                for message in waiting {
                    guard let number = contents.append(message) else { throw noNumbers }
                    numbers.append(number)
                }
                return numbers
            }
            unsaved = []
            return Addition(numbers: numbers.suffix(added.count))
        } catch {
            hold(waiting)
            return Addition(numbers: unsaved.suffix(added.count).map(\.number), failure: error)
        }
    }

    /// The number of an unsaved message with the same content as another one.
    func unsavedNumber(of message: NFCNDEFMessage) -> Int? {
        let records = StoredMessage(message).records
        return unsaved.first { $0.records == records }?.number
    }

    /// Removes a message. It is not a failure if another instance has already removed it.
    mutating func remove(_ number: Int) throws(Failure) {
        if let index = unsaved.firstIndex(where: { $0.number == number }) {
            unsaved.remove(at: index)
            return
        }
        try change { contents in contents.messages.removeAll { $0.number == number } }
    }

    /// Marks a message as shown.
    mutating func markSeen(_ number: Int) throws(Failure) {
        guard let message = message(number), message.isNew else { return }
        guard message.isSaved else {
            for index in unsaved.indices where unsaved[index].number == number { unsaved[index].isNew = false }
            return
        }
        try change { contents in
            for index in contents.messages.indices where contents.messages[index].number == number {
                contents.messages[index].isNew = false
            }
        }
    }

    /// Makes one change to the present content of the file.
    private mutating func change<Value>(
        _ body: (inout StoreContents) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let lock = try file.lock()
        defer { lock.unlock() }
        var contents = StoreContents()
        if let data = try file.read() {
            if let found = try self.contents(of: data) { contents = found } else { _ = try moveAside() }
        }
        let value = try body(&contents)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(contents) else { throw file.notSaved(EINVAL) }
        try file.replace(with: data)
        state = file.state
        take(contents)
        return value
    }

    /// Loads the content of the file.
    private mutating func take(_ contents: StoreContents) {
        saved = contents.messages
        last = contents.last ?? 0
        hold(unsaved)
    }

    /// Keeps messages that are not saved, with numbers that the file does not use.
    private mutating func hold(_ messages: [StoredMessage]) {
        var last = last
        unsaved = messages.map { message in
            var message = message
            message.isSaved = false
            message.number = max(message.number, last + 1)
            last = message.number
            return message
        }
    }

    /// The content of a file; nil when it is damaged.
    private func contents(of data: Data) throws(Failure) -> StoreContents? {
        guard let head = try? JSONDecoder().decode(StoreContents.Head.self, from: data), head.version >= 1 else {
            return nil
        }
        guard head.version == StoreContents.currentVersion else {
            throw Failure(
                """
                The saved messages in \(path) are those of a newer Tag Reader. They stay as they are; start the newer \
                one, or name another file in TAGREADER_STORE.
                """,
                cause: "the saved messages are those of a newer app"
            )
        }
        return StoreContents(data)
    }

    private var noNumbers: Failure {
        Failure(
            "The saved messages in \(path) leave no number for another one. Move the file away, and scan again.",
            cause: "no number is left for it"
        )
    }

    /// Renames a file that can't be understood, unless another instance has done so already.
    private mutating func putAside() throws(Failure) -> String? {
        let lock = try file.lock()
        defer { lock.unlock() }
        take(StoreContents())
        guard let data = try file.read() else { return nil }
        if let contents = try contents(of: data) {
            take(contents)
            return nil
        }
        let aside = try moveAside()
        return "The saved messages were damaged. They are kept in \(aside), and the list begins with nothing."
    }

    private func moveAside() throws(Failure) -> String {
        guard let aside = file.moveAside() else {
            throw Failure(
                "The saved messages in \(path) are damaged and can't be moved aside. Move them away.",
                cause: "the saved messages are damaged"
            )
        }
        return aside
    }

    private static var defaultPath: String {
        let environment = ProcessInfo.processInfo.environment
        if let path = environment["TAGREADER_STORE"], !path.isEmpty { return URL(fileURLWithPath: path).path }
        // Relative paths are invalid and must be ignored (XDG Base Directory Specification).
        func folder(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let home = folder("HOME") ?? FileManager.default.homeDirectoryForCurrentUser.path
        return (folder("XDG_DATA_HOME") ?? home + "/.local/share") + "/tagreader/messages.json"
    }
}
