// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import Glibc

/// Stores messages from this run and earlier runs, newest last, in a file that all instances of the app share.
///
/// The file is `TAGREADER_STORE`, or `tagreader/messages.json` in `XDG_DATA_HOME` (default `~/.local/share`). Each
/// change first reads the file again under a lock, so that messages from other instances are kept.
struct MessageStore {
    /// The content of the file.
    private struct Contents: Codable {
        var version = 1
        /// The largest number ever given to a message. Numbers are never reused.
        var last = 0
        var messages: [StoredMessage] = []
    }

    let path: String
    private(set) var messages: [StoredMessage] = []
    /// Identifies the version of the file that was loaded. Each change creates a new file.
    private var stamp: String?

    init() {
        let chosen = ProcessInfo.processInfo.environment["TAGREADER_STORE"] ?? ""
        let data = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
        path = (chosen.isEmpty ? data.appending(path: "tagreader/messages.json") : URL(filePath: chosen)).path
    }

    /// Returns the message with a number; nil if it does not exist.
    func message(_ number: Int) -> StoredMessage? { messages.first { $0.number == number } }

    /// Loads the messages. Returns an error message if they can't be read.
    mutating func load() -> String? {
        stamp = currentStamp
        do throws(Failure) {
            messages = try read().messages
            return nil
        } catch {
            return error.text
        }
    }

    /// Loads changes made by other instances. Returns the numbers of the messages they added; nil if nothing has
    /// changed.
    @discardableResult
    mutating func reload() -> [Int]? {
        guard currentStamp != stamp else { return nil }
        let before = messages
        // A problem with the file is reported on the next save.
        guard load() == nil, messages != before else { return nil }
        return messages.map(\.number).filter { number in !before.contains { $0.number == number } }
    }

    /// Appends messages that were just read, and returns their numbers. `isNew` means that nobody has seen them yet.
    mutating func append(
        _ added: [NFCNDEFMessage],
        from source: StoredMessage.Source,
        isNew: Bool = false
    ) throws(Failure) -> [Int] {
        try change { contents in
            added.map { message in
                contents.last += 1
                contents.messages.append(StoredMessage(contents.last, message, from: source, isNew: isNew))
                return contents.last
            }
        }
    }

    /// Removes a message. Succeeds even if another instance has already removed the message.
    mutating func remove(_ number: Int) throws(Failure) {
        try change { $0.messages.removeAll { $0.number == number } }
    }

    /// Marks a message as seen. If the change can't be saved, the message stays marked as new.
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
        else { throw Failure(text: "The saved messages in \(path) can't be read. Move the file away, and try again.") }
        return contents
    }

    /// Applies one change to the current contents of the file.
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
        // The file is replaced atomically. Only its owner can read it.
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

    /// Where a message was read.
    enum Source: String, Codable {
        /// In the app, by a scan.
        case scan
        /// In the background, while no app scanned.
        case background
    }

    /// The message's number, which never changes and is never reused.
    let number: Int
    /// When and where the message was read; nil for a message that an earlier version of the app saved.
    let date: Date?
    let source: Source?
    /// True if the message arrived while nobody could see it.
    fileprivate var new: Bool?
    private let records: [Record]

    init(_ number: Int, _ message: NFCNDEFMessage, from source: Source, isNew: Bool) {
        self.number = number
        date = .now
        self.source = source
        new = isNew ? true : nil
        records = message.records.map {
            Record(format: $0.typeNameFormat.rawValue, type: $0.type, identifier: $0.identifier, payload: $0.payload)
        }
    }

    var isNew: Bool { new == true }

    /// The message, ready to show or write.
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
