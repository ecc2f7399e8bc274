// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import Glibc

/// The messages of this run and of earlier ones, newest last, in a file that all instances of the app share.
///
/// The file is `TAGREADER_STORE`, or `tagreader/messages.json` in `XDG_DATA_HOME` (default `~/.local/share`). Each change
/// reads the file again under a lock, so that messages of other instances stay.
struct MessageStore {
    /// The content of the file.
    private struct Contents: Codable {
        var version = 1
        /// The largest number that a message ever had. No message gets the number of another.
        var last = 0
        var messages: [StoredMessage] = []
    }

    let path: String
    private(set) var messages: [StoredMessage] = []
    /// Shows whether the file has changed: each change makes a new one.
    private var stamp: String?

    init() {
        let chosen = ProcessInfo.processInfo.environment["TAGREADER_STORE"] ?? ""
        let data = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
        path = (chosen.isEmpty ? data.appending(path: "tagreader/messages.json") : URL(filePath: chosen)).path
    }

    /// The message with a number; nil when there is none.
    func message(_ number: Int) -> StoredMessage? { messages.first { $0.number == number } }

    /// Loads the messages. Returns a sentence to show when they can't be read.
    mutating func load() -> String? {
        stamp = currentStamp
        do throws(Failure) {
            messages = try read().messages
            return nil
        } catch {
            return error.text
        }
    }

    /// Loads the changes of other instances. Returns the numbers of the messages that they added; nil when nothing has
    /// changed.
    @discardableResult
    mutating func reload() -> [Int]? {
        guard currentStamp != stamp else { return nil }
        let before = messages
        // A problem with the file is reported on the next save.
        guard load() == nil, messages != before else { return nil }
        return messages.map(\.number).filter { number in !before.contains { $0.number == number } }
    }

    /// Adds messages at the end, and returns their numbers. `isNew`: nobody sees them now.
    mutating func append(_ added: [NFCNDEFMessage], isNew: Bool = false) throws(Failure) -> [Int] {
        try change { contents in
            added.map { message in
                contents.last += 1
                contents.messages.append(StoredMessage(contents.last, message, isNew: isNew))
                return contents.last
            }
        }
    }

    /// Removes a message. It is not a failure if another instance has already removed it.
    mutating func remove(_ number: Int) throws(Failure) {
        try change { $0.messages.removeAll { $0.number == number } }
    }

    /// Marks a message as shown. If that can't be saved, the message stays marked as new.
    mutating func markSeen(_ number: Int) {
        guard message(number)?.isNew == true else { return }
        try? change { contents in
            for index in contents.messages.indices where contents.messages[index].number == number {
                contents.messages[index].new = nil
            }
        }
    }

    // MARK: The file

    private var currentStamp: String? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
        let date = attributes[.modificationDate] as? Date
        return "\(attributes[.systemFileNumber] ?? 0) \(date?.timeIntervalSince1970 ?? 0)"
    }

    private func read() throws(Failure) -> Contents {
        guard FileManager.default.fileExists(atPath: path) else { return Contents() }
        guard let data = FileManager.default.contents(atPath: path),
            let contents = try? JSONDecoder().decode(Contents.self, from: data), contents.version == 1
        else {
            throw Failure(text: "The saved messages in \(path) can't be read. Move the file away, and try again.")
        }
        return contents
    }

    /// Makes one change to the present content of the file.
    private mutating func change<Value>(_ body: (inout Contents) -> Value) throws(Failure) -> Value {
        let failure = Failure(text: "The messages can't be saved in \(path). Check the folder and its free space.")
        let files = FileManager.default
        try? files.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        // The lock is a separate file, because each change replaces the file itself.
        let lock = unsafe open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw failure }
        defer { close(lock) }
        flock(lock, LOCK_EX)
        var contents = try read()
        let value = body(&contents)
        // At any moment the file is either the complete old one or the complete new one, for its owner alone.
        let new = path + ".new"
        guard let data = try? JSONEncoder().encode(contents),
            files.createFile(atPath: new, contents: data, attributes: [.posixPermissions: 0o600]),
            unsafe rename(new, path) == 0
        else {
            try? files.removeItem(atPath: new)
            throw failure
        }
        (messages, stamp) = (contents.messages, currentStamp)
        return value
    }
}

/// A saved message.
struct StoredMessage: Codable, Equatable {
    private struct Record: Codable, Equatable {
        var format: UInt8
        var type: Data
        var identifier: Data
        var payload: Data
    }

    /// The message's number. It never changes, and no other message ever gets it.
    let number: Int
    /// True for a message that came while nobody could see it.
    fileprivate var new: Bool?
    private let records: [Record]

    init(_ number: Int, _ message: NFCNDEFMessage, isNew: Bool) {
        self.number = number
        new = isNew ? true : nil
        records = message.records.map {
            Record(format: $0.typeNameFormat.rawValue, type: $0.type, identifier: $0.identifier, payload: $0.payload)
        }
    }

    var isNew: Bool { new == true }

    /// The message, to show or to write.
    var message: NFCNDEFMessage {
        let payloads = records.map { record in
            NFCNDEFPayload(
                format: NFCTypeNameFormat(rawValue: record.format) ?? .unknown,
                type: record.type,
                identifier: record.identifier,
                payload: record.payload
            )
        }
        return NFCNDEFMessage(records: payloads)
    }
}
