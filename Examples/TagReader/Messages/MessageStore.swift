// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The messages of earlier runs and of this one, newest last, in a file.
///
/// The file is `TAGREADER_STORE`, or `tagreader/messages.json` in `XDG_DATA_HOME` (`~/.local/share` unless set). It is
/// replaced whole, so a run that is cut off leaves the old one.
struct MessageStore: Sendable {
    /// Why the store could not be opened or saved, as a sentence.
    struct Failure: Error {
        var text: String
    }

    private struct Contents: Codable {
        var version = 1
        var messages: [StoredMessage]
    }

    let file: URL
    private(set) var messages: [StoredMessage] = []

    init(file: URL = Self.defaultFile) {
        self.file = file
    }

    /// Opens the store.
    ///
    /// - Returns: a sentence to show, when the file was damaged and has been put aside.
    mutating func load() throws(Failure) -> String? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw Failure(text: "The saved messages can't be read from \(file.path): check who owns the file.")
        }
        guard let contents = try? JSONDecoder().decode(Contents.self, from: data), contents.version == 1 else {
            return try putAside()
        }
        messages = contents.messages
        return nil
    }

    mutating func append(_ message: StoredMessage) throws(Failure) {
        messages.append(message)
        try save()
    }

    mutating func remove(at index: Int) throws(Failure) {
        messages.remove(at: index)
        try save()
    }

    private func save() throws(Failure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            let folder = file.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try encoder.encode(Contents(messages: messages)).write(to: file, options: .atomic)
        } catch {
            throw Failure(text: "The messages can't be saved in \(file.path): check the folder and its free space.")
        }
    }

    /// Keeps a file that can't be understood, under a name that is not taken.
    private func putAside() throws(Failure) -> String {
        for number in 1...999 {
            let aside = file.appendingPathExtension("damaged-\(number)")
            if FileManager.default.fileExists(atPath: aside.path) { continue }
            do {
                try FileManager.default.moveItem(at: file, to: aside)
            } catch {
                throw Failure(text: "The saved messages in \(file.path) are damaged and can't be moved aside.")
            }
            return "The saved messages were damaged. They are kept in \(aside.path), and the list begins anew."
        }
        throw Failure(text: "The saved messages in \(file.path) are damaged; move the damaged files away.")
    }

    private static var defaultFile: URL {
        let environment = ProcessInfo.processInfo.environment
        if let path = environment["TAGREADER_STORE"], !path.isEmpty { return URL(fileURLWithPath: path) }
        // A relative path is invalid and to be ignored (XDG Base Directory Specification).
        func folder(_ name: String) -> URL? {
            environment[name].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0, isDirectory: true) : nil }
        }
        let home = folder("HOME") ?? FileManager.default.homeDirectoryForCurrentUser
        let data = folder("XDG_DATA_HOME") ?? home.appendingPathComponent(".local/share")
        return data.appendingPathComponent("tagreader/messages.json")
    }
}
