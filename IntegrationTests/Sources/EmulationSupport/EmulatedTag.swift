// SPDX-License-Identifier: Apache-2.0
public import Foundation
import PeerSupport
import TagImages
public import VirtualTags

/// A tag that `nfc emulate` shows to foreign programs, with its own files, sockets and serial lines.
public final class EmulatedTag {
    /// How the tag is shown.
    public enum Reader: Sendable {
        /// A reader of a private pcscd.
        case pcsc
        /// A PN532 on a serial line in the tag's own folder.
        case pn532
        /// A PN532 on a serial line of this name in /dev.
        case device(String)
        /// A reader for a ``PCSCDaemon``; its default name is the model's.
        case reader(name: String?)
    }

    /// Why a tag could not be shown.
    public struct Failure: Error, CustomStringConvertible {
        /// What happened.
        public var description: String
    }

    /// The environment variables that foreign programs need.
    public let environment: [String: String]
    /// The tool's output when it was ready.
    public let ready: [String: String]
    private let folder: URL
    private let image: URL
    private let program: TalkingProgram

    /// The tool: from NFC_TOOL, or from `swift build` in the root of the repository.
    public static var tool: URL {
        if let path = ProcessInfo.processInfo.environment["NFC_TOOL"] { return URL(fileURLWithPath: path) }
        return packageFolder.deletingLastPathComponent().appending(path: ".build/debug/nfc")
    }

    /// The folder of the tests' package.
    static var packageFolder: URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    }

    /// Shows a tag, and waits until foreign programs can find it.
    public init(_ contents: TagContents, on reader: Reader) async throws {
        // The path of a UNIX socket must be short.
        folder = URL(fileURLWithPath: "/tmp/ocn-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        image = folder.appending(path: "tag.json")
        try Data(Samples.image(contents)).write(to: image)
        var arguments = ["emulate", "--image", image.path, "--json", "--commands"]
        switch reader {
        case .pcsc: arguments += ["--pcsc", "--start-pcscd", "--folder", folder.path]
        case .pn532: arguments += ["--pn532", folder.path + "/pn532"]
        case .device(let name): arguments += ["--pn532", "/dev/" + name]
        case .reader(let name):
            arguments += ["--pcsc", "--folder", folder.path] + (name.map { ["--reader-name", $0] } ?? [])
        }
        program = try TalkingProgram(Self.tool.path, arguments)
        let line = try await program.line(with: #""event":"ready""#)
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        ready = object?.compactMapValues { $0 is NSNull ? nil : "\($0)" } ?? [:]
        switch reader {
        case .reader: environment = [:]
        case .pcsc: environment = ["PCSCLITE_CSOCK_NAME": ready["pcsclite_csock_name"] ?? ""]
        case .pn532, .device:
            environment = ["LIBNFC_DEVICE": ready["libnfc_device"] ?? "", "LIBNFC_LOG_LEVEL": "0"]
        }
    }

    deinit {
        program.send(signal: SIGKILL)
        try? FileManager.default.removeItem(at: folder)
    }

    /// pcscd's configuration.
    public var configuration: String {
        get throws { try String(contentsOfFile: ready["reader_conf"] ?? "", encoding: .utf8) }
    }

    /// Sends the tool a command, such as `remove`, and waits until it is done.
    public func perform(_ command: String) async throws {
        program.say(command)
        let line = try await program.line(with: #""event":"command""#)
        guard line.contains(#""ok":true"#) else { throw Failure(description: line) }
    }

    /// Waits for a line of the tool's output.
    public func line(with text: String) async throws {
        try await program.line(with: text)
    }

    /// Ends the tool by its process identifier, and returns the saved tag.
    public func stop() async throws -> TagContents {
        program.send(signal: SIGTERM)
        let status = try await program.end(within: .seconds(10))
        guard status == 0 else { throw Failure(description: "nfc emulate ended with \(status): \(program.output)") }
        return try TagImage(parsing: [UInt8](Data(contentsOf: image))).contents
    }

    /// Kills the tool, so that it can't clean up.
    public func kill() async throws {
        program.send(signal: SIGKILL)
        _ = try await program.end(within: .seconds(10))
    }

    /// A file in the tag's own folder, for what foreign programs read and write.
    public func file(_ name: String) -> URL { folder.appending(path: name) }
}
