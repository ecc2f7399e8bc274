// SPDX-License-Identifier: Apache-2.0
public import Foundation
public import VirtualTags

/// A tag that `nfc emulate` shows to foreign programs, with files, sockets and lines of its own.
public final class EmulatedTag {
    /// How the tag is shown.
    public enum Reader: Sendable {
        /// A reader of a pcscd of its own.
        case pcsc
        /// A PN532 at a line in the tag's own folder.
        case pn532
        /// A PN532 at a line of this name in /dev.
        case device(String)
    }

    /// Why a tag can't be shown.
    public struct Failure: Error, CustomStringConvertible {
        /// What happened.
        public var description: String
    }

    /// What foreign programs have to find in their environment.
    public let environment: [String: String]
    /// What the tool said when it was ready.
    public let ready: [String: String]
    private let folder: URL
    private let image: URL
    private let process = Process()

    /// The tool: what NFC_TOOL says, else what `swift build` has made in the root of the repository.
    private static var tool: URL {
        if let path = ProcessInfo.processInfo.environment["NFC_TOOL"] { return URL(fileURLWithPath: path) }
        return URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: ".build/debug/nfc")
    }

    /// Shows a tag, and waits until foreign programs can find it.
    public init(_ contents: TagContents, on reader: Reader) async throws {
        // A UNIX socket's path is short.
        folder = URL(fileURLWithPath: "/tmp/ocn-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        image = folder.appending(path: "tag.json")
        try Data(TagImage(contents).encoded()).write(to: image)
        var arguments = ["emulate", "--image", image.path, "--json"]
        switch reader {
        case .pcsc: arguments += ["--pcsc", "--start-pcscd", "--folder", folder.path]
        case .pn532: arguments += ["--pn532", folder.path + "/pn532"]
        case .device(let name): arguments += ["--pn532", "/dev/" + name]
        }
        let output = folder.appending(path: "output")
        try Data().write(to: output)
        let handle = try FileHandle(forWritingTo: output)
        process.executableURL = Self.tool
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
        ready = try await Self.waitUntilReady(process, output)
        switch reader {
        case .pcsc: environment = ["PCSCLITE_CSOCK_NAME": ready["pcsclite_csock_name"] ?? ""]
        case .pn532, .device:
            environment = ["LIBNFC_DEVICE": ready["libnfc_device"] ?? "", "LIBNFC_LOG_LEVEL": "0"]
        }
    }

    private static func waitUntilReady(_ process: Process, _ output: URL) async throws -> [String: String] {
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            let text = String(decoding: try Data(contentsOf: output), as: UTF8.self)
            for line in text.split(separator: "\n") {
                let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                guard object?["event"] as? String == "ready" else { continue }
                return object?.compactMapValues { $0 as? String } ?? [:]
            }
            guard process.isRunning else { throw Failure(description: "nfc emulate ended: \(text)") }
            try await Task.sleep(for: .milliseconds(5))
        }
        process.terminate()
        throw Failure(description: "nfc emulate was not ready in 20 seconds.")
    }

    /// Ends the tool, by its own number, and gives back what it saved of the tag.
    public func stop() async throws -> TagContents {
        process.terminate()
        for _ in 0..<1000 where process.isRunning { try await Task.sleep(for: .milliseconds(10)) }
        defer { try? FileManager.default.removeItem(at: folder) }
        guard !process.isRunning else {
            kill(process.processIdentifier, SIGKILL)
            throw Failure(description: "nfc emulate did not end in 10 seconds.")
        }
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            let text = try? String(contentsOf: folder.appending(path: "output"), encoding: .utf8)
            throw Failure(description: "nfc emulate ended with \(process.terminationStatus): \(text ?? "")")
        }
        return try TagImage(parsing: [UInt8](Data(contentsOf: image))).contents
    }

    /// A file in the tag's own folder, for what foreign programs read and write.
    public func file(_ name: String) -> URL { folder.appending(path: name) }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGTERM) }
    }
}
