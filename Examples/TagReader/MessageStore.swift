// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import Glibc

/// The messages of this run and of earlier ones, newest last, in a file that all instances of the app share.
///
/// The file is `TAGREADER_STORE`, or `tagreader/messages.json` in `XDG_DATA_HOME` (default `~/.local/share`). Each change
/// reads the file again under a lock, so that messages of other instances stay.
struct MessageStore {
    /// Why the file could not be read or saved.
    struct Failure: Error {
        /// What is wrong and what to do, as sentences.
        var text: String
    }

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
        let environment = ProcessInfo.processInfo.environment
        func folder(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let home = folder("HOME") ?? FileManager.default.homeDirectoryForCurrentUser.path
        let data = folder("XDG_DATA_HOME") ?? home + "/.local/share"
        let chosen = environment["TAGREADER_STORE"].flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0).path }
        path = chosen ?? data + "/tagreader/messages.json"
    }

    /// The message with a number; nil when there is none.
    func message(_ number: Int) -> StoredMessage? { messages.first { $0.number == number } }

    mutating func load() throws(Failure) {
        stamp = currentStamp
        messages = try read().messages
    }

    /// Loads the changes of other instances.
    ///
    /// - Returns: whether there is a change.
    mutating func reload() -> Bool {
        guard currentStamp != stamp else { return false }
        let before = messages
        // A problem with the file is reported on the next save.
        return (try? load()) != nil && messages != before
    }

    /// Adds messages at the end, and returns their numbers.
    ///
    /// - Parameter isNew: whether nobody sees them now.
    mutating func append(_ added: [NFCNDEFMessage], isNew: Bool = false) throws(Failure) -> [Int] {
        let records = added.map(StoredMessage.records)
        return try change { contents in
            records.map { records in
                contents.last += 1
                contents.messages.append(
                    StoredMessage(number: contents.last, new: isNew ? true : nil, records: records)
                )
                return contents.last
            }
        }
    }

    /// Removes a message. It is not a failure if another instance has already removed it.
    mutating func remove(_ number: Int) throws(Failure) {
        try change { $0.messages.removeAll { $0.number == number } }
    }

    /// Marks a message as shown.
    mutating func markSeen(_ number: Int) throws(Failure) {
        guard message(number)?.isNew == true else { return }
        try change { contents in
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
        let folder = (path as NSString).deletingLastPathComponent
        let files = FileManager.default
        try? files.createDirectory(
            atPath: folder,
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
    struct Record: Codable, Equatable {
        var format: UInt8
        var type: Data
        var identifier: Data
        var payload: Data
    }

    /// The message's number. It never changes, and no other message ever gets it.
    var number: Int
    /// True for a message that came while nobody could see it.
    var new: Bool?
    var records: [Record]

    var isNew: Bool { new == true }

    static func records(of message: NFCNDEFMessage) -> [Record] {
        message.records.map { record in
            Record(
                format: record.typeNameFormat.rawValue,
                type: record.type,
                identifier: record.identifier,
                payload: record.payload
            )
        }
    }

    /// The message, to show or to write.
    var message: NFCNDEFMessage {
        NFCNDEFMessage(
            records: records.map { record in
                NFCNDEFPayload(
                    format: NFCTypeNameFormat(rawValue: record.format) ?? .unknown,
                    type: record.type,
                    identifier: record.identifier,
                    payload: record.payload
                )
            }
        )
    }
}
